"""Exact search over the vectors of one library at one moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.kernel import coarse_error, fixed_dots

__all__ = ["DenseHits", "VectorIndex"]

# Up to this many rows for each wanted hit, scoring all of them in the fixed order costs less than a coarse pass first.
RESCORE_ALL = 4
# Below this share of the rows, gathering them costs less than multiplying the whole matrix.
GATHER_SHARE = 0.15
GATHER_ROWS = 256
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
    """

    def __init__(
        self,
        matrix: NDArray[np.float32],
        present: NDArray[np.bool_],
        version: str,
        max_norm: float | None = None,
    ) -> None:
        if matrix.dtype != np.float32 or matrix.ndim != 2 or present.shape != matrix.shape[:1]:
            raise ValueError("matrix must be float32 [n, dim] and present bool [n]")
        self.version = version
        self.present = present.astype(np.bool_)
        self.present.flags.writeable = False
        self._matrix = matrix.view()
        self._matrix.flags.writeable = False
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
        scores = fixed_dots(self._matrix[rows], query)
        scores[~self.present[rows]] = np.nan
        return scores

    def search(
        self,
        query: NDArray[np.float32],
        candidates: NDArray[np.bool_],
        depth: int,
        tie_key: Callable[[int], Any],
    ) -> DenseHits:
        """The `depth` best candidates by (-score, tie_key), exactly.

        A coarse pass in float32 leaves out only rows that its error bound proves too far down; all others get the score
        of `fixed_dots`. Rows and bits of the scores depend on the query and the candidates' vectors alone.

        Args:
            query: float32 [dim].
            candidates: bool [n]; the rows that may be found.
            depth: 0 or more.
            tie_key: total order of rows with equal scores.
        """
        self._check_query(query)
        if candidates.shape != self.present.shape:
            raise ValueError(f"candidates has {candidates.size} rows, the index {self.rows}")
        if depth < 0:
            raise ValueError(f"depth is {depth}; 0 or more")
        rows = np.flatnonzero(candidates & self.present)
        if depth == 0:
            rows = rows[:0]
        elif len(rows) > RESCORE_ALL * depth:
            rows = self._contenders(query, rows, depth)
        return _best(rows, fixed_dots(self._matrix[rows], query), depth, tie_key)

    def _contenders(self, query: NDArray[np.float32], rows: NDArray[np.int64], depth: int) -> NDArray[np.int64]:
        """All rows that may be among the best `depth`.

        Let e be the bound, c the coarse scores, t the depth-th largest of them. The rows with c >= t are at least
        `depth` many, and their exact scores are at least t - e: so is the depth-th largest exact score. A row that
        reaches it, ties included, has c >= t - 2e.
        """
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
