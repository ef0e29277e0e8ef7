"""The cells of one sheet as people see them, row by row: hidden rows and columns left out, merged cells filled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.container import refuse_hidden_entities
from groundwire_server.readers.number_format import format_number
from groundwire_server.readers.sheet_part import CellParts, SheetPart, is_true, whole
from groundwire_server.readers.table_heads import is_amount
from groundwire_server.readers.table_text import MAX_COLUMNS, TableRow
from groundwire_server.readers.xlsx_parts import Workbook, local_name, rich_text

__all__ = ["SheetCells", "read_sheet"]

_MAX_FILLS = 200_000
_EVENTS = ("col", "row", "mergeCell")


@dataclass(slots=True)
class SheetCells:
    """The cells of a sheet that are seen, and what was left out.

    rows: by number from 1; of each the texts by column from 0, blank ones left out.
    hidden_rows, hidden_columns: how many that hold something are hidden.
    uncomputed: formulas without a value; first_uncomputed: where, e.g. "B2".
    unfilled: merged areas whose cells beyond the first stayed blank, for there are too many.
    """

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    uncomputed: int = 0
    first_uncomputed: str = ""
    unfilled: int = 0

    @property
    def hidden_rows(self) -> int:
        """How many rows are hidden."""
        return len(self.hidden)

    def table(self) -> Iterator[TableRow]:
        """The rows in order, a blank one where rows are missing that are not hidden."""
        before = 0
        for number, cells in self.rows.items():
            if any(row not in self.hidden for row in range(before + 1, min(number, before + len(self.hidden) + 2))):
                yield before + 1, ()
            width = max(cells, default=-1) + 1
            line = [""] * width
            for column, text in cells.items():
                line[column] = text
            yield number, line
            before = number


def read_sheet(
    doc_id: str, name: str, content: bytes, workbook: Workbook, *, max_chars: int, max_depth: int
) -> SheetCells:
    """The cells of a sheet.

    Args:
        name: of the sheet, for messages. content: its part of the file.
        max_chars: of the texts of all cells together. max_depth: elements within each other.

    Raises:
        DocumentRefused: DOCUMENT_BROKEN (no well-formed XML, cells where no sheet has any), DOCUMENT_TOO_LARGE.
    """
    return _Reading(doc_id, name, workbook, max_chars, max_depth).through(content)


class _Reading:
    def __init__(self, doc_id: str, name: str, workbook: Workbook, max_chars: int, max_depth: int) -> None:
        self._doc_id = doc_id
        self._name = name
        self._part = SheetPart(doc_id, name, workbook)
        self._left = max_chars
        self._max_chars = max_chars
        self._max_depth = max_depth
        self._merged: list[tuple[int, int, int, int]] = []
        self._hidden_columns: list[tuple[int, int]] = []
        self._cells = SheetCells()

    def through(self, content: bytes) -> SheetCells:
        """Element by element; what was read is let go."""
        refuse_hidden_entities(self._doc_id, f"sheet {self._name[:80]}", content, self._max_depth)
        for element in self._part.elements(content, _EVENTS):
            self._take(element)
        self._fill_merged()
        return self._cells

    def _take(self, element: etree._Element) -> None:
        name = local_name(element.tag)
        if name == "row":
            self._take_row(element)
        elif name == "col" and is_true(element.get("hidden")):
            first, last = whole(element.get("min")), whole(element.get("max"))
            self._hidden_columns.append((first - 1, min(last, MAX_COLUMNS) - 1))
        elif name == "mergeCell":
            self._merged.append(self._part.area(element))

    def _take_row(self, element: etree._Element) -> None:
        number = self._part.row_number(element)
        cells: dict[int, str] = {}
        for column, cell in self._part.cells(element):
            text = self._text(CellParts.of(cell), cell.get("r") or "").strip()
            if text:
                self._count(len(text))
                cells[column] = text
        if is_true(element.get("hidden")):
            self._cells.hidden.add(number)
        elif cells:
            self._cells.rows[number] = cells
        for first, last in self._hidden_columns:
            for hidden in [at for at in cells if first <= at <= last]:
                self._cells.hidden_columns.add(hidden)
                del cells[hidden]

    def _text(self, cell: CellParts, reference: str) -> str:
        if cell.kind == "inlineStr":
            return "" if cell.inline is None else rich_text(cell.inline)
        if cell.value is None:
            if cell.has_formula:
                self._cells.uncomputed += 1
                self._cells.first_uncomputed = self._cells.first_uncomputed or reference
            return ""
        match cell.kind:
            case "s":
                return self._part.shared_text(cell.value)
            case "b":
                return "TRUE" if cell.value.strip() == "1" else "FALSE"
            case "n":
                return self._number(cell.value, cell.style)
            case _:
                return cell.value

    def _number(self, value: str, style: str | None) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        if not math.isfinite(number):
            return value
        return format_number(number, self._part.format_code(style), since_1904=self._part.workbook.since_1904)

    def _count(self, chars: int) -> None:
        self._left -= chars
        if self._left < 0:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{self._doc_id}: the cells of sheet {self._name[:80]!r} hold more than the limit of {self._max_chars} "
                "characters.",
                hint="Split the workbook, or raise limits.max_text_chars.",
                details={"max_text_chars": str(self._max_chars)},
            )

    def _fill_merged(self) -> None:
        """A text in merged cells holds for each of them; a number stands once, and so does a title of its own row."""
        left = _MAX_FILLS
        rows = self._cells.rows
        last_used = max((max(cells, default=0) for cells in rows.values()), default=0)
        for first_row, first, last_row, last in self._merged:
            text = rows.get(first_row, {}).get(first, "")
            others = any(not first <= column <= last for column in rows.get(first_row, ()))
            if not text or (not others and last > first):
                continue
            end = first if is_amount(text) else min(last, last_used)
            down = [row for row in range(first_row, min(last_row, first_row + left + 1) + 1) if row in rows]
            if (filled := len(down) * (end - first + 1)) > left:
                self._cells.unfilled += 1
                continue
            left -= filled
            self._count(len(text) * filled)
            for row in down:
                for column in range(first, end + 1):
                    if column not in self._cells.hidden_columns:
                        rows[row].setdefault(column, text)
