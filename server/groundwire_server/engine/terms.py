"""Which names exist, and for which periods there are figures (metric.proto, DescribeMetrics)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Principal, ReviewStatus
from groundwire_server.glossary import (
    ChannelTerm,
    EntityTerm,
    Glossary,
    MemberTerm,
    MetricTerm,
    RelationTerm,
    Resolved,
    Term,
    TermKind,
    kind_of,
)
from groundwire_server.library import Snapshot
from groundwire_server.store import StoredFact

__all__ = ["MAX_PERIODS", "TermDescription", "TermPlace", "TermWish", "describe_terms", "period_gaps", "place_of"]

MAX_PERIODS = 400

# Library, kind, axis, code: the order of the list.
TermPlace = tuple[str, int, str, str]

_ORDER = {TermKind.METRIC: 1, TermKind.ENTITY: 2, TermKind.CHANNEL: 3, TermKind.MEMBER: 4, TermKind.RELATION: 5}
_PART = re.compile(r"(?P<fiscal>FY)?(?P<year>[0-9]{4})(?:(?P<kind>[HQ])(?P<part>[1-4])|-(?P<month>[0-9]{2}))?")
_PARTS_A_YEAR = {"H": 2, "Q": 4}


@dataclass(frozen=True, slots=True)
class TermWish:
    """Which terms to describe. Empty kinds: all. metric, entity: names or codes that bound which facts are counted."""

    kinds: Collection[TermKind] = ()
    metric: str = ""
    entity: str = ""


@dataclass(frozen=True, slots=True)
class TermDescription:
    """A term, how many visible facts carry it, their periods, and those of the same length missing in between."""

    library_id: str
    term: Term
    fact_count: int
    periods: tuple[str, ...]
    gaps: tuple[str, ...]


def place_of(library_id: str, term: Term) -> TermPlace:
    """Where a term stands in the list."""
    kind = kind_of(term)
    return library_id, _ORDER[kind], term.dimension if isinstance(term, MemberTerm) else "", term.code


def describe_terms(
    snapshots: Sequence[Snapshot], principal: Principal, wish: TermWish, after: TermPlace | None
) -> Iterator[TermDescription]:
    """The terms behind a place, in order of library, kind, axis and code; facts are counted as they are asked for.

    Raises:
        InvalidRequest: no library knows the metric or entity by which facts are bounded.
    """
    bounds = {each.library_id: _bounds(each.glossary, wish) for each in snapshots}
    faults = [name for name in ("metric", "entity") if _nowhere(getattr(wish, name), name, bounds.values())]
    if faults:
        name = faults[0]
        why = f"{getattr(wish, name)[:80]!r} is no {name} of these libraries; without it the call lists those there are"
        raise InvalidRequest.one(name, ErrorReason.UNKNOWN_NAME, why)
    for snapshot in sorted(snapshots, key=lambda each: each.library_id):
        metric, entity = bounds[snapshot.library_id]["metric"], bounds[snapshot.library_id]["entity"]
        places = [(place_of(snapshot.library_id, term), term) for term in snapshot.glossary.terms]
        for place, term in sorted(places, key=lambda each: each[0]):
            if (after is not None and place <= after) or (wish.kinds and kind_of(term) not in wish.kinds):
                continue
            yield _describe(snapshot, principal, term, metric, entity)


def _bounds(glossary: Glossary, wish: TermWish) -> dict[str, str | None]:
    """Codes of the metric and entity by which facts are bounded; "" where nothing is said, None where unknown here."""
    found: dict[str, str | None] = {}
    for name, raw, resolve in (
        ("metric", wish.metric, glossary.resolve_metric),
        ("entity", wish.entity, glossary.resolve_entity),
    ):
        resolution = resolve(raw) if raw else None
        found[name] = "" if not raw else resolution.code if isinstance(resolution, Resolved) else None
    return found


def _nowhere(raw: str, name: str, bounds: Iterable[dict[str, str | None]]) -> bool:
    return bool(raw) and all(each[name] is None for each in bounds)


def _describe(
    snapshot: Snapshot, principal: Principal, term: Term, metric: str | None, entity: str | None
) -> TermDescription:
    facts = [] if metric is None or entity is None else _facts(snapshot, principal, term, metric, entity)
    kept = [fact for fact in facts if fact.record.review_status is not ReviewStatus.PENDING]
    dated = sorted({(fact.record.period_first, fact.record.period_last, fact.record.period) for fact in kept})
    periods = tuple(period for _, _, period in dated)
    return TermDescription(
        snapshot.library_id,
        term,
        len({fact.fact_id for fact in kept}),
        periods[:MAX_PERIODS],
        period_gaps(periods)[:MAX_PERIODS],
    )


def _facts(snapshot: Snapshot, principal: Principal, term: Term, metric: str, entity: str) -> list[StoredFact]:
    """Readable facts that carry the term and lie within the bounds."""
    code, channel = term.code, None
    match term:
        case MetricTerm():
            if metric not in ("", code):
                return []
            metric = code
        case EntityTerm():
            if entity not in ("", code):
                return []
            entity = code
        case ChannelTerm():
            channel = code
        case MemberTerm():
            pass
        case RelationTerm():
            return []
    found = snapshot.reader.facts(principal.clearance, metric=metric or None, entity=entity or None, channel=channel)
    if isinstance(term, MemberTerm):
        wanted = (term.dimension, code)
        found = [fact for fact in found if wanted in [(each.name, each.member) for each in fact.record.dimensions]]
    return found


def period_gaps(periods: Iterable[str]) -> tuple[str, ...]:
    """Years, halves, quarters and months that are missing between the first and the last of their length.

    >>> period_gaps(["2019", "2022", "2020Q4", "2021Q2", "2018-09-30"])
    ('2021Q1', '2020', '2021')
    """
    lengths: dict[tuple[str, str], set[int]] = {}
    for period in periods:
        match = _PART.fullmatch(period)
        if match is None:
            continue
        length, number = _number(match)
        lengths.setdefault((match["fiscal"] or "", length), set()).add(number)
    missing: list[str] = []
    for (fiscal, length), numbers in sorted(lengths.items()):
        between = range(min(numbers) + 1, max(numbers))[: MAX_PERIODS + len(numbers)]
        missing.extend(fiscal + _written(length, number) for number in between if number not in numbers)
    return tuple(missing[:MAX_PERIODS])


def _number(match: re.Match[str]) -> tuple[str, int]:
    """Length of a period, and its place on an axis of periods of that length."""
    year = int(match["year"])
    if match["month"]:
        return "M", year * 12 + int(match["month"]) - 1
    if match["kind"]:
        return match["kind"], year * _PARTS_A_YEAR[match["kind"]] + int(match["part"]) - 1
    return "Y", year


def _written(length: str, number: int) -> str:
    if length == "Y":
        return f"{number:04}"
    if length == "M":
        return f"{number // 12:04}-{number % 12 + 1:02}"
    parts = _PARTS_A_YEAR[length]
    return f"{number // parts:04}{length}{number % parts + 1}"
