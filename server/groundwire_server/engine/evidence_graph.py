"""What follows relations for a retrieval, loaded by the first call that asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundwire_server.narrative import EvidenceWalk, Walked, WalkStart

__all__ = ["EvidenceGraph"]


class EvidenceGraph:
    """`graph.PageRankWalk`: a start does without it."""

    @cached_property
    def _walk(self) -> EvidenceWalk:
        from groundwire_server.graph import PageRankWalk

        return PageRankWalk()

    @property
    def name(self) -> str:
        """See `narrative.EvidenceWalk`."""
        return self._walk.name

    @property
    def detail(self) -> str:
        """See `narrative.EvidenceWalk`."""
        return self._walk.detail

    def walk(self, start: WalkStart) -> Walked | None:
        """See `narrative.EvidenceWalk`."""
        return self._walk.walk(start)
