"""A breadth-first walk over stored edges: bounded, cycle-safe, the same on every run (semantics 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_server.evidence import Call, format_node_id
from groundwire_server.graph.edges import Edge, EdgeTest, group_edges
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.request import Direction
from groundwire_server.store import StoredEdge, StoreReader

__all__ = ["Budget", "Step", "walk"]


class Budget:
    """How much a walk may still visit and look at. `cut` names each bound that was hit, in the order of hitting."""

    def __init__(self, max_nodes: int, max_edges: int) -> None:
        self._nodes = max_nodes
        self._edges = max_edges
        self.cut: list[str] = []

    def visit(self) -> bool:
        """Take a node; False when there is none left."""
        if self._nodes == 0:
            self._hit("nodes")
            return False
        self._nodes -= 1
        return True

    def look(self) -> bool:
        """Take an edge; False when there is none left."""
        if self._edges == 0:
            self._hit("edges")
            return False
        self._edges -= 1
        return True

    def _hit(self, name: str) -> None:
        if name not in self.cut:
            self.cut.append(name)


@dataclass(frozen=True, slots=True)
class Step:
    """An edge, and how many hops away it was met."""

    hop: int
    edge: Edge


def walk(
    reader: StoreReader,
    starts: Sequence[Node],
    call: Call,
    test: EdgeTest,
    direction: Direction,
    max_hops: int,
    budget: Budget,
) -> list[Step]:
    """Edges around the nodes, each once, nearest first, then by relation, ids of the ends, id of the edge.

    A node is left by its edges in this order, nodes in the order of their ids; so a bound that is hit cuts the same
    edges on every run. An edge whose far end finds no room among the nodes is not taken.
    """
    visited: set[Node] = set()
    for node in sorted(starts, key=_by_id):
        if node not in visited and budget.visit():
            visited.add(node)
    frontier = sorted(visited, key=_by_id)
    seen: set[str] = set()
    steps: list[Step] = []
    for hop in range(1, max_hops + 1):
        met: list[Step] = []
        reached: set[Node] = set()
        for node in frontier:
            call.cancel.check("walk")
            for edge in sorted(_around(reader, node, call, test, direction), key=Edge.order):
                if edge.edge_id in seen:
                    continue
                if not budget.look():
                    break
                seen.add(edge.edge_id)
                far = edge.end if edge.start == node else edge.start
                if far not in visited:
                    if not budget.visit():
                        continue
                    visited.add(far)
                    reached.add(far)
                met.append(Step(hop, edge))
        steps += sorted(met, key=lambda step: step.edge.order())
        frontier = sorted(reached, key=_by_id)
        if "edges" in budget.cut or not frontier:
            break
    return steps


def _by_id(node: Node) -> str:
    return format_node_id(*node)


def _around(reader: StoreReader, node: Node, call: Call, test: EdgeTest, direction: Direction) -> list[Edge]:
    rows: dict[tuple[str, str, str], StoredEdge] = {}
    for outgoing, wanted in ((True, Direction.OUT), (False, Direction.IN)):
        if direction in (wanted, Direction.BOTH):
            for row in reader.edges(call.principal.clearance, [node], outgoing=outgoing):
                rows[row.edge_id, row.record.source_doc, row.record.locator] = row
    readable = [rows[key] for key in sorted(rows) if call.principal.may_read(rows[key].record.label)]
    return group_edges(readable, test)
