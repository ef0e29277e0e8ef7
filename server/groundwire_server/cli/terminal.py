"""What standard output is: a terminal of some width that shows colours, or a pipe that wants plain lines."""

from __future__ import annotations

import os
import sys
import unicodedata

import click

from groundwire_server.cli.streams import speaks_unicode

__all__ = ["cut", "display_width", "on_terminal", "paint", "screen_columns"]

_ASSUMED_COLUMNS = 100
_LEAST_COLUMNS = 20
_NO_PLACE = frozenset({"Mn", "Me", "Cf"})  # combining marks, joiners, direction marks


def on_terminal() -> bool:
    """Whether a person looks at standard output, on something that can do more than print."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str | None, *, bold: bool = False) -> str:
    """The text in a colour by click's names, on a terminal only and never where NO_COLOR is set (no-color.org)."""
    if os.environ.get("NO_COLOR") or not on_terminal() or (colour is None and not bold):
        return text
    return click.style(text, fg=colour, bold=bold or None)


def screen_columns() -> int:
    """Columns of the terminal that shows our output or, where that goes elsewhere, our notes; COLUMNS wins."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return max(_LEAST_COLUMNS, int(said))
    for stream in (sys.stdout, sys.stderr):
        try:
            if columns := os.get_terminal_size(stream.fileno()).columns:
                return max(_LEAST_COLUMNS, columns)
        except (OSError, ValueError):
            continue
    return _ASSUMED_COLUMNS


def display_width(text: str) -> int:
    """Columns that a text takes: Chinese, Japanese and most emoji two each, combining marks none.

    >>> display_width("売上高 Q3"), display_width("e\\u0301")
    (9, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def cut(text: str, columns: int) -> str:
    """The text within some columns, its end left out with a mark where it does not fit.

    >>> cut("売上高", 6), cut("revenue", 7)
    ('売上高', 'revenue')
    """
    if display_width(text) <= columns:
        return text
    mark = "…" if speaks_unicode() else "~"
    room, kept = columns - 1, []
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + mark


def _columns(character: str) -> int:
    if unicodedata.category(character) in _NO_PLACE:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
