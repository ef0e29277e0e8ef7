"""Stored figures that a caller may see, one a source, in the version that was asked for (semantics 10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import groupby

from groundwire_server.evidence import (
    Call,
    Dimension,
    FactVersion,
    Family,
    Filter,
    Label,
    Period,
    PeriodKind,
    ReviewStatus,
    Value,
    matches,
)
from groundwire_server.metric.request import VersionPolicy
from groundwire_server.store import FactKey, FactLine, FactRecord, StoredFact, StoreReader

__all__ = [
    "FACT_ATTRIBUTES",
    "Figure",
    "FigureReader",
    "days_of_spans",
    "is_instant",
    "period_of",
    "repeat_of",
    "version_numbers",
]

FACT_ATTRIBUTES: dict[str, Family] = {
    "channel": Family.TEXT,
    "doc_id": Family.TEXT,
    "entity": Family.TEXT,
    "ingested_at": Family.INSTANT,
    "metric": Family.TEXT,
    "period": Family.PERIOD,
    "unit": Family.TEXT,
    "valid_as_of": Family.INSTANT,
}
"""Attributes that a filter may test of every figure, beside those that were given with it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A filed value that answers. `version` None: its source has given one value only. `latest`: none is later.

    repeat: how many versions of the same source before it say the very same, from the same place and filing.
    """

    library_id: str
    fact: StoredFact
    version: FactVersion | None
    latest: bool
    repeat: int = 0

    @property
    def record(self) -> FactRecord:
        """What was stored."""
        return self.fact.record


@dataclass(frozen=True, slots=True)
class FigureReader:
    """Reads the figures of one library for one call. PENDING values do not exist here, and so hide nothing.

    folds: a figure that stands in several places of one filing is told once, by the last of them.
    ahead: what is stored under keys that were read all at once.
    """

    library_id: str
    reader: StoreReader
    call: Call
    versions: VersionPolicy = VersionPolicy.LATEST
    folds: bool = True
    ahead: dict[FactKey, list[StoredFact]] = field(default_factory=dict, compare=False)

    def read_ahead(self, keys: Iterable[FactKey]) -> None:
        """Read many keys at once, of which figures will be asked for one by one."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self.ahead]
        known_at = self.call.options.known_at
        self.ahead.update(zip(wanted, self.reader.facts_of(self._clearance, wanted, known_at=known_at), strict=True))

    def stated(self, metric: str, entity: str) -> list[StoredFact]:
        """Every visible filed value of a metric of an entity, whatever its period, channel and dimensions."""
        return [fact for fact in self._stored(metric, entity, None, None) if self._is_visible(fact)]

    def find(
        self,
        metric: str,
        entity: str,
        days: Period,
        channel: str,
        dimensions: tuple[Dimension, ...],
        narrowed: Filter | None = None,
    ) -> list[Figure]:
        """The figures for a key, by unit and source, and within a source in order of filing.

        Args:
            days: the period; a span is never answered by an instant nor the reverse.
            narrowed: a further filter, the call's hint.
        """
        instant = days.kind is PeriodKind.INSTANT
        facts = [
            fact
            for fact in self._stored(metric, entity, days, channel)
            if fact.record.dimensions == dimensions and is_instant(fact.record) is instant and self._is_visible(fact)
        ]
        if narrowed is not None:
            facts = [fact for fact in facts if matches(narrowed, _attributes(fact))]
        figures = [figure for _, versions in groupby(facts, key=_fact_id) for figure in self._chosen(list(versions))]
        return sorted(figures, key=_order)

    def _stored(self, metric: str, entity: str, days: Period | None, channel: str | None) -> list[StoredFact]:
        if self.ahead and days is not None and channel is not None:
            held = self.ahead.get(FactKey(metric, entity, channel, days.first, days.last))
            if held is not None:
                return held
        return self.reader.facts(
            self._clearance,
            metric=metric,
            entity=entity,
            channel=channel,
            days=None if days is None else (days.first, days.last),
            known_at=self.call.options.known_at,
        )

    @property
    def _clearance(self) -> Label:
        return min(self.call.principal.clearance, Label.CONFIDENTIAL)

    def _is_visible(self, fact: StoredFact) -> bool:
        options = self.call.options
        record = fact.record
        if record.review_status is ReviewStatus.PENDING or not self.call.principal.may_read(record.label):
            return False
        if options.valid_at is not None and record.valid_as_of is not None and record.valid_as_of > options.valid_at:
            return False
        return options.filter is None or matches(options.filter, _attributes(fact))

    def _chosen(self, versions: list[StoredFact]) -> Iterable[Figure]:
        """The versions that the policy wants, of all that are seen of one fact in order of filing."""
        numbers = version_numbers([fact.record for fact in versions]) if self.folds else [*range(1, len(versions) + 1)]
        last = numbers[-1]
        wanted = {VersionPolicy.LATEST: (last,), VersionPolicy.AS_REPORTED: (1,), VersionPolicy.ALL: range(1, last + 1)}
        for number in wanted[self.versions]:
            at = len(numbers) - 1 - numbers[::-1].index(number)
            fact = versions[at]
            record = fact.record
            place = FactVersion(number, last, record.filed_at, record.author, record.reason) if last > 1 else None
            yield Figure(self.library_id, fact, place, number == last, repeat_of(fact, versions[:at]))


