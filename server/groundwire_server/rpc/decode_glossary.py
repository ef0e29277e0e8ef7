"""Terms of a glossary from the wire. What makes a list of them a glossary is the glossary's own to say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from groundwire.v1 import admin_pb2, glossary_pb2
from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.glossary import (
    Additivity,
    ChannelTerm,
    EntityTerm,
    Identifier,
    MemberTerm,
    MetricNature,
    MetricTerm,
    RelationTerm,
    Synonym,
    Term,
    TermKind,
    assume_additivity,
)
from groundwire_server.rpc.findings import Findings

__all__ = ["TermName", "as_in_the_request", "decode_kind", "decode_term_names", "decode_terms"]

# Kind, axis (of members only) and code: what names a term.
TermName = tuple[TermKind, str, str]

_KINDS = {
    glossary_pb2.TERM_KIND_METRIC: TermKind.METRIC,
    glossary_pb2.TERM_KIND_ENTITY: TermKind.ENTITY,
    glossary_pb2.TERM_KIND_CHANNEL: TermKind.CHANNEL,
    glossary_pb2.TERM_KIND_DIMENSION_MEMBER: TermKind.MEMBER,
    glossary_pb2.TERM_KIND_RELATION: TermKind.RELATION,
}
_DETAILS = {
    TermKind.METRIC: "metric",
    TermKind.ENTITY: "entity",
    TermKind.CHANNEL: None,
    TermKind.MEMBER: "dimension",
    TermKind.RELATION: "relation",
}
_WIRE_FIELDS = {
    "parent": "entity.parent_code",
    "fiscal_year_start": "entity.fiscal_year_start",
    "unit": "metric.unit",
    "definition": "metric.definition",
    "derivation": "metric.derivation",
    "dimension": "dimension.dimension",
    "inverse_of": "relation.inverse_of",
    "symmetric": "relation.symmetric",
}
_NATURES = {
    glossary_pb2.METRIC_NATURE_FLOW: MetricNature.FLOW,
    glossary_pb2.METRIC_NATURE_INSTANT: MetricNature.INSTANT,
}
_NAMED_BY: dict[int, Literal["", "start", "end"]] = {
    glossary_pb2.FISCAL_YEAR_NAMING_START: "start",
    glossary_pb2.FISCAL_YEAR_NAMING_END: "end",
}


def decode_kind(number: int, path: str, findings: Findings) -> TermKind | None:
    """A kind of terms; None when it is none that this server has."""
    if not findings.known(path, number, glossary_pb2.TermKind.DESCRIPTOR, required=True):
        return None
    return _KINDS[glossary_pb2.TermKind.ValueType(number)]


def decode_terms(messages: Iterable[glossary_pb2.Term], path: str, findings: Findings) -> list[Term]:
    """The terms, in order; those that are wrong are left out and named."""
    decoded = [_term(message, f"{path}[{place}]", findings) for place, message in enumerate(messages)]
    return [term for term in decoded if term is not None]


def decode_term_names(messages: Iterable[admin_pb2.TermRef], path: str, findings: Findings) -> list[TermName]:
    """Kind, axis and code of terms that are named."""
    named: list[TermName] = []
    for place, message in enumerate(messages):
        kind = decode_kind(message.kind, f"{path}[{place}].kind", findings)
        findings.required(f"{path}[{place}].code", message.code)
        if kind is not None:
            named.append((kind, message.dimension, message.code))
    return named


def as_in_the_request(violation: Violation) -> Violation:
    """A fault that the glossary has found, under the path of the request: it names fields as its file does."""
    place, dot, field = violation.field.rpartition(".")
    return replace(violation, field=f"{place}{dot}{_WIRE_FIELDS.get(field, field)}")


def _term(message: glossary_pb2.Term, path: str, findings: Findings) -> Term | None:
    kind = decode_kind(message.kind, f"{path}.kind", findings)
    findings.required(f"{path}.code", message.code)
    if kind is None:
        return None
    detail = message.WhichOneof("detail")
    if detail not in (None, _DETAILS[kind]):
        findings.add(f"{path}.{detail}", ErrorReason.CONTRADICTION, f"does not go with kind {kind.name}")
        return None
    for place, each in enumerate(message.synonyms):
        findings.required(f"{path}.synonyms[{place}].text", each.text)
    synonyms = tuple(Synonym(each.text, each.language) for each in message.synonyms)
    match kind:
        case TermKind.METRIC:
            return _metric(message, synonyms, path, findings)
        case TermKind.ENTITY:
            return _entity(message, synonyms, path, findings)
        case TermKind.CHANNEL:
            return ChannelTerm(message.code, message.label, synonyms)
        case TermKind.MEMBER:
            findings.required(f"{path}.dimension.dimension", message.dimension.dimension)
            return MemberTerm(message.dimension.dimension, message.code, message.label, synonyms)
        case TermKind.RELATION:
            relation = message.relation
            return RelationTerm(message.code, message.label, synonyms, relation.inverse_of, relation.symmetric)


def _metric(message: glossary_pb2.Term, synonyms: tuple[Synonym, ...], path: str, findings: Findings) -> MetricTerm:
    detail = message.metric
    findings.known(f"{path}.metric.additivity", detail.additivity, glossary_pb2.Additivity.DESCRIPTOR)
    findings.known(f"{path}.metric.nature", detail.nature, glossary_pb2.MetricNature.DESCRIPTOR)
    summed = Additivity.SUM if detail.additivity == glossary_pb2.ADDITIVITY_SUM else Additivity.NONE
    names = (message.code, message.label, *(each.text for each in synonyms))
    return MetricTerm(
        code=message.code,
        label=message.label,
        synonyms=synonyms,
        unit=detail.unit,
        additivity=assume_additivity(detail.unit, names) if detail.additivity_assumed else summed,
        nature=_NATURES.get(detail.nature),
        definition=detail.definition,
        derivation=detail.derivation,
        additivity_assumed=detail.additivity_assumed,
    )


def _entity(message: glossary_pb2.Term, synonyms: tuple[Synonym, ...], path: str, findings: Findings) -> EntityTerm:
    detail = message.entity
    for place, each in enumerate(detail.identifiers):
        findings.required(f"{path}.entity.identifiers[{place}].scheme", each.scheme)
        findings.required(f"{path}.entity.identifiers[{place}].value", each.value)
    named_by = detail.fiscal_year_named_by
    findings.known(f"{path}.entity.fiscal_year_named_by", named_by, glossary_pb2.FiscalYearNaming.DESCRIPTOR)
    return EntityTerm(
        code=message.code,
        label=message.label,
        synonyms=synonyms,
        identifiers=tuple(Identifier(each.scheme, each.value) for each in detail.identifiers),
        parent_code=detail.parent_code,
        fiscal_year_start=detail.fiscal_year_start,
        fiscal_year_named_by=_NAMED_BY.get(named_by, ""),
        entity_type=detail.entity_type,
    )
