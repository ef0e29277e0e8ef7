"""The operations that walk: from nodes of one or more libraries to edges and paths, in the order of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from groundwire_server.evidence import Call, EndReason
from groundwire_server.graph.ancestors import common_ancestors
from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import Edge, EdgeTest, Trail, node_id
from groundwire_server.graph.ground import Ground
from groundwire_server.graph.landing import Landings
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.opened import OpenGraph
from groundwire_server.graph.paths import find_paths
from groundwire_server.graph.reach import reach
from groundwire_server.graph.request import (
    Closure,
    CommonAncestors,
    Direction,
    Neighborhood,
    PathChoice,
    Paths,
    TraceLimits,
)
from groundwire_server.graph.walk import walk
from groundwire_server.graph.ways import Ways

__all__ = ["PARENT_OF", "Piece", "Place", "Walking", "run_operation"]

PARENT_OF = "parent_of"
_USUAL_PATHS = 10

Walking = Neighborhood | Closure | Paths | CommonAncestors
"""Operations whose answer is edges or paths."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a walk begins in one library: its graph, and the nodes that were asked for, None for those not in it."""

    graph: OpenGraph
    nodes: tuple[Node | None, ...]

    @property
    def known(self) -> list[Node]:
        """The nodes that are there, each once."""
        return list(dict.fromkeys(node for node in self.nodes if node is not None))


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of an answer, and its place in the order."""

    order: tuple[Any, ...]
    graph: OpenGraph
    item: Edge | Trail


@dataclass(frozen=True, slots=True)
class _Run:
    """What all libraries are walked with."""

    call: Call
    test: EdgeTest
    budget: Budget
    limits: TraceLimits

    def ground(self, place: Place, test: EdgeTest | None = None) -> Ground:
        return place.graph.ground(self.call, test or self.test)


def run_operation(
    operation: Walking, places: Sequence[Place], call: Call, test: EdgeTest, budget: Budget, limits: TraceLimits
) -> tuple[list[Piece], EndReason]:
    """Everything that is found, in order, and why it ended there."""
    walk_in = _OPERATIONS[type(operation)]
    run = _Run(call, test, budget, limits)
    pieces = []
    for piece in (each for place in places for each in walk_in(operation, place, run)):
        call.cancel.check("walk")
        pieces.append(piece)
    pieces.sort(key=lambda piece: piece.order)
    end = EndReason.EXHAUSTED
    if isinstance(operation, Paths):
        most = _most_paths(operation, call)
        if operation.choice is PathChoice.ALL and len(pieces) > most:
            budget.hit("paths")
        if operation.choice is PathChoice.K_SHORTEST and len(pieces) >= most:
            end = EndReason.TOP_K
        pieces = pieces[:most]
    return pieces, EndReason.GRAPH_BUDGET if budget.cut else end


def _neighborhood(operation: Neighborhood, place: Place, run: _Run) -> Iterator[Piece]:
    ground = run.ground(place)
    ways = place.graph.relations.ways(operation.relations, operation.direction)
    found = walk(ground, place.known, ways, operation.max_hops or 1, run.budget)
    ground.read(met.edge for met in found)
    for met in found:
        edge = ground.edge(met.edge)
        if edge is not None:
            yield Piece((met.hop, *edge.order(), place.graph.library_id), place.graph, edge)


def _closure(operation: Closure, place: Place, run: _Run) -> Iterator[Piece]:
    """Edges that fail the filter are crossed; a node is left out when none that leads to it passes."""
    ways = place.graph.relations.ways(operation.relations, operation.direction)
    ground = run.ground(place, run.test.unfiltered)
    reached = reach(ground, place.known, ways, operation.max_depth, run.budget)
    landings = Landings(ground, reached, run.test, operation.max_depth, run.budget) if run.test.filters else None
    courses = []
    for node in reached.found.tolist():
        run.call.cancel.check("walk")
        courses.append(reached.course(node) if landings is None else landings.course(node))
    for trail in ground.trails([course for course in courses if course is not None]):
        order = (len(trail.edges), node_id(trail.nodes[-1]), place.graph.library_id)
        yield Piece(order, place.graph, trail)


def _paths(operation: Paths, place: Place, run: _Run) -> Iterator[Piece]:
    start, end = place.nodes
    if start is None or end is None:
        return
    book, direction = place.graph.relations, operation.direction
    ways: list[Ways]
    if operation.pattern:
        ways = [book.ways([relation], direction) for relation in operation.pattern]
    else:
        ways = [book.ways(operation.relations, direction)] * (operation.max_hops or run.limits.max_hops)
    ground = run.ground(place)
    ends = ground.number(start), ground.number(end)
    found = find_paths(ground, *ends, ways, run.budget, whole=bool(operation.pattern))
    more = operation.choice is PathChoice.ALL  # one more tells whether there are more
    for trail in ground.trails(list(islice(found, _most_paths(operation, run.call) + more))):
        yield Piece((*trail.order(), place.graph.library_id), place.graph, trail)


def _most_paths(operation: Paths, call: Call) -> int:
    if operation.choice is PathChoice.SHORTEST:
        return 1
    return (operation.max_paths or _USUAL_PATHS) * call.options.pages


def _common_ancestors(operation: CommonAncestors, place: Place, run: _Run) -> Iterator[Piece]:
    if None in place.nodes:
        return
    down = place.graph.relations.ways([operation.relation or PARENT_OF], Direction.OUT)
    ground = run.ground(place)
    for distance, courses in common_ancestors(ground, place.known, down, run.budget):
        for number, trail in enumerate(ground.trails(courses)):
            yield Piece((*distance, place.graph.library_id, number), place.graph, trail)


_OPERATIONS: dict[type[Walking], Callable[[Any, Place, _Run], Iterator[Piece]]] = {
    Neighborhood: _neighborhood,
    Closure: _closure,
    Paths: _paths,
    CommonAncestors: _common_ancestors,
}
