"""Search over the vectors of one library at one moment.

A search is exact, unless it is told to rescore a shortlist: then the rows whose signs are nearest to the query's are
found first, and only they get their score. What `search` answers depends on the query, the candidates' vectors, the
depth and the size of the shortlist; not on other rows, on what is compiled, on threads or on other searches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.code_folder import Codes
from groundwire_server.dense.kernel import coarse_error, fixed_dots
from groundwire_server.dense.row_codes import QueryCode
from groundwire_server.dense.sign_codes import QuerySigns
from groundwire_server.dense.signs_search import nearest_by_signs
from groundwire_server.kernels import compiled, searched

__all__ = ["SHORTLIST_FROM", "DenseHits", "VectorIndex"]

_COMPILED = "groundwire_server.dense.compiled"
# From so many candidates on a search rescores a shortlist. Measured with e5 and real questions (benchmarks/dense.py):
# of the true first ten, 99.7 % are among 800 of 100,000 rows, and 99.5 % among 2,400 of a million.
SHORTLIST_FROM = 250_000
SHORTLIST = 1536  # at that size; it grows with the cube root of the candidates
SHORTLIST_A_HIT = 16
# Up to this many rows for each wanted hit, scoring all of them in the fixed order costs less than a coarse pass first.
RESCORE_ALL = 4
# Below this share of the rows, gathering them costs less than multiplying the whole matrix.
GATHER_SHARE = 0.15
GATHER_ROWS = 256
COMPILED_FROM = 4096  # rows; below, compiled code is not worth the room that it takes
OVERFLOW = 2.0**100  # products of longer vectors might not fit float32


@dataclass(frozen=True, slots=True, eq=False)
class DenseHits:
    """The best rows, best first: `rows` int64 [m], `scores` float64 [m], the cosines."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


