"""Files of figures to rows: JSON lines by field, and tables (CSV, XLSX, Parquet) by cell, sheet after sheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby, islice

from groundwire_server.errors import DocumentRefused, ErrorReason, RowRefused
from groundwire_server.ingest.cell_value import DecimalMark
from groundwire_server.ingest.fact_heading import LOOKAHEAD, find_heading
from groundwire_server.ingest.fact_layout import Layout, TableFigure
from groundwire_server.ingest.fact_mapping import FactMapping
from groundwire_server.ingest.json_rows import read_json_rows
from groundwire_server.ingest.sheet_figures import read_sheet_figures
from groundwire_server.readers import ReadOptions
from groundwire_server.readers.cell_process import stream_rows
from groundwire_server.readers.cells import BLANK, Cell, SheetRow
from groundwire_server.readers.csv_table import CsvRows
from groundwire_server.readers.document import Source
from groundwire_server.readers.encoding import decode_text

__all__ = ["FactTable", "Sheets", "open_table", "read_jsonl_table", "read_sheets"]

FactTable = Iterator[tuple[int, dict[str, object] | RowRefused]]


@dataclass(frozen=True, slots=True)
class Sheets:
    """The rows of a file, sheet after sheet.

    decimal: the mark of numbers that are written out. chosen: all sheets were asked for.
    """

    rows: Iterable[SheetRow]
    decimal: DecimalMark
    chosen: bool


def read_jsonl_table(raw: bytes, mapping: FactMapping) -> FactTable:
    """(line from 1, fields by name or why there are none) of each line with content."""
    for number, row in read_json_rows(raw):
        yield number, row if isinstance(row, RowRefused) else mapping.apply(row)


def open_table(name: str, form: str, raw: bytes, mapping: FactMapping, options: ReadOptions) -> Sheets:
    """The rows of a table; packed files are read in a process of their own, while the rows are used.

    Args:
        form: "csv", "parquet" or "xlsx".

    Raises:
        DocumentRefused: it cannot be read, here or on the way.
    """
    table = mapping.table
    if form == "csv":
        rows = CsvRows(name, decode_text(name, raw, table.charset), table.delimiter)
        decimal: DecimalMark = "" if rows.delimiter == ";" else "."
        return Sheets(_csv_rows(name, rows), decimal if table.decimal is None else table.decimal, True)
    decimal = "." if table.decimal is None else table.decimal
    source = Source(name, raw, options=options)
    if form == "parquet":
        return Sheets(stream_rows("parquet", source), decimal, True)
    return Sheets(stream_rows("xlsx", source, table.sheets), decimal, bool(table.sheets))


def _csv_rows(name: str, rows: CsvRows) -> Iterator[SheetRow]:
    """Raises DocumentRefused where a quote is left open: what stands behind it may be anything."""
    for number, cells in rows:
        if rows.warnings:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_BROKEN,
                f"{name}: it is no CSV; row {number} opens a quotation mark that nothing closes.",
                hint="Write the file again with its quotes doubled.",
                details={"row": str(number)},
            )
        if any(cells):
            yield SheetRow("", number, tuple(Cell(cell) if cell else BLANK for cell in cells))


def read_sheets(sheets: Sheets, layout: Layout) -> Iterator[tuple[int, TableFigure | RowRefused]]:
    """(row, figure or why there is none) over all sheets.

    A sheet that nobody named and that has no heading of figures is refused by itself, as row 0, while another has one.

    Raises:
        DocumentRefused: no sheet has a heading of figures.
    """
    refusal: DocumentRefused | None = None
    left_out: list[tuple[str, DocumentRefused]] = []
    read = 0
    for sheet, group in groupby(sheets.rows, key=lambda row: row.sheet):
        rows = iter(group)
        first = list(islice(rows, LOOKAHEAD))
        try:
            heading = find_heading(first, layout)
        except DocumentRefused as error:
            if sheets.chosen:
                raise
            refusal = refusal or error
            left_out.append((sheet, error))
            continue
        read += 1
        yield from read_sheet_figures(heading, chain(first, rows), layout)
    if not read:
        raise refusal or _nothing(layout)
    for sheet, fault in left_out:
        why = f"{sheet}: {fault.message} Say in the mapping which sheets are to be read."
        yield 0, RowRefused(fault.reason, why, column="sheet", value=sheet)


def _nothing(layout: Layout) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.FACT_FIELD_MISSING,
        f"{layout.name}: the heading has no metric, entity, period, value; it has nothing.",
        hint="Name the columns after the fields, or say in a mapping where they stand.",
        details={"field": "metric"},
    )
