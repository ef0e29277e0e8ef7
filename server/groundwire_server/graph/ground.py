"""The relations of one library as one call walks them: by numbers, and read whole only where they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_server.adjacency import AdjacencyView, Sight, Steps
from groundwire_server.evidence import Call
from groundwire_server.graph.edges import Edge, EdgeTest, Trail, group_edges, node_id
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.ways import Ways
from groundwire_server.store import StoreReader

__all__ = ["Course", "Ground"]

Numbers = NDArray[np.int64]

# Between two looks whether the call is still wanted.
_EDGES_A_TIME = 1000
_TRAILS_A_LOOK = 256


class Course:
    """A way over numbered nodes: one node more than edges. `last` stands for the last edge where only some of its
    sources pass.
    """

    __slots__ = ("edges", "last", "nodes")

    def __init__(self, nodes: tuple[int, ...], edges: tuple[int, ...], last: Edge | None = None) -> None:
        self.nodes = nodes
        self.edges = edges
        self.last = last

    def on(self, node: int, edge: int) -> Course:
        """The same with an edge more."""
        return Course((*self.nodes, node), (*self.edges, edge))


class Ground:
    """What is around the nodes of one library, as one caller sees it. Hidden edges are not there.

    Nodes that no edge touches, such as terms that stand alone, have numbers below 0.

    Args:
        reader: the store, at the generation that is asked about.
        test: what an edge must satisfy to be crossed.
    """

    def __init__(self, view: AdjacencyView, reader: StoreReader, call: Call, test: EdgeTest) -> None:
        self._view = view
        self._reader = reader
        self._call = call
        self._test = test
        self._sight = view.sight(
            call.principal.clearance,
            reader.generation,
            first=test.first,
            last=test.last,
            include_unverified=test.include_unverified,
        )
        self._alone: dict[Node, int] = {}
        self._masks: dict[Ways, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = {}
        self._edges: dict[int, Edge | None] = {}
        self._keys: dict[int, tuple[int, int, int, str]] = {}

    @property
    def sight(self) -> Sight:
        """What is seen of the relations, filters aside."""
        return self._sight

    @property
    def node_count(self) -> int:
        """Numbers of nodes that edges touch lie below it."""
        return self._view.nodes

    @property
    def edge_count(self) -> int:
        """Numbers of edges lie below it."""
        return self._view.edges

    def number(self, node: Node) -> int:
        """The number of a node."""
        found = self._view.find(*node)
        return self._alone.setdefault(node, -1 - len(self._alone)) if found is None else found

    def node(self, number: int) -> Node:
        """The node of a number."""
        return self._view.node(number) if number >= 0 else list(self._alone)[-1 - number]

    def nodes(self, numbers: Numbers) -> list[Node]:
        """Nodes of numbers from 0 on."""
        return self._view.nodes_of(numbers)

    def starts(self, nodes: Iterable[Node]) -> list[int]:
        """Numbers of nodes, each once, in the order of their ids."""
        return [self.number(node) for node in sorted(set(nodes), key=node_id)]

    def in_order(self, numbers: Numbers) -> Numbers:
        """Nodes in the order of their ids."""
        return numbers[np.argsort(self._view.rank(numbers), kind="stable")]

    def rank(self, number: int) -> int:
        """Place of a node in the order of ids, among those that edges touch."""
        return int(self._view.rank(np.array([number], np.int64))[0])

    def steps(self, numbers: Numbers, ways: Ways) -> Steps:
        """Every step from nodes: by node as given, by id of the node that is led to, then by the edge. One that stays
        is none.
        """
        return self._around(numbers, ways, loops=False)

    def edges_at(self, numbers: Numbers, ways: Ways) -> Steps:
        """Every edge that nodes may be left by: by node as given, then in the order of edges; with those that stay."""
        steps = self._around(numbers, ways, loops=True)
        place = np.empty(len(steps.edge), np.int64)
        place[self._sight.edge_order(steps.edge)] = np.arange(len(place))
        order = np.lexsort((place, steps.origin))
        return Steps(steps.origin[order], steps.far[order], steps.edge[order])

    def in_step_order(self, near: Numbers, far: Numbers, edge: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Steps by the number of the node that is left, then by id of the node that is led to, then by the edge."""
        order = self._sight.step_order(near, far, edge)
        return near[order], far[order], edge[order]

    def edge(self, number: int) -> Edge | None:
        """An edge with those of its sources that pass; None: none does."""
        if number not in self._edges:
            self.read([number])
        return self._edges[number]

    def passes(self, number: int, test: EdgeTest) -> Edge | None:
        """An edge with those of its sources that pass a further test; None: none does."""
        edge = self.edge(number)
        return None if edge is None else edge.narrowed(test)

    def read(self, numbers: Iterable[int]) -> None:
        """Have edges at hand with their sources, many at a time."""
        missing = np.array(sorted({number for number in numbers if number not in self._edges}), np.int64)
        principal = self._call.principal
        for begin in range(0, len(missing), _EDGES_A_TIME):
            self._call.cancel.check("walk")
            some = missing[begin : begin + _EDGES_A_TIME]
            rows = self._reader.edge_rows(principal.clearance, self._sight.sources(some))
            readable = [row for row in rows if principal.may_read(row.record.label)]
            found = {edge.edge_id: edge for edge in group_edges(readable, self._test)}
            names = self._view.edge_ids(some)
            self._edges.update({number: found.get(name) for number, name in zip(some.tolist(), names, strict=True)})

    def trails(self, courses: Sequence[Course]) -> list[Trail]:
        """Ways with all that is shown of them. One of which a purge has erased an edge meanwhile is left out."""
        self.read(edge for course in courses for edge in course.edges)
        trails = []
        for place, course in enumerate(courses):
            if place % _TRAILS_A_LOOK == 0:
                self._call.cancel.check("walk")
            if all(self._edges[edge] for edge in course.edges):
                trails.append(self._trail(course))
        return trails

    def key(self, course: Course) -> tuple[int, tuple[int, ...], tuple[tuple[int, int, int, str], ...]]:
        """Place among ways: the fewest edges, then ids of the nodes, then the edges."""
        ranks = tuple(self.rank(node) if node >= 0 else node for node in course.nodes)
        return len(course.edges), ranks, tuple(map(self._edge_key, course.edges))

    def _trail(self, course: Course) -> Trail:
        edges = [self._edges[edge] for edge in course.edges]
        if course.last is not None:
            edges[-1] = course.last
        return Trail(tuple(map(self.node, course.nodes)), tuple(edge for edge in edges if edge is not None))

    def _edge_key(self, number: int) -> tuple[int, int, int, str]:
        if number not in self._keys:
            view, one = self._view, np.array([number], np.int64)
            relation = int(view.relation_rank[view.relation(one)][0])
            start, end = int(view.rank(view.source(one))[0]), int(view.rank(view.target(one))[0])
            self._keys[number] = relation, start, end, view.edge_ids(one)[0]
        return self._keys[number]

    def _around(self, numbers: Numbers, ways: Ways, *, loops: bool) -> Steps:
        self._call.cancel.check("walk")
        along, against = self._mask(ways)
        touched = np.flatnonzero(numbers >= 0)
        steps = self._sight.steps(numbers[touched], along=along, against=against, loops=loops)
        if len(touched) < len(numbers):
            steps = Steps(touched[steps.origin], steps.far, steps.edge)
        if not self._test.filters:
            return steps
        edges = steps.edge.tolist()
        self.read(edges)
        return steps.kept(np.array([self._edges[edge] is not None for edge in edges], np.bool_))

    def _mask(self, ways: Ways) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        if ways not in self._masks:
            sides = [
                np.array([ways.allow(name, outgoing=outgoing) for name in self._view.relations], np.bool_)
                for outgoing in (True, False)
            ]
            self._masks[ways] = sides[0], sides[1]
        return self._masks[ways]
