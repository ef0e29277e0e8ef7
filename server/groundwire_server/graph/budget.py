"""How much a walk may visit and look at."""

from __future__ import annotations

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

    def hit(self, name: str) -> None:
        """Note that a bound was hit."""
        if name not in self.cut:
            self.cut.append(name)
