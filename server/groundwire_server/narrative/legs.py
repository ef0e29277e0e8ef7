"""The two legs of a search: words and meaning (semantics 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical import Bm25, LexicalScores, top
from groundwire_server.narrative.state import RankedList, Search
from groundwire_server.text import tokenize

__all__ = ["Wording", "merge_wordings", "search_dense", "search_lexical"]


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """What one wording of a query found.

    Attributes:
        found: rows and scores, at least those of the best `depth`.
        order: those rows, best first.
        score: scores of any ascending rows, the bits that `found` has for those that it holds.
    """

    found: LexicalScores
    order: Sequence[int]
    score: Callable[[NDArray[np.int64]], NDArray[np.float64]]

    @property
    def highest(self) -> float:
        """Score of the best row; 0 where there is none."""
        return float(self.found.scores.max()) if len(self.found) else 0.0


def search_lexical(search: Search) -> Search:
    """BM25 of the query and of its variants, merged to one list."""
    return replace(search, lexical=_words(search, search.depth))


def _words(search: Search, depth: int) -> RankedList:
    found = merge_wordings([_word(search, each.text, depth) for each in search.variants], depth)
    return replace(found, deeper=partial(_words, search))


def _word(search: Search, text: str, depth: int) -> Wording:
    index, config, check = search.snapshot.lexical, search.snapshot.config, search.call.cancel.check
    parameters = Bm25(config.k1, config.b)
    check("lexical")
    tokens = tokenize(text)
    ask = partial(check, "lexical")
    found = index.search(tokens, search.candidates, parameters=parameters, depth=depth, check=ask)

    def score(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        scores, known = _held(found, rows)
        # Where fewer were found than were asked for, nothing was left out: the others meet no term.
        if len(found) >= depth and not known.all():
            missing = rows[~known]
            scores[~known] = index.score(tokens, search.candidates, missing, parameters=parameters, check=ask)
        return scores

    return Wording(found, top(found, depth, search.snapshot.tie_key), score)


def _held(found: LexicalScores, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The scores of ascending rows as far as they were found, else 0; and which ones were."""
    if len(found) == 0:
        return np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_)
    places = np.searchsorted(found.rows, rows)
    places[places == len(found)] = 0
    known = found.rows[places] == rows
    return np.where(known, found.scores[places], 0.0), known


def search_dense(search: Search, query: NDArray[np.float32], shortlist: int = 0) -> Search:
    """Cosine of the query's vector with those of the candidates, cut at the depth; exact where the shortlist is 0."""
    return replace(search, dense=_nearest(search, query, search.depth, shortlist))


def _nearest(search: Search, query: NDArray[np.float32], depth: int, shortlist: int = 0) -> RankedList:
    vectors = search.snapshot.vectors
    assert vectors is not None  # the stage is in the pipeline only where there are some
    hits = vectors.search(
        query,
        search.candidates,
        depth,
        search.snapshot.tie_key,
        shortlist=shortlist,
        check=partial(search.call.cancel.check, "dense"),
    )
    return RankedList(hits.rows, partial(vectors.score, query), partial(_nearest, search, query))


def merge_wordings(wordings: Sequence[Wording], depth: int) -> RankedList:
    """One list from those of a query (the first) and its variants, so that variants never outvote the query.

    A row stands by its best rank, the earlier list first; its score is the best that it has, where the scores of a
    variant are scaled down so that none is above the best one of the query itself.
    """
    own = wordings[0]
    if len(wordings) == 1:
        return RankedList(np.array(own.order, dtype=np.int64), own.score)
    places: dict[int, tuple[int, int]] = {}
    for number, wording in enumerate(wordings):
        for rank, row in enumerate(wording.order):
            places[row] = min(places.get(row, (rank, number)), (rank, number))
    merged = sorted(places, key=places.__getitem__)[:depth]
    ceiling = own.highest

    def score(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        best = np.zeros(len(rows))
        for wording in wordings:
            factor = ceiling / wording.highest if 0 < ceiling < wording.highest else 1.0
            best = np.maximum(best, wording.score(rows) * factor)
        return best

    return RankedList(np.array(merged, dtype=np.int64), score)
