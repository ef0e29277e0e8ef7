"""How `groundwire trace` shows what it found: `--format` of every operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from groundwire_server.cli.output import show
from groundwire_server.cli.pictures import Picture, draw_dot, draw_mermaid, draw_svg, picture_of
from groundwire_server.cli.streams import note, say_exactly

__all__ = ["format_option", "settled_format", "show_lines", "show_trace"]

_PICTURES: dict[str, Callable[[Picture], str]] = {"dot": draw_dot, "mermaid": draw_mermaid, "svg": draw_svg}

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", *sorted(_PICTURES)]),
    help="For people, for programs, or a picture: relations, figures and where they stand. [table]",
)
"""--format, for commands that walk."""


def settled_format(form: str | None, as_json: bool) -> str:
    """The format that two options ask for. Raises UsageError where they ask for two."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} say two things; leave one out.")
    return "json" if as_json else form or "table"


def show_lines(frames: Iterable[Any]) -> None:
    """Print frames as lines for people."""
    show(frames, as_json_lines=False)


def show_trace(
    frames: Iterable[Any],
    form: str,
    table: Callable[[Iterable[Any]], None],
    relations: Callable[[Iterable[Any]], Iterable[Any]] = lambda frames: (),
) -> None:
    """Print what a walk found.

    Args:
        table: prints it for people.
        relations: of the frames of a picture, a further walk whose relations stand around its figures.
    """
    if form == "table":
        table(frames)
    elif form == "json":
        show(frames, as_json_lines=True)
    else:
        found = list(frames)
        picture = picture_of(found, relations(found))
        say_exactly(_PICTURES[form](picture).removesuffix("\n"))
        for line in picture.notes:  # a picture goes into a file; whoever sent it there is told as well
            note(line)
