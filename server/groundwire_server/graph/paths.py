"""Paths between two nodes without a node twice, the shortest first, from both ends at once (semantics 12).

Paths of one length are looked for after those of the length before, so that what a bound lets through is always the
beginning of the whole answer. The walk goes on from the end where fewer nodes wait; once the two meet, only steps that
lie on a walk of just this length from one end to the other are left for the search that puts paths together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_server.graph.budget import Budget
from groundwire_server.graph.ground import Course, Ground
from groundwire_server.graph.ways import Ways

__all__ = ["find_paths"]

Numbers = NDArray[np.int64]

# What can be walked from a node: the nodes that are led to, in order of their ids, each with all the edges there.
_Groups = dict[int, list[tuple[int, tuple[int, ...]]]]


def find_paths(
    ground: Ground, start: int, end: int, ways: Sequence[Ways], budget: Budget, *, whole: bool
) -> Iterator[Course]:
    """Every path in order: fewest edges, then ids of the nodes, then the edges.

    It ends early where a bound is hit; what came before holds, and nothing that goes before it was left out.

    Args:
        ways: those of each step, as many as a path may have edges. Unless `whole`, all are the same.
        whole: a path has just as many edges as there are `ways`.
    """
    ends = _Ends(ground, start, end, budget)
    for length in range(len(ways) if whole else 1, len(ways) + 1):
        if not ends.meet(ways[:length]):
            return
        yield from _put_together(ends.layers(length), start, end, budget)
        if budget.cut:
            return


class _Hops(NamedTuple):
    """Steps from one layer: the node that is left, the one that is led to, the edge."""

    near: Numbers
    far: Numbers
    edge: Numbers

    def between(self, nears: Numbers | None, fars: Numbers | None) -> _Hops:
        """Those that leave some nodes, or lead to some."""
        kept = np.ones(len(self.edge), np.bool_)
        if nears is not None:
            kept &= np.isin(self.near, nears)
        if fars is not None:
            kept &= np.isin(self.far, fars)
        return _Hops(self.near[kept], self.far[kept], self.edge[kept])

    @property
    def turned(self) -> _Hops:
        """The same, walked the other way."""
        return _Hops(self.far, self.near, self.edge)


class _Ends:
    """The walks from both ends, a layer at a time: nodes at just so many steps, some of them again and again."""

    def __init__(self, ground: Ground, start: int, end: int, budget: Budget) -> None:
        self._ground = ground
        self._budget = budget
        self._visited: set[int] = set()
        self._seen: set[int] = set()
        self._ahead: list[Numbers] = []
        self._behind: list[Numbers] = []
        self._hops_ahead: list[_Hops] = []
        self._hops_behind: list[_Hops] = []
        for node, layers in ((start, self._ahead), (end, self._behind)):
            layers.append(np.array([node] if self._visit(node) else [], np.int64))

    def meet(self, ways: Sequence[Ways]) -> bool:
        """Walk until both together have gone all of `ways`; False when a bound was hit, or one can go no further."""
        while len(self._ahead) + len(self._behind) - 2 < len(ways):
            if len(self._ahead[-1]) <= len(self._behind[-1]):
                layers, hops, way = self._ahead, self._hops_ahead, ways[len(self._ahead) - 1]
            else:
                layers, hops, way = self._behind, self._hops_behind, ways[len(ways) - len(self._behind)].back
            steps = self._ground.steps(layers[-1], way)
            if not self._look_at(steps.edge, steps.far) or not len(steps.edge):
                return False
            hops.append(_Hops(layers[-1][steps.origin], steps.far, steps.edge))
            layers.append(self._ground.in_order(np.unique(steps.far)))
        return not self._budget.cut

    def layers(self, length: int) -> list[_Groups]:
        """The steps at each place that lie on a walk of this length from one end to the other."""
        met = len(self._ahead) - 1
        useful = np.intersect1d(self._ahead[met], self._behind[length - met])
        found: list[_Hops] = []
        kept = useful
        for place in range(met - 1, -1, -1):
            hops = self._hops_ahead[place].between(None, kept)
            found.insert(0, hops)
            kept = np.unique(hops.near)
        kept = useful
        for place in range(met, length):
            hops = self._hops_behind[length - place - 1].turned.between(kept, None)
            found.append(_Hops(*self._ground.in_step_order(*hops)))
            kept = np.unique(hops.far)
        return [_grouped(hops) for hops in found]

    def _look_at(self, edges: Numbers, fars: Numbers) -> bool:
        """Take the edges, each once, and the nodes that they lead to; False where a bound was hit."""
        for edge, far in zip(edges.tolist(), fars.tolist(), strict=True):
            if edge not in self._seen:
                self._seen.add(edge)
                if not self._budget.look():
                    return False
            if not self._visit(far):
                return False
        return True

    def _visit(self, node: int) -> bool:
        if node not in self._visited:
            self._visited.add(node)
            return self._budget.visit()
        return True


def _grouped(hops: _Hops) -> _Groups:
    """By the node that is left, in the order that they are in."""
    found: _Groups = {}
    steps = zip(hops.near.tolist(), hops.far.tolist(), hops.edge.tolist(), strict=True)
    for (near, far), group in groupby(steps, key=lambda step: step[:2]):
        found.setdefault(near, []).append((far, tuple(edge for *_, edge in group)))
    return found


def _put_together(layers: Sequence[_Groups], start: int, end: int, budget: Budget) -> Iterator[Course]:
    """Paths of one length in order: by their nodes, then, where several edges lead from one to the next, by these."""
    for nodes, choices in _walks(layers, (start,), (), end, budget):
        for edges in product(*choices):
            yield Course(nodes, edges)


def _walks(
    layers: Sequence[_Groups],
    nodes: tuple[int, ...],
    choices: tuple[tuple[int, ...], ...],
    end: int,
    budget: Budget,
) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]]:
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
