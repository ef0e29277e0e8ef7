"""The picture of a stream: its relations, its figures with their sources, and all that it says it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from groundwire import (
    DerivedFigure,
    GraphCommunity,
    GraphEdge,
    GraphNode,
    GraphPath,
    Lineage,
    MetricFact,
    MetricFound,
    MetricKey,
    MetricNotFound,
    MetricOutcome,
    MetricOutcomes,
    Snippet,
    SnippetBatch,
    StreamSummary,
    UnrecognizedParam,
)
from groundwire_server.cli.output import describe
from groundwire_server.cli.pictures.picture import Arrow, Box, BoxKind, Picture, PictureMaker
from groundwire_server.cli.walks import held_text
from groundwire_server.evidence import format_node_id

__all__ = ["picture_of"]

_SOURCES_SHOWN = 3


def picture_of(frames: Iterable[Any], relations: Iterable[Any] = ()) -> Picture:
    """What the frames of a trace show.

    Args:
        relations: frames of a further walk, whose relations stand around the figures: an entity is tied to its own.
    """
    maker = PictureMaker()
    entities = _Entities(maker)
    for frame in relations:
        _take(frame, maker, entities, notes=False)
    for frame in frames:
        _take(frame, maker, entities, notes=True)
    return maker.picture()


class _Entities:
    """Figures tied to the entities that they are of, where these are shown."""

    def __init__(self, maker: PictureMaker) -> None:
        self._maker = maker

    def tie(self, key: MetricKey, figure: str) -> None:
        """Draw a figure beside its entity."""
        node = format_node_id("entity", key.entity)
        if self._maker.has(node):
            self._maker.arrow(Arrow(node, figure, dashed=True))


def _take(frame: Any, maker: PictureMaker, entities: _Entities, *, notes: bool) -> None:
    match frame:
        case MetricOutcomes(outcomes=outcomes):
            for outcome in outcomes:
                _take_outcome(outcome, maker)
        case SnippetBatch(snippets=snippets):
            for snippet in snippets:
                _take_snippet(snippet, maker, entities)
        case StreamSummary() if notes:
            for line in describe(frame, {}):
                maker.note(" ".join(line.split()))
        case _:
            pass


def _take_outcome(outcome: MetricOutcome, maker: PictureMaker) -> None:
    """What is not there is shown as that."""
    asked = outcome.query
    words = [part for part in (asked.metric, asked.entity, asked.period, asked.channel) if part]
    match outcome.outcome:
        case MetricNotFound(key=key):
            maker.box(Box(f"outcome:{outcome.query_index}", (*_words(key), "not found"), BoxKind.MISSING))
        case UnrecognizedParam(param=param, raw=raw, suggestions=near):
            lines = (f"{param} {raw!r} is not known", *([f"near: {', '.join(near)}"] if near else []))
            maker.box(Box(f"outcome:{outcome.query_index}", (" ".join(words), *lines), BoxKind.MISSING))
        case MetricFound(conflicting=True):
            maker.note(f"sources disagree: {' '.join(words)}")
        case _:
            pass


def _take_snippet(snippet: Snippet, maker: PictureMaker, entities: _Entities) -> None:
    match snippet.payload:
        case GraphEdge() as edge:
            _take_edge(edge, (snippet.lineage, *snippet.lineage.members), maker)
        case GraphPath(edges=edges):
            for edge in edges:
                _take_edge(edge, edge.sources, maker)
        case MetricFact() as fact:
            lines = [*_words(fact.key), f"{fact.value} {fact.unit}".strip()]
            lines += ["sources disagree"] if fact.conflicting else []
            version = fact.version
            lines += [f"version {version.version}"] if version and version.latest_version > 1 else []
            lines += [f"by {version.author}: {version.reason}"] if version and version.author else []
            maker.box(Box(snippet.snippet_id, tuple(lines), BoxKind.FIGURE, _place(snippet.lineage)))
            entities.tie(fact.key, snippet.snippet_id)
        case DerivedFigure() as figure:
            _take_derived(snippet.snippet_id, figure, maker)
        case GraphCommunity() as community:
            key = f"community:{community.community_id}"
            maker.box(Box(key, (f"{community.size} nodes", *community.summary.splitlines()[:3]), BoxKind.DERIVED))
            for node in community.nodes:
                _take_node(node, maker)
                maker.arrow(Arrow(key, node.node_id, dashed=True))
        case _:
            pass


def _take_node(node: GraphNode, maker: PictureMaker) -> None:
    lines = (node.label, node.node_id) if node.label and node.label != node.node_id else (node.node_id,)
    maker.box(Box(node.node_id, lines))


def _take_edge(edge: GraphEdge, sources: Iterable[Lineage], maker: PictureMaker) -> None:
    for node in (edge.source, edge.target):
        _take_node(node, maker)
    held = held_text(edge)
    label = f"{edge.relation} ({held})" if held else edge.relation
    maker.arrow(Arrow(edge.source.node_id, edge.target.node_id, label, tuple(_shown(map(_place, sources)))))


def _shown(places: Iterable[str]) -> Iterator[str]:
    distinct = list(dict.fromkeys(place for place in places if place))
    yield from distinct[:_SOURCES_SHOWN]
    if len(distinct) > _SOURCES_SHOWN:
        yield f"and {len(distinct) - _SOURCES_SHOWN} more"


def _take_derived(snippet_id: str, figure: DerivedFigure, maker: PictureMaker) -> None:
    lines = [*_words(figure.key), f"{figure.value} {figure.unit}".strip()]
    lines.append(figure.expression or figure.operation.name.lower())
    lines += ["partial"] if figure.partial else []
    lines += ["rounded"] if figure.rounded else []
    lines += ["unlike days"] if figure.unlike_days else []
    maker.box(Box(snippet_id, tuple(lines), BoxKind.DERIVED))
    for place, operand in enumerate(figure.operand_ids, 1):
        maker.arrow(Arrow(snippet_id, operand, f"#{place}"))
    for place, missing in enumerate(figure.missing, 1):
        key = f"{snippet_id} missing {place}"
        reason = missing.reason.name.lower().replace("_", " ")
        maker.box(Box(key, (*_words(missing.key), reason), BoxKind.MISSING))
        maker.arrow(Arrow(snippet_id, key, "without", dashed=True))
    for count, what in ((figure.operands_omitted, "operands"), (figure.missing_omitted, "missing ones")):
        if count:
            maker.note(f"{count} more {what} of {' '.join(_words(figure.key))} are not shown")


def _words(key: MetricKey) -> tuple[str, ...]:
    """A key in two lines: what and whose, then when and of what part."""
    parts = [key.period, "" if key.channel == "TOTAL" else key.channel]
    parts += [f"{each.name} {each.member}" for each in key.dimensions]
    return f"{key.metric} {key.entity}".strip(), " ".join(part for part in parts if part)


def _place(lineage: Lineage) -> str:
    """Where something stands, its document said once."""
    if "#" in lineage.source_locator or not lineage.doc_id:
        return lineage.source_locator
    return f"{lineage.doc_id}#{lineage.source_locator}" if lineage.source_locator else lineage.doc_id
