"""Terms of the client as those of a glossary, to look at a library's with the eyes of the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import groundwire
from groundwire_server.glossary import (
    Additivity,
    ChannelTerm,
    EntityTerm,
    Glossary,
    Identifier,
    MemberTerm,
    MetricNature,
    MetricTerm,
    Place,
    RelationTerm,
    Synonym,
    Term,
)

__all__ = ["stored_glossary"]


def stored_glossary(terms: Iterable[groundwire.Term]) -> Glossary:
    """The glossary that these terms are; shared names are reported."""
    known = [(term, _term(term)) for term in terms]
    kept = [(listed, term) for listed, term in known if term is not None]
    places = [Place(f"{listed.kind.name.lower().replace('_', ' ')} {listed.label}".strip()) for listed, _ in kept]
    return Glossary([term for _, term in kept], ambiguous="report", places=places)


def _term(term: groundwire.Term) -> Term | None:
    synonyms = tuple(Synonym(each.text, each.language) for each in term.synonyms)
    match term.kind:
        case groundwire.TermKind.METRIC:
            return _metric(term, term.metric or groundwire.MetricDetail(), synonyms)
        case groundwire.TermKind.ENTITY:
            return _entity(term, term.entity or groundwire.EntityDetail(), synonyms)
        case groundwire.TermKind.CHANNEL:
            return ChannelTerm(term.code, term.label, synonyms)
        case groundwire.TermKind.DIMENSION_MEMBER if term.dimension is not None:
            return MemberTerm(term.dimension.dimension, term.code, term.label, synonyms)
        case groundwire.TermKind.RELATION:
            named = term.relation or groundwire.RelationDetail()
            return RelationTerm(term.code, term.label, synonyms, named.inverse_of, named.symmetric)
        case _:
            return None


def _metric(term: groundwire.Term, detail: groundwire.MetricDetail, synonyms: tuple[Synonym, ...]) -> MetricTerm:
    natures = {groundwire.MetricNature.FLOW: MetricNature.FLOW, groundwire.MetricNature.INSTANT: MetricNature.INSTANT}
    return MetricTerm(
        term.code,
        term.label,
        synonyms,
        detail.unit,
        Additivity.SUM if detail.additivity is groundwire.Additivity.SUM else Additivity.NONE,
        natures.get(detail.nature),
        detail.definition,
        detail.derivation,
        detail.additivity_assumed,
    )


def _entity(term: groundwire.Term, detail: groundwire.EntityDetail, synonyms: tuple[Synonym, ...]) -> EntityTerm:
    naming: dict[groundwire.FiscalYearNaming, Literal["start", "end"]] = {
        groundwire.FiscalYearNaming.START: "start",
        groundwire.FiscalYearNaming.END: "end",
    }
    return EntityTerm(
        term.code,
        term.label,
        synonyms,
        tuple(Identifier(each.scheme, each.value) for each in detail.identifiers),
        detail.parent_code,
        detail.fiscal_year_start,
        naming.get(detail.fiscal_year_named_by, ""),
        detail.entity_type,
    )
