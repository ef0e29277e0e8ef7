"""The stage that makes one list of hits from those of the legs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.narrative.fusion import Fusion, Legs, RrfFusion
from groundwire_server.narrative.state import Hit, Lazy, RankedList, Search

__all__ = ["fuse", "fusion_for", "legs_over", "listed_rows", "make_hit", "order_of"]

_NOTHING = np.zeros(0, dtype=np.int64)


def fusion_for(chosen: Fusion, legs: int) -> Fusion:
    """The fusion that runs: with a single leg there is nothing to weigh, and reciprocal ranks keep its order."""
    return chosen if legs > 1 else RrfFusion()


def fuse(search: Search, fusion: Fusion) -> Search:
    """Score every row that stands in a list, by both legs; order by (-score, doc_id, revision, seq)."""
    rows = listed_rows(search)
    legs = legs_over(search, rows)
    fused = fusion.fuse(legs)
    order = order_of(rows, fused, search.snapshot.tie_key)
    return replace(search, hits=Lazy(len(order), lambda place: make_hit(legs, order[place], fused, search)))


def listed_rows(search: Search) -> NDArray[np.int64]:
    """The rows that stand in a list, ascending."""
    lists = [leg for leg in (search.lexical, search.dense) if leg is not None]
    return np.unique(np.concatenate([_NOTHING, *(leg.order for leg in lists)]))


def legs_over(search: Search, rows: NDArray[np.int64]) -> Legs:
    """What both legs know about ascending rows, those of the lists among them."""
    return Legs(
        rows,
        bm25=_scores(search.lexical, rows),
        cosine=_scores(search.dense, rows),
        bm25_rank=_ranks(search.lexical, rows),
        vector_rank=_ranks(search.dense, rows),
    )


def order_of(rows: NDArray[np.int64], fused: NDArray[np.float64], tie_key: Callable[[int], Any]) -> list[int]:
    """Places by (-score, tie_key of the row); the key is asked for where scores tie."""
    ranked = np.argsort(-fused, kind="stable")
    scores = fused[ranked]
    places: list[int] = ranked.tolist()
    tied = scores[1:] == scores[:-1]
    if not tied.any():
        return places
    borders = (np.flatnonzero(~tied) + 1).tolist()
    for start, end in pairwise([0, *borders, len(places)]):
        if end - start > 1:
            places[start:end] = sorted(places[start:end], key=lambda place: tie_key(int(rows[place])))
    return places


def _scores(leg: RankedList | None, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.full(len(rows), np.nan) if leg is None else leg.scores_of(rows)


def _ranks(leg: RankedList | None, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.zeros(len(rows), dtype=np.int64) if leg is None else leg.ranks_of(rows)


def make_hit(legs: Legs, place: int, fused: NDArray[np.float64], search: Search) -> Hit:
    """The hit at a place of the rows."""
    cosine = float(legs.cosine[place])
    return Hit(
        row=int(legs.rows[place]),
        fused=float(fused[place]),
        bm25=float(legs.bm25[place]) if search.lexical is not None else None,
        cosine=None if np.isnan(cosine) else cosine,
        bm25_rank=int(legs.bm25_rank[place]) or None,
        vector_rank=int(legs.vector_rank[place]) or None,
    )
