"""A breadth-first walk over stored edges: bounded, cycle-safe, the same on every run (semantics 12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import Edge, node_id
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.surroundings import Surroundings
from groundwire_server.graph.ways import Ways

__all__ = ["Met", "walk"]


@dataclass(frozen=True, slots=True)
class Met:
    """An edge, and how many hops away it was met."""

    hop: int
    edge: Edge


def walk(around: Surroundings, starts: Iterable[Node], ways: Ways, max_hops: int, budget: Budget) -> list[Met]:
    """Edges around the nodes, each once, nearest first, then by relation, ids of the ends, id of the edge.

    A node is left by its edges in this order, nodes in the order of their ids; so a bound that is hit cuts the same
    edges on every run. An edge whose far end finds no room among the nodes is not taken.
    """
    visited: set[Node] = set()
    for node in sorted(starts, key=node_id):
        if node not in visited and budget.visit():
            visited.add(node)
    frontier = sorted(visited, key=node_id)
    seen: set[str] = set()
    met: list[Met] = []
    for hop in range(1, max_hops + 1):
        around.read(frontier, ways)
        here: list[Met] = []
        reached: set[Node] = set()
        for node in frontier:
            for edge in around.edges(node, ways):
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
                here.append(Met(hop, edge))
        met += sorted(here, key=lambda one: one.edge.order())
        frontier = sorted(reached, key=node_id)
        if "edges" in budget.cut or not frontier:
            break
    return met
