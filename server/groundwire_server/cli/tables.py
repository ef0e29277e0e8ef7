"""Tables for people on a terminal; in a pipe one line a row with tabs, whole and without a heading, for programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from groundwire_server.cli.streams import printable, say_exactly
from groundwire_server.cli.terminal import cut, display_width, on_terminal, paint, screen_columns

__all__ = ["Column", "show_heading", "show_pairs", "show_table"]

_GAP = "  "
_LEAST_COLUMNS = 8
_ROWS_AT_ONCE = 500


def _no_colour(_: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    right: figures stand at its right edge. shrinks: it is cut where the terminal is too narrow for all.
    colour: of a cell, by click's names.
    """

    heading: str
    right: bool = False
    shrinks: bool = False
    colour: Callable[[str], str | None] = _no_colour


def show_table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> int:
    """Print rows as they come, some hundreds at once on a terminal. Returns how many there were."""
    shown = 0
    widths: list[int] = []
    texts = ([_cell(value) for value in row] for row in rows)
    if not on_terminal():
        for row in texts:
            say_exactly("\t".join(row))
            shown += 1
        return shown
    while some := list(itertools.islice(texts, _ROWS_AT_ONCE)):
        first = not widths
        if first and len(some) < _ROWS_AT_ONCE:  # all there is
            columns, some = _without_empty(columns, some)
        wide = [max(map(display_width, cells)) for cells in zip(*some, strict=True)]
        headings = [display_width(column.heading) for column in columns]
        widths = [max(each) for each in zip(wide, widths or headings, strict=True)]
        fitted = _fit(columns, widths, screen_columns())
        for line in _records(columns, some) if fitted is None else _lines(columns, fitted, some, heading=first):
            say_exactly(line)
        shown += len(some)
    return shown


def show_pairs(pairs: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one pair a line; a pair without a value is left out."""
    kept = [(name, _cell(value)) for name, value in pairs if value not in (None, "")]
    if not on_terminal():
        for name, value in kept:
            say_exactly(f"{name}\t{value}")
        return
    wide = max((display_width(name) for name, _ in kept), default=0)
    for name, value in kept:
        say_exactly(f"{paint(_pad(name, wide), 'cyan')}{_GAP}{value}")


def show_heading(text: str) -> None:
    """Print the heading of a section, on a terminal only."""
    if on_terminal():
        say_exactly(f"\n{paint(printable(text), None, bold=True)}")


def _without_empty(columns: Sequence[Column], rows: list[list[str]]) -> tuple[list[Column], list[list[str]]]:
    """Columns with something in them; the first one stays in any case."""
    kept = [place for place in range(len(columns)) if place == 0 or any(row[place] for row in rows)]
    return [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _cell(value: object) -> str:
    return "" if value is None else printable(str(value))


def _fit(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int] | None:
    """Widths that fit into the room, the widest of those that shrink cut first. None: they fit in no way."""
    fitted = list(widths)
    over = sum(fitted) + len(_GAP) * (len(fitted) - 1) - room
    while over > 0:
        able = [place for place, column in enumerate(columns) if column.shrinks and fitted[place] > _LEAST_COLUMNS]
        if not able:
            return None
        widest = max(able, key=lambda place: fitted[place])
        fitted[widest] -= 1
        over -= 1
    return fitted


def _lines(
    columns: Sequence[Column], widths: Sequence[int], rows: Iterable[Sequence[str]], *, heading: bool
) -> Iterable[str]:
    if heading:
        names = [_pad(column.heading, width, column.right) for column, width in zip(columns, widths, strict=True)]
        yield paint(_GAP.join(names).rstrip(), None, bold=True)
    for row in rows:
        cells = []
        for column, width, text in zip(columns, widths, row, strict=True):
            padded = _pad(cut(text, width), width, column.right)
            cells.append(paint(padded, column.colour(text)))
        yield _GAP.join(cells).rstrip()


def _records(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    """Where no table fits: one line a cell, an empty line between the rows."""
    wide = max(display_width(column.heading) for column in columns)
    for row in rows:
        for column, text in zip(columns, row, strict=True):
            if text:
                yield f"{_pad(column.heading, wide)}{_GAP}{paint(text, column.colour(text))}"
        yield ""


def _pad(text: str, columns: int, right: bool = False) -> str:
    blanks = " " * (columns - display_width(text))
    return f"{blanks}{text}" if right else f"{text}{blanks}"
