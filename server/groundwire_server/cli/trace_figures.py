"""`groundwire trace rollup`, `compare` and `derivation`: figures along relations and formulas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from groundwire import DerivedFigure, SnippetBatch
from groundwire_server.cli.options import COUNT, WORDS, call_options, reading_options
from groundwire_server.cli.session import Session
from groundwire_server.cli.trace_formats import format_option, settled_format, show_lines, show_trace
from groundwire_server.evidence import format_node_id

__all__ = ["compare", "derivation", "rollup"]

_channel = click.option("--channel", type=WORDS, metavar="CHANNEL", default="", help="Part of the whole. [TOTAL]")


@click.command(name="rollup")
@click.argument("metric", type=WORDS)
@click.argument("entity", type=WORDS)
@click.argument("period", type=WORDS)
@_channel
@click.option("--relation", type=WORDS, metavar="RELATION", default="", help="Relation that leads down. [parent_of]")
@click.option("--depth", type=COUNT, help="How many levels down. [all]")
@click.option("--operands", type=COUNT, help="How many of the figures are shown; all of them count. [100]")
@click.option(
    "--valid-in", type=WORDS, metavar="PERIOD", default="", help="When the relations are to hold. [in the period]"
)
@click.option("--unverified", is_flag=True, help="Also relations that nobody has checked.")
@format_option
@reading_options
@click.pass_obj
def rollup(
    session: Session,
    metric: str,
    entity: str,
    period: str,
    channel: str,
    relation: str,
    depth: int | None,
    operands: int | None,
    valid_in: str,
    unverified: bool,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
    form: str | None,
) -> None:
    """Add METRIC up over all that is below ENTITY, each part once, and name what is missing.

    \b
    groundwire trace rollup revenue Acme FY2024
    """
    with session.client(embedder=False) as client:
        settled = settled_format(form, as_json)
        stream = client.rollup(
            metric,
            entity,
            period,
            channel=channel,
            relation=relation,
            max_depth=depth or 0,
            max_operands=operands or 0,
            valid_in=valid_in,
            include_unverified=unverified,
            **call_options(libraries, language, strict),
        )

        def below(frames: Iterable[Any]) -> Iterable[Any]:
            """What the sum goes over; nothing where there is none."""
            found = _entity_of(frames)
            return (
                ()
                if found is None
                else client.closure(
                    [found],
                    [relation or "parent_of"],
                    max_depth=depth or 0,
                    valid_in=valid_in or period,
                    include_unverified=unverified,
                    **call_options(libraries, language, strict=False),
                )
            )

        show_trace(stream, settled, show_lines, below)


@click.command(name="compare")
@click.argument("metric", type=WORDS)
@click.argument("period", type=WORDS)
@click.argument("entities", nargs=-1, required=True, type=WORDS)
@_channel
@format_option
@reading_options
@click.pass_obj
def compare(
    session: Session,
    metric: str,
    period: str,
    entities: tuple[str, ...],
    channel: str,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
    form: str | None,
) -> None:
    """Set ENTITIES side by side: METRIC in PERIOD, one line each, missing ones shown, unlike units refused.

    \b
    groundwire trace compare revenue FY2024 Acme Globex
    """
    with session.client(embedder=False) as client:
        stream = client.compare(metric, period, entities, channel=channel, **call_options(libraries, language, strict))
        show_trace(stream, settled_format(form, as_json), show_lines)


@click.command(name="derivation")
@click.argument("metric", type=WORDS)
@click.argument("entity", type=WORDS)
@click.argument("period", type=WORDS)
@_channel
@format_option
@reading_options
@click.pass_obj
def derivation(
    session: Session,
    metric: str,
    entity: str,
    period: str,
    channel: str,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
    form: str | None,
) -> None:
    """Show how a figure came to be: what it is made of, down to the facts in their sources, and their versions.

    \b
    groundwire trace derivation "gross margin" Acme FY2024
    """
    with session.client(embedder=False) as client:
        stream = client.derivation(metric, entity, period, channel=channel, **call_options(libraries, language, strict))
        show_trace(stream, settled_format(form, as_json), show_lines)


def _entity_of(frames: Iterable[Any]) -> str | None:
    """The node that a sum is of; None where there is no sum."""
    for frame in frames:
        for snippet in frame.snippets if isinstance(frame, SnippetBatch) else ():
            if isinstance(snippet.payload, DerivedFigure):
                return format_node_id("entity", snippet.payload.key.entity)
    return None
