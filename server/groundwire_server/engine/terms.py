"""Which names exist, and for which periods there are figures (metric.proto, DescribeMetrics)."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from groundwire_server.engine.period_gaps import period_gaps
from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Dimension, Principal
from groundwire_server.glossary import (
    TOTAL,
    ChannelTerm,
    EntityTerm,
    MemberTerm,
    MetricTerm,
    RelationTerm,
    Resolved,
    Term,
    TermKind,
    kind_of,
)
from groundwire_server.library import Snapshot
from groundwire_server.store import FactExtent

if TYPE_CHECKING:
    from groundwire_server.metric import Vocabulary

__all__ = ["MAX_PERIODS", "TermDescription", "TermPlace", "TermWish", "describe_terms", "place_of"]

MAX_PERIODS = 400
_MOST_KEPT = 20_000

# Library, kind, axis, code: the order of the list.
TermPlace = tuple[str, int, str, str]

_ORDER = {TermKind.METRIC: 1, TermKind.ENTITY: 2, TermKind.CHANNEL: 3, TermKind.MEMBER: 4, TermKind.RELATION: 5}


@dataclass(frozen=True, slots=True)
class TermWish:
    """Which terms to describe. Empty kinds: all. metric, entity: names or codes that bound which facts are counted.

    unlisted: also codes of visible facts that no term has.
    """

    kinds: Collection[TermKind] = ()
    metric: str = ""
    entity: str = ""
    unlisted: bool = False


@dataclass(frozen=True, slots=True)
class TermDescription:
    """A term, how many visible facts carry it, their periods and units, and periods missing in between.

    The lists are cut at `MAX_PERIODS`, the counts are not. unlisted: the term is none but a code of facts.
    """

    library_id: str
    term: Term
    fact_count: int
    periods: tuple[str, ...]
    gaps: tuple[str, ...]
    units: tuple[str, ...]
    period_count: int
    gap_count: int
    unlisted: bool = False


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
    from groundwire_server.metric import vocabulary_of

    bounds = {each.library_id: _bounds(vocabulary_of(each, principal), wish) for each in snapshots}
    faults = [name for name in ("metric", "entity") if _nowhere(getattr(wish, name), name, bounds.values())]
    if faults:
        name = faults[0]
        why = f"{getattr(wish, name)[:80]!r} is no {name} of these libraries; without it the call lists those there are"
        raise InvalidRequest.one(name, ErrorReason.UNKNOWN_NAME, why)
    for snapshot in sorted(snapshots, key=lambda each: each.library_id):
        metric, entity = bounds[snapshot.library_id]["metric"], bounds[snapshot.library_id]["entity"]
        if after is not None and snapshot.library_id < after[0]:
            continue
        for kind in _ORDER:
            if wish.kinds and kind not in wish.kinds:
                continue
            for term, unlisted in _terms(snapshot, principal, kind, wish, after):
                yield _describe(snapshot, principal, term, metric, entity, unlisted=unlisted)


def _terms(
    snapshot: Snapshot, principal: Principal, kind: TermKind, wish: TermWish, after: TermPlace | None
) -> Iterator[tuple[Term, bool]]:
    """The terms of a kind behind a place, and among them, if they are wished for, codes that no term has."""
    library_id, terms = snapshot.library_id, snapshot.glossary.terms
    # They are sorted by kind, axis and code: only those behind the place are touched.
    begin = bisect_left(terms, kind.value, key=lambda term: kind_of(term).value)
    end = bisect_right(terms, kind.value, key=lambda term: kind_of(term).value)
    if after is not None and (library_id, _ORDER[kind]) < after[:2]:
        return
    if after is not None and (library_id, _ORDER[kind]) == after[:2]:
        begin = bisect_right(terms, after, begin, end, key=lambda term: place_of(library_id, term))
    listed = ((terms[place], False) for place in range(begin, end))
    others = ((term, True) for term in (_unlisted(snapshot, principal, kind) if wish.unlisted else ()))
    behind = (each for each in others if after is None or place_of(library_id, each[0]) > after)
    yield from merge(listed, behind, key=lambda each: place_of(library_id, each[0]))


def _unlisted(snapshot: Snapshot, principal: Principal, kind: TermKind) -> list[Term]:
    glossary, reader = snapshot.glossary, snapshot.reader
    match kind:
        case TermKind.METRIC:
            codes = reader.fact_codes(principal.clearance, "metric")
            return [MetricTerm(code) for code in codes if code not in glossary.metrics]
        case TermKind.ENTITY:
            codes = reader.fact_codes(principal.clearance, "entity")
            return [EntityTerm(code) for code in codes if code not in glossary.entities]
        case TermKind.CHANNEL:
            codes = reader.fact_codes(principal.clearance, "channel")
            return [ChannelTerm(code) for code in codes if code not in glossary.channels and code != TOTAL]
        case _:
            return []


def _bounds(vocabulary: Vocabulary, wish: TermWish) -> dict[str, str | None]:
    """Codes of the metric and entity by which facts are bounded; "" where nothing is said, None where unknown here."""
    found: dict[str, str | None] = {}
    for name, raw, resolve in (
        ("metric", wish.metric, vocabulary.resolve_metric),
        ("entity", wish.entity, vocabulary.resolve_entity),
    ):
        resolution = resolve(raw) if raw else None
        found[name] = "" if not raw else resolution.code if isinstance(resolution, Resolved) else None
    return found


def _nowhere(raw: str, name: str, bounds: Iterable[dict[str, str | None]]) -> bool:
    return bool(raw) and all(each[name] is None for each in bounds)


def _describe(
    snapshot: Snapshot, principal: Principal, term: Term, metric: str | None, entity: str | None, *, unlisted: bool
) -> TermDescription:
    unknown = metric is None or entity is None
    extent = FactExtent() if unknown else _kept_extent(snapshot, principal, term, metric or "", entity or "")
    gaps, gap_count = period_gaps(extent.periods, MAX_PERIODS)
    periods = tuple(dict.fromkeys(period for _, _, period in extent.periods))
    return TermDescription(
        library_id=snapshot.library_id,
        term=term,
        fact_count=extent.facts,
        periods=periods[:MAX_PERIODS],
        gaps=tuple(gaps),
        units=extent.units[:MAX_PERIODS],
        period_count=len(periods),
        gap_count=gap_count,
        unlisted=unlisted,
    )


# A state never changes, and what there is in it is asked again and again.
_KEPT: WeakKeyDictionary[Snapshot, dict[tuple[object, ...], FactExtent]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def _kept_extent(snapshot: Snapshot, principal: Principal, term: Term, metric: str, entity: str) -> FactExtent:
    with _LOCK:
        kept = _KEPT.setdefault(snapshot, {})
    asked = (principal.clearance, place_of(snapshot.library_id, term), metric, entity)
    found = kept.get(asked)
    if found is None:
        found = _extent(snapshot, principal, term, metric, entity)
        if len(kept) < _MOST_KEPT:
            kept[asked] = found
    return found


def _extent(snapshot: Snapshot, principal: Principal, term: Term, metric: str, entity: str) -> FactExtent:
    """Of the readable facts that carry the term and lie within the bounds."""
    code, channel, member = term.code, None, None
    match term:
        case MetricTerm():
            if metric not in ("", code):
                return FactExtent()
            metric = code
        case EntityTerm():
            if entity not in ("", code):
                return FactExtent()
            entity = code
        case ChannelTerm():
            channel = code
        case MemberTerm():
            member = Dimension(term.dimension, code)
        case RelationTerm():
            return FactExtent()
    return snapshot.reader.fact_extent(
        principal.clearance, metric=metric or None, entity=entity or None, channel=channel, member=member
    )
