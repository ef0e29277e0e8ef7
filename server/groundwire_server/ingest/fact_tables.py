"""Files of figures to rows by column: CSV and JSON lines."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator

from groundwire_server.errors import DocumentRefused, ErrorReason, RowRefused
from groundwire_server.ingest.fact_mapping import FACT_FIELDS, FactMapping
from groundwire_server.ingest.json_rows import read_json_rows
from groundwire_server.readers.encoding import decode_text

__all__ = ["FactTable", "read_csv_table", "read_jsonl_table"]

FactTable = Iterator[tuple[int, dict[str, object] | RowRefused]]

_REQUIRED = ("metric", "entity", "period", "value")
_DELIMITERS = (",", ";", "\t")
_LONGEST_CELL = 1 << 20


def read_jsonl_table(raw: bytes, mapping: FactMapping) -> FactTable:
    """(line from 1, fields by name or why there are none) of each line with content."""
    for number, row in read_json_rows(raw):
        yield number, row if isinstance(row, RowRefused) else mapping.apply(row)


def read_csv_table(name: str, raw: bytes, mapping: FactMapping) -> FactTable:
    """(row from 1, the heading counted; cells by field) of each row that is not blank. An empty cell is None.

    The delimiter is the comma, semicolon or tab that the heading holds most of.

    Raises:
        DocumentRefused: it is no text, has no heading, or the heading lacks a field that every figure needs.
    """
    rows = _rows(name, decode_text(name, raw))
    _, heading = next(rows, (1, []))
    columns = [_column(cell) for cell in heading]
    _check_heading(name, columns, mapping)
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        extra = [cell for cell in cells[len(columns) :] if cell.strip()]
        if extra:
            why = f"The row has {len(cells)} cells, the heading {len(columns)}."
            yield number, RowRefused(ErrorReason.VALUE_MALFORMED, why, column="", value=extra[0])
            continue
        row = {column: cell.strip() or None for column, cell in zip(columns, cells, strict=False) if column}
        yield number, mapping.apply(row)


def _rows(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    counts = Counter(text.partition("\n")[0])
    delimiter = max(_DELIMITERS, key=lambda sign: counts[sign])
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        yield from enumerate(reader, 1)
    except csv.Error:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_BROKEN, f"{name}: it is no CSV.", hint="A quotation mark may be left open."
        ) from None
    finally:
        csv.field_size_limit(limit)


def _column(cell: str) -> str:
    """A heading's cell; fields and axes are known in any case."""
    shown = cell.strip().removeprefix("\ufeff")
    folded = shown.casefold()
    if folded.startswith(("dimension.", "dimensions.")):
        return f"dimensions.{shown.partition('.')[2].strip()}"
    return folded if folded in FACT_FIELDS or folded == "filed_at" else shown


def _check_heading(name: str, columns: list[str], mapping: FactMapping) -> None:
    doubled = [column for column, count in Counter(columns).items() if column and count > 1]
    if doubled:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"{name}: column {doubled[0][:80]!r} stands twice in the heading.",
            details={"field": doubled[0][:80]},
        )
    there = {*mapping.apply(dict.fromkeys(columns)), *mapping.constants}
    lacking = [field for field in _REQUIRED if field not in there]
    if lacking:
        shown = ", ".join(column[:40] for column in columns if column) or "nothing"
        raise DocumentRefused(
            ErrorReason.FACT_FIELD_MISSING,
            f"{name}: the heading has no {', '.join(lacking)}; it has {shown}.",
            hint="Name the columns after the fields, or say in a mapping where they stand.",
            details={"field": lacking[0]},
        )
