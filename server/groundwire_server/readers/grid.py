"""The cells of a table in their places: cells that span others count in each, heads stand beside every row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from groundwire_server.readers.table_rows import row_text

__all__ = ["Grid"]

_MAX_COLUMNS = 2000


@dataclass(slots=True)
class _Row:
    is_head: bool
    cells: dict[int, str] = field(default_factory=dict)


class Grid:
    """Takes a table row by row, and a row cell by cell.

    >>> grid = Grid()
    >>> for row in (("Region", "Q1"), ("EMEA", "12")):
    ...     grid.next_row(is_head=row[0] == "Region")
    ...     for cell in row:
    ...         grid.put(cell)
    >>> list(grid.lines())
    [(2, 'Region: EMEA; Q1: 12')]
    """

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._below: dict[int, tuple[str, int]] = {}
        self._column = 0
        self.columns = 0

    def next_row(self, *, is_head: bool = False) -> None:
        """Begin a row. Heads count only before the first row of data."""
        before = self._rows[-1].is_head if self._rows else True
        row = _Row(is_head and before)
        for column, (text, rows) in list(self._below.items()):
            row.cells[column] = text
            if rows > 1:
                self._below[column] = (text, rows - 1)
            else:
                del self._below[column]
        self._rows.append(row)
        self._column = 0

    def put(self, text: str, across: int = 1, down: int = 1) -> None:
        """Add a cell that covers `across` columns and `down` rows; beyond 2,000 columns it is not placed."""
        row = self._rows[-1]
        while self._column in row.cells:
            self._column += 1
        for column in range(self._column, min(self._column + across, _MAX_COLUMNS)):
            row.cells[column] = text
            if down > 1:
                self._below[column] = (text, down - 1)
        self._column += across
        self.columns = max(self.columns, min(self._column, _MAX_COLUMNS))

    def lines(self) -> Iterator[tuple[int, str]]:
        """(number of the row from 1, its text with the heads beside the cells); rows of heads alone are heads only.

        A cell that covers several columns of one head stands there once.
        """
        heads = [row for row in self._rows if row.is_head]
        if len(heads) == len(self._rows):
            heads = []
        names = self._heads(heads)
        for number, row in enumerate(self._rows, 1):
            if row.is_head and heads:
                continue
            cells = [row.cells.get(column, "") for column in range(self.columns)]
            for column in range(self.columns - 1, 0, -1):
                if cells[column] and cells[column] == cells[column - 1] and names[column] == names[column - 1]:
                    cells[column] = ""
            line = row_text(names if heads else (), cells)
            if line:
                yield number, line

    def _heads(self, heads: list[_Row]) -> list[str]:
        """One head a column: those of all rows of heads, from above, each text once."""
        return [
            " ".join(dict.fromkeys(head for row in heads if (head := row.cells.get(column, "").strip())))
            for column in range(self.columns)
        ]
