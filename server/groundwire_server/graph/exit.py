"""From edges and paths to snippets that carry their citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundwire_server.evidence import Attribute, GraphEdge, GraphPath, Lineage, Snippet, Trust, make_snippet_id
from groundwire_server.graph.edges import Edge, Trail, node_id
from groundwire_server.graph.nodes import NodeNames
from groundwire_server.store import StoredEdge

__all__ = ["MAX_MEMBERS", "edge_snippet", "path_snippet"]

MAX_MEMBERS = 100
"""Sources that are sent behind the first one."""
# Of all edges of a path together: a path is one snippet, and has to fit into a frame.
_SOURCES_OF_A_PATH = 200


def edge_snippet(edge: Edge, library_id: str, names: NodeNames, language: str) -> Snippet:
    """The snippet of an edge: its first source is the lineage, the others are its members."""
    first, others = edge.sources[0], edge.sources[1:]
    return Snippet(
        snippet_id=make_snippet_id("edge", library_id, edge.edge_id, b""),
        lineage=_lineage(first, library_id, [_lineage(source, library_id) for source in others] if others else ()),
        trust=_trust((edge,)),
        payload=_payload(edge, names, language),
        label=max([source.record.label for source in edge.sources]) if others else first.record.label,
    )


def path_snippet(trail: Trail, library_id: str, names: NodeNames, language: str) -> Snippet:
    """The snippet of a path: each edge with its sources, all of them together in the lineage."""
    of_an_edge = max(1, _SOURCES_OF_A_PATH // len(trail.edges))
    edges = tuple(
        replace(
            _payload(edge, names, language),
            sources=tuple(_lineage(source, library_id) for source in edge.sources[:of_an_edge]),
        )
        for edge in trail.edges
    )
    ids = tuple(map(node_id, trail.nodes))
    # One place may state several edges; it is one source.
    cited = {(each.record.source_doc, each.record.locator): each for edge in trail.edges for each in edge.sources}
    members = [_lineage(source, library_id) for source in cited.values()]
    walked = "\n".join((*ids, *(edge.edge_id for edge in trail.edges)))
    return Snippet(
        snippet_id=make_snippet_id("path", library_id, walked, b""),
        lineage=Lineage(
            library_id=library_id,
            members=tuple(members[:MAX_MEMBERS]),
            members_omitted=max(0, len(members) - MAX_MEMBERS),
        ),
        trust=_trust(trail.edges),
        payload=GraphPath(edges, ids),
        label=max(source.record.label for edge in trail.edges for source in edge.sources),
    )


def _payload(edge: Edge, names: NodeNames, language: str) -> GraphEdge:
    """What the first source says. The sources themselves go elsewhere."""
    record = edge.sources[0].record
    return GraphEdge(
        edge_id=edge.edge_id,
        source=names.show(edge.start, language),
        target=names.show(edge.end, language),
        relation=record.relation,
        extractor=record.extractor,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        attributes=_by_name(record.attributes),
    )


def _by_name(attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    return tuple(sorted(attributes, key=lambda attribute: attribute.name)) if len(attributes) > 1 else attributes


def _trust(edges: Sequence[Edge]) -> Trust:
    """A chain is as good as its weakest part."""
    return Trust.CITABLE if all(edge.is_stated for edge in edges) else Trust.MODEL_DERIVED_UNVERIFIED


def _lineage(source: StoredEdge, library_id: str, members: Sequence[Lineage] = ()) -> Lineage:
    record = source.record
    return Lineage(
        library_id=library_id,
        doc_id=record.source_doc,
        source_locator=record.locator,
        ingested_at=source.recorded_at,
        members=tuple(members[:MAX_MEMBERS]),
        members_omitted=max(0, len(members) - MAX_MEMBERS),
        attributes=_by_name(record.attributes),
    )
