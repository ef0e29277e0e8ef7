"""Rows of figures to stored values: every digit kept, every row judged by itself (semantics 10; formats.md, Facts)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeVar

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Attribute, Dimension, Label, Period, PeriodKind
from groundwire_server.glossary import (
    TOTAL,
    Ambiguous,
    FiscalCalendar,
    Glossary,
    NameIndex,
    PeriodError,
    Resolved,
    parse_period,
    resolve_name,
)
from groundwire_server.ingest.cell_value import DECIMAL_COMMA, CellRules, without_notes
from groundwire_server.ingest.fact_layout import Layout, TableFigure
from groundwire_server.ingest.fact_mapping import FactMapping
from groundwire_server.ingest.fact_periods import note_of_period, says_nothing_more
from groundwire_server.ingest.fact_rows import FactFields, fields_of_row, text_of
from groundwire_server.ingest.fact_tables import open_table, read_jsonl_table, read_sheets
from groundwire_server.ingest.fact_values import (
    check_attributes,
    check_code,
    check_decimals,
    check_text,
    read_decimal,
    refuse,
)
from groundwire_server.ingest.fact_xbrl import read_company_facts
from groundwire_server.ingest.field_columns import SCALE
from groundwire_server.ingest.measure_reading import read_title, split_measure
from groundwire_server.ingest.measures import NO_MEASURE, Measure
from groundwire_server.ingest.money_signs import MoneySigns
from groundwire_server.ingest.row_spool import FactRow, RowSpool
from groundwire_server.ingest.settling import settle
from groundwire_server.ingest.typed_cell import read_figure
from groundwire_server.ingest.unit_kinds import kind_of_unit
from groundwire_server.ingest.unit_words import read_scale, same_unit
from groundwire_server.readers import ReadOptions
from groundwire_server.store.rows import FactRecord

__all__ = ["FactFields", "FactRules", "read_fact", "read_fact_file"]

K = TypeVar("K")
T = TypeVar("T")

_MOST_KEPT = 50_000

_EMPTY = Glossary()
_NO_ATTRIBUTES: tuple[Attribute, ...] = ()
_NO_DIMENSIONS: tuple[Dimension, ...] = ()
_NO_PERIOD = Period("", PeriodKind.INTERVAL, date.min, date.min)
_LONGEST_TEXT = 4096
_MOST_AXES = 32
# A period that is another one from another day counts from the day of asking, and is no name of a stored period.
_CALENDAR = FiscalCalendar()
_ANY_DAYS = (date(2000, 1, 15), date(2013, 7, 20))


@dataclass(frozen=True, slots=True)
class FactRules:
    """How a library reads figures.

    glossary: turns names into codes, fills a missing unit, and knows fiscal years; None: names are codes.
    default_label: of rows that say none.
    """

    glossary: Glossary | None = None
    default_label: Label = Label.INTERNAL


def read_fact(fields: FactFields, rules: FactRules) -> FactRecord:
    """The stored value that a record states.

    A name that no term has is stored as its own code, in NFKC without outer blanks, and can be asked for by it. When a
    glossary learns the name later, its figures are to be loaded again.

    Raises:
        RowRefused: FACT_FIELD_MISSING, FACT_VALUE_MISSING, FACT_VALUE_MALFORMED, FACT_PERIOD_MALFORMED,
            FACT_UNIT_MISMATCH, VALUE_MALFORMED, or UNKNOWN_NAME for a name that means several things.
    """
    return _Reader(rules).record(fields)


def read_fact_file(
    name: str, form: str, raw: bytes, mapping_toml: str, rules: FactRules, options: ReadOptions | None = None
) -> Iterator[FactRow]:
    """(row from 1, the heading counted; value or why there is none) of each row of a file, in order.

    The file is read to its end before this returns; what is returned is used up once. A row with `versions` gives one
    value a version, a row of a wide table one value a column, all with its number; row 0 speaks of a sheet. Rows that
    give one key and source different values, and do not say which was filed when, are all refused: none of them is
    picked.

    Args:
        name: source_doc of rows that name none.
        form: "csv", "jsonl", "parquet", "xbrl_json" or "xlsx".
        mapping_toml: where fields stand; empty: under their own names.
        options: bounds of reading a packed file; None: the defaults.

    Raises:
        DocumentRefused: the file as a whole cannot be read.
        InvalidRequest: the mapping does not hold.
    """
    mapping = FactMapping.from_toml(mapping_toml)
    reader = _Reader(rules)
    match form:
        case "jsonl":
            mapping.refuse_table("a file of JSON lines")
            rows = _Rows(reader, name, "line", read_jsonl_table(raw, mapping))
        case "xbrl_json":
            mapping.refuse_table("a file of company facts")
            rows = _Rows(reader, name, "value", read_company_facts(name, raw, mapping, reader.knows))
        case _:
            return _read_table(name, form, raw, mapping, reader, options)
    spool = RowSpool()
    for row in rows.read():
        spool.add(row)
    return spool.rows()


class _Kept(dict[K, T]):
    """What was read before; forgotten when there is too much of it."""

    def __setitem__(self, key: K, value: T) -> None:
        if len(self) >= _MOST_KEPT:
            self.clear()
        super().__setitem__(key, value)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows by field, and the figures that they state."""

    reader: _Reader
    name: str
    place: str
    table: Iterable[tuple[int, Mapping[str, object] | RowRefused]]

    def read(self) -> Iterator[FactRow]:
        for number, row in self.table:
            if isinstance(row, RowRefused):
                yield number, row
                continue
            try:
                # A row counts with all of its versions or not at all.
                given = fields_of_row(row, self.name, f"{self.place}={number}")
                yield from [(number, self.reader.record(fields)) for fields in given]
            except RowRefused as refused:
                yield number, refused


