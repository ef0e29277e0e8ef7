"""Edges around nodes, read many nodes at a time and kept for one call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundwire_server.evidence import Call
from groundwire_server.graph.edges import Edge, EdgeTest, group_edges, node_id
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.ways import Ways
from groundwire_server.store import StoreReader

__all__ = ["Step", "Surroundings", "step_order"]

# Between two checks of the cancel token.
_NODES_A_READ = 1000


@dataclass(frozen=True, slots=True)
class Step:
    """An edge as it is walked: the node that it leads to."""

    far: Node
    edge: Edge


class Surroundings:
    """What is around the nodes of one library, as one caller sees it. Hidden edges are not there.

    Args:
        test: what an edge must satisfy to be crossed.
    """

    def __init__(self, reader: StoreReader, call: Call, test: EdgeTest) -> None:
        self._reader = reader
        self._call = call
        self._test = test
        self._edges: dict[tuple[Node, bool], tuple[Edge, ...]] = {}

    def read(self, nodes: Iterable[Node], ways: Ways) -> None:
        """Have the edges of the nodes at hand. A frontier is read at once, not a node at a time."""
        wanted = list(nodes)
        for outgoing in ways.sides():
            missing = [node for node in wanted if (node, outgoing) not in self._edges]
            for begin in range(0, len(missing), _NODES_A_READ):
                self._call.cancel.check("walk")
                self._load(missing[begin : begin + _NODES_A_READ], outgoing=outgoing)

    def steps(self, node: Node, ways: Ways) -> list[Step]:
        """Every step from a node, by id of the node that it leads to, then by the edge. One that stays is none."""
        found = [
            Step(edge.end if outgoing else edge.start, edge)
            for outgoing in ways.sides()
            for edge in self._around(node, outgoing=outgoing)
            if ways.allow(edge.relation, outgoing=outgoing) and edge.start != edge.end
        ]
        return sorted(found, key=step_order)

    def edges(self, node: Node, ways: Ways) -> list[Edge]:
        """Every edge that a node may be left by, in the order of edges; also one that leads back to it."""
        found = {
            edge.edge_id: edge
            for outgoing in ways.sides()
            for edge in self._around(node, outgoing=outgoing)
            if ways.allow(edge.relation, outgoing=outgoing)
        }
        return sorted(found.values(), key=Edge.order)

    def _around(self, node: Node, *, outgoing: bool) -> tuple[Edge, ...]:
        if (node, outgoing) not in self._edges:
            self._load([node], outgoing=outgoing)
        return self._edges[node, outgoing]

    def _load(self, nodes: list[Node], *, outgoing: bool) -> None:
        principal = self._call.principal
        rows = self._reader.edges(principal.clearance, nodes, outgoing=outgoing)
        found: dict[Node, list[Edge]] = {node: [] for node in nodes}
        for edge in group_edges([row for row in rows if principal.may_read(row.record.label)], self._test):
            found[edge.start if outgoing else edge.end].append(edge)
        self._edges.update({(node, outgoing): tuple(edges) for node, edges in found.items()})


def step_order(step: Step) -> tuple[str, tuple[str, str, str, str]]:
    """Place among steps from one node: id of the node that is led to, then the edge."""
    return node_id(step.far), step.edge.order()
