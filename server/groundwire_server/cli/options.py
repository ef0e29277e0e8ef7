"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["call_options", "json_option", "library_option", "mode_option", "reading_options"]

Command = Callable[..., Any]

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a frame and line.")
library_option = click.option("--library", default="default", show_default=True, help="Library to write to.")
mode_option = click.option(
    "--mode",
    type=click.Choice(["auto", "hybrid", "vector", "lexical"]),
    default="auto",
    show_default=True,
    help="Legs to search; hybrid and vector fail without an embedder, auto says so and goes on.",
)


def reading_options(command: Command) -> Command:
    """--in, --language, --strict and --json, for commands that read."""
    for option in (
        json_option,
        click.option("--strict", is_flag=True, help="Fail rather than answer with a fallback."),
        click.option("--language", type=click.Choice(["en", "zh", "ja"]), help="Of sentences. [the question's]"),
        click.option("--in", "libraries", multiple=True, metavar="LIBRARY", help="Library to read; may be repeated."),
    ):
        command = option(command)
    return command


def call_options(libraries: tuple[str, ...], language: str | None, strict: bool) -> dict[str, Any]:
    """The same as keyword arguments of the client."""
    options: dict[str, Any] = {"libraries": libraries}
    if language is not None:
        options["language"] = language
    if strict:
        options["strictness"] = "FAIL_ON_DEGRADED"
    return options
