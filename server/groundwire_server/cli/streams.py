"""Lines for people and programs, on whatever standard streams we are given."""

from __future__ import annotations

import codecs
import os
import re
import sys

import click

__all__ = ["let_go_of_output", "note", "printable", "say", "say_exactly", "speaks_unicode", "take_any_text"]

# Characters that would move the cursor, hide a line or turn the direction of what follows: a document may hold them.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with what cannot be shown on one line written out.

    >>> printable("a\\nb\\x1b[2J")
    'a\\\\nb\\\\x1b[2J'
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def say(line: str) -> None:
    """A line on standard output."""
    click.echo(printable(line))


def say_exactly(text: str) -> None:
    """Text on standard output that is safe as it is, e.g. JSON."""
    click.echo(text)


def note(line: str) -> None:
    """A line on standard error: progress, warnings, errors."""
    click.echo(printable(line), err=True)


def take_any_text() -> None:
    """No character is an error, whatever the locale: those that a stream cannot hold are written out."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def speaks_unicode() -> bool:
    """Whether standard output takes every character."""
    try:
        return codecs.lookup(sys.stdout.encoding or "").name.startswith("utf")
    except LookupError:
        return False


def let_go_of_output() -> None:
    """Nobody reads our output any more; what is still in its buffer must not fail once more at the very end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except OSError:  # a stream of a test has no file behind it (io.UnsupportedOperation is an OSError)
        pass
