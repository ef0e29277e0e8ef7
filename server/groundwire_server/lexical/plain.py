"""The search with numpy alone: what answers while the compiled one is not there, with the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import mul

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.bm25 import Bm25
from groundwire_server.lexical.candidates import Candidates
from groundwire_server.lexical.rescore import score_rows
from groundwire_server.lexical.scores import LexicalScores, collected, floor_of_top
from groundwire_server.lexical.segment import Hits, Segment
from groundwire_server.lexical.terms import QueryTerms

__all__ = ["PlainSearch"]

_PIECE = 1 << 16  # postings scored in one go: their temporary arrays stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    """The query's postings in one segment, stretch by stretch in query order.

    Attributes:
        first_row: row of the index at which the segment begins.
        terms: the query term of each stretch.
        sizes: postings in each stretch.
        hits: where each stretch is in the segment.
        rows, counts: those postings of the candidates, already copied out; None where most rows are candidates. Then
            all postings are scored, and rows that are no candidates leave at the end.
    """

    segment: Segment
    first_row: int
    terms: list[int]
    sizes: list[int]
    hits: Hits
    rows: NDArray[np.int64] | None = None
    counts: NDArray[np.float64] | None = None


class PlainSearch:
    """Searches over the segments of one index."""

    def __init__(self, segments: Sequence[Segment], starts: Sequence[int], lengths: NDArray[np.float64]) -> None:
        self._segments = segments
        self._starts = starts
        self._lengths = lengths
        # The damping of all rows for the last average length: most callers ask about the same candidates again and
        # again. Replaced as a whole, so readers need no lock.
        self._damping: tuple[Bm25, float, NDArray[np.float64]] | None = None

    def search(
        self,
        query: QueryTerms,
        candidates: Candidates,
        parameters: Bm25,
        depth: int | None,
        check: Callable[[], None] | None,
    ) -> LexicalScores:
        """As `LexicalIndex.search`, of checked arguments; there is a token and a candidate with a token."""
        df = [0] * len(query.counts)
        found: list[_Postings] = []
        words = 0
        selective = 2 * candidates.kept < len(candidates.mask)
        known = [] if selective or candidates.everything else [candidates.df.get(token, -1) for token in query.tokens]
        uncounted = candidates.everything or (bool(known) and min(known) >= 0)
        for segment, first_row in zip(self._segments, self._starts, strict=False):
            if check is not None:
                check()
            hits = segment.find(query)
            if hits.terms:
                postings, matched = _candidate_postings(
                    segment, first_row, hits, candidates, words, selective, uncounted
                )
                found.append(postings)
                for term, size in zip(hits.terms, matched, strict=True):
                    df[term] += size
            words += -(-segment.size // 64)
        if known and uncounted:
            df = known
        elif not candidates.everything:
            candidates.learn(query.tokens, df)
        weights = list(map(mul, query.counts, parameters.idfs(candidates.kept, df)))
        return self._scored(found, candidates, weights, parameters, depth, check)

    def score(
        self,
        query: QueryTerms,
        candidates: Candidates,
        parameters: Bm25,
        rows: NDArray[np.int64],
        check: Callable[[], None] | None,
    ) -> NDArray[np.float64]:
        """As `LexicalIndex.score`, of checked arguments; there is a token and a candidate with a token."""
        return score_rows(self._segments, self._starts, self._lengths, query, candidates, rows, parameters, check)

    def _scored(
        self,
        found: Sequence[_Postings],
        candidates: Candidates,
        weights: Sequence[float],
        parameters: Bm25,
        depth: int | None,
        check: Callable[[], None] | None,
    ) -> LexicalScores:
        average = candidates.total / candidates.kept
        rows: list[NDArray[np.int64]] = []
        scores: list[NDArray[np.float64]] = []
        floor = 0.0
        for postings in found:
            first_row, last_row = postings.first_row, postings.first_row + postings.segment.size
            if postings.rows is None:
                damping = self._all_damping(parameters, average)[first_row:last_row]
                sums = _sums_of_all(postings, weights, damping, parameters, check)
                if not candidates.everything:
                    sums[~candidates.mask[first_row:last_row]] = 0.0
            else:
                sums = _sums_of_candidates(postings, weights, self._lengths[first_row:last_row], average, parameters)
            matched = np.flatnonzero(sums >= floor if floor > 0 else sums > 0)
            values = sums[matched]
            if depth is not None and len(values) > depth:
                floor = floor_of_top(values, depth)
                kept = values >= floor
                matched, values = matched[kept], values[kept]
            rows.append(matched + first_row)
            scores.append(values)
        return collected(rows, scores, floor)

    def _all_damping(self, parameters: Bm25, average: float) -> NDArray[np.float64]:
        last = self._damping
        if last is None or last[:2] != (parameters, average):
            last = (parameters, average, parameters.damping(self._lengths, average))
            self._damping = last
        return last[2]


def _candidate_postings(
    segment: Segment,
    first_row: int,
    hits: Hits,
    candidates: Candidates,
    first_word: int,
    selective: bool,
    uncounted: bool,
) -> tuple[_Postings, list[int]]:
    """The query's postings in a segment, and how many of each term are candidates; of all rows, where `uncounted`."""
    sizes = [stop - start for start, stop in zip(hits.starts, hits.stops, strict=True)]
    everything = _Postings(segment, first_row, hits.terms, sizes, hits)
    if uncounted:
        return everything, sizes
    mask = candidates.mask[first_row : first_row + segment.size]
    words = candidates.words[first_word : first_word + -(-segment.size // 64)]
    if not selective:
        return everything, [_df(segment, place, mask, words) for place in hits.places]
    parts: list[NDArray[np.int64]] = []
    counts: list[NDArray[np.float64]] = []
    for place, start, stop in zip(hits.places, hits.starts, hits.stops, strict=True):
        rows, among = segment.candidate_rows(place, mask, words)
        parts.append(rows)
        counts.append(segment.counts_at(start, stop, among))
    matched = [len(rows) for rows in parts]
    return _Postings(
        segment, first_row, hits.terms, matched, hits, np.concatenate(parts), np.concatenate(counts)
    ), matched


def _df(segment: Segment, place: int, mask: NDArray[np.bool_], words: NDArray[np.uint64]) -> int:
    """How many candidates of a segment hold a term."""
    number = segment.dense_number(place)
    if number >= 0:
        return int(np.bitwise_count(segment.bitmap(number) & words).sum())
    return int(np.count_nonzero(mask[segment.term_rows(place)]))


def _sums_of_all(
    postings: _Postings,
    weights: Sequence[float],
    damping: NDArray[np.float64],
    parameters: Bm25,
    check: Callable[[], None] | None,
) -> NDArray[np.float64]:
    """Scores of all rows of a segment, in pieces that keep the temporary arrays small."""
    sums = np.zeros(postings.segment.size)
    hits = postings.hits
    for first, last in _pieces(postings.sizes):
        if check is not None:
            check()
        stretch = slice(first, last)
        rows = postings.segment.rows_of(hits.places[stretch])
        counts = postings.segment.counts_of(hits.starts[stretch], hits.stops[stretch])
        above = np.repeat([weights[term] for term in postings.terms[stretch]], postings.sizes[stretch])
        _add(sums, rows, above, counts, damping[rows], parameters)
    return sums


def _sums_of_candidates(
    postings: _Postings,
    weights: Sequence[float],
    lengths: NDArray[np.float64],
    average: float,
    parameters: Bm25,
) -> NDArray[np.float64]:
    """Scores of the candidates of a segment; 0 for its other rows."""
    rows, counts = postings.rows, postings.counts
    assert rows is not None
    assert counts is not None
    sums = np.zeros(postings.segment.size)
    above = np.repeat([weights[term] for term in postings.terms], postings.sizes)
    _add(sums, rows, above, counts, parameters.damping(lengths[rows], average), parameters)
    return sums


def _add(
    sums: NDArray[np.float64],
    rows: NDArray[np.int64],
    above: NDArray[np.float64],
    counts: NDArray[np.float64],
    below: NDArray[np.float64],
    parameters: Bm25,
) -> None:
    """Add each posting's share to its row, in the order of the postings, which is that of the query terms.

    `above` comes in as qtf * idf and `below` as the damping; both are used up.
    """
    above *= counts
    above *= parameters.k1 + 1
    below += counts
    above /= below
    np.add.at(sums, rows, above)


def _pieces(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Stretches in groups of about `_PIECE` postings: first and last, half-open."""
    first = held = 0
    for at, size in enumerate(sizes):
        if held and held + size > _PIECE:
            yield first, at
            first, held = at, 0
        held += size
    if first < len(sizes):
        yield first, len(sizes)
