"""A breadth-first walk over relations: bounded, cycle-safe, the same on every run (semantics 12)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.ground import Ground
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.ways import Ways

__all__ = ["Met", "walk"]


class Met(NamedTuple):
    """An edge, and how many hops away it was met."""

    hop: int
    edge: int


def walk(ground: Ground, starts: Iterable[Node], ways: Ways, max_hops: int, budget: Budget) -> list[Met]:
    """Edges around the nodes, each once, nearest first; those of one hop in the order of nodes that they were met at.

    A node is left by its edges in the order of edges, nodes in the order of their ids; so a bound that is hit cuts the
    same edges on every run. An edge whose far end finds no room among the nodes is not taken.
    """
    visited: set[int] = set()
    for number in ground.starts(starts):
        if budget.visit():
            visited.add(number)
    frontier = np.array(sorted(visited), np.int64)
    seen: set[int] = set()
    met: list[Met] = []
    for hop in range(1, max_hops + 1):
        steps = ground.edges_at(ground.in_order(frontier), ways)
        reached: list[int] = []
        for far, edge in zip(steps.far.tolist(), steps.edge.tolist(), strict=True):
            if edge in seen:
                continue
            if not budget.look():
                break
            seen.add(edge)
            if far not in visited:
                if not budget.visit():
                    continue
                visited.add(far)
                reached.append(far)
            met.append(Met(hop, edge))
        if "edges" in budget.cut or not reached:
            break
        frontier = np.array(reached, np.int64)
    return met
