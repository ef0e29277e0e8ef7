"""Stored figures as a list, for review and export: one source and version each, under the codes that they were stored
under; only what bounds the list, and whether another source disagrees, goes by the glossary (semantics 10)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Call, FactVersion, Label, Principal, ReviewStatus, Snippet
from groundwire_server.glossary import Resolved
from groundwire_server.metric.conflict import conflicting_figures
from groundwire_server.metric.exit import fact_snippet
from groundwire_server.metric.figures import Figure, FigureReader, period_of, repeat_of, version_numbers
from groundwire_server.metric.request import VersionPolicy
from groundwire_server.metric.vocabulary import vocabulary_of
from groundwire_server.store import FactPlace, FactRecord, StoredFact
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["FactWish", "ListedFact", "list_facts"]

_VISIBLE = frozenset({ReviewStatus.AUTO_APPROVED, ReviewStatus.APPROVED})
_MOST_SUGGESTIONS = 5


@dataclass(frozen=True, slots=True)
class FactWish:
    """Which figures to list: empty names bound nothing.

    status: None: those that answer queries. all_versions: else the last of each figure in that state.
    """

    metric: str = ""
    entity: str = ""
    source_doc: str = ""
    status: ReviewStatus | None = None
    all_versions: bool = False

    @property
    def statuses(self) -> Collection[ReviewStatus]:
        """States that are asked for."""
        return _VISIBLE if self.status is None else frozenset({self.status})


@dataclass(frozen=True, slots=True)
class ListedFact:
    """A figure with its citation, and its place in the list."""

    snippet: Snippet
    place: FactPlace


def list_facts(
    wish: FactWish, snapshot: Snapshot, principal: Principal, after: FactPlace | None, limit: int
) -> tuple[list[ListedFact], bool]:
    """Up to `limit` figures behind a place, and whether there are more.

    Raises:
        InvalidRequest: UNKNOWN_NAME, nothing knows the metric or entity, or it means several.
    """
    codes = {axis: _code(axis, getattr(wish, axis), wish, snapshot, principal) for axis in ("metric", "entity")}
    facts = snapshot.reader.fact_page(
        min(principal.clearance, Label.CONFIDENTIAL),
        statuses=wish.statuses,
        metric=codes["metric"],
        entity=codes["entity"],
        source_doc=wish.source_doc or None,
        all_versions=wish.all_versions,
        after=after,
        limit=limit + 1,
    )
    desk = _Desk(wish, snapshot, principal)
    listed = [desk.listed(fact) for fact in facts[:limit] if principal.may_read(fact.record.label)]
    return listed, len(facts) > limit


def _code(axis: str, raw: str, wish: FactWish, snapshot: Snapshot, principal: Principal) -> str | None:
    """The code that a text means: one that figures carry goes before a name of the glossary."""
    if not raw:
        return None
    if snapshot.reader.fact_page(
        min(principal.clearance, Label.CONFIDENTIAL),
        statuses=wish.statuses,
        metric=raw if axis == "metric" else None,
        entity=raw if axis == "entity" else None,
        all_versions=True,
        limit=1,
    ):
        return raw
    vocabulary = vocabulary_of(snapshot, principal)
    resolve = vocabulary.resolve_metric if axis == "metric" else vocabulary.resolve_entity
    resolution = resolve(raw)
    if isinstance(resolution, Resolved):
        return resolution.code
    near = getattr(resolution, "candidates", ()) or getattr(resolution, "suggestions", ())
    listed = f"; near: {', '.join(near[:_MOST_SUGGESTIONS])}" if near else ""
    raise InvalidRequest.one(axis, ErrorReason.UNKNOWN_NAME, f"{raw[:80]!r} names no {axis} here{listed}")


class _Desk:
    """Makes snippets of the figures of one page. What stands beside a figure under its key is read once."""

    def __init__(self, wish: FactWish, snapshot: Snapshot, principal: Principal) -> None:
        self._wish = wish
        self._snapshot = snapshot
        self._clearance = min(principal.clearance, Label.CONFIDENTIAL)
        every = VersionPolicy.ALL
        self._figures = FigureReader(snapshot.library_id, snapshot.stored, Call(principal), every, folds=False)
        self._named = FigureReader(snapshot.library_id, snapshot.reader, Call(principal), VersionPolicy.ALL)
        self._language = detect_language(f"{wish.metric} {wish.entity}")
        self._beside: dict[tuple[object, ...], list[Figure]] = {}
        self._filed: dict[str, list[StoredFact]] = {}

    def listed(self, fact: StoredFact) -> ListedFact:
        """A figure, its version, and whether another source disagrees with it."""
        beside = self._under_its_key(fact.record)
        filed = self._values(fact, beside)
        place = [each.fact_row for each in filed].index(fact.fact_row)
        numbers = version_numbers([each.record for each in filed])
        record = fact.record
        version = FactVersion(numbers[place], numbers[-1], record.filed_at, record.author, record.reason)
        figure = Figure(
            self._snapshot.library_id,
            fact,
            version if numbers[-1] > 1 else None,
            place == len(filed) - 1,
            repeat_of(fact, filed[:place]),
        )
        is_pending = record.review_status is ReviewStatus.PENDING
        named, own_id = self._as_named(fact, beside)
        clashing = conflicting_figures([*named, figure] if is_pending else named)
        snippet = fact_snippet(
            figure,
            self._snapshot.glossary,
            self._language,
            conflicting=(figure.library_id, own_id) in clashing,
        )
        return ListedFact(snippet, self._place(fact, filed))

    def _as_named(self, fact: StoredFact, beside: list[Figure]) -> tuple[list[Figure], str]:
        """What stands beside a figure by the codes of the glossary, and the id that it has there."""
        if not self._snapshot.fact_names:
            return beside, fact.fact_id
        (named,) = self._snapshot.reader.fact_rows(self._clearance, [fact.fact_row]) or [fact]
        record = named.record
        found = self._named.find(record.metric, record.entity, period_of(record), record.channel, record.dimensions)
        alike = [each.fact.fact_id for each in found if each.fact.fact_row == fact.fact_row]
        return found, alike[0] if alike else fact.fact_id

    def _under_its_key(self, record: FactRecord) -> list[Figure]:
        """Every visible version of every source for the key of a figure."""
        key = (
            record.metric,
            record.entity,
            record.period_first,
            record.period_last,
            period_of(record).kind,
            record.channel,
            record.dimensions,
        )
        if key not in self._beside:
            self._beside[key] = self._figures.find(
                record.metric, record.entity, period_of(record), record.channel, record.dimensions
            )
        return self._beside[key]

    def _values(self, fact: StoredFact, beside: list[Figure]) -> list[StoredFact]:
        """The filed values of a figure in order; pending ones count only in a list of pending ones."""
        if self._wish.status is not ReviewStatus.PENDING:
            return [each.fact for each in beside if each.fact.fact_id == fact.fact_id]
        if fact.fact_id not in self._filed:
            self._filed[fact.fact_id] = self._snapshot.reader.fact(self._clearance, fact.fact_id)
        return self._filed[fact.fact_id]

    def _place(self, fact: StoredFact, filed: list[StoredFact]) -> FactPlace:
        record, stated_at, equals = fact.record, None, 0
        if self._wish.all_versions:
            stated_at = _stated_at(fact)
            same = [each.fact_row for each in filed if _stated_at(each) == stated_at and self._is_asked_for(each)]
            equals = same.index(fact.fact_row) + 1
        return FactPlace(
            metric=record.metric,
            entity=record.entity,
            period_first=record.period_first,
            period_last=record.period_last,
            channel=record.channel,
            dimensions=record.dimensions,
            source=record.source or record.source_doc,
            fact_id=fact.fact_id,
            stated_at=stated_at,
            equals=equals,
        )

    def _is_asked_for(self, fact: StoredFact) -> bool:
        """Whether it stands in the list too, which may be that of one document or state."""
        record = fact.record
        return record.review_status in self._wish.statuses and self._wish.source_doc in ("", record.source_doc)


def _stated_at(fact: StoredFact) -> datetime:
    return fact.record.filed_at or fact.recorded_at
