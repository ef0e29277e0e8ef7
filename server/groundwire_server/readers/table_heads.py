"""Which rows at the top of a table are its heads. The same rows always give the same answer.

A head is text: no number, no date, no prose. Years and dates are heads where the table has a text before them and no
such thing below them ("Region | 2022 | 2023"). Rows above the heads that fill little of the width are titles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LOOKAHEAD", "Heads", "find_heads", "is_amount"]

LOOKAHEAD = 50
_MOST_TITLES, _MOST_HEAD_ROWS = 20, 3
_LONGEST_HEAD = 120
_LONGEST_NUMBER = 60
_LEAST_SHARE = 0.6

_NUMBER = re.compile(r"[-+−(△▲]*\s*[$€£¥￥]?\s*[-+−]?\d[\d\s,.'’٬_]*(?:[eE][-+]?\d+)?(?:%|％|‰|[$€£¥円元])?\)?")
_DAY = re.compile(
    r"\d{4}[-/.年]\s?\d{1,2}(?:[-/.月]\s?\d{1,2}日?|月)?(?:[T ]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
)
_YEAR = re.compile(r"(?:19|20|21)\d\d")

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads of a table.

    names: by column, empty where there is none. first, rows: the head rows are rows[first : first + rows].
    """

    names: tuple[str, ...]
    first: int
    rows: int


def find_heads(rows: Sequence[Row], *, strict: bool = False) -> Heads | None:
    """The heads among the first rows of a table (none of them blank); None where it has none.

    Args:
        rows: at most `LOOKAHEAD` are looked at; cells as people see them, blank ones empty.
        strict: a column of numbers or dates must stand below a text, e.g. for what may go on from a table above.

    >>> find_heads([["Sales", "", ""], ["Region", "2022", "2023"], ["EMEA", "1.5", "2"]])
    Heads(names=('Region', '2022', '2023'), first=1, rows=1)
    >>> find_heads([["", "2023", "2023"], ["Region", "Q1", "Q2"], ["EMEA", "1", "2"]]).names
    ('Region', '2023 Q1', '2023 Q2')
    >>> find_heads([["1", "2"], ["3", "4"]]) is None
    True
    """
    rows = rows[:LOOKAHEAD]
    width = max((_filled(row) for row in rows), default=0)
    for first, row in enumerate(rows[: _MOST_TITLES + 1]):
        below = rows[first + 1 :]
        if not below:
            return None
        if _is_group(row, below[0], width) and _are_heads(below[0], below[1:]) and len(below) > 1:
            return _together(rows, first, strict)
        if _filled(row) < max(1, width * _LEAST_SHARE) or (width > 1 and _filled(row) == 1):
            continue
        return _together(rows, first, strict) if _are_heads(row, below) else None
    return None


def _together(rows: Sequence[Row], first: int, strict: bool) -> Heads | None:
    """Heads over several rows, as merged cells make them, put together column by column."""
    last = first
    while (
        last + 2 < len(rows)
        and last - first + 1 < _MOST_HEAD_ROWS
        and _repeats_or_gaps(rows[last])
        and _are_heads(rows[last + 1], rows[last + 2 :])
        and _filled(rows[last + 1]) >= 2
    ):
        last += 1
    levels = [_carried(row) if place < last - first else row for place, row in enumerate(rows[first : last + 1])]
    width = max(map(len, levels))
    names = []
    for column in range(width):
        parts = [level[column].strip() for level in levels if column < len(level) and level[column].strip()]
        names.append(" ".join(dict.fromkeys(parts)))
    below = rows[last + 1 :]
    needs_numbers = strict or sum(map(bool, names)) == 1
    if needs_numbers and not any(_tells(names, column, below) for column in range(width)):
        return None
    return Heads(tuple(names), first, last - first + 1)


def _are_heads(row: Row, below: Sequence[Row]) -> bool:
    """Whether each cell may be a head, with what stands right below it in mind."""
    told = [cell for cell in row if cell]
    if not told or not below or any(len(cell) > _LONGEST_HEAD for cell in told):
        return False
    in_time = [column for column, cell in enumerate(row) if cell and _is_time(cell)]
    if any(is_amount(cell) for cell in told):
        return False
    if not in_time:
        return True
    under = below[0]
    leads = not row[0] or not _is_time(row[0])
    return leads and not any(column < len(under) and _is_time(under[column]) for column in in_time)


def _is_group(row: Row, under: Row, width: int) -> bool:
    """Whether it names groups of the columns below: gaps between its cells, or before the first, and fewer of them."""
    filled = _filled(row)
    last = max((column for column, cell in enumerate(row) if cell), default=0)
    gaps = any(not cell for cell in row[:last])
    return gaps and 1 < filled < _filled(under) and _filled(under) >= width * _LEAST_SHARE


def _repeats_or_gaps(row: Row) -> bool:
    told = [cell for cell in row if cell]
    last = max((column for column, cell in enumerate(row) if cell), default=0)
    return len(set(told)) < len(told) or any(not cell for cell in row[1:last])


def _carried(row: Row) -> list[str]:
    """A group's name stands over the columns up to the next one."""
    carried, before = [], ""
    for column, cell in enumerate(row):
        before = cell or (before if column else "")
        carried.append(before)
    return carried


def _tells(names: Sequence[str], column: int, below: Sequence[Row]) -> bool:
    """Whether a text stands over numbers or dates."""
    cells = [row[column] for row in below if column < len(row) and row[column]]
    return bool(names[column]) and 2 * sum(_is_number(cell) or _is_time(cell) for cell in cells) > len(cells)


def _filled(row: Row) -> int:
    return sum(1 for cell in row if cell)


def is_amount(cell: str) -> bool:
    """Whether it is a number and no year or day.

    >>> is_amount("1,234.5"), is_amount("2024"), is_amount("Q1")
    (True, False, False)
    """
    return _is_number(cell) and not _is_time(cell)


def _is_number(cell: str) -> bool:
    return len(cell) <= _LONGEST_NUMBER and _NUMBER.fullmatch(cell) is not None


def _is_time(cell: str) -> bool:
    return len(cell) <= _LONGEST_NUMBER and (_YEAR.fullmatch(cell) or _DAY.fullmatch(cell)) is not None
