"""Changing the glossary of a library, and what a person should look at in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from groundwire_server.engine.info import GlossaryFinding
from groundwire_server.evidence import Principal
from groundwire_server.glossary import (
    TOTAL,
    FindingKind,
    Glossary,
    MemberTerm,
    MetricNature,
    MetricTerm,
    NameIndex,
    Place,
    Term,
    TermKind,
    check_derivations,
    kind_of,
    lint_glossary,
)
from groundwire_server.library import Snapshot

__all__ = ["MAX_FINDINGS", "GlossaryChange", "TermName", "changed_glossary", "glossary_findings"]

MAX_FINDINGS = 1000
_LISTED_UNITS = 5

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
        InvalidRequest: a term is malformed, or a derivation in it is no formula; every fault at once, by its place in
            `put`.
        GlossaryConflict: two terms share a name, and the library does not report such.
    """
    put = list(change.put)
    replaced = {_name(term) for term in put}
    gone = replaced | set(change.remove)
    kept = [] if change.replace_all else [term for term in glossary.terms if _name(term) not in gone]
    places = [Place(f"put[{place}]") for place in range(len(put))]
    places += [Place(f"{term.code}, there already") for term in kept]
    changed = Glossary([*put, *kept], ambiguous=glossary.ambiguous, places=places)
    check_derivations(changed, {term.code for term in put if isinstance(term, MetricTerm)})
    return changed


def glossary_findings(
    glossary: Glossary, snapshot: Snapshot, principal: Principal, file_fault: str = ""
) -> tuple[tuple[GlossaryFinding, ...], int]:
    """What a person should look at: what `lint_glossary` says, and what visible facts carry that no term has.

    Args:
        file_fault: why the file of the glossary is not in force (`Library.glossary_fault`).

    Returns:
        At most `MAX_FINDINGS`, and how many more there are.
    """
    looked = [GlossaryFinding(each.kind, each.term, "", each.code, 0, each.message) for each in lint_glossary(glossary)]
    file = [_file_finding(file_fault)] if file_fault else []
    stored = (
        *_units(glossary, snapshot, principal),
        *_natures(glossary, snapshot, principal),
        *_outdated(glossary, snapshot, principal),
    )
    found = [*file, *looked, *stored, *_unlisted(glossary, snapshot, principal)]
    reader, clearance = snapshot.reader, principal.clearance
    counted = [
        replace(each, fact_count=reader.fact_extent(clearance, **_bound(each)).facts)
        if each.about in (FindingKind.UNLISTED, FindingKind.AMBIGUOUS)
        else each
        for each in found[:MAX_FINDINGS]
    ]
    return tuple(counted), len(found) - len(counted)


def _file_finding(fault: str) -> GlossaryFinding:
    message = f"glossary.toml was edited and does not hold; the glossary before it is in force: {fault}"
    return GlossaryFinding(FindingKind.FILE, TermKind.METRIC, "", "", 0, message)


def _bound(finding: GlossaryFinding) -> dict[str, Any]:
    """What bounds the facts that a finding is about."""
    return {finding.kind.value: finding.code}


def _name(term: Term) -> TermName:
    return kind_of(term), term.dimension if isinstance(term, MemberTerm) else "", term.code


def _units(glossary: Glossary, snapshot: Snapshot, principal: Principal) -> Iterator[GlossaryFinding]:
    """Metrics whose visible facts carry another unit than the term says: those were stored before it did."""
    for code in snapshot.reader.fact_codes(principal.clearance, "metric"):
        term = glossary.metrics.get(code)
        if term is None or not term.unit:
            continue
        extent = snapshot.reader.fact_extent(principal.clearance, metric=code)
        others = [unit or "none" for unit in extent.units if unit.casefold() != term.unit.casefold()]
        if others:
            message = f"its unit is {term.unit}, and facts carry {', '.join(others[:_LISTED_UNITS])}"
            yield GlossaryFinding(FindingKind.UNIT, TermKind.METRIC, "", code, extent.facts, message)


def _natures(glossary: Glossary, snapshot: Snapshot, principal: Principal) -> Iterator[GlossaryFinding]:
    """Metrics that are measured on days and have visible facts for spans, or the reverse: no question finds those."""
    for code in snapshot.reader.fact_codes(principal.clearance, "metric"):
        term = glossary.metrics.get(code)
        if term is None or term.nature is None:
            continue
        on_days = term.nature is MetricNature.INSTANT
        extent = snapshot.reader.fact_extent(principal.clearance, metric=code)
        periods = [period for first, last, period in extent.periods if (first == last and "/" not in period) != on_days]
        if periods:
            listed = ", ".join(dict.fromkeys(periods[:_LISTED_UNITS]))
            measured, stored = ("on a day", "spans") if on_days else ("over a span", "days")
            message = f"it is measured {measured}, and figures for {listed} are for {stored}; they answer nothing: "
            message += "withdraw their source and load it again with the right periods"
            yield GlossaryFinding(FindingKind.PERIOD, TermKind.METRIC, "", code, 0, message)


def _outdated(glossary: Glossary, snapshot: Snapshot, principal: Principal) -> Iterator[GlossaryFinding]:
    """Entities whose visible figures are for fiscal periods that were read by another fiscal year."""
    from groundwire_server.metric import is_outdated

    for code in snapshot.reader.fact_codes(principal.clearance, "entity"):
        if not glossary.knows_fiscal_year(code):
            continue
        fiscal, extent = glossary.fiscal_calendar(code), snapshot.reader.fact_extent(principal.clearance, entity=code)
        periods = [
            period for first, last, period in extent.periods if is_outdated(period, (first, last), fiscal, told=True)
        ]
        if periods:
            listed = ", ".join(dict.fromkeys(periods[:_LISTED_UNITS]))
            message = f"its fiscal year begins on {fiscal.start}, and figures for {listed} were read by another one; "
            message += "they answer nothing: withdraw their source and load it again"
            yield GlossaryFinding(FindingKind.PERIOD, TermKind.ENTITY, "", code, 0, message)


def _unlisted(glossary: Glossary, snapshot: Snapshot, principal: Principal) -> Iterator[GlossaryFinding]:
    reader, clearance = snapshot.reader, principal.clearance
    known: tuple[tuple[str, TermKind, Collection[str], NameIndex], ...] = (
        ("metric", TermKind.METRIC, glossary.metrics, glossary.metric_names),
        ("entity", TermKind.ENTITY, glossary.entities, glossary.entity_names),
        ("channel", TermKind.CHANNEL, {*glossary.channels, TOTAL}, glossary.channel_names),
    )
    for axis, kind, terms, names in known:
        for code in reader.fact_codes(clearance, axis):
            if code in terms:
                continue
            shared = names.exact(code)
            if len(shared) > 1:
                message = f"it is a name of {' and of '.join(shared[:_LISTED_UNITS])}, and so of none"
                yield GlossaryFinding(FindingKind.AMBIGUOUS, kind, "", code, 0, message)
            else:
                yield GlossaryFinding(FindingKind.UNLISTED, kind, "", code, 0, f"no term names this {axis}")
