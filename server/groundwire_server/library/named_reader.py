"""The store as the glossary of today calls what is in it: its figures by their terms' codes, all else untouched."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import product
from typing import TYPE_CHECKING, cast

from groundwire_server.evidence import Dimension, Label, Period, PeriodKind, ReviewStatus
from groundwire_server.glossary import Glossary
from groundwire_server.library.fact_names import FactCodes, FactNames
from groundwire_server.store import (
    FactExtent,
    FactKey,
    FactLine,
    FactPlace,
    FactRecord,
    StoredFact,
    StoreReader,
    extent_of_facts,
    line_of_fact,
    make_fact_id,
)

__all__ = ["named_reader"]


def named_reader(reader: StoreReader, glossary: Glossary, codes: FactCodes) -> StoreReader:
    """A reader that answers by the codes of a glossary, and takes stored ones that it reads otherwise as well.

    The values that one source has given for one figure are versions of one fact, under whichever codes they were
    stored: those share a fact_id then, one of those stored, and each of these leads to all.
    """
    return cast(StoreReader, _NamedReader(reader, glossary, codes))


class _NamedReader:
    """Everything that does not speak of figures is the reader's own."""

    def __init__(self, reader: StoreReader, glossary: Glossary, codes: FactCodes) -> None:
        self._reader = reader
        self._glossary = glossary
        self._codes = codes
        self._known: FactNames | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            return getattr(self._reader, name)

    @property
    def names(self) -> FactNames:
        """What stored codes mean; found by the first question for a figure, since many calls ask for none."""
        if self._known is None:
            self._known = self._codes.names(self._glossary, self._reader)
        return self._known

    def facts(
        self,
        clearance: Label,
        *,
        metric: str | None = None,
        entity: str | None = None,
        channel: str | None = None,
        period: str | None = None,
        days: tuple[date, date] | None = None,
        known_at: datetime | None = None,
    ) -> list[StoredFact]:
        names = self.names
        codes = _stored(names, metric, entity, channel) if names else [(metric, entity, channel)]
        found = [
            fact
            for metric, entity, channel in codes
            for fact in self._reader.facts(
                clearance,
                metric=metric,
                entity=entity,
                channel=channel,
                period=period,
                days=days,
                known_at=known_at,
            )
        ]
        return _named(found, names) if names else found

    def facts_of(
        self, clearance: Label, keys: Sequence[FactKey], *, known_at: datetime | None = None
    ) -> list[list[StoredFact]]:
        if not self.names:
            return self._reader.facts_of(clearance, keys, known_at=known_at)
        return [
            self.facts(
                clearance,
                metric=key.metric,
                entity=key.entity,
                channel=key.channel,
                days=(key.first, key.last),
                known_at=known_at,
            )
            for key in keys
        ]

    def fact_page(
        self,
        clearance: Label,
        *,
        statuses: Collection[ReviewStatus],
        metric: str | None = None,
        entity: str | None = None,
        source_doc: str | None = None,
        all_versions: bool = False,
        after: FactPlace | None = None,
        limit: int,
    ) -> list[StoredFact]:
        """Records as they are stored, since their places are made of these; only the bounds are read anew.

        Of several stored codes the list has one behind the other.
        """
        codes = _stored(self.names, metric, entity, None) if self.names else [(metric, entity, None)]
        found: list[StoredFact] = []
        for stored_metric, stored_entity, _ in sorted(codes, key=lambda each: (each[0] or "", each[1] or "")):
            behind = after
            if after is not None and len(codes) > 1:
                here = (stored_metric or after.metric, stored_entity or after.entity)
                if here < (after.metric, after.entity):
                    continue
                behind = after if here == (after.metric, after.entity) else None
            found += self._reader.fact_page(
                clearance,
                statuses=statuses,
                metric=stored_metric,
                entity=stored_entity,
                source_doc=source_doc,
                all_versions=all_versions,
                after=behind,
                limit=limit - len(found),
            )
            if len(found) >= limit:
                break
        return found

    def fact_lines(
        self,
        clearance: Label,
        *,
        metric: str,
        period: Period,
        channel: str,
        dimensions: Sequence[Dimension] = (),
        known_at: datetime | None = None,
        valid_at: datetime | None = None,
    ) -> list[FactLine]:
        names = self.names
        if not names:
            return self._reader.fact_lines(
                clearance,
                metric=metric,
                period=period,
                channel=channel,
                dimensions=dimensions,
                known_at=known_at,
                valid_at=valid_at,
            )
        if dimensions:
            return self._lines_of_facts(clearance, metric, period, channel, dimensions, known_at, valid_at)
        found = [
            line._replace(entity=names.code("entity", line.entity))
            for stored_metric, _, stored_channel in _stored(names, metric, None, channel)
            for line in self._reader.fact_lines(
                clearance,
                metric=stored_metric or "",
                period=period,
                channel=stored_channel or "",
                known_at=known_at,
                valid_at=valid_at,
            )
        ]
        return _one_history_lines(found)

    def _lines_of_facts(
        self,
        clearance: Label,
        metric: str,
        period: Period,
        channel: str,
        dimensions: Sequence[Dimension],
        known_at: datetime | None,
        valid_at: datetime | None,
    ) -> list[FactLine]:
        wanted = self.names.dimensions(tuple(sorted(dimensions, key=lambda each: each.name)))
        days, instant = (period.first, period.last), period.kind is PeriodKind.INSTANT
        facts = [
            fact
            for fact in self.facts(clearance, metric=metric, channel=channel, days=days, known_at=known_at)
            if fact.record.dimensions == wanted
            and _is_instant(fact.record) is instant
            and fact.record.review_status is not ReviewStatus.PENDING
            and not (
                valid_at is not None and fact.record.valid_as_of is not None and fact.record.valid_as_of > valid_at
            )
        ]
        return sorted(map(line_of_fact, facts), key=lambda line: (line.entity, line.fact_row))

    def fact_rows(self, clearance: Label, rows: Sequence[int]) -> list[StoredFact]:
        names = self.names
        return [_renamed(fact, names) for fact in self._reader.fact_rows(clearance, rows)]

    def fact_codes(self, clearance: Label, axis: str) -> list[str]:
        names = self.names
        return sorted({names.code(axis, code) for code in self._reader.fact_codes(clearance, axis)})

    def fact_members(self, clearance: Label) -> list[Dimension]:
        members = self.names.dimensions(tuple(self._reader.fact_members(clearance)))
        return sorted(set(members), key=lambda member: (member.name, member.member))

    def fact_extent(
        self,
        clearance: Label,
        *,
        metric: str | None = None,
        entity: str | None = None,
        channel: str | None = None,
        member: Dimension | None = None,
    ) -> FactExtent:
        if not self.names:
            return self._reader.fact_extent(clearance, metric=metric, entity=entity, channel=channel, member=member)
        found = self.facts(clearance, metric=metric, entity=entity, channel=channel)
        return extent_of_facts(fact for fact in found if member is None or member in fact.record.dimensions)

    def fact(self, clearance: Label, fact_id: str, *, known_at: datetime | None = None) -> list[StoredFact]:
        names = self.names
        found = self._reader.fact(clearance, fact_id, known_at=known_at)
        if not names or not found:
            return found
        record = _renamed(found[0], names).record
        beside = self.facts(
            clearance,
            metric=record.metric,
            entity=record.entity,
            channel=record.channel,
            days=(record.period_first, record.period_last),
            known_at=known_at,
        )
        whole = make_fact_id(record)
        return [replace(fact, fact_id=fact_id) for fact in beside if make_fact_id(fact.record) == whole]

    def retired_facts(self, clearance: Label, fact_id: str) -> list[StoredFact]:
        names = self.names
        return [_renamed(fact, names) for fact in self._reader.retired_facts(clearance, fact_id)]


