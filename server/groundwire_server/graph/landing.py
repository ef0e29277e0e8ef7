"""How a node is reached by an edge that passes a filter: the shortest such path without a node twice (semantics 12)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import Edge, EdgeTest
from groundwire_server.graph.ground import Course, Ground
from groundwire_server.graph.reach import MAX_DEPTH, Reach

__all__ = ["Landings"]


class Landings:
    """Finds the paths for one walk. A path has no node twice, so that it never passes the node that it leads to.

    Args:
        test: what the last edge must satisfy.
        max_depth: edges of a path; 0: as many as are sent.
    """

    def __init__(self, ground: Ground, reached: Reach, test: EdgeTest, max_depth: int, budget: Budget) -> None:
        self._ground = ground
        self._reached = reached
        self._test = test
        self._max_depth = max_depth
        self._budget = budget
        self._number = count()
        self._below: dict[int, list[int]] = {}
        for node, before in zip(reached.found.tolist(), reached.before.tolist(), strict=True):
            self._below.setdefault(before, []).append(node)
        ground.read(reached.over.tolist())

    def course(self, node: int) -> Course | None:
        """The path to a node; None: there is none, or a bound was hit before it was sure which is the shortest."""
        ground, reached = self._ground, self._reached
        narrowed = [(before, edge, ground.passes(edge, self._test)) for before, edge in reached.arrivals[node]]
        last = [each for each in narrowed if each[2] is not None]
        behind = self._behind(node) if last else set()
        found = [
            _landed(reached.course(before), node, edge, passing)
            for before, edge, passing in last
            if before not in behind
        ]
        if any(before in behind for before, *_ in last):
            around = self._around(node, behind)
            if around is None:
                return None
            found += [
                _landed(around[before], node, edge, passing) for before, edge, passing in last if before in around
            ]
        return min(found, key=ground.key, default=None)

    def _behind(self, node: int) -> set[int]:
        """What the walk has reached over a node, and the node."""
        behind, waiting = {node}, [node]
        while waiting:
            for below in self._below.get(waiting.pop(), ()):
                behind.add(below)
                waiting.append(below)
        return behind

    def _around(self, node: int, behind: set[int]) -> dict[int, Course] | None:
        """The shortest paths to the nodes behind one that do not pass it, where there are any with an edge to spare.

        None: a bound was hit.
        """
        onward: dict[int, list[tuple[int, int]]] = {}
        waiting: list[tuple[object, int, Course]] = []
        for far in sorted(behind - {node}, key=self._ground.rank):
            for before, edge in self._reached.arrivals[far]:
                if before in behind:
                    onward.setdefault(before, []).append((far, edge))
                elif not self._budget.look():
                    return None
                else:
                    waiting += self._longer(self._reached.course(before), far, edge)
        heapq.heapify(waiting)
        found: dict[int, Course] = {}
        while waiting:
            *_, course = heapq.heappop(waiting)
            if course.nodes[-1] in found:
                continue
            found[course.nodes[-1]] = course
            for far, edge in onward.get(course.nodes[-1], ()):
                if far in found:
                    continue
                if not self._budget.look():
                    return None
                for longer in self._longer(course, far, edge):
                    heapq.heappush(waiting, longer)
        return found

    def _longer(self, course: Course, far: int, edge: int) -> Iterator[tuple[object, int, Course]]:
        """A path with one edge more, and its place among others; none that would leave no room for the last edge."""
        longest = (self._max_depth or MAX_DEPTH) - 1
        if len(course.edges) >= longest:
            if not self._max_depth:
                self._budget.hit("depth")
        else:
            longer = course.on(far, edge)
            yield self._ground.key(longer), next(self._number), longer


def _landed(course: Course, node: int, edge: int, passing: Edge | None) -> Course:
    return Course((*course.nodes, node), (*course.edges, edge), passing)
