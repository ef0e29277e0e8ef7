"""Everything that can be reached from some nodes, each by the shortest path (semantics 12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundwire_server.adjacency import Steps
from groundwire_server.graph.budget import Budget
from groundwire_server.graph.ground import Course, Ground
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.ways import Ways

__all__ = ["MAX_DEPTH", "Reach", "reach"]

MAX_DEPTH = 64
"""Edges of one path that is sent: with all their sources they have to fit into a frame."""

_NONE = np.zeros(0, np.int64)


class Reach:
    """Nodes that were reached, in the order of their paths: the fewest edges first, then the ids on the way.

    Attributes:
        starts: numbers of the nodes that the walk began at.
        found: what was reached beside them, in order.
        before, by: of each of them the node that its own path comes from, and the edge.
        far, near, over: every edge that was seen to lead to a node, in the order of the walk: the node that it leads
            to, the one that it was left from, the edge.
    """

    def __init__(self, starts: Sequence[int]) -> None:
        self.starts = frozenset(starts)
        self.found = self.before = self.by = _NONE
        self.far = self.near = self.over = _NONE

    def add(self, fresh: Sequence[NDArray[np.int64]], seen: Sequence[NDArray[np.int64]]) -> None:
        """A level more."""
        self.found, self.before, self.by = map(np.append, (self.found, self.before, self.by), fresh)
        self.far, self.near, self.over = map(np.append, (self.far, self.near, self.over), seen)

    @cached_property
    def _way_to(self) -> dict[int, tuple[int, int]]:
        ways = zip(self.before.tolist(), self.by.tolist(), strict=True)
        return dict(zip(self.found.tolist(), ways, strict=True))

    @cached_property
    def arrivals(self) -> dict[int, list[tuple[int, int]]]:
        """By the node that is led to: (node that is left, edge), first those of its own path."""
        ways: dict[int, list[tuple[int, int]]] = {}
        for far, near, over in zip(self.far.tolist(), self.near.tolist(), self.over.tolist(), strict=True):
            ways.setdefault(far, []).append((near, over))
        return ways

    def course(self, node: int) -> Course:
        """The shortest path to a node, of those the first by ids of the nodes."""
        nodes, edges = [node], []
        while nodes[-1] not in self.starts:
            before, edge = self._way_to[nodes[-1]]
            nodes.append(before)
            edges.append(edge)
        return Course(tuple(reversed(nodes)), tuple(reversed(edges)))


def reach(ground: Ground, starts: Iterable[Node], ways: Ways, max_depth: int, budget: Budget) -> Reach:
    """Walk to everything that is there, a level at a time. A bound that is hit ends the walk where it is hit.

    Args:
        max_depth: levels; 0: all, which are cut at `MAX_DEPTH`.
    """
    begin: list[int] = []
    for number in ground.starts(starts):
        if not budget.visit():
            return Reach(begin)
        begin.append(number)
    found = Reach(begin)
    frontier = np.array(begin, np.int64)
    ranked, looked = _Seen(ground.node_count), _Seen(ground.edge_count)
    ranked.add(frontier[frontier >= 0])
    depth = 0
    while len(frontier) and (not max_depth or depth < max_depth):
        if depth == MAX_DEPTH:
            budget.hit("depth")
            break
        depth += 1
        steps = ground.steps(frontier, ways)
        fresh = ranked.new(steps.far)
        end = budget.take(looked.new(steps.edge), fresh)
        fresh = fresh[:end]
        taken = Steps(*(part[:end] for part in steps))
        near = frontier[taken.origin]
        found.add((taken.far[fresh], near[fresh], taken.edge[fresh]), (taken.far, near, taken.edge))
        if end < len(steps.edge):
            break
        looked.add(steps.edge)
        frontier = taken.far[fresh]
        ranked.add(frontier)
    return found


class _Seen:
    """Numbers that were met."""

    def __init__(self, count: int) -> None:
        self._seen = np.zeros(count, np.bool_)
        self._place = np.empty(count, np.int64)

    def new(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where a number that was not met yet stands for the first time."""
        places = np.arange(len(numbers))
        self._place[numbers[::-1]] = places[::-1]
        found: NDArray[np.bool_] = (self._place[numbers] == places) & ~self._seen[numbers]
        return found

    def add(self, numbers: NDArray[np.int64]) -> None:
        """Note that they were met."""
        self._seen[numbers] = True
