"""Rows of figures to stored values: every digit kept, every row judged by itself (semantics 10; formats.md, Facts)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Dimension, Label, Period, ReviewStatus
from groundwire_server.glossary import (
    TOTAL,
    Ambiguous,
    Glossary,
    NameIndex,
    PeriodError,
    Resolved,
    parse_period,
    resolve_name,
)
from groundwire_server.ingest.fact_mapping import FactMapping
from groundwire_server.ingest.fact_rows import FactFields, fields_of_row
from groundwire_server.ingest.fact_tables import FactTable, read_csv_table, read_jsonl_table
from groundwire_server.ingest.fact_values import (
    check_attributes,
    check_code,
    check_decimals,
    check_text,
    read_decimal,
    refuse,
)
from groundwire_server.store.rows import FactRecord, make_fact_id

__all__ = ["FactFields", "FactRules", "read_fact", "read_fact_file"]

_EMPTY = Glossary()
_LONGEST_TEXT = 4096
_MOST_AXES = 32
# A period that is another one from another day counts from the day of asking, and is no name of a stored period.
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
    name: str, form: str, raw: bytes, mapping_toml: str, rules: FactRules
) -> Iterator[tuple[int, FactRecord | RowRefused]]:
    """(row from 1, the heading counted; value or why there is none) of each row of a file, in order.

    A row with `versions` gives one value a version, all with its number. Rows that give one key and source different
    values, and do not say which was filed when, are all refused: none of them is picked.

    Args:
        name: source_doc of rows that name none.
        form: "jsonl" or "csv".
        mapping_toml: where fields stand; empty: under their own names.

    Raises:
        DocumentRefused: the file as a whole cannot be read.
        InvalidRequest: the mapping does not hold.
    """
    mapping = FactMapping.from_toml(mapping_toml)
    table = read_csv_table(name, raw, mapping) if form == "csv" else read_jsonl_table(raw, mapping)
    place = "row" if form == "csv" else "line"
    yield from _refuse_contradictions(list(_records(name, place, table, rules)))


def _records(
    name: str, place: str, table: FactTable, rules: FactRules
) -> Iterator[tuple[int, FactRecord | RowRefused]]:
    reader = _Reader(rules)
    for number, row in table:
        if isinstance(row, RowRefused):
            yield number, row
            continue
        try:
            # A row counts with all of its versions or not at all.
            given = fields_of_row(row, name, f"{place}={number}")
            yield from [(number, reader.record(fields)) for fields in given]
        except RowRefused as refused:
            yield number, refused


def _refuse_contradictions(
    rows: list[tuple[int, FactRecord | RowRefused]],
) -> Iterator[tuple[int, FactRecord | RowRefused]]:
    """Refuse every row of a key and source that has several values filed at one time: none of them can be picked.

    A value that waits for review contradicts none that does not.
    """
    groups: dict[tuple[str, datetime | None, bool], list[tuple[int, FactRecord]]] = {}
    for number, record in rows:
        if isinstance(record, FactRecord):
            pending = record.review_status is ReviewStatus.PENDING
            groups.setdefault((make_fact_id(record), record.filed_at, pending), []).append((number, record))
    refused: dict[int, RowRefused] = {}
    for group in groups.values():
        if len({Decimal(record.value) for _, record in group}) > 1:
            numbers = sorted({number for number, _ in group})
            listed = ", ".join(str(number) for number in numbers[:5]) + (" ..." if len(numbers) > 5 else "")
            why = (
                "One metric, entity, period, channel, unit and source has different values, and it is not said which"
                f" was filed later: {'rows' if len(numbers) > 1 else 'row'} {listed}."
            )
            refused |= {number: refuse(ErrorReason.CONTRADICTION, "value", each.value, why) for number, each in group}
    told: set[int] = set()
    for number, record in rows:
        if number not in refused:
            yield number, record
        elif number not in told:
            told.add(number)
            yield number, refused[number]


@dataclass(slots=True)
class _Reader:
    """Reads records by one set of rules, and remembers what names mean."""

    rules: FactRules
    _codes: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def glossary(self) -> Glossary:
        return self.rules.glossary if self.rules.glossary is not None else _EMPTY

    def record(self, fields: FactFields) -> FactRecord:
        """Raises RowRefused."""
        metric = self._code("metric", fields.metric, self.glossary.metric_names)
        entity = self._code("entity", fields.entity, self.glossary.entity_names)
        period = self._period(fields.period, entity)
        value = read_decimal(fields.value)
        source_doc = check_code("source_doc", _needed("source_doc", fields.source_doc))
        locator = check_text("locator", _needed("locator", fields.locator))
        return FactRecord(
            metric=metric,
            entity=entity,
            period=period.canonical,
            period_first=period.first,
            period_last=period.last,
            channel=self._code("channel", fields.channel.strip() or TOTAL, self.glossary.channel_names),
            value=value,
            unit=self._unit(metric, fields.unit),
            source_doc=source_doc,
            locator=locator,
            dimensions=self._dimensions(fields.dimensions),
            decimals=check_decimals(fields.decimals),
            as_written=_short("as_written", fields.as_written) or _as_written(fields.value, value),
            valid_as_of=fields.valid_as_of,
            filed_at=fields.filed_at,
            review_status=fields.review_status,
            author=_short("author", fields.author),
            reason=_short("reason", fields.reason),
            label=self.rules.default_label if fields.label is None else fields.label,
            attributes=check_attributes(fields.attributes),
            source=fields.source if fields.source != source_doc else "",
        )

    def _code(self, column: str, raw: str, names: NameIndex | None) -> str:
        key = (column, raw)
        if key not in self._codes:
            self._codes[key] = _resolve(column, _needed(column, raw), names)
        return self._codes[key]

    def _period(self, raw: str, entity: str) -> Period:
        text = _needed("period", raw)
        fiscal = self.glossary.fiscal_calendar(entity)
        try:
            first, second = (
                parse_period(text, reference=day, fiscal_year_start=fiscal.start, fiscal_year_named_by=fiscal.named_by)
                for day in _ANY_DAYS
            )
        except PeriodError as error:
            raise refuse(ErrorReason.FACT_PERIOD_MALFORMED, "period", text, f"{error}.") from None
        if first != second:
            why = f"{text[:200]!r} counts from the day of asking."
            raise refuse(ErrorReason.FACT_PERIOD_MALFORMED, "period", text, why)
        return first

    def _unit(self, metric: str, raw: str) -> str:
        unit = check_text("unit", _short("unit", raw))
        term = self.glossary.metrics.get(metric)
        if term is None or not term.unit:
            return unit
        if unit and unit.casefold() != term.unit.casefold():
            why = f"{metric} is measured in {term.unit}, and nothing is converted."
            raise refuse(ErrorReason.FACT_UNIT_MISMATCH, "unit", unit, why)
        return unit or term.unit

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
