"""An adjacency as it is at one time: a table, and rows that came after it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.adjacency.ranges import Integers, lay_out
from groundwire_server.adjacency.sight import Sight
from groundwire_server.adjacency.table import Table
from groundwire_server.adjacency.tail import TailRows, TailView
from groundwire_server.evidence import Label, decode_id, format_node_id, parse_node_id

__all__ = ["AdjacencyView"]

# Between two ids of the table there is room for so many others.
_ROOM = 1 << 31
_MOST_SIGHTS = 16


class AdjacencyView:
    """Nodes and edges by their numbers, every state up to that of its making in one. For any thread.

    Numbers are those of this view alone. What a caller may see of it is a `Sight`: the view itself knows hidden and
    dead rows too, and nothing of it goes to a caller.

    Attributes:
        relations: names, by code, in the order of coming. extractors, days: likewise.
    """

    def __init__(self, table: Table, rows: TailRows) -> None:
        self.relations = rows.relations or table.relations
        self.extractors = rows.extractors or table.extractors
        self.days = rows.days
        self._table = table
        self._rows = rows
        self._tail = TailView.of(table, rows)
        self._new_nodes = {node_id: table.nodes + place for place, node_id in enumerate(rows.node_ids)}
        self._lock = Lock()
        self._sights: dict[tuple[Any, ...], Sight] = {}

    @property
    def nodes(self) -> int:
        """Nodes, numbered from 0; hidden ones are among them."""
        return self._table.nodes + len(self._rows.node_ids)

    @property
    def edges(self) -> int:
        """Edges, numbered from 0; hidden and dead ones are among them."""
        return self._table.edges + len(self._tail.source)

    def sight(
        self,
        clearance: Label,
        generation: int,
        *,
        first: date | None = None,
        last: date | None = None,
        include_unverified: bool = False,
    ) -> Sight:
        """What one caller sees at a generation; the same object for the same caller.

        Args:
            first, last: edges have to hold on some day from the one to the other; None: whenever.
            include_unverified: with what only a model says.
        """
        strictest = min(clearance, Label.CONFIDENTIAL)
        key = (strictest, generation, first, last, include_unverified)
        with self._lock:
            if key not in self._sights:
                if len(self._sights) >= _MOST_SIGHTS:
                    del self._sights[next(iter(self._sights))]
                self._sights[key] = Sight(self, strictest, generation, first, last, include_unverified)
            return self._sights[key]

    def node_id(self, node: int) -> str:
        """Id of a node."""
        table = self._table
        raw = table.node_id(node) if node < table.nodes else self._rows.node_ids[node - table.nodes]
        return raw.decode()

    def node(self, node: int) -> tuple[str, str]:
        """Kind and code of a node."""
        return parse_node_id(self.node_id(node))

    def node_ids(self, nodes: Integers | Sequence[int]) -> list[str]:
        """Ids of nodes."""
        numbers = np.asarray(nodes, np.int64)
        if self._new_nodes and (numbers >= self._table.nodes).any():
            table, fresh, known = self._table, self._rows.node_ids, self._table.nodes
            raws = [fresh[node - known] if node >= known else table.node_id(node) for node in numbers.tolist()]
            return [raw.decode() for raw in raws]
        return [str(raw, "utf-8") for raw in self._table.raw_ids(numbers)]

    def nodes_of(self, nodes: Integers) -> list[tuple[str, str]]:
        """Kinds and codes of many nodes."""
        split = [node_id.partition(":") for node_id in self.node_ids(nodes)]
        return [(kind, decode_id(code) if "%" in code else code) for kind, _, code in split]

    def find(self, kind: str, code: str) -> int | None:
        """The node; None where no edge ever touched it."""
        try:
            node_id = format_node_id(kind, code).encode()
        except UnicodeEncodeError:  # half a surrogate pair: no store keeps it
            return None
        place = self._table.find_nodes([node_id])[0]
        return place if place >= 0 else self._new_nodes.get(node_id)

    def rank(self, nodes: Integers) -> Integers:
        """Place of nodes in the order of their ids: numbers to sort by."""
        inside: Integers = (nodes + 1) * _ROOM
        if not self._new_nodes:
            return inside
        behind = nodes - self._table.nodes
        return np.where(behind < 0, inside, self._new_ranks[np.maximum(behind, 0)])

    @cached_property
    def _new_ranks(self) -> Integers:
        ids = self._rows.node_ids
        ranks = np.empty(len(ids), np.int64)
        for place, node in enumerate(sorted(range(len(ids)), key=ids.__getitem__)):
            ranks[node] = (self._table.nodes_below(ids[node])) * _ROOM + 1 + place
        return ranks + np.int64(0)

    @cached_property
    def relation_rank(self) -> Integers:
        """Place of each relation in the order of names, by its code."""
        ranks = np.empty(len(self.relations), np.int64)
        ranks[sorted(range(len(ranks)), key=self.relations.__getitem__)] = np.arange(len(ranks))
        return ranks

    def source(self, edges: Integers) -> Integers:
        """Nodes that edges start at."""
        return self._of_edges("source", edges).astype(np.int64)

    def target(self, edges: Integers) -> Integers:
        """Nodes that edges end at."""
        return self._of_edges("target", edges).astype(np.int64)

    def relation(self, edges: Integers) -> NDArray[np.int32]:
        """Codes of their relations, into `relations`."""
        return self._of_edges("relation", edges)

    def days_of(self, edges: Integers) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Codes of the days from and to which edges hold, into `days`."""
        return self._of_edges("first", edges), self._of_edges("last", edges)

    def id_halves(self, edges: Integers) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Their 128-bit ids, high and low half: numbers to sort by."""
        return self._of_edges("id_high", edges), self._of_edges("id_low", edges)

    def edge_ids(self, edges: Integers) -> list[str]:
        """Ids of edges."""
        high, low = self.id_halves(edges)
        return [f"{a:016x}{b:016x}" for a, b in zip(high.tolist(), low.tolist(), strict=True)]

    def at(self, nodes: Integers, *, outgoing: bool) -> tuple[Integers, Integers, bool]:
        """(place in `nodes`, edge) of every edge that starts (outgoing) or ends at them, hidden and dead ones too.

        Whether they stand in order: by place, then by the node at the other end, relation and id.
        """
        table, tail = self._table, self._tail
        start = table.out_start if outgoing else table.in_start
        edge = table.out_edge if outgoing else table.in_edge
        known = nodes if not self._new_nodes else nodes[nodes < table.nodes]
        begins = start[known]
        origin, places = lay_out(begins, start[known + 1] - begins)
        edges = edge[places].astype(np.int64)
        if not len(tail.source):
            return (origin if known is nodes else np.flatnonzero(nodes < table.nodes)[origin]), edges, True
        if known is not nodes:
            origin = np.flatnonzero(nodes < table.nodes)[origin]
        held, tail_edges = (tail.out_nodes, tail.out_edges) if outgoing else (tail.in_nodes, tail.in_edges)
        begins = np.searchsorted(held, nodes)
        more, places = lay_out(begins, np.searchsorted(held, nodes, side="right") - begins)
        if not len(more):
            return origin, edges, True
        return np.concatenate((origin, more)), np.concatenate((edges, tail_edges[places])), False

    def rows_at(self, edges: Integers) -> tuple[Integers, Integers]:
        """(place in `edges`, row) of every source of them, hidden and dead ones too."""
        table, tail = self._table, self._tail
        inside = edges < table.edges
        known = edges[inside]
        begins = table.row_start[known]
        place, places = lay_out(begins, table.row_start[known + 1] - begins)
        rows = table.row_of[places].astype(np.int64)
        if not len(tail.row_edge):
            return place, rows
        begins = np.searchsorted(tail.edges_of_rows, edges)
        more, places = lay_out(begins, np.searchsorted(tail.edges_of_rows, edges, side="right") - begins)
        return (
            np.concatenate((np.flatnonzero(inside)[place], more)),
            np.concatenate((rows, table.rows + tail.rows_by_edge[places])),
        )

    def all_rows(self) -> Integers:
        """Every row."""
        return np.arange(self._table.rows + len(self._tail.row_edge), dtype=np.int64)

    def edges_of_all_rows(self) -> Integers:
        """The edge of every row."""
        return np.concatenate((self._table.row_edge.astype(np.int64), self._tail.row_edge))

    def label(self, rows: Integers) -> NDArray[np.uint8]:
        """Labels of rows."""
        return self._of_rows("label", rows)

    def born(self, rows: Integers) -> Integers:
        """Generations that bore rows."""
        return self._of_rows("born", rows)

    def died(self, rows: Integers) -> Integers:
        """Generations that ended rows."""
        return self._of_rows("died", rows)

    def extractor(self, rows: Integers) -> NDArray[np.int32]:
        """Who found rows, into `extractors`."""
        return self._of_rows("extractor", rows)

    def edge_row(self, rows: Integers) -> Integers:
        """The store's numbers of rows."""
        return self._of_rows("edge_row", rows)

    def _of_edges(self, name: str, edges: Integers) -> NDArray[Any]:
        return _spliced(getattr(self._table, name), getattr(self._tail, name), edges)

    def _of_rows(self, name: str, rows: Integers) -> NDArray[Any]:
        return _spliced(getattr(self._table, name), self._tail.columns[name], rows)


def _spliced(held: NDArray[Any], behind: NDArray[Any], places: Integers) -> NDArray[Any]:
    """Values of two arrays, the one behind the other."""
    if not len(behind):
        found: NDArray[Any] = held[places]
        return found
    inside = places < len(held)
    values = np.empty(len(places), held.dtype)
    values[inside] = held[places[inside]]
    values[~inside] = behind[places[~inside] - len(held)]
    return values