def _read_table(
    name: str, form: str, raw: bytes, mapping: FactMapping, reader: _Reader, options: ReadOptions | None
) -> Iterator[FactRow]:
    sheets = open_table(name, form, raw, mapping, options or ReadOptions())
    layout = Layout(name, mapping, reader.reads_period, by_cell=form == "xlsx")
    figures = _Figures(reader, name, CellRules(decimal=sheets.decimal))
    spool = RowSpool()
    either_way = False
    for number, figure in read_sheets(sheets, layout):
        if isinstance(figure, RowRefused):
            spool.add((number, figure))
            continue
        try:
            record, doubtful = figures.read(figure)
            spool.add((number, record), either_way=doubtful)
        except RowRefused as refused:
            either_way |= refused.message.endswith(DECIMAL_COMMA)
            spool.add((number, refused))
    why = "Other rows have a decimal comma, so this value may be read in two ways; say decimal in the mapping."
    return spool.rows(refuse_either_way=why if either_way else "")


@dataclass(slots=True)
class _Figures:
    """Figures of tables to stored values."""

    reader: _Reader
    name: str
    rules: CellRules
    _heads: _Kept[tuple[str, str, bool], tuple[str, Measure]] = field(default_factory=lambda: _Kept())
    _units: _Kept[tuple[str, str, bool], Measure] = field(default_factory=lambda: _Kept())

    def read(self, figure: TableFigure) -> tuple[FactRecord, bool]:
        """The stored value, and whether another decimal mark would make another number of it. Raises RowRefused."""
        try:
            return self._read(figure)
        except RowRefused as refused:
            raise RowRefused.of([_at(figure, fault) for fault in (refused, *refused.further)]) from None

    def _read(self, figure: TableFigure) -> tuple[FactRecord, bool]:
        row = dict(figure.fields)
        label = text_of(row, "metric")
        metric, beside = self._metric(label, figure.signs)
        row["metric"] = metric
        row["entity"] = self.reader.known_name("entity", text_of(row, "entity"))
        row["channel"] = self.reader.known_name("channel", text_of(row, "channel"))
        row["period"] = self._period(text_of(row, "period"))
        unit = text_of(row, "unit")
        said = self._unit(unit, figure.signs).over(beside)
        scale = text_of(row, SCALE)
        row.pop(SCALE, None)
        if scale and said.power is None:
            said = replace(said, power=read_scale(scale))
        term_unit = self.reader.unit_of(metric)
        spellings = [each for each in (unit, term_unit) if each]
        cell_rules = CellRules(self.rules.decimal, figure.signs)
        number = read_figure(figure.cell, cell_rules, spellings)
        settled = settle(
            number,
            said,
            figure.measure,
            term_unit=term_unit,
            name=label,
            shown=figure.cell.text or figure.cell.stored,
            section=figure.section,
        )
        row |= {"value": settled.value, "unit": settled.unit}
        if settled.decimals is not None and row.get("decimals") is None:
            row["decimals"] = settled.decimals
        if row.get("as_written") is None and figure.cell.text != settled.value:
            row["as_written"] = figure.cell.text
        (fields,) = fields_of_row(row, self.name, figure.place)
        return self.reader.record(fields), number.either_way

    def _metric(self, label: str, signs: MoneySigns) -> tuple[str, Measure]:
        """The name of a metric, and what a bracket behind it says of its unit."""
        key = (label, signs.language, signs.traditional)
        if key not in self._heads:
            name, measure = split_measure(label, signs)
            whole = self.reader.known_name("metric", label)
            known = self.reader.knows("metric", whole)
            self._heads[key] = (whole if known else self.reader.known_name("metric", name), measure)
        return self._heads[key]

    def _period(self, text: str) -> str:
        if text and not self.reader.reads_period(text):
            bare = without_notes(text)
            if bare != text and self.reader.reads_period(bare):
                return bare
        return text

    def _unit(self, unit: str, signs: MoneySigns) -> Measure:
        """What a unit column says; a unit that nobody knows is kept as it stands."""
        if not unit:
            return NO_MEASURE
        key = (unit, signs.language, signs.traditional)
        if key not in self._units:
            said = read_title(unit, signs) or Measure(unit=unit)
            self._units[key] = replace(said, unit=unit) if said.unit.casefold() == unit.casefold() else said
        return self._units[key]


