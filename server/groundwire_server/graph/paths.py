"""Paths between two nodes without a node twice, the shortest first, from both ends at once (semantics 12).

Paths of one length are looked for after those of the length before, so that what a bound lets through is always the
beginning of the whole answer. The walk goes on from the end where fewer nodes wait; once the two meet, only steps that
lie on a walk of just this length from one end to the other are left for the search that puts paths together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, product

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import Edge, Trail, node_id
from groundwire_server.graph.nodes import Node
from groundwire_server.graph.surroundings import Step, Surroundings, step_order
from groundwire_server.graph.ways import Ways

__all__ = ["find_paths"]

# For each place on the way, what can be walked from a node.
_Layers = list[dict[Node, list[Step]]]
# The same by node that is led to, in order of their ids, each with all the edges that lead there.
_Groups = list[tuple[Node, tuple[Edge, ...]]]


def find_paths(
    around: Surroundings, start: Node, end: Node, ways: Sequence[Ways], budget: Budget, *, whole: bool
) -> Iterator[Trail]:
    """Every path in the order of trails: fewest edges, then ids of the nodes, then the edges.

    It ends early where a bound is hit; what came before holds, and nothing that goes before it was left out.

    Args:
        ways: those of each step, as many as a path may have edges. Unless `whole`, all are the same.
        whole: a path has just as many edges as there are `ways`.
    """
    ends = _Ends(around, start, end, budget)
    for length in range(len(ways) if whole else 1, len(ways) + 1):
        if not ends.meet(ways[:length]):
            return
        yield from _put_together(ends.layers(ways[:length]), start, end, budget)
        if budget.cut:
            return


class _Ends:
    """The walks from both ends, a layer at a time: nodes at just so many steps, some of them again and again."""

    def __init__(self, around: Surroundings, start: Node, end: Node, budget: Budget) -> None:
        self._around = around
        self._budget = budget
        self._visited: set[Node] = set()
        self._seen: set[str] = set()
        self._ahead: list[set[Node]] = [set()]
        self._behind: list[set[Node]] = [set()]
        for node, layers in ((start, self._ahead), (end, self._behind)):
            if self._visit(node):
                layers[0].add(node)

    def meet(self, ways: Sequence[Ways]) -> bool:
        """Walk until both together have gone all of `ways`; False when a bound was hit, or one can go no further."""
        while len(self._ahead) + len(self._behind) - 2 < len(ways):
            ahead = len(self._ahead[-1]) <= len(self._behind[-1])
            layers = self._ahead if ahead else self._behind
            way = ways[len(layers) - 1] if ahead else ways[len(ways) - len(layers)].back
            reached = self._beyond(layers[-1], way)
            if not reached:
                return False
            layers.append(reached)
        return not self._budget.cut

    def layers(self, ways: Sequence[Ways]) -> _Layers:
        """The steps at each place that lie on a walk of this length from one end to the other."""
        met = len(self._ahead) - 1
        useful = self._ahead[met] & self._behind[len(ways) - met]
        layers: _Layers = [{} for _ in ways]
        kept = useful
        for place in range(met - 1, -1, -1):
            for node in self._ahead[place]:
                steps = [step for step in self._around.steps(node, ways[place]) if step.far in kept]
                if steps:
                    layers[place][node] = steps
            kept = set(layers[place])
        kept = useful
        for place in range(met, len(ways)):
            layers[place] = self._onward(kept, self._behind[len(ways) - place - 1], ways[place])
            kept = {step.far for steps in layers[place].values() for step in steps}
        return layers

    def _onward(self, nodes: set[Node], following: set[Node], way: Ways) -> dict[Node, list[Step]]:
        """Steps from the nodes into the following ones, of which the walk from the end has read the edges."""
        found: dict[Node, list[Step]] = {}
        for far in following:
            for step in self._around.steps(far, way.back):
                if step.far in nodes:
                    found.setdefault(step.far, []).append(Step(far, step.edge))
        return {node: sorted(steps, key=step_order) for node, steps in found.items()}

    def _beyond(self, layer: set[Node], way: Ways) -> set[Node] | None:
        """The nodes one step on; None where a bound was hit."""
        self._around.read(layer, way)
        reached: set[Node] = set()
        for node in sorted(layer, key=node_id):
            for step in self._around.steps(node, way):
                if not self._look(step.edge.edge_id) or not self._visit(step.far):
                    return None
                reached.add(step.far)
        return reached

    def _visit(self, node: Node) -> bool:
        if node not in self._visited:
            self._visited.add(node)
            return self._budget.visit()
        return True

    def _look(self, edge_id: str) -> bool:
        if edge_id not in self._seen:
            self._seen.add(edge_id)
            return self._budget.look()
        return True


def _put_together(layers: _Layers, start: Node, end: Node, budget: Budget) -> Iterator[Trail]:
    """Paths of one length in order: by their nodes, then, where several edges lead from one to the next, by these."""
    grouped = [{node: _by_node(steps) for node, steps in layer.items()} for layer in layers]
    for nodes, choices in _walks(grouped, (start,), (), end, budget):
        for edges in product(*choices):
            yield Trail(nodes, edges)


def _walks(
    layers: Sequence[dict[Node, _Groups]],
    nodes: tuple[Node, ...],
    choices: tuple[tuple[Edge, ...], ...],
    end: Node,
    budget: Budget,
) -> Iterator[tuple[tuple[Node, ...], tuple[tuple[Edge, ...], ...]]]:
    """Depth first. Each node that is tried is a look at an edge once more, so that dead ends are bounded too."""
    place = len(choices)
    if place == len(layers):
        yield nodes, choices
        return
    for far, edges in layers[place].get(nodes[-1], ()):
        if not budget.look():
            return
        if far not in nodes and (far != end or place == len(layers) - 1):
            yield from _walks(layers, (*nodes, far), (*choices, edges), end, budget)
            if budget.cut:
                return


def _by_node(steps: Sequence[Step]) -> _Groups:
    return [(far, tuple(step.edge for step in group)) for far, group in groupby(steps, key=lambda step: step.far)]