_Codes = tuple[str | None, str | None, str | None]


def _stored(names: FactNames, metric: str | None, entity: str | None, channel: str | None) -> list[_Codes]:
    """Every key of metric, entity and channel under which the figures of one may be stored."""
    return list(
        product(names.stored("metric", metric), names.stored("entity", entity), names.stored("channel", channel))
    )


def _renamed(fact: StoredFact, names: FactNames) -> StoredFact:
    record = fact.record
    metric, entity = names.code("metric", record.metric), names.code("entity", record.entity)
    channel, dimensions = names.code("channel", record.channel), names.dimensions(record.dimensions)
    if (metric, entity, channel, dimensions) == (record.metric, record.entity, record.channel, record.dimensions):
        return fact
    return replace(fact, record=replace(record, metric=metric, entity=entity, channel=channel, dimensions=dimensions))


def _named(facts: list[StoredFact], names: FactNames) -> list[StoredFact]:
    """By today's codes, in the order of `StoreReader.facts`."""
    renamed = [_renamed(fact, names) for fact in facts]
    if all(new is old for new, old in zip(renamed, facts, strict=True)):
        return sorted(facts, key=_order)
    by_key: dict[str, list[StoredFact]] = {}
    for fact in renamed:
        by_key.setdefault(make_fact_id(fact.record), []).append(fact)
    return sorted((fact for versions in by_key.values() for fact in _one_history(versions)), key=_order)


def _one_history(versions: list[StoredFact]) -> list[StoredFact]:
    """The versions of one fact under one id. What was loaded again under another code is no further version."""
    ids = {fact.fact_id for fact in versions}
    if len(ids) == 1:
        return versions
    kept: list[StoredFact] = []
    for fact in sorted(versions, key=lambda each: _order(each)[1:]):
        if not any(fact.fact_id != before.fact_id and _says_the_same(fact, before) for before in kept):
            kept.append(fact)
    return [replace(fact, fact_id=min(ids)) for fact in kept]


def _says_the_same(one: StoredFact, other: StoredFact) -> bool:
    return _saying(one.record) == _saying(other.record)


def _saying(record: FactRecord) -> tuple[object, ...]:
    return (record.value, record.unit, record.filed_at, record.source_doc, record.locator, record.review_status)


def _one_history_lines(lines: list[FactLine]) -> list[FactLine]:
    """As `_one_history`, for lines."""
    by_key: dict[tuple[str, str, str], list[FactLine]] = {}
    for line in lines:
        by_key.setdefault((line.entity, line.unit.casefold(), line.source), []).append(line)
    found: list[FactLine] = []
    for group in by_key.values():
        if len({line.fact_id for line in group}) == 1:
            found += group
            continue
        kept: list[FactLine] = []
        for line in sorted(group, key=lambda each: (each.stated_at, each.fact_row)):
            if not any(line.fact_id != before.fact_id and _same_line(line, before) for before in kept):
                kept.append(line)
        one = min(line.fact_id for line in group)
        found += [line._replace(fact_id=one) for line in kept]
    return sorted(found, key=lambda line: (line.entity, line.fact_row))


def _same_line(one: FactLine, other: FactLine) -> bool:
    return (one.value, one.unit, one.filed_at, one.source_doc, one.locator) == (
        other.value,
        other.unit,
        other.filed_at,
        other.source_doc,
        other.locator,
    )


def _order(fact: StoredFact) -> tuple[str, datetime, int]:
    return (fact.fact_id, fact.record.filed_at or fact.recorded_at, fact.fact_row)


def _is_instant(record: FactRecord) -> bool:
    return record.period_first == record.period_last and "/" not in record.period
