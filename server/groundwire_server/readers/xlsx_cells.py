"""The cells of a workbook row by row, with the numbers that are stored beside what people see.

Where `xlsx_sheet` makes text of a sheet, this keeps what a figure needs: the stored number with its format, the place
of the cell, and what is hidden. One row is held at a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from lxml import etree

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.cells import BLANK, Cell, CellKind, SheetRow
from groundwire_server.readers.container import (
    Container,
    open_container,
    refuse_hidden_entities,
)
from groundwire_server.readers.date_format import is_date, moment_of
from groundwire_server.readers.document import Source
from groundwire_server.readers.number_format import format_number
from groundwire_server.readers.sheet_part import CellParts, SheetPart, is_true, whole
from groundwire_server.readers.table_heads import is_amount
from groundwire_server.readers.table_text import MAX_COLUMNS
from groundwire_server.readers.xlsx_parts import Sheet, Workbook, local_name, open_workbook, rich_text

__all__ = ["read_workbook_rows", "spreadsheet_number"]

_MAX_AREAS = 100_000
_DIGITS = 15
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_WHOLE = re.compile(r"[-+]?[0-9]{1,30}")

Area = tuple[int, int, int, int]
"""First row (from 1), first column (from 0), last row, last column."""


def read_workbook_rows(source: Source, wanted: Sequence[str]) -> Iterator[SheetRow]:
    """Rows of the sheets in order, blank ones left out.

    Args:
        wanted: names of sheets; empty: all that people see.

    Raises:
        DocumentRefused: no workbook, encrypted, damaged, over a bound; a sheet that is wanted and not there.
    """
    container = open_container(source)
    workbook = open_workbook(container, max_depth=source.options.max_depth)
    for sheet in _chosen(source.doc_id, workbook, wanted):
        yield from _rows(source, container, workbook, sheet)


def _chosen(doc_id: str, workbook: Workbook, wanted: Sequence[str]) -> list[Sheet]:
    with_cells = {sheet.name: sheet for sheet in workbook.sheets if sheet.has_cells}
    lacking = [name for name in wanted if name not in with_cells]
    if lacking:
        raise DocumentRefused(
            ErrorReason.UNKNOWN_NAME,
            f"{doc_id}: there is no sheet {lacking[0][:80]!r}; it has {', '.join(name[:80] for name in with_cells)}.",
            details={"field": "mapping_toml.sheet"},
        )
    if wanted:
        return [with_cells[name] for name in wanted]
    return [sheet for sheet in with_cells.values() if not sheet.hidden]


def _rows(source: Source, container: Container, workbook: Workbook, sheet: Sheet) -> Iterator[SheetRow]:
    content = container.read(sheet.part)
    refuse_hidden_entities(source.doc_id, f"sheet {sheet.name[:80]}", content, source.options.max_depth)
    reading = _Reading(source.doc_id, sheet.name, workbook)
    areas = reading.areas(content) if b"mergeCell" in content else []
    yield from reading.rows(content, areas)


class _Reading:
    def __init__(self, doc_id: str, name: str, workbook: Workbook) -> None:
        self._doc_id = doc_id
        self._name = name
        self._part = SheetPart(doc_id, name, workbook)

    def areas(self, content: bytes) -> list[Area]:
        """Merged areas, which stand behind the rows, by their first row."""
        found: list[Area] = []
        for element in self._part.elements(content, ("row", "mergeCell")):
            if local_name(element.tag) == "mergeCell":
                found.append(self._part.area(element))
                if len(found) > _MAX_AREAS:
                    raise DocumentRefused(
                        ErrorReason.DOCUMENT_TOO_LARGE,
                        f"{self._doc_id}: sheet {self._name[:80]!r} has over {_MAX_AREAS} merged areas.",
                        hint="Take the merging off, or split the workbook.",
                    )
        return sorted(found)

    def rows(self, content: bytes, areas: list[Area]) -> Iterator[SheetRow]:
        hidden_columns: set[int] = set()
        coming = list(reversed(areas))
        open_areas: list[tuple[Area, Cell]] = []
        for element in self._part.elements(content, ("col", "row")):
            if local_name(element.tag) == "col":
                if is_true(element.get("hidden")):
                    first, last = whole(element.get("min")), min(whole(element.get("max")), MAX_COLUMNS)
                    hidden_columns.update(range(max(first - 1, 0), last))
                continue
            number, cells = self._row_of(element)
            while coming and coming[-1][0] <= number:
                area = coming.pop()
                held = cells.get(area[1], BLANK) if area[0] == number else BLANK
                # A title that is alone in its row stands for itself, not for the columns below it.
                alone = area[3] > area[1] and all(area[1] <= column <= area[3] for column in cells)
                if held and not alone:
                    open_areas.append((area, held))
            open_areas = [entry for entry in open_areas if entry[0][2] >= number]
            if cells:
                self._fill(number, cells, open_areas)
                width = max(cells) + 1
                yield SheetRow(
                    self._name,
                    number,
                    tuple(cells.get(column, BLANK) for column in range(width)),
                    is_true(element.get("hidden")),
                    frozenset(column for column in hidden_columns if cells.get(column)),
                )

    def _fill(self, number: int, cells: dict[int, Cell], open_areas: list[tuple[Area, Cell]]) -> None:
        """A text in merged cells holds for each of them; an amount stands once."""
        for (first_row, first, _, last), cell in open_areas:
            if cell.kind is not CellKind.TEXT and is_amount(cell.text):
                continue
            for column in range(first, min(last, MAX_COLUMNS - 1) + 1):
                if (number, column) != (first_row, first):
                    cells.setdefault(column, cell)

    def _row_of(self, element: etree._Element) -> tuple[int, dict[int, Cell]]:
        number = self._part.row_number(element)
        read = ((column, self._cell(CellParts.of(cell))) for column, cell in self._part.cells(element))
        return number, {column: cell for column, cell in read if cell}

    def _cell(self, cell: CellParts) -> Cell:
        if cell.kind == "inlineStr":
            return _text("" if cell.inline is None else rich_text(cell.inline))
        if cell.value is None:
            return Cell("", CellKind.UNFILLED) if cell.has_formula else BLANK
        match cell.kind:
            case "s":
                return _text(self._part.shared_text(cell.value))
            case "b":
                return Cell("TRUE" if cell.value.strip() == "1" else "FALSE", CellKind.TRUTH)
            case "e":
                return Cell(cell.value.strip(), CellKind.ERROR)
            case "d":
                return Cell(cell.value.strip(), CellKind.DAY, cell.value.strip())
            case "n":
                return self._number(cell.value.strip(), cell.style)
            case _:
                return _text(cell.value)

    def _number(self, value: str, style: str | None) -> Cell:
        if not _NUMBER.fullmatch(value) or not math.isfinite(number := float(value)):
            return _text(value)
        code = self._part.format_code(style)
        since_1904 = self._part.workbook.since_1904
        shown = format_number(number, code, since_1904=since_1904).strip()
        if code != "General" and is_date(code.split(";")[0]):
            moment = moment_of(number, since_1904=since_1904)
            if moment is not None:
                return Cell(shown, CellKind.DAY, _iso(moment), code)
        stored = spreadsheet_number(value)
        return Cell(shown or stored, CellKind.NUMBER, stored, code)


def spreadsheet_number(text: str) -> str:
    """The number that a cell stores, as plain decimal text.

    Spreadsheets hold binary numbers and vouch for 15 digits: what is written with more carries the noise of their
    arithmetic, and is rounded to these. Whole numbers are kept as they stand.

    >>> spreadsheet_number("0.12559999999999999"), spreadsheet_number("3.3000000000000003"), spreadsheet_number("12.50")
    ('0.1256', '3.3', '12.50')
    >>> spreadsheet_number("1.2E+7"), spreadsheet_number("1234567890123456789")
    ('12000000', '1234567890123456789')
    """
    if _WHOLE.fullmatch(text):
        return str(int(text))
    number = Decimal(text)
    if len(number.as_tuple().digits) > _DIGITS:
        number = Decimal(repr(float(text)))
        if len(number.as_tuple().digits) > _DIGITS:
            number = Decimal(f"{float(text):.{_DIGITS}g}")
        number = number.normalize() if "." in f"{number:f}" else number
    return f"{number:f}"


def _iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}" if moment.time() == datetime.min.time() else moment.isoformat(timespec="seconds")


def _text(text: str) -> Cell:
    stripped = text.strip()
    return Cell(stripped) if stripped else BLANK
