"""Everything that can be reached from some nodes, each by the shortest path (semantics 12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import Edge, Trail, node_id
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.surroundings import Surroundings
from groundwire_server.graph.ways import Ways

__all__ = ["MAX_DEPTH", "Reach", "reach"]

MAX_DEPTH = 64
"""Edges of one path that is sent: with all their sources they have to fit into a frame."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Nodes that were reached, in the order of their paths: the fewest edges first, then the ids on the way.

    rank: place of a node in that order; the starts come first. arrivals: every edge that was seen to lead to a node,
        with the node that it was left from, first the one of the node's own path.
    """

    starts: frozenset[Node]
    rank: dict[Node, int] = field(default_factory=dict)
    arrivals: dict[Node, list[tuple[Node, Edge]]] = field(default_factory=dict)

    def trail(self, node: Node) -> Trail:
        """The shortest path to a node, of those the first by ids of the nodes."""
        nodes, edges = [node], []
        while nodes[-1] in self.arrivals and nodes[-1] not in self.starts:
            before, edge = self.arrivals[nodes[-1]][0]
            nodes.append(before)
            edges.append(edge)
        return Trail(tuple(reversed(nodes)), tuple(reversed(edges)))

    def found(self) -> list[Node]:
        """What was reached, without the starts."""
        return [node for node in self.rank if node not in self.starts]


def reach(around: Surroundings, starts: Iterable[Node], ways: Ways, max_depth: int, budget: Budget) -> Reach:
    """Walk to everything that is there, a level at a time. A bound that is hit ends the walk where it is hit.

    Args:
        max_depth: levels; 0: all, which are cut at `MAX_DEPTH`.
    """
    found = Reach(frozenset(starts))
    for node in sorted(found.starts, key=node_id):
        if not budget.visit():
            return found
        found.rank[node] = len(found.rank)
    frontier = list(found.rank)
    seen: set[str] = set()
    depth = 0
    while frontier and (not max_depth or depth < max_depth):
        if depth == MAX_DEPTH:
            budget.hit("depth")
            break
        depth += 1
        reached = _next_level(around, found, frontier, ways, seen, budget)
        if reached is None:
            break
        frontier = reached
    return found


def _next_level(
    around: Surroundings, found: Reach, frontier: list[Node], ways: Ways, seen: set[str], budget: Budget
) -> list[Node] | None:
    """The nodes one step on, in the order of their paths, which is that of leaving; None: a bound was hit."""
    around.read(frontier, ways)
    reached: list[Node] = []
    for node in frontier:
        for step in around.steps(node, ways):
            if step.edge.edge_id not in seen:
                if not budget.look():
                    return None
                seen.add(step.edge.edge_id)
            if step.far not in found.rank:
                if not budget.visit():
                    return None
                found.rank[step.far] = len(found.rank)
                reached.append(step.far)
            found.arrivals.setdefault(step.far, []).append((node, step.edge))
    return reached
