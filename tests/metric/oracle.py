"""QueryMetric once more, in plain loops over a list of rows. It shares no code with the house.

What periods and names mean it does not read: the generator writes them, and says what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

Days = tuple[str, str, bool]  # first, last, whether it is a day alone


@dataclass(frozen=True)
class Row:
    """A filed value as the generator made it. `number`: place in the order of writing; `label`: 1 to 4."""

    number: int
    metric: str
    entity: str
    days: Days
    channel: str
    unit: str
    value: str
    source: str
    filed: datetime | None
    recorded: datetime
    label: int
    pending: bool
    decimals: int | None
    valid: datetime | None

    @property
    def moment(self) -> datetime:
        return self.filed or self.recorded


@dataclass(frozen=True)
class Asked:
    """A query by what it means: codes that each name may mean (none: unknown), and the days (None: unreadable)."""

    metrics: tuple[str, ...]
    entities: tuple[str, ...]
    days: Days | None
    channels: tuple[str, ...]
    nature: dict[str, str]


@dataclass(frozen=True)
class Seen:
    """How the caller reads."""

    clearance: int
    known: datetime | None
    valid: datetime | None
    policy: str


@dataclass(frozen=True)
class Expected:
    """kind, then for unrecognized the parameter and whether it is ambiguous, for found the figures and the conflict.

    A figure: (value, unit, source, version, latest version, conflicting); version 0 where there is one only.
    """

    kind: str
    param: str = ""
    ambiguous: bool = False
    figures: tuple[tuple[str, str, str, int, int, bool], ...] = ()
    conflicting: bool = False


def answer(asked: Asked, seen: Seen, rows: list[Row]) -> Expected:
    """What must come of a query."""
    slots = (
        ("metric", len(asked.metrics)),
        ("entity", len(asked.entities)),
        ("period", 0 if asked.days is None else 1),
        ("channel", len(asked.channels)),
    )
    if any(count == 0 for _, count in slots):
        param, count = next(slot for slot in slots if slot[1] != 1)
        return Expected("unrecognized", param, count > 1)
    assert asked.days is not None
    days = asked.days
    readings = [
        _reading(metric, entity, days, channel, asked, seen, rows)
        for metric in asked.metrics
        for entity in asked.entities
        for channel in asked.channels
    ]
    doubtful = [name for name, count in slots if count > 1]
    if not doubtful:
        return _found(readings[0]) if readings[0] else Expected("not_found")
    having = [reading for reading in readings if reading]
    if len(having) == 1:
        return _found(having[0])
    everything = [figure for reading in readings for figure in reading]
    values = {(Fraction(row.value), row.unit.lower()) for row, _, _ in everything}
    whole = all(number in (0, last) for _, number, last in everything)
    if len(having) == len(readings) and len(values) == 1 and whole:
        return _found(everything)
    return Expected("unrecognized", doubtful[0], True)


Figure = tuple[Row, int, int]


def _reading(
    metric: str, entity: str, days: Days, channel: str, asked: Asked, seen: Seen, rows: list[Row]
) -> list[Figure]:
    nature = asked.nature.get(metric, "")
    if (nature == "flow" and days[2]) or (nature == "instant" and not days[2]):
        return []
    by_fact: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        if (row.metric, row.entity, row.days, row.channel) != (metric, entity, days, channel):
            continue
        if row.pending or row.label > min(seen.clearance, 3):
            continue
        if seen.known is not None and row.moment > seen.known:
            continue
        if seen.valid is not None and row.valid is not None and row.valid > seen.valid:
            continue
        by_fact.setdefault((row.unit.lower(), row.source, metric, entity), []).append(row)
    figures: list[Figure] = []
    for key in sorted(by_fact):
        filed = sorted(by_fact[key], key=lambda row: (row.moment, row.number))
        # What one filing says in several places is one version, and the last of these tells it.
        versions = [
            row
            for row, later in zip(filed, [*filed[1:], None], strict=True)
            if later is None or later.filed != row.filed or Fraction(later.value) != Fraction(row.value)
        ]
        count = len(versions)
        numbers = {"LATEST": [count], "AS_REPORTED": [1], "ALL": list(range(1, count + 1))}[seen.policy]
        several = count > 1
        figures += [(versions[n - 1], n if several else 0, count if several else 0) for n in numbers]
    return figures


def _found(figures: list[Figure]) -> Expected:
    last: dict[tuple[str, str, str, str], Row] = {}
    for row, _, _ in figures:
        last[row.metric, row.entity, row.unit.lower(), row.source] = row
    clashing = set()
    for one in last:
        for other in last:
            if one != other and one[2] == other[2] and _disagree(last[one], last[other]):
                clashing.add(one)
    shown = tuple(
        (
            row.value,
            row.unit,
            row.source,
            number,
            count,
            (row.metric, row.entity, row.unit.lower(), row.source) in clashing,
        )
        for row, number, count in figures
    )
    return Expected("found", figures=shown, conflicting=bool(clashing))


def _disagree(one: Row, other: Row) -> bool:
    apart = abs(Fraction(one.value) - Fraction(other.value))
    return apart != 0 and apart >= _width(one) + _width(other)


def _width(row: Row) -> Fraction:
    places = len(row.value.partition(".")[2]) if row.decimals is None else row.decimals
    return Fraction(1, 2) / Fraction(10) ** places
