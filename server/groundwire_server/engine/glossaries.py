"""Changing the glossary of a library, and what a person should look at in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from groundwire_server.engine.info import GlossaryFinding
from groundwire_server.evidence import Principal, ReviewStatus
from groundwire_server.glossary import (
    TOTAL,
    EntityTerm,
    Glossary,
    MemberTerm,
    MetricTerm,
    Term,
    TermKind,
    kind_of,
)
from groundwire_server.library import Snapshot

__all__ = ["MAX_FINDINGS", "GlossaryChange", "TermName", "changed_glossary", "glossary_findings"]

MAX_FINDINGS = 1000

# Kind, axis (of members of further axes; else empty) and code: what names a term.
TermName = tuple[TermKind, str, str]


@dataclass(frozen=True, slots=True)
class GlossaryChange:
    """Terms to add or replace, by kind and code; terms to take away; or `put` alone is to stay."""

    put: Sequence[Term] = ()
    remove: Collection[TermName] = ()
    replace_all: bool = False


def changed_glossary(glossary: Glossary, change: GlossaryChange) -> Glossary:
    """The glossary after a change.

    Raises:
        InvalidRequest: a term is malformed; every fault at once, by its place in `put`.
        GlossaryConflict: two terms share a name, and the library does not report such.
    """
    put = list(change.put)
    replaced = {_name(term) for term in put}
    gone = replaced | set(change.remove)
    kept = [] if change.replace_all else [term for term in glossary.terms if _name(term) not in gone]
    places = [f"put[{place}]" for place in range(len(put))] + [f"{term.code}, there already" for term in kept]
    return Glossary([*put, *kept], ambiguous=glossary.ambiguous, places=places)


def glossary_findings(glossary: Glossary, snapshot: Snapshot, principal: Principal) -> list[GlossaryFinding]:
    """What a person should look at, at most 1,000: assumptions, and names in visible facts that no term has."""
    found = [*_assumed(glossary), *_unnamed(glossary, snapshot, principal)]
    return found[:MAX_FINDINGS]


def _name(term: Term) -> TermName:
    return kind_of(term), term.dimension if isinstance(term, MemberTerm) else "", term.code


def _assumed(glossary: Glossary) -> Iterator[GlossaryFinding]:
    for term in glossary.metrics.values():
        if isinstance(term, MetricTerm) and term.additivity_assumed:
            word = term.additivity.value
            yield GlossaryFinding(TermKind.METRIC, "", term.code, 0, f'additivity is not said; "{word}" is assumed')
    for entity in glossary.entities.values():
        if isinstance(entity, EntityTerm) and entity.parent_code and entity.parent_code not in glossary.entities:
            yield GlossaryFinding(
                TermKind.ENTITY, "", entity.code, 0, f"parent {entity.parent_code!r} is no entity here"
            )


def _unnamed(glossary: Glossary, snapshot: Snapshot, principal: Principal) -> Iterator[GlossaryFinding]:
    reader, clearance = snapshot.reader, principal.clearance
    known: dict[str, tuple[TermKind, Collection[str]]] = {
        "metric": (TermKind.METRIC, glossary.metrics),
        "entity": (TermKind.ENTITY, glossary.entities),
        "channel": (TermKind.CHANNEL, {*glossary.channels, TOTAL}),
    }
    unnamed = {
        axis: [code for code in reader.fact_codes(clearance, axis) if code not in codes]
        for axis, (_, codes) in known.items()
    }
    if not any(unnamed.values()):
        return
    counts = {axis: Counter[str]() for axis in known}
    visible = {
        fact.fact_id: fact.record
        for fact in reader.facts(clearance)
        if fact.record.review_status is not ReviewStatus.PENDING
    }
    for record in visible.values():
        for axis in known:
            counts[axis][getattr(record, axis)] += 1
    for axis, codes in unnamed.items():
        for code in codes:
            yield GlossaryFinding(known[axis][0], "", code, counts[axis][code], f"no term names this {axis}")