def version_numbers(stated: Sequence[FactRecord | FactLine]) -> list[int]:
    """The number of the version that each filed value of a source is of, from 1; in order of filing.

    A figure that stands in several places of one filing is one version, told by the last of these.
    """
    numbers: list[int] = []
    for place, each in enumerate(stated):
        is_same = bool(numbers) and _is_one_version(stated[place - 1], each)
        numbers.append((numbers[-1] if numbers else 0) + (not is_same))
    return numbers


def _is_one_version(one: FactRecord | FactLine, other: FactRecord | FactLine) -> bool:
    return (
        one.source_doc == other.source_doc
        and one.filed_at == other.filed_at
        and (one.value == other.value or Decimal(one.value) == Decimal(other.value))
    )


def repeat_of(fact: StoredFact, earlier: Sequence[StoredFact]) -> int:
    """How many of the versions before it state what a value states, so that their snippets can be told apart."""
    own = _statement(fact.record)
    return sum(_statement(each.record) == own for each in earlier)


def is_instant(record: FactRecord) -> bool:
    """Whether a stored figure is for a day and not for a span, be it a span of one day."""
    return record.period_first == record.period_last and "/" not in record.period


def days_of_spans(figures: Iterable[Figure]) -> frozenset[tuple[date, date]]:
    """First and last day of figures, those of a day alone left out."""
    records = [figure.record for figure in figures if not is_instant(figure.record)]
    return frozenset((record.period_first, record.period_last) for record in records)


def period_of(record: FactRecord) -> Period:
    """The stored period. Its kind is told by its canonical form."""
    if is_instant(record):
        kind = PeriodKind.INSTANT
    elif "/" in record.period:
        kind = PeriodKind.INTERVAL
    else:
        kind = PeriodKind.FISCAL if record.period.startswith("FY") else PeriodKind.CALENDAR
    return Period(record.period, kind, record.period_first, record.period_last)


def _attributes(fact: StoredFact) -> dict[str, Value]:
    record = fact.record
    values: dict[str, Value] = {attribute.name: attribute.value for attribute in record.attributes}
    values |= {
        "channel": record.channel,
        "doc_id": record.source_doc,
        "entity": record.entity,
        "ingested_at": fact.recorded_at,
        "metric": record.metric,
        "period": period_of(record),
        "unit": record.unit,
    }
    if record.valid_as_of is not None:
        values["valid_as_of"] = record.valid_as_of
    else:
        values.pop("valid_as_of", None)
    return values


def _statement(record: FactRecord) -> tuple[object, ...]:
    return record.value, record.unit, record.filed_at, record.source_doc, record.locator


def _fact_id(fact: StoredFact) -> str:
    return fact.fact_id


def _order(figure: Figure) -> tuple[str, str, str, str, int]:
    record = figure.record
    number = figure.version.version if figure.version is not None else 1
    return (record.unit.casefold(), record.source or record.source_doc, figure.library_id, figure.fact.fact_id, number)