class VectorIndex:
    """Vectors of rows 0..n-1, as they were when the index was made. Immutable: any thread may search it at any time.

    Vectors are unit vectors in float32, so the inner product that `fixed_dots` gives is the cosine. The zero vector has
    no direction: its score is 0.0 with every query, and every row scores 0.0 for a zero query; such rows are hits like
    others, in the order of the tie key. A row without a vector is never a hit.

    Args:
        matrix: float32 [n, dim]; rows that are not present may hold anything.
        present: bool [n]; which rows have a vector.
        version: that of the embedder that made them.
        max_norm: no present row is longer; measured when it is not given.
        codes: of the present rows; without them every search multiplies with the matrix.
    """

    def __init__(
        self,
        matrix: NDArray[np.float32],
        present: NDArray[np.bool_],
        version: str,
        max_norm: float | None = None,
        codes: Codes | None = None,
    ) -> None:
        if matrix.dtype != np.float32 or matrix.ndim != 2 or present.shape != matrix.shape[:1]:
            raise ValueError("matrix must be float32 [n, dim] and present bool [n]")
        self.version = version
        self.present = present.astype(np.bool_)
        self.present.flags.writeable = False
        self._matrix = matrix.view()
        self._matrix.flags.writeable = False
        self._plain = bool(self._matrix.flags.c_contiguous and self._matrix.flags.aligned)
        self.codes = codes
        self._max_norm = _largest_norm(self._matrix, self.present) if max_norm is None else max_norm

    @property
    def rows(self) -> int:
        """How many rows there are, with or without a vector."""
        return len(self.present)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._matrix.shape[1])

    def vector(self, row: int) -> NDArray[np.float32] | None:
        """The vector of a row, or None where there is none."""
        return self._matrix[row] if self.present[row] else None

    def score(self, query: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines of these rows, the same bits that `search` gives; NaN for a row without a vector."""
        self._check_query(query)
        scores = self._scores(rows, query)
        scores[~self.present[rows]] = np.nan
        return scores

    def shortlist(self, candidates: NDArray[np.bool_], depth: int) -> int:
        """How many rows a search over these candidates should rescore; 0: all that may count, which is exact.

        Depends on how many candidates have a vector, and on nothing else of the library: where rows that a caller may
        not read come or go, nothing changes.
        """
        count = int(np.count_nonzero(candidates & self.present))
        if count < SHORTLIST_FROM or self.codes is None or self.codes.signs is None:
            return 0
        grown = 64 * round(SHORTLIST / 64 * float(np.cbrt(count / SHORTLIST_FROM)))
        return max(grown, SHORTLIST_A_HIT * depth)

    def search(
        self,
        query: NDArray[np.float32],
        candidates: NDArray[np.bool_],
        depth: int,
        tie_key: Callable[[int], Any],
        *,
        shortlist: int = 0,
    ) -> DenseHits:
        """The `depth` best candidates by (-score, tie_key): of all, or of a shortlist of those nearest by signs.

        A first pass leaves out only rows that its error bound proves too far down; all others get the score of
        `fixed_dots`. Rows and bits of the scores depend on the query and the candidates' vectors alone.

        Args:
            query: float32 [dim].
            candidates: bool [n]; the rows that may be found.
            depth: 0 or more.
            tie_key: total order of rows with equal scores.
            shortlist: as `self.shortlist` says; 0 for an exact search. Ignored where no signs are kept.
        """
        self._check_query(query)
        if candidates.shape != self.present.shape:
            raise ValueError(f"candidates has {candidates.size} rows, the index {self.rows}")
        if depth < 0 or shortlist < 0:
            raise ValueError(f"depth is {depth}, shortlist {shortlist}; 0 or more")
        allowed = candidates & self.present
        signs = self.codes.signs if self.codes is not None else None
        if depth == 0:
            rows = np.empty(0, np.int64)
        elif shortlist and signs is not None:
            rows = nearest_by_signs(signs, QuerySigns.of(query, signs.centre), allowed, shortlist, compiled(_COMPILED))
        else:
            rows = np.flatnonzero(allowed)
        if len(rows) > RESCORE_ALL * depth:
            rows = self._contenders(query, rows, depth)
        hits = _best(rows, self._scores(rows, query), depth, tie_key)
        if self.rows >= COMPILED_FROM:
            searched()
        return hits

    def _scores(self, rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float64]:
        kernels = compiled(_COMPILED)
        if kernels is None or not self._plain:
            return fixed_dots(self._matrix[rows], query)
        # Compiled code looks wherever it is told to.
        if len(rows) and (rows.min() < 0 or rows.max() >= self.rows):
            raise IndexError(f"rows lie in 0..{self.rows - 1}")
        rows, query = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(query)
        scores: NDArray[np.float64] = kernels.fixed_dots(self._matrix, rows, query)
        return scores

    def _contenders(self, query: NDArray[np.float32], rows: NDArray[np.int64], depth: int) -> NDArray[np.int64]:
        """All rows that may be among the best `depth`.

        Compiled, by codes: a row counts where its upper bound reaches the depth-th largest lower bound. Else in
        float32: let e be the bound, c the coarse scores, t the depth-th largest of them. The rows with c >= t are at
        least `depth` many, and their exact scores are at least t - e: so is the depth-th largest exact score. A row
        that reaches it, ties included, has c >= t - 2e.
        """
        kernels = compiled(_COMPILED)
        if kernels is not None and self.codes is not None:
            code = QueryCode.of(query, self._max_norm)
            found: NDArray[np.int64] = kernels.contenders(
                self.codes.rows.codes,
                self.codes.rows.steps,
                rows,
                code.numbers,
                code.step,
                code.norm,
                code.slack,
                depth,
            )
            return found
        query_norm = float(np.linalg.norm(query.astype(np.float64)))
        if self._max_norm * query_norm > OVERFLOW:
            return rows
        coarse = self._coarse(query, rows)
        bound = coarse_error(self.dim, self._max_norm, query_norm)
        threshold = np.partition(coarse, len(coarse) - depth)[len(coarse) - depth]
        lowest = np.nextafter(np.float32(float(threshold) - 2 * bound), np.float32(-np.inf))  # rounded down
        contenders: NDArray[np.int64] = rows[coarse >= lowest]
        return contenders

    def _coarse(self, query: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Float32 inner products. `vecdot`, a dot product a row, is twice as fast here as a matrix-vector product."""
        if len(rows) > GATHER_SHARE * self.rows:
            with np.errstate(all="ignore"):  # rows without a vector may hold anything
                return np.asarray(np.vecdot(self._matrix, query)[rows])
        scores = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), GATHER_ROWS):
            part = slice(start, start + GATHER_ROWS)
            np.vecdot(self._matrix[rows[part]], query, out=scores[part])
        return scores

    def _check_query(self, query: NDArray[np.float32]) -> None:
        if query.dtype != np.float32 or query.shape != (self.dim,) or not np.isfinite(query).all():
            raise ValueError(f"a query must be {self.dim} finite float32")


def _best(rows: NDArray[np.int64], scores: NDArray[np.float64], depth: int, tie_key: Callable[[int], Any]) -> DenseHits:
    """The first `depth` by (-score, tie_key); the key is asked for tied rows only."""
    if len(rows) > depth > 0:
        kept = scores >= np.partition(scores, len(scores) - depth)[len(scores) - depth]
        rows, scores = rows[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")
    rows, scores = rows[order], scores[order]
    borders = np.flatnonzero(np.diff(scores)) + 1
    for start, end in zip([0, *borders], [*borders, len(rows)], strict=True):
        if end - start > 1:
            rows[start:end] = sorted(rows[start:end].tolist(), key=tie_key)
    return DenseHits(rows[:depth], scores[:depth])


def _largest_norm(matrix: NDArray[np.float32], present: NDArray[np.bool_]) -> float:
    largest = 0.0
    for start in range(0, len(matrix), GATHER_ROWS):
        part = slice(start, start + GATHER_ROWS)
        rows = matrix[part][present[part]].astype(np.float64)
        if len(rows):
            largest = max(largest, float(np.sqrt(np.square(rows).sum(axis=1).max())))
    return largest
