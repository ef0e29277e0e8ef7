"""How much a walk may visit and look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Budget"]


class Budget:
    """How much a walk may still visit and look at. `cut` names each bound that was hit, in the order of hitting."""

    def __init__(self, max_nodes: int, max_edges: int) -> None:
        self._nodes = max_nodes
        self._edges = max_edges
        self.cut: list[str] = []

    def visit(self) -> bool:
        """Take a node; False when there is none left."""
        if self._nodes == 0:
            self.hit("nodes")
            return False
        self._nodes -= 1
        return True

    def look(self) -> bool:
        """Take an edge; False when there is none left."""
        if self._edges == 0:
            self.hit("edges")
            return False
        self._edges -= 1
        return True

    def take(self, edges: NDArray[np.bool_], nodes: NDArray[np.bool_]) -> int:
        """Take steps one after the other, each looking at an edge where that is new, then visiting a node where that is
        new; how many were taken before a bound was hit.
        """
        looks, visits = np.cumsum(edges), np.cumsum(nodes)
        over = np.flatnonzero((looks > self._edges) | (visits > self._nodes))
        end = int(over[0]) if len(over) else len(looks)
        if end < len(looks) and looks[end] > self._edges:
            self.hit("edges")
            self._edges = 0
        elif end < len(looks):  # the edge was looked at: it is its node that there is no room for
            self.hit("nodes")
            self._edges -= int(looks[end])
        elif end:
            self._edges -= int(looks[-1])
        self._nodes -= int(visits[end - 1]) if end else 0
        return end

    @property
    def left(self) -> tuple[int, int]:
        """Nodes and edges that there is room for."""
        return self._nodes, self._edges

    def pay(self, nodes: int, edges: int) -> bool:
        """Take what a walk took that was made before; False, and nothing is taken, where there is no room for it."""
        if nodes > self._nodes or edges > self._edges:
            return False
        self._nodes, self._edges = self._nodes - nodes, self._edges - edges
        return True

    def hit(self, name: str) -> None:
        """Note that a bound was hit."""
        if name not in self.cut:
            self.cut.append(name)
