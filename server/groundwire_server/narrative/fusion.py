"""From several ranked lists to one (semantics 2).

`linear` adds the two legs on their own scales instead of stretching each query's scores to 0..1. BM25 is a sum of
log-odds, and a cosine times a constant is one, for an embedder trained by contrast (e5: its own constant is 100). Their
sum keeps what each leg knows about its own certainty: a query whose rare words are met is decided by words, one that
meets none by meaning. A min-max mix, which makes the best of each leg 1 whatever it is worth, cannot tell them apart.

What is chance in a sum of many terms grows with the square root of the sum. So BM25 is divided by the square root of
its best score for the query: then a long question, all of whose common words are met somewhere, does not outvote
meaning by its length. A score depends on the candidates alone, never on where the lists are cut. `docs/fusion.md` has
the figures.

`rrf` adds reciprocal ranks (Cormack, Clarke, Büttcher 2009; seed, "lexical"). It joins libraries too, whose scores
cannot be compared.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import ErrorReason, InvalidRequest

__all__ = [
    "COSINE_SCALE",
    "FUSIONS",
    "RRF_K",
    "Fusion",
    "Legs",
    "LinearFusion",
    "RrfFusion",
    "make_fusion",
    "rrf_fuse",
]

RRF_K = 60
COSINE_SCALE = 112.0

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """What a lexical and a vector list know about the rows that stand in at least one of them.

    Attributes:
        rows: int64[n], ascending.
        bm25: float64[n], the exact score of each row; 0 without a query term.
        cosine: float64[n], the exact cosine of each row; NaN where it has no vector.
        bm25_rank: int64[n], place in the lexical list from 1; 0 where it is not in it.
        vector_rank: int64[n], place in the vector list from 1; 0 where it is not in it.
    """

    rows: NDArray[np.int64]
    bm25: NDArray[np.float64]
    cosine: NDArray[np.float64]
    bm25_rank: NDArray[np.int64]
    vector_rank: NDArray[np.int64]


class Fusion(Protocol):
    """One score a row; higher is better."""

    @property
    def name(self) -> str: ...

    @property
    def detail(self) -> str:
        """Parameters for people, as the plan shows them."""
        ...

    def fuse(self, legs: Legs) -> NDArray[np.float64]:
        """float64[n], one score for each of `legs.rows`."""
        ...


@dataclass(frozen=True, slots=True)
class LinearFusion:
    """bm25 / sqrt(best bm25 of the query) + cosine_scale * cosine.

    A row that has no vector yet is taken to be as near as the others of the lexical list are on average, so that it is
    judged by its words alone, neither raised nor lowered.
    """

    cosine_scale: float = COSINE_SCALE
    name: str = "linear"

    @property
    def detail(self) -> str:
        """Parameters for people."""
        return f"bm25/sqrt(best)+{self.cosine_scale:g}*cosine"

    def fuse(self, legs: Legs) -> NDArray[np.float64]:
        """float64[n]."""
        best = float(legs.bm25.max(initial=0.0))
        words = legs.bm25 / math.sqrt(best) if best > 0 else np.zeros(len(legs.rows))
        embedded = ~np.isnan(legs.cosine)
        if not embedded.any():
            return words
        peers = embedded & (legs.bm25_rank > 0)
        known = legs.cosine[peers if peers.any() else embedded]
        typical = math.fsum(known) / len(known)  # exact, so that no order of rows shows in the last bit
        cosine = np.where(embedded, legs.cosine, typical)
        scores: NDArray[np.float64] = words + self.cosine_scale * cosine
        return scores


@dataclass(frozen=True, slots=True)
class RrfFusion:
    """Sum over the lists of weight / (k + rank), ranks from 1."""

    k: int = RRF_K
    weight: float = 1.0
    name: str = "rrf"

    @property
    def detail(self) -> str:
        """Parameters for people."""
        return f"k={self.k},w={self.weight:g}"

    def fuse(self, legs: Legs) -> NDArray[np.float64]:
        """float64[n]."""
        scores = np.zeros(len(legs.rows))
        for ranks in (legs.bm25_rank, legs.vector_rank):
            scores += np.where(ranks > 0, self.weight / (self.k + ranks), 0.0)
        return scores


def rrf_fuse(rankings: Iterable[Sequence[T]], k: int = RRF_K, weights: Sequence[float] | None = None) -> dict[T, float]:
    """Reciprocal rank fusion: score += weight / (k + rank), ranks from 1; one that a list has twice counts once there.

    Args:
        rankings: lists of ids, best first.
        k: at least 0.
        weights: one a list; None: 1 each.

    >>> rrf_fuse([["a", "b"], ["b"]], k=1)
    {'a': 0.5, 'b': 0.8333333333333333}
    """
    lists = list(rankings)
    scores: dict[T, float] = {}
    for ranking, weight in zip(lists, weights or [1.0] * len(lists), strict=True):
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return scores


_FUSIONS: dict[str, type[LinearFusion] | type[RrfFusion]] = {"linear": LinearFusion, "rrf": RrfFusion}

FUSIONS: tuple[str, ...] = tuple(sorted(_FUSIONS))


def make_fusion(name: str = "linear") -> Fusion:
    """A fusion by name.

    Raises:
        InvalidRequest: a name that no fusion has; it lists the valid ones.
    """
    if name not in _FUSIONS:
        raise InvalidRequest.one("fusion", ErrorReason.UNKNOWN_NAME, f"{name!r} is none of {', '.join(FUSIONS)}")
    return _FUSIONS[name]()
