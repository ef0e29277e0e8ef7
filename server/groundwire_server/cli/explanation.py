"""What --explain shows behind an answer: the wordings that were searched, and a table of what was lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from groundwire import Explanation, TraceEntry

__all__ = ["explain_option", "explanation_lines"]

_HEADINGS = ("stage", "reason", "rank", "score")


def explain_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--explain."""
    return click.option(
        "--explain",
        type=click.Choice(["none", "plan", "trace"]),
        default="none",
        show_default=True,
        help="Show behind the answer: the wordings that were searched (plan), and which candidates were lost at which "
        "stage, and why (trace).",
    )(command)


def explanation_lines(explanation: Explanation) -> list[str]:
    """Lines for people: a wording each, then a row of a table for each candidate that was lost."""
    lines = [f"searched {variant.text} ({variant.made_by})" for variant in explanation.variants]
    if explanation.trace:
        rows = [_HEADINGS, *map(_cells, explanation.trace)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
        places = ["chunk", *map(_place, explanation.trace)]
        lines += [f"  lost   {_aligned(row, widths)}  {place}" for row, place in zip(rows, places, strict=True)]
    if explanation.trace_omitted:
        lines.append(f"  lost   {explanation.trace_omitted} {'more' if explanation.trace else 'candidates'}")
    return lines


def _cells(entry: TraceEntry) -> tuple[str, ...]:
    score = "" if entry.score is None else f"{entry.score:.4g}"
    return entry.stage, entry.reason.name.lower(), str(entry.rank or ""), score


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    stage, reason, rank, score = (
        cell.ljust(width) if column < 2 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return f"{stage}  {reason}  {rank}  {score}"


def _place(entry: TraceEntry) -> str:
    """The chunk, or the snippet of a figure or relation; its library where that is not the default one."""
    library = "" if entry.library_id in ("", "default") else f"{entry.library_id}: "
    return f"{library}{entry.chunk_id or entry.snippet_id}"
