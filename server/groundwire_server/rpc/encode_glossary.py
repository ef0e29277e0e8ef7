"""Terms of a glossary onto the wire."""

from __future__ import annotations

from groundwire.v1 import glossary_pb2
from groundwire_server.glossary import (
    Additivity,
    ChannelTerm,
    EntityTerm,
    MemberTerm,
    MetricNature,
    MetricTerm,
    RelationTerm,
    Term,
    TermKind,
)
from groundwire_server.rpc.encode_value import wire_text

__all__ = ["encode_kind", "encode_term"]

_KINDS = {
    TermKind.METRIC: glossary_pb2.TERM_KIND_METRIC,
    TermKind.ENTITY: glossary_pb2.TERM_KIND_ENTITY,
    TermKind.CHANNEL: glossary_pb2.TERM_KIND_CHANNEL,
    TermKind.MEMBER: glossary_pb2.TERM_KIND_DIMENSION_MEMBER,
    TermKind.RELATION: glossary_pb2.TERM_KIND_RELATION,
}
_ADDITIVITIES = {Additivity.NONE: glossary_pb2.ADDITIVITY_NONE, Additivity.SUM: glossary_pb2.ADDITIVITY_SUM}
_NATURES = {
    None: glossary_pb2.METRIC_NATURE_UNSPECIFIED,
    MetricNature.FLOW: glossary_pb2.METRIC_NATURE_FLOW,
    MetricNature.INSTANT: glossary_pb2.METRIC_NATURE_INSTANT,
}
_NAMED_BY = {
    "": glossary_pb2.FISCAL_YEAR_NAMING_UNSPECIFIED,
    "start": glossary_pb2.FISCAL_YEAR_NAMING_START,
    "end": glossary_pb2.FISCAL_YEAR_NAMING_END,
}


def encode_kind(kind: TermKind) -> glossary_pb2.TermKind.ValueType:
    """What a term is."""
    return _KINDS[kind]


def encode_term(term: Term) -> glossary_pb2.Term:
    """A term with its names and what its kind adds."""
    message = glossary_pb2.Term(
        code=wire_text(term.code),
        label=wire_text(term.label),
        synonyms=[glossary_pb2.Synonym(text=wire_text(each.text), language=each.language) for each in term.synonyms],
    )
    match term:
        case MetricTerm():
            message.kind = glossary_pb2.TERM_KIND_METRIC
            message.metric.unit = term.unit
            message.metric.additivity = _ADDITIVITIES[term.additivity]
            message.metric.nature = _NATURES[term.nature]
            message.metric.definition = wire_text(term.definition)
            message.metric.derivation = wire_text(term.derivation)
            message.metric.additivity_assumed = term.additivity_assumed
        case EntityTerm():
            message.kind = glossary_pb2.TERM_KIND_ENTITY
            message.entity.identifiers.extend(
                glossary_pb2.Identifier(scheme=each.scheme, value=each.value) for each in term.identifiers
            )
            message.entity.parent_code = term.parent_code
            message.entity.fiscal_year_start = term.fiscal_year_start
            message.entity.fiscal_year_named_by = _NAMED_BY[term.fiscal_year_named_by]
            message.entity.entity_type = term.entity_type
        case ChannelTerm():
            message.kind = glossary_pb2.TERM_KIND_CHANNEL
        case MemberTerm():
            message.kind = glossary_pb2.TERM_KIND_DIMENSION_MEMBER
            message.dimension.dimension = term.dimension
        case RelationTerm():
            message.kind = glossary_pb2.TERM_KIND_RELATION
            message.relation.inverse_of = term.inverse_of
            message.relation.symmetric = term.symmetric
    return message
