"""BM25 of a few rows, with the counts of all candidates: what another search's rows are worth to this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.bm25 import Bm25
from groundwire_server.lexical.candidates import Candidates
from groundwire_server.lexical.segment import Hits, Segment
from groundwire_server.lexical.terms import QueryTerms

__all__ = ["score_rows"]


def score_rows(
    segments: Sequence[Segment],
    starts: Sequence[int],
    lengths: NDArray[np.float64],
    query: QueryTerms,
    candidates: Candidates,
    rows: NDArray[np.int64],
    parameters: Bm25,
    check: Callable[[], None] | None = None,
) -> NDArray[np.float64]:
    """float64, the score of each of some ascending rows: the bits of a search for them; 0 for a row without a term.

    Args:
        starts: row at which each segment begins, and the number of rows.
        check: asked between segments.
    """
    hits = [segment.find(query) for segment in segments]
    df = [candidates.df.get(token, -1) for token in query.tokens]
    if min(df) < 0:
        df = _counted_df(segments, starts, query, hits, candidates, check)
        candidates.learn(query.tokens, df)
    weights = [count * idf for count, idf in zip(query.counts, parameters.idfs(candidates.kept, df), strict=True)]
    damping = parameters.damping(lengths[rows], candidates.total / candidates.kept)
    scores = np.zeros(len(rows))
    for segment, start, found in zip(segments, starts, hits, strict=False):
        if check is not None:
            check()
        first_row, last_row = np.searchsorted(rows, (start, start + segment.size))
        local = rows[first_row:last_row] - start
        if len(local) == 0:
            continue
        for term, place, first, last in zip(found.terms, found.places, found.starts, found.stops, strict=True):
            at, among = _postings_of(segment, place, local)
            counts = segment.counts_at(first, last, among)
            at += first_row
            scores[at] += weights[term] * counts * (parameters.k1 + 1) / (damping[at] + counts)
    scores[~candidates.mask[rows]] = 0.0
    return scores


def _counted_df(
    segments: Sequence[Segment],
    starts: Sequence[int],
    query: QueryTerms,
    hits: Sequence[Hits],
    candidates: Candidates,
    check: Callable[[], None] | None,
) -> list[int]:
    """How many candidates hold each term."""
    df = [0] * len(query.counts)
    word = 0
    for segment, start, found in zip(segments, starts, hits, strict=False):
        if check is not None:
            check()
        words = candidates.words[word : word + -(-segment.size // 64)]
        mask = candidates.mask[start : start + segment.size]
        for term, place, first, last in zip(found.terms, found.places, found.starts, found.stops, strict=True):
            df[term] += last - first if candidates.everything else _df(segment, place, mask, words)
        word += -(-segment.size // 64)
    return df


def _df(segment: Segment, place: int, mask: NDArray[np.bool_], words: NDArray[np.uint64]) -> int:
    """How many candidates of a segment hold a term."""
    number = segment.dense_number(place)
    if number >= 0:
        return int(np.bitwise_count(segment.bitmap(number) & words).sum())
    return int(np.count_nonzero(mask[segment.term_rows(place)]))


def _postings_of(segment: Segment, place: int, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of some ascending rows hold a term, and which of its postings those are."""
    number = segment.dense_number(place)
    if number < 0:
        held = segment.term_rows(place)
        places = np.searchsorted(held, rows)
        places[places == len(held)] = 0
        at = np.flatnonzero(held[places] == rows)
        return at, places[at]
    bits = segment.bitmap(number)
    words = bits[rows >> 6]
    below = (np.uint64(1) << (rows & 63).astype(np.uint64)) - np.uint64(1)
    at = np.flatnonzero(words & (below + np.uint64(1)))
    ranks = segment.dense_ranks[number * len(bits) : (number + 1) * len(bits)]
    before = ranks[rows[at] >> 6].astype(np.int64) + np.bitwise_count(words[at] & below[at])
    return at, before
