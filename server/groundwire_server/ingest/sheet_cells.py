"""Cells of a sheet: the letters of their columns, what they hold, and how they read as names."""

from __future__ import annotations

import re

from groundwire_server.errors import RowRefused
from groundwire_server.ingest.cell_value import CellRules, read_cell
from groundwire_server.readers.cells import BLANK, Cell, CellKind, SheetRow
from groundwire_server.readers.table_heads import is_amount

__all__ = ["cell_at", "column_letter", "column_number", "day_as_shown", "is_figure", "shown_heading"]


def column_letter(column: int) -> str:
    """
    >>> column_letter(0), column_letter(27)
    ('A', 'AB')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """The place of a column by its letters, from 0."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def is_figure(cell: Cell) -> bool:
    """Whether a cell holds a number, be it written as text."""
    if cell.kind is not CellKind.TEXT:
        return cell.kind is CellKind.NUMBER
    try:
        read_cell(cell.text, CellRules(decimal=""))
    except RowRefused:
        return is_amount(cell.text)
    return True


def shown_heading(cell: Cell) -> str:
    """A heading as text: a day as far as its format shows it, a number without separators."""
    if cell.kind is CellKind.DAY:
        return day_as_shown(cell)
    if cell.kind is CellKind.NUMBER and "," in cell.text:
        return cell.stored
    return " ".join(cell.text.split())


# What a format writes beside a day and that makes another period of it: "FY", "Q1", 期, "Year ended".
_SAYS_MORE = re.compile(r"[^\W\d_年月日]")


def day_as_shown(cell: Cell) -> str:
    """A day as the name of a period: the year, the month or the day, whichever the number format shows.

    Where the format writes words beside it, it is the text that it shows.

    >>> day_as_shown(Cell("Dec-24", CellKind.DAY, "2024-12-31", "mmm-yy"))
    '2024-12'
    """
    code = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", cell.format).casefold()
    day = cell.stored[:10]
    if _SAYS_MORE.search("".join(re.findall(r'"([^"]*)"', cell.format))):
        return " ".join(cell.text.split())
    if not code or "d" in code:
        return day
    return day[:7] if "m" in code else day[:4]


def cell_at(row: SheetRow, column: int) -> Cell:
    """The cell of a row in a column; blank where the row ends before it."""
    return row.cells[column] if 0 <= column < len(row.cells) else BLANK
