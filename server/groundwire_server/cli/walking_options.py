"""Options of the commands that walk over relations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from groundwire_server.cli.options import WORDS, reading_options
from groundwire_server.cli.trace_formats import format_option

__all__ = ["walking_options"]


def walking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--valid-in, --unverified, --format, and those of every command that reads."""
    command = click.option("--unverified", is_flag=True, help="Also relations that nobody has checked.")(command)
    command = click.option(
        "--valid-in", type=WORDS, metavar="PERIOD", default="", help="Only what holds on some day of it, e.g. 2024."
    )(command)
    return reading_options(format_option(command))
