"""Cells of a table with what is stored beside what is seen, and how they travel between processes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

__all__ = ["BLANK", "Cell", "CellKind", "SheetRow", "decode_row", "encode_row"]


class CellKind(Enum):
    """What a cell holds."""

    TEXT = "t"
    NUMBER = "n"
    DAY = "d"
    """A day or time; `stored` is in ISO form."""
    TRUTH = "b"
    ERROR = "e"
    """An error of a spreadsheet, e.g. #DIV/0!."""
    UNFILLED = "u"
    """A formula whose value was never stored; `text` is empty."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell.

    text: as people see it, without outer blanks.
    stored: of a number its exact decimal text, of a day its ISO form; else empty.
    format: code of the number format; empty where a file has none.
    """

    text: str
    kind: CellKind = CellKind.TEXT
    stored: str = ""
    format: str = ""

    def __bool__(self) -> bool:
        return bool(self.text) or self.kind is CellKind.UNFILLED


BLANK = Cell("")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row that is not blank.

    sheet: its name; empty where a file has no sheets. number: from 1, as a spreadsheet counts. hidden: people do not
    see it, or what stands in `hidden_columns` (from 0) of it.
    """

    sheet: str
    number: int
    cells: tuple[Cell, ...]
    hidden: bool = False
    hidden_columns: frozenset[int] = frozenset()


def encode_row(row: SheetRow) -> list[Any]:
    """A row as JSON."""
    cells = [
        cell.text if cell.kind is CellKind.TEXT else [cell.text, cell.kind.value, cell.stored, cell.format]
        for cell in row.cells
    ]
    return [row.sheet, row.number, cells, row.hidden, sorted(row.hidden_columns)]


def decode_row(raw: list[Any]) -> SheetRow:
    """The inverse of `encode_row`.

    >>> row = SheetRow("PL", 3, (Cell("12%", CellKind.NUMBER, "0.12", "0%"), BLANK))
    >>> decode_row(encode_row(row)) == row
    True
    """
    sheet, number, cells, hidden, columns = raw
    return SheetRow(
        sheet,
        number,
        tuple(
            (Cell(cell) if cell else BLANK) if isinstance(cell, str) else Cell(cell[0], CellKind(cell[1]), *cell[2:])
            for cell in cells
        ),
        hidden,
        frozenset(columns),
    )
