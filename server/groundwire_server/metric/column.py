"""The figures of one metric, period and channel for every entity at once, for sums over thousands of them.

What is kept here is what `FigureReader.find` would give entity by entity in the latest version; only the few that
are shown are read whole.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter, itemgetter
from weakref import WeakKeyDictionary

from groundwire_server.evidence import Dimension, FactVersion, Label, Period
from groundwire_server.glossary import FiscalCalendar, Glossary
from groundwire_server.metric.conflict import conflicting_values, most_precise
from groundwire_server.metric.exit import statement_id
from groundwire_server.metric.figures import Figure, FigureReader, version_numbers
from groundwire_server.metric.fiscal import Days, is_outdated
from groundwire_server.metric.units import unit_key
from groundwire_server.store import FactLine, StoreReader

__all__ = [
    "Calendars",
    "FigureColumn",
    "calendars_of",
    "figures_of_many",
    "single_line",
    "whole_figures",
]

# Of one state of a library, for all calls: lines of some 600 bytes.
_MOST_KEPT = 100_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """What each entity has.

    Attributes:
        lines: the figure to compute with by entity: of sources that agree the most precise one.
        conflicting: entities whose sources disagree beyond their precision: none to compute with.
        unlike: entities with figures in several units.
        versions: of the facts that have several, how many.
        repeats: by fact_row, of lines that say what versions before them said, how many these are.
    """

    lines: Mapping[str, FactLine]
    conflicting: frozenset[str] = frozenset()
    unlike: frozenset[str] = frozenset()
    versions: Mapping[str, int] = field(default_factory=dict)
    repeats: Mapping[int, int] = field(default_factory=dict)
    _ids: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    def snippet_ids(self, library_id: str, lines: Sequence[FactLine], repeats: Mapping[int, int]) -> tuple[str, ...]:
        """Ids of the snippets of lines, each made once.

        Args:
            repeats: those of the column, and of lines that were found beside it.
        """
        known = self._ids
        for line in lines:
            if line.fact_row not in known:
                known[line.fact_row] = _snippet_id(library_id, line, repeats.get(line.fact_row, 0))
        return tuple([known[line.fact_row] for line in lines])


def figures_of_many(
    figures: FigureReader,
    glossary: Glossary,
    metric: str,
    days: Period,
    channel: str,
    dimensions: Sequence[Dimension] = (),
) -> FigureColumn:
    """The latest figures of every entity that the caller may see, at its known_at and valid_at; kept with the state.

    The call's filter is not applied: where it has one, `FigureReader.find` is to be asked.

    Args:
        glossary: of the state, which tells fiscal years: what was read by other ones answers nothing.
    """
    options = figures.call.options
    clearance = min(figures.call.principal.clearance, Label.CONFIDENTIAL)
    kept = _kept_of(figures.reader)
    key = (clearance, metric, days.first, days.last, days.kind, channel, tuple(dimensions))
    whole = (*key, options.known_at, options.valid_at)
    column = kept.get(whole)
    if column is None:
        lines = figures.reader.fact_lines(
            clearance,
            metric=metric,
            period=days,
            channel=channel,
            dimensions=dimensions,
            known_at=options.known_at,
            valid_at=options.valid_at,
        )
        column = _column(_of_today(lines, (days.first, days.last), figures.reader, glossary))
        kept.put(whole, column, len(lines))
    return column


def single_line(latest: Iterable[FactLine]) -> tuple[FactLine | None, bool]:
    """The figure to compute with of the latest values of all sources, and whether they are in several units.

    Where they agree it is the most precise one. None: sources that disagree leave none to compute with.
    """
    ordered = sorted(latest, key=lambda line: (line.unit.casefold(), line.source, line.fact_id))
    unlike = len({unit_key(line.unit) for line in ordered}) > 1
    if conflicting_values((line.fact_row, line.value, line.unit, line.decimals) for line in ordered):
        return None, unlike
    return most_precise(ordered, lambda line: (line.value, line.decimals)), unlike


def _snippet_id(library_id: str, line: FactLine, repeat: int) -> str:
    """Id of the snippet of a line: as `fact_snippet_id` gives it for the whole figure."""
    filed = "" if line.filed_at is None else (_EPOCH + timedelta(microseconds=line.filed_at)).isoformat()
    parts = (line.value, line.unit, filed, line.source_doc, line.locator)
    return statement_id(library_id, line.fact_id, parts, repeat)


def whole_figures(
    figures: FigureReader, lines: Sequence[FactLine], versions: Mapping[str, int], repeats: Mapping[int, int]
) -> list[Figure]:
    """The whole figures of some lines, in their order.

    Args:
        versions: how many versions there are of the facts that have several.
        repeats: as in `FigureColumn`.
    """
    clearance = min(figures.call.principal.clearance, Label.CONFIDENTIAL)
    found: list[Figure] = []
    for fact in figures.reader.fact_rows(clearance, [line.fact_row for line in lines]):
        record, count = fact.record, versions.get(fact.fact_id, 1)
        version = FactVersion(count, count, record.filed_at, record.author, record.reason) if count > 1 else None
        found.append(Figure(figures.library_id, fact, version, True, repeats.get(fact.fact_row, 0)))
    return found


def _of_today(lines: list[FactLine], days: Days, reader: StoreReader, glossary: Glossary) -> list[FactLine]:
    """Without those for fiscal periods that were read by another fiscal year than the entity tells today.

    Args:
        days: of all of them.
    """
    if not any(line.period.startswith("FY") for line in lines):
        return lines
    calendars = calendars_of(reader, glossary)

    def outdated(line: FactLine) -> bool:
        told = glossary.knows_fiscal_year(line.entity)
        return is_outdated(line.period, days, calendars.of(line.entity), told=told)

    return [line for line in lines if not outdated(line)]


def _column(lines: list[FactLine]) -> FigureColumn:
    singles = {line.entity: line for line in lines}
    if len(singles) == len(lines):  # one source and version each, as nearly always
        return FigureColumn(singles)
    conflicting: set[str] = set()
    unlike: set[str] = set()
    versions: dict[str, int] = {}
    repeats: dict[int, int] = {}
    for entity, group in groupby(lines, key=itemgetter(0)):
        own = list(group)
        if len(own) == 1:
            continue
        latest: dict[str, FactLine] = {}
        said: Counter[tuple[object, ...]] = Counter()
        for line in sorted(own, key=attrgetter("stated_at", "fact_row")):
            before = latest.get(line.fact_id)
            if before is not None and version_numbers((before, line))[-1] > 1:
                versions[line.fact_id] = versions.get(line.fact_id, 1) + 1
            latest[line.fact_id] = line
            statement = (line.fact_id, line.value, line.unit, line.filed_at, line.source_doc, line.locator)
            if said[statement]:
                repeats[line.fact_row] = said[statement]
            said[statement] += 1
        single, of_unlike = single_line(latest.values())
        if of_unlike:
            unlike.add(entity)
        if single is None:
            conflicting.add(entity)
            del singles[entity]
        else:
            singles[entity] = single
    return FigureColumn(singles, frozenset(conflicting), frozenset(unlike), versions, repeats)


class Calendars:
    """The fiscal years of entities, each found out once. Equal ones are one object."""

    def __init__(self, glossary: Glossary) -> None:
        self.glossary = glossary
        self._of: dict[str, FiscalCalendar] = {}
        self._each: dict[FiscalCalendar, FiscalCalendar] = {}

    def of(self, entity: str) -> FiscalCalendar:
        """That of an entity."""
        found = self._of.get(entity)
        if found is None:
            calendar = self.glossary.fiscal_calendar(entity)
            found = self._of[entity] = self._each.setdefault(calendar, calendar)
        return found


def calendars_of(reader: StoreReader, glossary: Glossary) -> Calendars:
    """The fiscal years that a glossary tells, kept with the state of the library."""
    kept = _kept_of(reader)
    if kept.calendars is None or kept.calendars.glossary is not glossary:
        kept.calendars = Calendars(glossary)
    return kept.calendars


class _Kept:
    """Columns of one state, those that were asked for last."""

    def __init__(self) -> None:
        self._columns: OrderedDict[object, tuple[FigureColumn, int]] = OrderedDict()
        self._lines = 0
        self._lock = threading.Lock()
        self.calendars: Calendars | None = None

    def get(self, key: object) -> FigureColumn | None:
        with self._lock:
            if key not in self._columns:
                return None
            self._columns.move_to_end(key)
            return self._columns[key][0]

    def put(self, key: object, column: FigureColumn, lines: int) -> None:
        if lines > _MOST_KEPT:
            return
        with self._lock:
            if key in self._columns:
                return
            self._columns[key] = column, lines
            self._lines += lines
            while self._lines > _MOST_KEPT:
                _, (_, gone) = self._columns.popitem(last=False)
                self._lines -= gone


_KEPT: WeakKeyDictionary[StoreReader, _Kept] = WeakKeyDictionary()
_LOCK = threading.Lock()


def _kept_of(reader: StoreReader) -> _Kept:
    with _LOCK:
        return _KEPT.setdefault(reader, _Kept())
