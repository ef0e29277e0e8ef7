"""The one form of a row of a table: each cell beside its head, so that a row can be found and quoted alone."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["row_parts", "row_text"]


def row_text(heads: Sequence[str], cells: Sequence[str]) -> str:
    """The row as one line. A blank cell is left out, a cell without a head stands alone, lines in a cell become one.

    >>> row_text(("Region", "Q1", "Q2"), ("EMEA", "12", ""))
    'Region: EMEA; Q1: 12'
    >>> row_text((), ("EMEA", "12"))
    'EMEA; 12'
    """
    return "; ".join(row_parts(heads, cells))


def row_parts(heads: Sequence[str], cells: Sequence[str]) -> list[str]:
    """The cells of a row that are not blank, each beside its head.

    >>> row_parts(("Region", ""), ("EMEA", "12"))
    ['Region: EMEA', '12']
    """
    parts = []
    known = len(heads)
    for number, cell in enumerate(cells):
        text = cell if cell.isalnum() else " ".join(cell.split())
        if not text:
            continue
        head = heads[number] if number < known else ""
        if head:
            parts.append(f"{head if head.isalnum() else ' '.join(head.split())}: {text}")
        else:
            parts.append(text)
    return parts
