"""Stored relations as a list, for review and export: each once, with its sources (semantics 12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundwire_server.evidence import Label, Principal, Snippet
from groundwire_server.graph.edges import Edge
from groundwire_server.graph.exit import edge_snippet
from groundwire_server.graph.nodes import NodeNames
from groundwire_server.store import EdgePlace, StoredEdge

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["ListedEdge", "RelationWish", "list_relations"]

_LANGUAGE = "en"  # a list asks in no language of its own


@dataclass(frozen=True, slots=True)
class RelationWish:
    """Which relations to list: an empty name bounds nothing."""

    relation: str = ""
    source_doc: str = ""


@dataclass(frozen=True, slots=True)
class ListedEdge:
    """A relation with its citation, who found each source of it, and its place in the list."""

    snippet: Snippet
    place: EdgePlace
    extractors: tuple[str, ...]


def list_relations(
    wish: RelationWish, snapshot: Snapshot, principal: Principal, after: EdgePlace | None, limit: int
) -> tuple[list[ListedEdge], bool]:
    """Up to `limit` relations behind a place, and whether there are more."""
    found = snapshot.reader.edge_page(
        min(principal.clearance, Label.CONFIDENTIAL),
        relation=wish.relation or None,
        source_doc=wish.source_doc or None,
        after=after,
        limit=limit + 1,
    )
    names = NodeNames(snapshot, snapshot.reader, principal)
    listed = []
    for sources in found[:limit]:
        readable = tuple(source for source in sources if principal.may_read(source.record.label))
        if readable:
            snippet = edge_snippet(Edge(readable), snapshot.library_id, names, _LANGUAGE)
            shown = readable[: len(snippet.lineage.members) + 1]
            found_by = tuple(source.record.extractor for source in shown)
            listed.append(ListedEdge(snippet, _place(readable[0]), found_by))
    return listed, len(found) > limit


def _place(source: StoredEdge) -> EdgePlace:
    record = source.record
    return EdgePlace(
        record.relation, record.source_kind, record.source, record.target_kind, record.target, source.edge_id
    )
