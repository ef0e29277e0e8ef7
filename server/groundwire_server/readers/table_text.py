"""The rows of a table as lines of text, each with its heads beside its values: "Region: EMEA; 2023: 12.5"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.table_heads import LOOKAHEAD, Heads, find_heads, is_amount
from groundwire_server.readers.table_rows import row_parts
from groundwire_server.readers.text_builder import TextBuilder

__all__ = ["MAX_COLUMNS", "TableRow", "add_table"]

MAX_COLUMNS = 16_384
"""As many as a spreadsheet has."""

_LINE_CHARS = 400  # a chunk of the default size holds such a line, with its heads, whole
_MAX_CELL_CHARS = 1 << 17
_SEPARATOR = "; "

TableRow = tuple[int, Sequence[str]]
"""The row's number for people, from 1, and its cells as people see them; blank ones are empty."""


def add_table(builder: TextBuilder, doc_id: str, rows: Iterable[TableRow], place: Mapping[str, str | int]) -> bool:
    """Add the rows of a sheet to a text, in order; whether there was anything to add.

    Blank rows part one table from the next; what goes on in the columns of the table before keeps its heads.

    Args:
        rows: ascending by number; one at a time is held, but for those that the heads are looked for in.
        place: of the sheet, by key of a locator; "row" is added to it.

    Raises:
        DocumentRefused: DOCUMENT_TOO_LARGE (columns, a cell, the text).
    """
    names: tuple[str, ...] = ()
    amounts: set[int] = set()
    added = False
    for block in _blocks(rows):
        first = list(islice(block, LOOKAHEAD))
        for row, cells in first:
            _check(doc_id, row, cells)
        goes_on = _goes_on(names, amounts, first)
        heads = find_heads([cells for _, cells in first], strict=goes_on)
        if heads is not None or not goes_on:
            names = heads.names if heads else ()
            amounts = {at for _, cells in first for at, cell in enumerate(cells) if is_amount(cell)}
        added |= _add_first(builder, first, names, heads, place)
        for row, cells in block:
            _check(doc_id, row, cells)
            _add_row(builder, row, cells, names, place)
    return added


def _add_first(
    builder: TextBuilder,
    first: Sequence[TableRow],
    names: tuple[str, ...],
    heads: Heads | None,
    place: Mapping[str, str | int],
) -> bool:
    added = False
    for at, (row, cells) in enumerate(first):
        if heads is not None and at < heads.first + heads.rows:
            line = _SEPARATOR.join(dict.fromkeys(row_parts((), cells)))
            added |= builder.add(line, {**place, "row": row}, close=added)
        else:
            _add_row(builder, row, cells, names, place, close=added)
            added = True
    return added


def _add_row(
    builder: TextBuilder,
    row: int,
    cells: Sequence[str],
    names: tuple[str, ...],
    place: Mapping[str, str | int],
    *,
    close: bool = True,
) -> None:
    """A row in one line, or in several that each begin with its first cell, by which people know it."""
    told = row_parts(names, cells)
    if len(told) == 1 and len(names) > 1 and cells[0]:  # a title within the table
        told = row_parts((), cells)
    for line in _lines(told):
        builder.add(line, {**place, "row": row}, close=close)
        close = True


def _lines(told: Sequence[str]) -> Iterator[str]:
    whole = _SEPARATOR.join(told)
    if len(whole) <= _LINE_CHARS:
        if whole:
            yield whole
        return
    line, length = list(told[:1]), len(told[0]) if told else 0
    again = told[:1] if length <= _LINE_CHARS // 2 else []
    for part in told[1:]:
        if length + len(part) > _LINE_CHARS and len(line) > 1:
            yield _SEPARATOR.join(line)
            line = list(again)
            length = sum(map(len, again))
        line.append(part)
        length += len(part) + len(_SEPARATOR)
    if line:
        yield _SEPARATOR.join(line)


def _blocks(rows: Iterable[TableRow]) -> Iterator[Iterator[TableRow]]:
    """Runs of rows between blank ones. Each run must be used up before the next one is asked for."""
    for blank, block in groupby(rows, key=lambda row: not any(row[1])):
        if not blank:
            yield block


def _goes_on(names: tuple[str, ...], amounts: set[int], first: Sequence[TableRow]) -> bool:
    """Whether rows behind a gap belong to the table above it: amounts stand where they stood, or texts fill it all."""
    if not names or any(len(cells) > len(names) for _, cells in first):
        return False
    if amounts:
        return any(at in amounts and is_amount(cell) for _, cells in first for at, cell in enumerate(cells))
    return max(sum(map(bool, cells)) for _, cells in first) == sum(map(bool, names))


def _check(doc_id: str, row: int, cells: Sequence[str]) -> None:
    """Raises DocumentRefused for what no spreadsheet holds: it would fill memory with repeated heads."""
    if len(cells) > MAX_COLUMNS:
        raise _too_large(doc_id, f"row {row} has {len(cells)} columns", "max_columns", MAX_COLUMNS)
    longest = max(map(len, cells), default=0)
    if longest > _MAX_CELL_CHARS:
        raise _too_large(doc_id, f"row {row} has a cell of {longest} characters", "max_cell_chars", _MAX_CELL_CHARS)


def _too_large(doc_id: str, what: str, limit: str, most: int) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.DOCUMENT_TOO_LARGE,
        f"{doc_id}: {what}, at most {most} are read.",
        hint="Check the delimiter, or split the file.",
        details={limit: str(most)},
    )
