"""What several nodes have above them (semantics 12)."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import node_id
from groundwire_server.graph.ground import Course, Ground
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.reach import Reach, reach
from groundwire_server.graph.ways import Ways

__all__ = ["common_ancestors"]


def common_ancestors(
    ground: Ground, nodes: Sequence[Node], down: Ways, budget: Budget
) -> list[tuple[tuple[int, int, str], list[Course]]]:
    """Each node above all the given ones, with the shortest path to it from each of them, in the order given.

    The nearest come first: those with the shortest way to the farthest of the given nodes, then with the shortest ways
    to all of them together, then by id; that is the order that goes before the paths. None of the given nodes is above
    itself, and so none is an answer.

    Args:
        down: steps that lead down.
    """
    reaches: list[Reach] = []
    for node in nodes:
        reaches.append(reach(ground, [node], down.back, 0, budget))
        if budget.cut:
            break
    if len(reaches) < len(nodes):  # of the others nothing is known, so nothing is above all of them for sure
        return []
    given = {ground.number(node) for node in nodes}
    above = set.intersection(*(set(each.found.tolist()) for each in reaches)) - given
    found = [[each.course(node) for each in reaches] for node in above]
    return sorted(((_distance(ground, courses), courses) for courses in found), key=lambda each: each[0])


def _distance(ground: Ground, courses: Sequence[Course]) -> tuple[int, int, str]:
    steps = [len(course.edges) for course in courses]
    return max(steps), sum(steps), node_id(ground.node(courses[0].nodes[-1]))
