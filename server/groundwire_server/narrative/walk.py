"""The relation graph as a further leg of a search (semantics 12): what it is asked, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import Call, Snippet

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["EvidenceWalk", "WalkStart", "Walked"]


@dataclass(frozen=True, slots=True, eq=False)
class WalkStart:
    """Where a walk begins, in one library.

    Attributes:
        question: as the caller wrote it; names in it are where the walk begins beside the passages.
        candidates: bool[rows], what the caller may read and the filter keeps.
        seeds: rows of passages, those first that the search puts first.
        score: what the search thinks of some ascending rows; float64, higher is better.
    """

    snapshot: Snapshot
    call: Call
    question: str
    candidates: NDArray[np.bool_]
    seeds: Sequence[int]
    score: Callable[[NDArray[np.int64]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """Where a walk led.

    Attributes:
        shares: of the walk, by the place of a document's revision in the columns, more where it began; above 0.
        path: the best chain of relations that leads to a document of that place; None where it is where a walk begins,
            or nothing led there.
        nodes, edges: how many were looked at.
        cut: a bound was hit, so that there is more.
    """

    shares: Mapping[int, float]
    path: Callable[[int], Snippet | None]
    nodes: int
    edges: int
    cut: bool = False


class EvidenceWalk(Protocol):
    """Follows relations from what was found to what it hangs together with. For any thread."""

    @property
    def name(self) -> str: ...

    @property
    def detail(self) -> str:
        """Parameters for people, as the plan shows them."""
        ...

    def walk(self, start: WalkStart) -> Walked | None:
        """Where it leads; None: the library has no relations that the caller may see, so there is nothing to follow.

        Raises:
            CallCancelled, DeadlineExceeded: the call is over.
        """
        ...
