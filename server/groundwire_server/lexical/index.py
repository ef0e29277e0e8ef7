"""BM25 over an inverted index, exact for any set of candidates.

N, df and the average length are counted over the candidates of each call, so hidden rows and filtered rows have no
influence on any score. Nothing here depends on how the rows are divided into segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.bm25 import Bm25
from groundwire_server.lexical.scores import LexicalScores, floor_of_top
from groundwire_server.lexical.segment import Hits, Segment
from groundwire_server.lexical.terms import QueryTerms

__all__ = ["LexicalIndex"]

_PIECE = 1 << 16  # postings scored in one go: their temporary arrays stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    """The query's postings in one segment, stretch by stretch in query order.

    Attributes:
        first_row: row of the index at which the segment begins.
        terms: the query term of each stretch.
        sizes: postings in each stretch.
        starts, stops: where each stretch is in the segment.
        rows, counts: those postings of the candidates, already copied out; None where most rows are candidates. Then
            all postings are scored, and rows that are no candidates leave at the end.
    """

    segment: Segment
    first_row: int
    terms: list[int]
    sizes: list[int]
    starts: list[int]
    stops: list[int]
    rows: NDArray[np.int64] | None = None
    counts: NDArray[np.float64] | None = None


class LexicalIndex:
    """Immutable BM25 index over rows 0 .. rows - 1; safe for any number of readers at once.

    Attributes:
        rows: how many rows it covers.
        lengths: float64[rows], tokens of each row (exact: whole numbers).
        segments: its pieces, in row order.
    """

    def __init__(self, segments: Sequence[Segment], lengths: NDArray[np.float64] | None = None) -> None:
        self.segments = tuple(segments)
        if lengths is None:
            parts = [segment.lengths.astype(np.float64) for segment in self.segments]
            lengths = np.concatenate([np.zeros(0), *parts])
        self.lengths = lengths
        self.rows = len(lengths)
        self._starts = tuple(accumulate((segment.size for segment in self.segments), initial=0))
        if self._starts[-1] != self.rows:
            raise ValueError(f"{self._starts[-1]} rows in segments, {self.rows} lengths")
        self._total = int(lengths.sum())
        # The damping of all rows for the last average length: most callers ask about the same candidates again and
        # again. Replaced as a whole, so readers need no lock.
        self._damping: tuple[Bm25, float, NDArray[np.float64]] | None = None

    def search(
        self,
        tokens: Iterable[str],
        candidates: NDArray[np.bool_],
        *,
        parameters: Bm25 | None = None,
        depth: int | None = None,
    ) -> LexicalScores:
        """Scores of the candidates for a tokenized query (semantics 2).

        Args:
            tokens: what `tokenize` makes of the query.
            candidates: bool[rows], what the caller may read and the filter keeps.
            parameters: k1 and b; default 1.5 and 0.75.
            depth: leave out rows that cannot be among the best `depth`. All that tie for the last place stay, so
                `top(scores, depth, ...)` is the same with it and without.

        Raises:
            ValueError: `candidates` is not one bool a row, or depth is below 1.
        """
        if candidates.shape != (self.rows,) or candidates.dtype != np.bool_:
            raise ValueError(f"candidates: {candidates.dtype}{candidates.shape}; valid: bool({self.rows},)")
        if depth is not None and depth < 1:
            raise ValueError(f"depth is {depth}; valid: 1 or more")
        parameters = parameters or Bm25()
        query = QueryTerms.of(tokens)
        kept = int(np.count_nonzero(candidates))
        if not query.counts or kept == 0:
            return _collected([], [])
        everything = kept == self.rows
        total = self._total if everything else int((self.lengths * candidates).sum())
        if total == 0:
            return _collected([], [])

        df = [0] * len(query.counts)
        found: list[_Postings] = []
        for segment, first_row in zip(self.segments, self._starts, strict=False):
            hits = segment.find(query)
            if not hits.terms:
                continue
            mask = None if everything else candidates[first_row : first_row + segment.size]
            postings, matched = _candidate_postings(segment, first_row, hits, mask, selective=2 * kept < self.rows)
            found.append(postings)
            for term, size in zip(hits.terms, matched, strict=True):
                df[term] += size
        weights = [qtf * parameters.idf(kept, holding) for qtf, holding in zip(query.counts, df, strict=True)]
        return self._scored(found, candidates, weights, total / kept, parameters, depth)

    def _scored(
        self,
        found: Sequence[_Postings],
        candidates: NDArray[np.bool_],
        weights: Sequence[float],
        average: float,
        parameters: Bm25,
        depth: int | None,
    ) -> LexicalScores:
        rows: list[NDArray[np.int64]] = []
        scores: list[NDArray[np.float64]] = []
        floor = 0.0
        for postings in found:
            first_row, last_row = postings.first_row, postings.first_row + postings.segment.size
            if postings.rows is None:
                damping = self._all_damping(parameters, average)[first_row:last_row]
                sums = _sums_of_all(postings, weights, damping, parameters)
                sums[~candidates[first_row:last_row]] = 0.0
            else:
                sums = _sums_of_candidates(postings, weights, self.lengths[first_row:last_row], average, parameters)
            matched = np.flatnonzero(sums >= floor if floor > 0 else sums > 0)
            values = sums[matched]
            if depth is not None and len(values) > depth:
                floor = floor_of_top(values, depth)
                kept = values >= floor
                matched, values = matched[kept], values[kept]
            rows.append(matched + first_row)
            scores.append(values)
        return _collected(rows, scores, floor)

    def _all_damping(self, parameters: Bm25, average: float) -> NDArray[np.float64]:
        last = self._damping
        if last is None or last[:2] != (parameters, average):
            last = (parameters, average, parameters.damping(self.lengths, average))
            self._damping = last
        return last[2]


def _candidate_postings(
    segment: Segment, first_row: int, hits: Hits, mask: NDArray[np.bool_] | None, *, selective: bool
) -> tuple[_Postings, list[int]]:
    """The query's postings in a segment, and how many of each term are candidates."""
    sizes = [stop - start for start, stop in zip(hits.starts, hits.stops, strict=True)]
    everything = _Postings(segment, first_row, hits.terms, sizes, hits.starts, hits.stops)
    if mask is None:
        return everything, sizes
    if not selective:
        stretches = zip(hits.starts, hits.stops, strict=True)
        return everything, [int(np.count_nonzero(mask[segment.rows[start:stop]])) for start, stop in stretches]
    rows = segment.rows_of(hits.starts, hits.stops)
    kept = np.flatnonzero(mask[rows])
    bounds = np.searchsorted(kept, list(accumulate(sizes, initial=0)))
    matched: list[int] = np.diff(bounds).tolist()
    counts = segment.counts_of(hits.starts, hits.stops)[kept]
    return _Postings(segment, first_row, hits.terms, matched, hits.starts, hits.stops, rows[kept], counts), matched


def _sums_of_all(
    postings: _Postings, weights: Sequence[float], damping: NDArray[np.float64], parameters: Bm25
) -> NDArray[np.float64]:
    """Scores of all rows of a segment, in pieces that keep the temporary arrays small."""
    sums = np.zeros(postings.segment.size)
    for first, last in _pieces(postings.sizes):
        stretch = slice(first, last)
        rows = postings.segment.rows_of(postings.starts[stretch], postings.stops[stretch])
        counts = postings.segment.counts_of(postings.starts[stretch], postings.stops[stretch])
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


def _collected(
    rows: Sequence[NDArray[np.int64]], scores: Sequence[NDArray[np.float64]], floor: float = 0.0
) -> LexicalScores:
    all_rows = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    all_scores = np.concatenate([np.zeros(0), *scores])
    if floor > 0:
        kept = all_scores >= floor
        all_rows, all_scores = all_rows[kept], all_scores[kept]
    all_rows.setflags(write=False)
    all_scores.setflags(write=False)
    return LexicalScores(all_rows, all_scores)
