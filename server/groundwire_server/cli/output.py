"""How frames look to people (`describe`) and to programs (`as_json`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from groundwire import (
    AnswerPart,
    AnswerRestarted,
    Clarification,
    DerivedFigure,
    GraphCommunity,
    GraphEdge,
    GraphPath,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricOutcome,
    MetricOutcomes,
    PlanStep,
    Progress,
    Reconnecting,
    RouteDecision,
    Snippet,
    SnippetBatch,
    StreamHeader,
    StreamSummary,
    SubCall,
    SubCallSummary,
    TextPassage,
    UnrecognizedParam,
)
from groundwire_server.cli.explanation import explanation_lines
from groundwire_server.cli.streams import printable, say_exactly, speaks_unicode
from groundwire_server.cli.terminal import paint
from groundwire_server.cli.walks import chain_text, edge_text

__all__ = ["as_json", "as_plain", "describe", "show", "show_json"]

_NODES_SHOWN = 8

_WIDTH = 96
_FIRST_WORD = re.compile(r"  \[\d+\]|not found|[a-z]+")
_DIGEST = re.compile(r"(@[0-9a-f]{12})[0-9a-f]{52}\b")  # --json has all of it
_COLOURS = {
    "answer": "green",
    "found": "green",
    "not found": "yellow",
    "unrecognized": "yellow",
    "question": "yellow",
    "degraded": "yellow",
    "refused": "yellow",
}
_OF_SEVERAL_KINDS = frozenset({"outcome", "payload"})
# Valid in JSON, and yet no character for a terminal or for whoever splits lines.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")


def show(frames: Iterable[Any], *, as_json_lines: bool) -> None:
    """Print frames as they come: one JSON object a line, or lines for people."""
    ranks: dict[str, int] = {}
    for frame in frames:
        if as_json_lines:
            show_json(frame)
        else:
            for line in describe(frame, ranks):
                say_exactly(_painted(printable(line)))


def _painted(line: str) -> str:
    """The first word of a line in the colour of what it says, on a terminal."""
    found = _FIRST_WORD.match(line)
    if found is None:
        return line
    colour = "cyan" if "[" in found[0] else _COLOURS.get(found[0].strip())
    return f"{paint(found[0], colour)}{line[found.end() :]}"


def show_json(value: Any) -> None:
    """Print one line of JSON, in ASCII where the output takes nothing else."""
    say_exactly(as_json(value, ascii_only=not speaks_unicode()))


def as_json(value: Any, *, ascii_only: bool = False) -> str:
    """One line of JSON: frames under their kind, enums by name, bytes in hex, absent parts left out."""
    text = json.dumps({"frame": type(value).__name__, **as_plain(value)}, ensure_ascii=ascii_only)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_plain(value: Any) -> Any:
    """A value of the client as JSON has it. What stands for one of several kinds says which, as `kind`."""
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: _member(name, part) for name, part in named.items() if part not in (None, "", (), b"")}
    if isinstance(value, tuple | list):
        return [as_plain(part) for part in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, date):  # or an instant
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return str(value)
    return value


def _member(name: str, part: Any) -> Any:
    plain = as_plain(part)
    return {"kind": type(part).__name__, **plain} if name in _OF_SEVERAL_KINDS and isinstance(plain, dict) else plain


def describe(frame: Any, ranks: dict[str, int]) -> list[str]:
    """Lines for people. `ranks` remembers the place of each snippet, so that an answer can name what it cites."""
    match frame:
        case StreamHeader():
            return _header(frame)
        case RouteDecision():
            return [f"route    {frame.route.name.lower()} ({frame.reason})"]
        case SubCall():
            asked = f": {frame.sub_question}" if frame.sub_question else ""
            return [f"branch {frame.branch} {frame.route.name.lower()}{asked}", *_plan(frame.plan)]
        case MetricOutcomes():
            return [_outcome(outcome) for outcome in frame.outcomes]
        case SnippetBatch():
            return [line for snippet in frame.snippets for line in _snippet(snippet, ranks)]
        case AnswerPart():
            cited = "".join(f"[{ranks.get(snippet_id, '?')}]" for snippet_id in frame.cited_snippet_ids)
            return [f"answer   {frame.text.strip()} {cited}".rstrip()]
        case Clarification():
            options = ", ".join(option.label or option.code for option in frame.options)
            return [f"question {frame.question} {f'({options})' if options else ''}".rstrip()]
        case Progress():
            total = "?" if frame.total is None else frame.total
            return [f"progress {frame.stage} {frame.done}/{total} {frame.unit}"]
        case SubCallSummary():
            refused = f": {frame.refusal.text}" if frame.refusal else ""
            return [f"branch {frame.branch} ends: {frame.end_reason.name.lower()}{refused}"]
        case StreamSummary():
            return _summary(frame)
        case Reconnecting(attempt=attempt, delay_seconds=delay):
            return [f"broken   no connection, attempt {attempt} in {delay:.1f} s"]
        case AnswerRestarted():
            return ["answer   is written anew: what stands above is void"]
        case _:
            return [f"{type(frame).__name__}"]


def _header(header: StreamHeader) -> list[str]:
    read = ", ".join(snapshot.library_id for snapshot in header.snapshots)
    return [f"header   request {header.request_id}, libraries: {read or 'none'}", *_plan(header.plan)]


def _plan(plan: Iterable[PlanStep]) -> list[str]:
    lines = []
    for step in plan:
        coverage = "" if step.coverage is None else f"coverage={step.coverage}"
        detail = ", ".join(part for part in (step.detail, coverage) if part)
        backend = _DIGEST.sub(r"\1", step.backend)
        lines.append(f"  plan   {step.stage:<9} {backend}{f' ({detail})' if detail else ''}")
    return lines


def _outcome(outcome: MetricOutcome) -> str:
    asked = outcome.query
    words = " / ".join(part for part in (asked.metric, asked.entity, asked.period, asked.channel) if part)
    match outcome.outcome:
        case MetricFound(conflicting=conflicting, decided=decided):
            meanings = "".join(
                f" ({name.raw!r} may mean {', '.join(name.candidates)}: decided by the figures)" for name in decided
            )
            return f"found    {words}{' (sources disagree)' if conflicting else ''}{meanings}"
        case MetricNotFound(refusal=refusal):
            return f"not found {words}: {refusal}"
        case UnrecognizedParam(param=param, raw=raw, suggestions=suggestions, ambiguous=ambiguous):
            near = ("; it may mean: " if ambiguous else "; near: ") + ", ".join(suggestions) if suggestions else ""
            return f"unrecognized {param} {raw!r}{near}"
        case _:
            return f"unknown outcome of {words}"


def _parent(locator: str, text: str) -> list[str]:
    """What a passage is read with: its parent or window, or that an earlier passage has brought it."""
    if not locator:
        return []
    return [f"         read with {locator}: {_short(text)}" if text else f"         read with {locator}, given above"]


def _snippet(snippet: Snippet, ranks: dict[str, int]) -> list[str]:
    ranks[snippet.snippet_id] = snippet.rank
    lineage = snippet.lineage
    revision = f" revision {lineage.revision}" if lineage.revision else ""
    library = "" if lineage.library_id in ("", "default") else f"{lineage.library_id}: "
    place = f"{library}{_place(snippet)}{revision}"
    match snippet.payload:
        case TextPassage(text=text, prompt_text=prompt):
            span = f" {lineage.span.start}-{lineage.span.end}" if lineage.span else ""
            return [
                f"  [{snippet.rank}]    {_short(text)}",
                f"         {place}{span} sha256 {lineage.text_sha256.hex()[:12]}{_scores(snippet)}",
                *_parent(lineage.parent_locator, prompt),
            ]
        case MetricFact() as fact:
            said = fact.statement or f"{fact.value} {fact.unit}"
            return [f"  [{snippet.rank}]    {said}", f"         {place}", *_version(fact)]
        case DerivedFigure() as figure:
            return [f"  [{snippet.rank}]    {figure.statement or f'{figure.value} {figure.unit}'}", *_missing(figure)]
        case GraphEdge() as edge:
            return [f"  [{snippet.rank}]    {edge_text(edge)}", f"         {place}"]
        case GraphPath() as path:
            return [f"  [{snippet.rank}]    {chain_text(path)}"]
        case GraphCommunity() as community:
            return [f"  [{snippet.rank}]    {_members(community)}", *_sentences(community)]
        case payload:
            return [f"  [{snippet.rank}]    {type(payload).__name__}", f"         {place}"]


def _version(fact: MetricFact) -> list[str]:
    """Which of several versions a figure is, and who gave it and why where it is a correction: one line, or none."""
    version = fact.version
    if version is None or (version.latest_version <= 1 and not version.author):
        return []
    corrected = f", by {_short(version.author)}: {_short(version.reason)}" if version.author else ""
    return [f"         version {version.version} of {version.latest_version}{corrected}"]


def _members(community: GraphCommunity) -> str:
    """How many nodes there are, and the names of the first."""
    named = ", ".join(node.label or node.node_id for node in community.nodes[:_NODES_SHOWN])
    more = ", …" if community.size > _NODES_SHOWN else ""
    return f"{community.size} nodes: {named}{more}"


def _sentences(community: GraphCommunity) -> list[str]:
    return [f"         {_short(line)}" for line in community.summary.splitlines()]


def _missing(figure: DerivedFigure) -> list[str]:
    """What a derived figure lacks, a line each."""
    lines = []
    for each in figure.missing:
        words = " / ".join(
            part for part in (each.key.metric, each.key.entity, each.key.period, each.key.channel) if part
        )
        lines.append(f"         without {words}: {each.reason.name.lower().replace('_', ' ')}")
    if figure.missing_omitted:
        lines.append(f"         and without {figure.missing_omitted} more")
    return lines


def _place(snippet: Snippet) -> str:
    """Where it stands. The locator of a passage names its document; that of a figure or relation is the source's."""
    document, locator = snippet.lineage.doc_id, snippet.lineage.source_locator
    if isinstance(snippet.payload, TextPassage) or not document or locator.startswith(document):
        return locator or document
    return f"{document} {locator}".rstrip()


def _scores(snippet: Snippet) -> str:
    scores = snippet.scores
    if scores is None:
        return ""
    named = [("fused", scores.fused), ("bm25", scores.bm25), ("vector", scores.vector)]
    ranks = {"bm25": scores.bm25_rank, "vector": scores.vector_rank}
    parts = [
        f"{name} {value:.4g}" + (f" (#{ranks[name]})" if ranks.get(name) else "")
        for name, value in named
        if value is not None
    ]
    return " · " + ", ".join(parts) if parts else ""


def _summary(summary: StreamSummary) -> list[str]:
    lines = [
        f"summary  {summary.end_reason.name.lower()}: {summary.returned} snippets of {summary.candidates} candidates"
    ]
    if summary.refusal is not None:
        lines.append(f"refused  {summary.refusal.reason.name.lower()}: {summary.refusal.text}")
    for degradation in summary.degradations:
        why = f": {degradation.cause.message}" if degradation.cause else ""
        lines.append(f"degraded {degradation.kind.name} ({degradation.component}){why}")
    return lines if summary.explanation is None else [*lines, *explanation_lines(summary.explanation)]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
