"""From edges to snippets that carry their citations."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.evidence import GraphEdge, Lineage, Snippet, Trust, make_snippet_id
from groundwire_server.graph.edges import Edge
from groundwire_server.graph.nodes import NodeNames
from groundwire_server.store import StoredEdge

__all__ = ["MAX_MEMBERS", "edge_snippet"]

MAX_MEMBERS = 100
"""Sources that are sent behind the first one."""


def edge_snippet(edge: Edge, library_id: str, names: NodeNames, language: str) -> Snippet:
    """The snippet of an edge: its first source is the lineage, the others are its members."""
    first, *others = edge.sources
    record = first.record
    return Snippet(
        snippet_id=make_snippet_id("edge", library_id, edge.edge_id, b""),
        lineage=_lineage(first, library_id, [_lineage(source, library_id) for source in others]),
        trust=Trust.CITABLE if edge.is_stated else Trust.MODEL_DERIVED_UNVERIFIED,
        payload=GraphEdge(
            edge_id=edge.edge_id,
            source=names.show(edge.start, language),
            target=names.show(edge.end, language),
            relation=record.relation,
            extractor=record.extractor,
            valid_from=record.valid_from,
            valid_to=record.valid_to,
            attributes=tuple(sorted(record.attributes, key=lambda attribute: attribute.name)),
        ),
        label=max(source.record.label for source in edge.sources),
    )


def _lineage(source: StoredEdge, library_id: str, members: Sequence[Lineage] = ()) -> Lineage:
    record = source.record
    return Lineage(
        library_id=library_id,
        doc_id=record.source_doc,
        source_locator=record.locator,
        ingested_at=source.recorded_at,
        members=tuple(members[:MAX_MEMBERS]),
        members_omitted=max(0, len(members) - MAX_MEMBERS),
        attributes=tuple(sorted(record.attributes, key=lambda attribute: attribute.name)),
    )
