"""What several nodes have above them (semantics 12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import Trail, node_id
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.reach import Reach, reach
from groundwire_server.graph.surroundings import Surroundings
from groundwire_server.graph.ways import Ways

__all__ = ["common_ancestors"]


def common_ancestors(
    around: Surroundings, nodes: Sequence[Node], down: Ways, budget: Budget
) -> Iterator[tuple[tuple[int, int, str], list[Trail]]]:
    """Each node above all the given ones, with the shortest path to it from each of them, in the order given.

    The nearest come first: those with the shortest way to the farthest of the given nodes, then with the shortest ways
    to all of them together, then by id; that is the order that goes before the paths. None of the given nodes is above
    itself, and so none is an answer.

    Args:
        down: steps that lead down.
    """
    reaches: list[Reach] = []
    for node in nodes:
        reaches.append(reach(around, [node], down.back, 0, budget))
        if budget.cut:
            break
    if len(reaches) < len(nodes):  # of the others nothing is known, so nothing is above all of them for sure
        return
    above = set.intersection(*(set(each.found()) for each in reaches)) - set(nodes)
    found = [[each.trail(node) for each in reaches] for node in above]
    ordered = [(_distance(trails), trails) for trails in found]
    yield from sorted(ordered, key=lambda each: each[0])


def _distance(trails: Sequence[Trail]) -> tuple[int, int, str]:
    steps = [len(trail.edges) for trail in trails]
    return max(steps), sum(steps), node_id(trails[0].nodes[-1])
