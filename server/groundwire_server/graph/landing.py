"""How a node is reached by an edge that passes a filter: the shortest such path without a node twice (semantics 12)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import Edge, EdgeTest, Trail, node_id
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.reach import MAX_DEPTH, Reach

__all__ = ["Landings"]


class Landings:
    """Finds the paths for one walk. A path has no node twice, so that it never passes the node that it leads to.

    Args:
        test: what the last edge must satisfy.
        max_depth: edges of a path; 0: as many as are sent.
    """

    def __init__(self, reached: Reach, test: EdgeTest, max_depth: int, budget: Budget) -> None:
        self._reached = reached
        self._test = test
        self._max_depth = max_depth
        self._budget = budget
        self._below: dict[Node, list[Node]] = {}
        for node in reached.found():
            self._below.setdefault(reached.arrivals[node][0][0], []).append(node)

    def trail(self, node: Node) -> Trail | None:
        """The path to a node; None: there is none, or a bound was hit before it was sure which is the shortest."""
        reached = self._reached
        narrowed = ((before, edge.narrowed(self._test)) for before, edge in reached.arrivals[node])
        last = [(before, edge) for before, edge in narrowed if edge is not None]
        behind = self._behind(node) if last else set()
        found = [self._landed(reached.trail(before), node, edge) for before, edge in last if before not in behind]
        if any(before in behind for before, _ in last):
            around = self._around(node, behind)
            if around is None:
                return None
            found += [self._landed(around[before], node, edge) for before, edge in last if before in around]
        return min(found, key=Trail.order, default=None)

    def _landed(self, trail: Trail, node: Node, edge: Edge) -> Trail:
        return Trail((*trail.nodes, node), (*trail.edges, edge))

    def _behind(self, node: Node) -> set[Node]:
        """What the walk has reached over a node, and the node."""
        behind, waiting = {node}, [node]
        while waiting:
            for below in self._below.get(waiting.pop(), ()):
                behind.add(below)
                waiting.append(below)
        return behind

    def _around(self, node: Node, behind: set[Node]) -> dict[Node, Trail] | None:
        """The shortest paths to the nodes behind one that do not pass it, where there are any with an edge to spare.

        None: a bound was hit.
        """
        onward: dict[Node, list[tuple[Node, Edge]]] = {}
        waiting: list[tuple[tuple[Any, ...], Trail]] = []
        for far in sorted(behind - {node}, key=node_id):
            for before, edge in self._reached.arrivals[far]:
                if before in behind:
                    onward.setdefault(before, []).append((far, edge))
                elif not self._budget.look():
                    return None
                else:
                    waiting += self._longer(self._reached.trail(before), far, edge)
        heapq.heapify(waiting)
        found: dict[Node, Trail] = {}
        while waiting:
            _, trail = heapq.heappop(waiting)
            if trail.nodes[-1] in found:
                continue
            found[trail.nodes[-1]] = trail
            for far, edge in onward.get(trail.nodes[-1], ()):
                if far in found:
                    continue
                if not self._budget.look():
                    return None
                for longer in self._longer(trail, far, edge):
                    heapq.heappush(waiting, longer)
        return found

    def _longer(self, trail: Trail, far: Node, edge: Edge) -> Iterator[tuple[tuple[Any, ...], Trail]]:
        """A path with one edge more, and its place among others; none that would leave no room for the last edge."""
        longest = (self._max_depth or MAX_DEPTH) - 1
        if len(trail.edges) >= longest:
            if not self._max_depth:
                self._budget.hit("depth")
        else:
            longer = self._landed(trail, far, edge)
            yield longer.order(), longer