def _at(figure: TableFigure, fault: RowRefused) -> RowRefused:
    """A fault with the column and the cell of its figure."""
    column = figure.column if fault.column == "value" else fault.column
    message = f"{figure.where}: {fault.message}" if figure.where else fault.message
    return RowRefused(fault.reason, message, column=column, value=fault.value)


@dataclass(slots=True)
class _Reader:
    """Reads records by one set of rules, and remembers what names mean."""

    rules: FactRules
    _codes: _Kept[tuple[str, str], str] = field(default_factory=lambda: _Kept())
    _known: _Kept[tuple[str, str], bool] = field(default_factory=lambda: _Kept())
    _term_units: _Kept[str, str] = field(default_factory=lambda: _Kept())
    _are_periods: _Kept[str, bool] = field(default_factory=lambda: _Kept())
    _periods: _Kept[tuple[str, str, str], Period] = field(default_factory=lambda: _Kept())

    @property
    def glossary(self) -> Glossary:
        return self.rules.glossary if self.rules.glossary is not None else _EMPTY

    def record(self, fields: FactFields) -> FactRecord:
        """Raises RowRefused, which tells of all that is wrong with the record."""
        faults: list[RowRefused] = []
        metric = _tried(faults, "", lambda: self._code("metric", fields.metric, self.glossary.metric_names))
        entity = _tried(faults, "", lambda: self._code("entity", fields.entity, self.glossary.entity_names))
        period = _tried(faults, _NO_PERIOD, lambda: self._period(fields.period, entity))
        value = _tried(faults, "", lambda: _value(fields))
        source_doc = _tried(faults, "", lambda: check_code("source_doc", _needed("source_doc", fields.source_doc)))
        where = fields.locator if fields.withdraw else _needed("locator", fields.locator)
        locator = _tried(faults, "", lambda: check_text("locator", where))
        said = fields.channel.strip() or TOTAL
        channel = _tried(faults, "", lambda: self._code("channel", said, self.glossary.channel_names))
        unit = _tried(faults, "", lambda: self._unit(metric, fields.unit))
        dimensions = _tried(faults, _NO_DIMENSIONS, lambda: self._dimensions(fields.dimensions))
        decimals = _tried(faults, None, lambda: check_decimals(fields.decimals))
        as_written = _tried(
            faults, "", lambda: _short("as_written", fields.as_written) or _as_written(fields.value, value)
        )
        author = _tried(faults, "", lambda: _short("author", fields.author))
        reason = _tried(faults, "", lambda: _short("reason", fields.reason))
        attributes = _tried(faults, _NO_ATTRIBUTES, lambda: check_attributes(fields.attributes))
        if faults:
            raise RowRefused.of(faults)
        return FactRecord(
            metric=metric,
            entity=entity,
            period=period.canonical,
            period_first=period.first,
            period_last=period.last,
            channel=channel,
            value=value,
            unit=unit,
            source_doc=source_doc,
            locator=locator,
            dimensions=dimensions,
            decimals=decimals,
            as_written=as_written,
            valid_as_of=fields.valid_as_of,
            filed_at=fields.filed_at,
            review_status=fields.review_status,
            author=author,
            reason=reason,
            label=self.rules.default_label if fields.label is None else fields.label,
            attributes=attributes,
            source=fields.source if fields.source != source_doc else "",
            # Who corrects a figure has not seen its label, and does not change it.
            keeps_label=fields.label is None and bool(author),
            withdraw=fields.withdraw,
        )

    def knows(self, kind: str, name: str) -> bool:
        """Whether the glossary has a term of that name, one or several."""
        names = {"metric": self.glossary.metric_names, "entity": self.glossary.entity_names}.get(
            kind, self.glossary.channel_names
        )
        key = (kind, name)
        if key not in self._known:
            found = resolve_name(name, (names,), drop_note=False, suggest=False) if name else None
            self._known[key] = isinstance(found, Resolved | Ambiguous)
        return self._known[key]

    def known_name(self, kind: str, name: str) -> str:
        """A name without the marks of footnotes behind it, where the glossary knows it only so."""
        if not name or self.knows(kind, name):
            return name
        bare = without_notes(name, brackets=kind == "metric")
        return bare if bare != name and self.knows(kind, bare) else name

    def unit_of(self, metric: str) -> str:
        """The unit of a metric in the glossary; empty where it says none, or the name means several."""
        if metric not in self._term_units:
            names = (self.glossary.metric_names,)
            found = resolve_name(metric, names, drop_note=False, suggest=False) if metric else None
            term = self.glossary.metrics.get(found.code) if isinstance(found, Resolved) else None
            self._term_units[metric] = term.unit if term is not None else ""
        return self._term_units[metric]

    def reads_period(self, text: str) -> bool:
        """Whether a text is the name of a period, whatever the fiscal year."""
        if text not in self._are_periods:
            try:
                parse_period(text, reference=_ANY_DAYS[0])
                _refuse_note(text)
            except (PeriodError, RowRefused):
                self._are_periods[text] = False
            else:
                self._are_periods[text] = True
        return self._are_periods[text]

    def _code(self, column: str, raw: str, names: NameIndex | None) -> str:
        key = (column, raw)
        if key not in self._codes:
            self._codes[key] = _resolve(column, _needed(column, raw), names)
        return self._codes[key]

    def _period(self, raw: str, entity: str) -> Period:
        text = _needed("period", raw)
        fiscal = self.glossary.fiscal_calendar(entity)
        key = (text, fiscal.start, fiscal.named_by)
        if key in self._periods:
            return self._periods[key]
        try:
            first, second = (
                parse_period(text, reference=day, fiscal_year_start=fiscal.start, fiscal_year_named_by=fiscal.named_by)
                for day in _ANY_DAYS
            )
        except PeriodError as error:
            raise refuse(ErrorReason.FACT_PERIOD_MALFORMED, "period", text, f"{error}.") from None
        _refuse_note(text, first, fiscal)
        if first != second:
            why = f"{text[:200]!r} counts from the day of asking."
            raise refuse(ErrorReason.FACT_PERIOD_MALFORMED, "period", text, why)
        self._periods[key] = first
        return first

    def _unit(self, metric: str, raw: str) -> str:
        unit = check_text("unit", _short("unit", raw))
        term = self.glossary.metrics.get(metric)
        if term is None or not term.unit:
            return unit
        kind, expected = kind_of_unit(unit), kind_of_unit(term.unit)
        if kind and expected and kind != expected:
            why = f"{metric} is measured in {term.unit}, and {unit} is {kind}."
            raise refuse(ErrorReason.FACT_UNIT_MISMATCH, "unit", unit, why)
        # Another currency makes another figure; another spelling of the same unit does not.
        spelled = same_unit(unit, term.unit) and unit.casefold() != term.unit.casefold()
        return unit if unit and not spelled else term.unit

    def _dimensions(self, given: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        if len(given) > _MOST_AXES:
            why = f"There are {len(given)} axes, at most {_MOST_AXES}."
            raise refuse(ErrorReason.VALUE_OUT_OF_RANGE, "dimensions", "", why)
        found: dict[str, str] = {}
        for dimension in given:
            name = _resolve("dimensions", _needed("dimensions", dimension.name), None)
            if name in found:
                raise refuse(ErrorReason.CONTRADICTION, "dimensions", name, f"Axis {name!r} is given twice.")
            names = self.glossary.member_names.get(name)
            found[name] = self._code(f"dimensions.{name}", dimension.member, names)
        return tuple(Dimension(name, member) for name, member in sorted(found.items()))


def _refuse_note(text: str, period: Period | None = None, fiscal: FiscalCalendar = _CALENDAR) -> None:
    """Raises RowRefused where a note in brackets behind a period makes it another one: "2024 (forecast)".

    Args:
        period: what it names without the note; None: days that a note names are not looked at.
    """
    _, note = note_of_period(text)
    if not note or says_nothing_more(note):
        return
    try:
        other = parse_period(
            note, reference=_ANY_DAYS[0], fiscal_year_start=fiscal.start, fiscal_year_named_by=fiscal.named_by
        )
    except PeriodError:
        why = f"{note[:80]!r} behind the period says that it is none like others; give it a channel or a dimension."
    else:
        if period is None or (other.first, other.last) == (period.first, period.last):
            return
        why = f"{note[:80]!r} behind the period names other days than the period does."
    raise refuse(ErrorReason.FACT_PERIOD_MALFORMED, "period", text, why)


def _tried(faults: list[RowRefused], otherwise: T, read: Callable[[], T]) -> T:
    """What is read; where it is refused, the fault joins the others."""
    try:
        return read()
    except RowRefused as refused:
        faults += (refused, *refused.further)
        return otherwise


def _resolve(column: str, raw: str, names: NameIndex | None) -> str:
    """The code that a name means, or the name itself where it means none. A note in brackets at its end counts here."""
    resolution = resolve_name(raw, (names,) if names is not None else (), drop_note=False, suggest=False)
    if isinstance(resolution, Resolved):
        return resolution.code
    if isinstance(resolution, Ambiguous):
        why = f"{raw[:200]!r} means any of {', '.join(resolution.candidates)}; give one of these codes."
        raise refuse(ErrorReason.UNKNOWN_NAME, column, raw, why)
    return check_code(column, unicodedata.normalize("NFKC", raw).strip())


def _as_written(raw: str, value: str) -> str:
    """What stood there, where the stored form is another."""
    return "" if raw.strip() == value else _short("value", raw)


def _value(fields: FactFields) -> str:
    """The value; none where the figure is taken back."""
    if not fields.withdraw:
        return read_decimal(fields.value)
    if fields.value.strip():
        message = "A figure that is taken back has no value."
        raise RowRefused(ErrorReason.CONTRADICTION, message, column="value", value=fields.value)
    return ""


def _needed(column: str, raw: str) -> str:
    text = raw.strip()
    if not text:
        raise refuse(ErrorReason.FACT_FIELD_MISSING, column, raw, f"{column} is missing.")
    return _short(column, text)


def _short(column: str, raw: str) -> str:
    text = raw.strip()
    if len(text) > _LONGEST_TEXT:
        why = f"{column} has {len(text)} code points, at most {_LONGEST_TEXT}."
        raise refuse(ErrorReason.VALUE_OUT_OF_RANGE, column, text, why)
    return text
