"""Rows of a library as they were read, and which of them a caller sees at a time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal

from tests.oracle.calendar_of import FiscalYears
from tests.oracle.glossary import Glossary
from tests.oracle.periods import Days, Unread, read_period
from tests.oracle.world import LABELS, Call, Dims, LibraryPlan, Row, Test

__all__ = ["Figure", "Key", "Rejection", "Shelf", "View"]

_MISSING = ("", "-", "—", "nil", "n.a.", "なし", "无", "#n/a")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


# What a unit counts; another currency is another figure, another kind a mistake.
_KINDS = {"usd": "money", "eur": "money", "persons": "persons"}


@dataclass(frozen=True)
class Key:
    """What a figure is of, without unit and source."""

    metric: str
    entity: str
    days: Days
    channel: str
    dims: Dims


@dataclass(frozen=True)
class Rejection:
    """A row that is refused, by its place in the part from 1."""

    row: int
    reason: str


@dataclass(frozen=True)
class Stored:
    """A row that landed."""

    arrival: int
    batch: int
    key: Key
    unit: str
    row: Row


@dataclass(frozen=True)
class Figure:
    """A figure that a caller sees: one version of what one source says of a key."""

    library: int
    key: Key
    value: str
    unit: str
    source: str
    locator: str
    decimals: int | None
    as_written: str
    version: tuple[int, int] | None  # of how many; None: the source has given one only
    filed: datetime | None
    author: str
    reason: str

    @property
    def number(self) -> Decimal:
        return Decimal(self.value)


@dataclass
class Shelf:
    """One library."""

    number: int
    plan: LibraryPlan
    glossary: Glossary = field(init=False)
    stored: list[Stored] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.glossary = Glossary(self.plan.terms)

    def take(self, batch: int, rows: Sequence[Row], today: date) -> list[Rejection]:
        """Put a batch in; gives the rows that it refuses."""
        refused = []
        for place, row in enumerate(rows, 1):
            reason = self._take_one(batch, row, today)
            if reason:
                refused.append(Rejection(place, reason))
        return refused

    def _take_one(self, batch: int, row: Row, today: date) -> str:
        if not row.metric or not row.entity or not row.source or not (row.locator or row.withdraw):
            return "FACT_FIELD_MISSING"
        metric = self._code("metric", row.metric)
        entity = self._code("entity", row.entity)
        known = self.glossary if batch >= self.plan.glossary_from else Glossary(())
        try:
            days = read_period(row.period, reference=today, language="", years=known.years(entity))
        except Unread:
            return "FACT_PERIOD_MALFORMED"
        if row.withdraw and row.value:
            return "CONTRADICTION"
        if not row.withdraw and row.value.casefold() in _MISSING:
            return "FACT_VALUE_MISSING"
        if not row.withdraw and not _NUMBER.fullmatch(row.value):
            return "FACT_VALUE_MALFORMED"
        term = known.term("metric", metric)
        unit = row.unit or (term.unit if term else "")
        kinds = {_KINDS.get(each.casefold(), "") for each in (unit, term.unit if term else "")} - {""}
        if len(kinds) > 1:
            return "FACT_UNIT_MISMATCH"
        channel = self._code("channel", row.channel) if row.channel else "TOTAL"
        dims = tuple(sorted((axis, self._code("dimension", member, axis)) for axis, member in row.dims))
        key = Key(metric, entity, days, channel, dims)
        self.stored.append(Stored(len(self.stored), batch, key, unit, row))
        return ""

    def _code(self, kind: str, raw: str, axis: str = "") -> str:
        meant = self.glossary.names(kind, axis).read(raw)
        return next(iter(meant)) if len(meant) == 1 else raw


@dataclass
class View:
    """What one call may see of a library."""

    shelf: Shelf
    call: Call
    clearance: str
    now: datetime
    moments: Sequence[datetime]  # when each batch was in

    def __post_init__(self) -> None:
        known_at = self.call.known_at
        bound = self.moments[known_at] if isinstance(known_at, int) else known_at
        self.groups = self._grouped(bound)
        # Names are read as of now, in the glossary and in figures alike; known_at bounds figures.
        self._named = [key for (key, _, _), versions in self._grouped(None).items() if versions]

    def _grouped(self, bound: datetime | None) -> dict[tuple[Key, str, str], list[Stored]]:
        groups: dict[tuple[Key, str, str], list[Stored]] = defaultdict(list)
        for each in self.shelf.stored:
            if each.row.withdraw:
                known = bound is None or self.moments[each.batch] <= bound
            else:
                known = bound is None or self._time(each) <= bound
            if known:
                groups[each.key, each.unit.casefold(), each.row.source].append(each)
        return {place: self._versions(rows, bound) for place, rows in groups.items()}

    def _outdated(self, each: Stored) -> bool:
        """Whether a fiscal period was read before its entity told when its years begin: what it meant is not known."""
        days, years = each.key.days, self.shelf.glossary.years(each.key.entity)
        return bool(days.fiscal) and years.stated and _read_again(each.row.period, days, years) != days

    def _time(self, each: Stored) -> datetime:
        return each.row.filed or self.moments[each.batch]

    def _cleared(self, each: Stored) -> bool:
        label = each.row.label or "INTERNAL"
        return label != "RESTRICTED" and LABELS.index(label) <= LABELS.index(self.clearance)

    def _versions(self, rows: Sequence[Stored], bound: datetime | None) -> list[Stored]:
        """The versions that stand and may be read, in order of filing.

        A row in the words of one before it (same value, place and filing; without a filing: those of the last there)
        takes its place, and with it its label (that of all rows that say it there); one that is the same in everything
        changes nothing. What is pending, or was taken back, is no version; who takes a figure back takes back what he
        may read of it. One value that one filing gives at several places is one version, told by the last row. What
        one row does to another holds from when it came in, whatever filing it tells of.
        """
        versions: list[Stored] = []
        for each in rows:
            if each.row.withdraw:
                versions = [other for other in versions if not self._cleared(other)]
            elif each.row.status != "PENDING":
                place = _same_words(versions, each)
                if place is None or (bound is not None and self.moments[each.batch] > bound):
                    versions.append(each)
                elif not _is_same(versions[place], each):
                    told = [
                        other for other in versions if _beginning(other) == _beginning(each) and _repeats(other, each)
                    ]
                    versions = [*(other for other in versions if other not in told), each]
        read = sorted((each for each in versions if self._cleared(each)), key=self._time)
        return [
            each for place, each in enumerate(read) if place + 1 == len(read) or not _repeats(each, read[place + 1])
        ]

    def codes(self, kind: str, axis: str = "") -> set[str]:
        """Codes of a kind that stand in figures which this call may see."""
        if kind == "dimension":
            return {member for key in self._named for name, member in key.dims if name == axis}
        return {{"metric": key.metric, "entity": key.entity, "channel": key.channel}[kind] for key in self._named}

    def axes(self) -> set[str]:
        """Further axes that the glossary has, or figures which this call may see."""
        return {axis for key in self._named for axis, _ in key.dims} | set(self.shelf.glossary.axes())

    def figures(self, key: Key) -> list[Figure]:
        """What each source says of a key, by the version policy of the call."""
        term = self.shelf.glossary.term("metric", key.metric)
        if term and term.nature and (term.nature == "instant") != key.days.instant:
            return []
        found = self._of_days(key, key.days)
        if not found and key.days.fiscal:
            spans = self.own_spans(key)
            found = self._of_days(key, spans[0]) if len(spans) == 1 else []
        return found

    def _of_days(self, key: Key, days: Days) -> list[Figure]:
        found: list[Figure] = []
        for (other, _, _), versions in self.groups.items():
            if other == replace(key, days=days):
                found.extend(self._chosen([each for each in versions if self._kept(each.row)]))
        return found

    def own_spans(self, key: Key) -> list[Days]:
        """Spans of the figures of an entity that may be what a fiscal period names, though not to the day.

        Where the glossary says when the year begins, both ends lie within a week of what it says (years of 52 and 53
        weeks). Where it does not, a year is what lasts a year and is named by that year, and a part of it lies where
        it must in the only such year.
        """
        term = self.shelf.glossary.term("metric", key.metric)
        if term and term.nature == "instant":
            return []
        years = self.shelf.glossary.years(key.entity)
        spans = {
            each.days
            for (each, _, _), versions in self.groups.items()
            if (each.metric, each.entity) == (key.metric, key.entity)
            and not each.days.instant
            and any(self._kept(version.row) for version in versions)
        }
        if years.stated:
            return sorted(each for each in spans if _beside(each, key.days, 7))
        named = key.days.first.year
        whole = sorted(
            each
            for each in spans
            if 350 <= each.length <= 380 and (each.first if years.named_by == "start" else each.last).year == named
        )
        if key.days.fiscal == "Y" or len(whole) != 1:
            return whole
        weeks, shortest, longest = (26, 170, 195) if key.days.fiscal[0] == "H" else (13, 80, 102)
        begin = whole[0].first + timedelta(weeks=weeks * (int(key.days.fiscal[1]) - 1))
        nominal = Days(begin, begin + timedelta(weeks=weeks, days=-1))
        return sorted(each for each in spans if shortest <= each.length <= longest and _beside(each, nominal, 10))

    def _kept(self, row: Row) -> bool:
        if self.call.valid_at and row.valid_as_of and row.valid_as_of > self.call.valid_at:
            return False
        return all(_holds(test, row) for test in self.call.tests)

    def _chosen(self, versions: list[Stored]) -> Iterable[Figure]:
        last = len(versions)
        if not versions:
            return []
        numbered = list(enumerate(versions, 1))
        if self.call.versions == "AS_REPORTED":
            numbered = numbered[:1]
        elif self.call.versions != "ALL":
            numbered = numbered[-1:]
        return [
            self._figure(each, (number, last) if last > 1 else None)
            for number, each in numbered
            if not self._outdated(each)
        ]

    def _figure(self, each: Stored, version: tuple[int, int] | None) -> Figure:
        row = each.row
        return Figure(
            library=self.shelf.number,
            key=each.key,
            value=row.value,
            unit=each.unit,
            source=row.source,
            locator=row.locator,
            decimals=row.decimals,
            as_written=row.as_written,
            version=version,
            filed=row.filed if version else None,
            author=row.author if version else "",
            reason=row.reason if version else "",
        )


def _same_words(versions: Sequence[Stored], new: Stored) -> int | None:
    here = [place for place, each in enumerate(versions) if _beginning(each) == _beginning(new)]
    if new.row.filed is None:
        here = here[-1:]
    return next((place for place in here if _repeats(versions[place], new)), None)


def _beginning(each: Stored) -> tuple[str, datetime | None]:
    """What a source says at one place in one filing has a history of its own."""
    return each.row.locator, each.row.filed


def _is_same(one: Stored, other: Stored) -> bool:
    """Whether a row is another once more: names and unit may be written otherwise."""
    rows = [
        replace(
            each.row, metric="", entity="", period="", channel="", dims=(), unit="", label=each.row.label or "INTERNAL"
        )
        for each in (one, other)
    ]
    return rows[0] == rows[1]


def _repeats(one: Stored, other: Stored) -> bool:
    """Whether two rows give one value in one filing."""
    return one.row.filed == other.row.filed and Decimal(one.row.value) == Decimal(other.row.value)


def _read_again(raw: str, days: Days, years: FiscalYears) -> Days:
    return read_period(raw, reference=days.last, language="", years=years)


def _beside(one: Days, other: Days, most: int) -> bool:
    return abs((one.first - other.first).days) <= most and abs((one.last - other.last).days) <= most


def _holds(test: Test, row: Row) -> bool:
    value: str | int | None = row.region if test.name == "region" else row.pages
    return _plain(test, value) is not test.negated


def _plain(test: Test, value: str | int | None) -> bool:
    if test.operator == "present":
        return (value is not None) is test.values[0]
    if value is None:
        return False
    first = test.values[0]
    if test.operator in ("one_of", "eq"):
        return value in test.values
    if test.operator in ("none_of", "ne"):
        return value not in test.values
    below = value < first  # type: ignore[operator]
    if test.operator == "between":
        return not below and value <= test.values[1]  # type: ignore[operator]
    return {"gt": value != first and not below, "gte": not below, "lt": below, "lte": below or value == first}[
        test.operator
    ]
