"""Which edges a walk may cross, and when they hold (semantics 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import groupby

from groundwire_server.adjacency import STATED_BY
from groundwire_server.evidence import Call, Family, Filter, Period, Value, format_node_id, matches
from groundwire_server.graph.nodes import Node
from groundwire_server.store import StoredEdge

__all__ = ["EDGE_ATTRIBUTES", "Edge", "EdgeTest", "Trail", "group_edges", "node_id"]

EDGE_ATTRIBUTES: dict[str, Family] = {
    "doc_id": Family.TEXT,
    "extractor": Family.TEXT,
    "ingested_at": Family.INSTANT,
    "relation": Family.TEXT,
    "source": Family.TEXT,
    "target": Family.TEXT,
}
"""Attributes that a filter may test of every edge, beside those that were given with it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge with those of its sources that may be shown, in their order; at least one."""

    sources: tuple[StoredEdge, ...]

    @property
    def edge_id(self) -> str:
        """Its id."""
        return self.sources[0].edge_id

    @property
    def start(self) -> Node:
        """The node that it leads from."""
        record = self.sources[0].record
        return record.source_kind, record.source

    @property
    def end(self) -> Node:
        """The node that it leads to."""
        record = self.sources[0].record
        return record.target_kind, record.target

    @property
    def relation(self) -> str:
        """Its name."""
        return self.sources[0].record.relation

    @property
    def is_stated(self) -> bool:
        """Whether some source is no model."""
        return is_stated(self.sources[0]) or any(is_stated(source) for source in self.sources[1:])

    def order(self) -> tuple[str, str, str, str]:
        """Place among edges that are equally near: relation, ids of the ends, own id."""
        return self.relation, node_id(self.start), node_id(self.end), self.edge_id

    def narrowed(self, test: EdgeTest) -> Edge | None:
        """The edge with those sources that pass a further test; None: none does."""
        kept = tuple(source for source in self.sources if test.passes(source))
        return self if len(kept) == len(self.sources) else Edge(kept) if kept else None


@dataclass(frozen=True, slots=True)
class Trail:
    """Edges in walking order, and the nodes that they lead over, one more than edges."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def order(self) -> tuple[int, tuple[str, ...], tuple[tuple[str, str, str, str], ...]]:
        """Place among trails: the fewest edges, then ids of the nodes, then the edges."""
        return len(self.edges), tuple(map(node_id, self.nodes)), tuple(edge.order() for edge in self.edges)


@dataclass(frozen=True, slots=True)
class EdgeTest:
    """What a source of an edge must satisfy to be shown and crossed.

    first, last: it must hold on some day from the one to the other.
    """

    first: date | None
    last: date | None
    filters: tuple[Filter, ...]
    include_unverified: bool

    @classmethod
    def of(
        cls,
        call: Call,
        valid_in: Period | None,
        hint: Filter | None,
        *,
        include_unverified: bool,
    ) -> EdgeTest:
        """The test of a call. `valid_in` None: the day of the call's valid_at, if it has one."""
        day = call.options.valid_at.date() if call.options.valid_at is not None else None
        return cls(
            first=valid_in.first if valid_in is not None else day,
            last=valid_in.last if valid_in is not None else day,
            filters=tuple(tree for tree in (call.options.filter, hint) if tree is not None),
            include_unverified=include_unverified,
        )

    @property
    def unfiltered(self) -> EdgeTest:
        """The same without filters: what a closure may cross."""
        return replace(self, filters=())

    def passes(self, source: StoredEdge) -> bool:
        """Whether one source of an edge satisfies all of it."""
        if not self.include_unverified and not is_stated(source):
            return False
        if self.first is not None and self.last is not None and not holds(source, self.first, self.last):
            return False
        return not self.filters or all(matches(tree, _attributes(source)) for tree in self.filters)


@lru_cache(maxsize=1 << 16)
def node_id(node: Node) -> str:
    """Id of a node. Kept, since everything is sorted by it."""
    return format_node_id(*node)


def group_edges(rows: Sequence[StoredEdge], test: EdgeTest) -> list[Edge]:
    """Edges with the sources that pass, from rows that are sorted by edge; one without any is left out."""
    passing = (row for row in rows if test.passes(row))
    return [Edge(tuple(sources)) for _, sources in groupby(passing, key=lambda row: row.edge_id)]


def is_stated(source: StoredEdge) -> bool:
    """Whether a source is no model."""
    return source.record.extractor in STATED_BY


def holds(source: StoredEdge, first: date, last: date) -> bool:
    """Whether an edge holds on some day of [first, last]. An end that is not known is open."""
    begins, ends = source.record.valid_from, source.record.valid_to
    return (not begins or begins <= last.isoformat()) and (not ends or ends >= first.isoformat())


def _attributes(source: StoredEdge) -> dict[str, Value]:
    record = source.record
    given: dict[str, Value] = {attribute.name: attribute.value for attribute in record.attributes}
    return given | {
        "doc_id": record.source_doc,
        "extractor": record.extractor,
        "ingested_at": source.recorded_at,
        "relation": record.relation,
        "source": format_node_id(record.source_kind, record.source),
        "target": format_node_id(record.target_kind, record.target),
    }
