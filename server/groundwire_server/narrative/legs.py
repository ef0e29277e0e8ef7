"""The two legs of a search: words and meaning (semantics 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical import Bm25, LexicalScores, top
from groundwire_server.narrative.state import RankedList, Search
from groundwire_server.text import tokenize

__all__ = ["merge_variants", "search_dense", "search_lexical"]


def search_lexical(search: Search) -> Search:
    """BM25 of the query and of its variants, merged to one list."""
    index, config = search.snapshot.lexical, search.snapshot.config
    parameters = Bm25(config.k1, config.b)
    depth = None if search.complete else search.depth
    lists: list[tuple[LexicalScores, list[int]]] = []
    for variant in search.variants:
        search.call.cancel.check("lexical")
        scores = index.search(tokenize(variant.text), search.candidates, parameters=parameters, depth=depth)
        lists.append((scores, top(scores, search.depth, search.snapshot.tie_key)))
    merged = merge_variants(lists, search.depth)
    return replace(search, lexical=merged)


def search_dense(search: Search, query: NDArray[np.float32], shortlist: int = 0) -> Search:
    """Cosine of the query's vector with those of the candidates, cut at the depth; exact where the shortlist is 0."""
    vectors = search.snapshot.vectors
    assert vectors is not None  # the stage is in the pipeline only where there are some
    hits = vectors.search(query, search.candidates, search.depth, search.snapshot.tie_key, shortlist=shortlist)
    rows = hits.rows
    if search.lexical is not None and search.lexical.order:
        # Both scores of every row that is in either list, so that the fusion compares like with like.
        rows = np.union1d(rows, np.array(search.lexical.order, dtype=np.int64))
    rows = np.sort(rows)
    found = RankedList(tuple(hits.rows.tolist()), rows, vectors.score(query, rows), missing=float("nan"))
    return replace(search, dense=found)


def merge_variants(lists: Sequence[tuple[LexicalScores, Sequence[int]]], depth: int) -> RankedList:
    """One list from those of a query (the first) and its variants, so that variants never outvote the query.

    A row stands by its best rank, the earlier list first; its score is the best that it has, where the scores of a
    variant are scaled down so that none is above the best one of the query itself.
    """
    own, order = lists[0]
    if len(lists) == 1:
        return RankedList(tuple(order), own.rows, own.scores, missing=0.0)
    places: dict[int, tuple[int, int]] = {}
    for number, (_, rows) in enumerate(lists):
        for rank, row in enumerate(rows):
            places[row] = min(places.get(row, (rank, number)), (rank, number))
    merged = sorted(places, key=places.__getitem__)[:depth]

    ceiling = float(own.scores.max()) if len(own) else 0.0
    all_rows = np.unique(np.concatenate([scores.rows for scores, _ in lists]))
    best = np.zeros(len(all_rows))
    for scores, _ in lists:
        highest = float(scores.scores.max()) if len(scores) else 0.0
        factor = ceiling / highest if 0 < ceiling < highest else 1.0
        at = np.searchsorted(all_rows, scores.rows)
        best[at] = np.maximum(best[at], scores.scores * factor)
    return RankedList(tuple(merged), all_rows, best, missing=0.0)
