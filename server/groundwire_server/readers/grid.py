"""The cells of a table in their places: cells that span others count in each, heads stand beside every row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from groundwire_server.readers.table_heads import find_heads
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
    [(1, 'Region; Q1'), (2, 'Region: EMEA; Q1: 12')]
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

    def put(self, text: str, across: int = 1, down: int = 1, *, below: bool = False) -> None:
        """Add a cell that covers `across` columns and `down` rows; beyond 2,000 columns it is not placed.

        Args:
            below: it goes on with the cell above it, whose text it has then.
        """
        row = self._rows[-1]
        if below and len(self._rows) > 1:
            text = self._rows[-2].cells.get(self._column, "")
        while self._column in row.cells:
            self._column += 1
        for column in range(self._column, min(self._column + across, _MAX_COLUMNS)):
            row.cells[column] = text
            if down > 1:
                self._below[column] = (text, down - 1)
        self._column += across
        self.columns = max(self.columns, min(self._column, _MAX_COLUMNS))

    def lines(self) -> Iterator[tuple[int, str]]:
        """(number of the row from 1, its text with the heads beside the cells), the rows of heads too.

        Where no row is marked as one of heads, they are told as `find_heads` does. A cell that covers several columns
        of one head stands there once.
        """
        rows = [[row.cells.get(column, "") for column in range(self.columns)] for row in self._rows]
        first, behind, names = self._marked(rows) or _found(rows) or (0, 0, ())
        for number, cells in enumerate(rows):
            if first <= number < behind:
                line = row_text((), list(dict.fromkeys(cells)))
            else:
                heads = names if number >= behind else ()
                for column in range(len(cells) - 1, 0, -1):
                    if cells[column] == cells[column - 1] and heads[column : column + 1] == heads[column - 1 : column]:
                        cells[column] = ""
                line = row_text(heads, cells)
            if line:
                yield number + 1, line

    def _marked(self, rows: list[list[str]]) -> tuple[int, int, tuple[str, ...]] | None:
        """First of the rows of heads, the row behind them, and one head a column: the texts of all, each once."""
        count = sum(row.is_head for row in self._rows)
        if not 0 < count < len(rows):
            return None
        columns = zip(*rows[:count], strict=True)
        return 0, count, tuple(" ".join(dict.fromkeys(filter(None, map(str.strip, column)))) for column in columns)


def _found(rows: list[list[str]]) -> tuple[int, int, tuple[str, ...]] | None:
    found = find_heads(rows)
    return None if found is None else (found.first, found.first + found.rows, found.names)
