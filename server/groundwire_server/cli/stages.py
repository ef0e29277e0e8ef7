"""Stages of a search as options of a command: a preset, a hint read out of the question, the corrective loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from groundwire import RetrievalTuning
from groundwire_server.cli.options import WORDS

__all__ = ["stage_options"]


def stage_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options; the command gets what they say as `stages`."""

    @wraps(command)
    def with_stages(
        *arguments: Any, preset: str, filter_extractor: str, corrective: bool | None, judge: str, **named: Any
    ) -> Any:
        stages = RetrievalTuning(
            preset=preset, filter_extractor=filter_extractor, corrective=corrective, corrective_judge=judge
        )
        return command(*arguments, stages=stages, **named)

    for option in (
        click.option(
            "--judge",
            type=WORDS,
            metavar="JUDGE",
            default="",
            help="Who judges what was found where that is corrected: words, or llm. [the library's]",
        ),
        click.option(
            "--corrective/--no-corrective",
            default=None,
            help="Judge what is found: search again where it is weak, and refuse where it stays so. [the library's]",
        ),
        click.option(
            "--filter-extractor",
            type=WORDS,
            metavar="EXTRACTOR",
            default="",
            help="What reads out of the question which documents it asks for: glossary, llm, or none. [the library's]",
        ),
        click.option(
            "--preset",
            type=WORDS,
            metavar="PRESET",
            default="",
            help="A set of stages: economy, balanced, quality; other options go before it.",
        ),
    ):
        with_stages = option(with_stages)
    return with_stages
