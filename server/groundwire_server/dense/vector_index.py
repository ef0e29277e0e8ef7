"""Search over the vectors of one library at one moment.

A search is exact, unless it is told to rescore a shortlist: then the rows whose signs are nearest to the query's are
found first, and only they get their score. What `search` answers depends on the query, the candidates' vectors, the
depth and the size of the shortlist; not on other rows, on what is compiled, on threads or on other searches.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.code_folder import Codes
from groundwire_server.dense.contenders import CodeSweep, FloatSweep
from groundwire_server.dense.kernel import fixed_dots
from groundwire_server.dense.row_scan import RowScan
from groundwire_server.dense.sign_codes import QuerySigns
from groundwire_server.dense.signs_search import nearest_by_signs
from groundwire_server.kernels import compiled, searched

__all__ = ["SHORTLIST_FROM", "DenseHits", "VectorIndex"]

_COMPILED = "groundwire_server.dense.compiled"
# From so many candidates on a search rescores a shortlist. Measured with e5 and real questions (benchmarks/dense.py):
# of the true first ten, 99.5 % are among 1,600 of a million rows; lists that are longer rescore more.
SHORTLIST_FROM = 250_000
SHORTLIST = 1024  # at that size; it grows with the cube root of the candidates
SHORTLIST_A_HIT = 16
# Up to this many rows for each wanted hit, scoring all of them in the fixed order costs less than a coarse pass first.
RESCORE_ALL = 4
SCORE_ROWS = 16_384  # between two looks at whether the call is still wanted
NORM_ROWS = 256
TIED_ROWS = 2048
COMPILED_FROM = 4096  # rows; below, compiled code is not worth the room that it takes


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

    Raises:
        ValueError: the arrays do not fit each other; no norm is given, and a vector is not finite.
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
        self._scans: dict[ModuleType | None, RowScan[Any]] = {}

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
        check: Callable[[], None] | None = None,
    ) -> DenseHits:
        """The `depth` best candidates by (-score, tie_key): of all, or of a shortlist of those nearest by signs.

        A first pass leaves out only rows that its error bound proves too far down; all others get the score of
        `fixed_dots`. Rows and bits of the scores depend on the query and the candidates' vectors alone: searches of
        several threads at the same moment share the first pass, each for itself (`SharedPass`).

        Args:
            query: float32 [dim].
            candidates: bool [n]; the rows that may be found.
            depth: 0 or more.
            tie_key: total order of rows with equal scores.
            shortlist: as `self.shortlist` says; 0 for an exact search. Ignored where no signs are kept.
            check: polled every few milliseconds; what it raises ends this search, and no other.
        """
        self._check_query(query)
        if candidates.shape != self.present.shape:
            raise ValueError(f"candidates has {candidates.size} rows, the index {self.rows}")
        if depth < 0 or shortlist < 0:
            raise ValueError(f"depth is {depth}, shortlist {shortlist}; 0 or more")
        check = check or _go_on
        check()
        allowed = candidates & self.present
        rows = self._contenders(query, allowed, depth, shortlist, check)
        scores = np.empty(len(rows))
        for start in range(0, len(rows), SCORE_ROWS):
            check()
            scores[start : start + SCORE_ROWS] = self._scores(rows[start : start + SCORE_ROWS], query)
        hits = _best(rows, scores, depth, tie_key, check)
        if self.rows >= COMPILED_FROM:
            searched()
        return hits

    def _contenders(
        self,
        query: NDArray[np.float32],
        allowed: NDArray[np.bool_],
        depth: int,
        shortlist: int,
        check: Callable[[], None],
    ) -> NDArray[np.int64]:
        """All rows that may be among the best `depth`: of those allowed, or of the shortlist."""
        if depth == 0:
            return np.empty(0, np.int64)
        kernels = compiled(_COMPILED)
        signs = self.codes.signs if self.codes is not None else None
        if shortlist and signs is not None:
            asked = QuerySigns.of(query, signs.centre)
            rows = nearest_by_signs(signs, asked, allowed, shortlist, kernels, check)
            return rows if len(rows) <= RESCORE_ALL * depth else self._scan(kernels).among(query, rows, depth, check)
        if np.count_nonzero(allowed) <= RESCORE_ALL * depth:
            return np.flatnonzero(allowed)
        return self._scan(kernels).contenders(query, allowed, depth, check)

    def _scan(self, kernels: ModuleType | None) -> RowScan[Any]:
        """By codes where there are some and compiled code for them, else by the vectors; one for all threads."""
        if self.codes is None:
            kernels = None
        if kernels not in self._scans:
            sweep = FloatSweep(self._matrix, self._max_norm)
            scan: RowScan[Any] = RowScan(sweep, self.rows)
            if kernels is not None and self.codes is not None:
                scan = RowScan(CodeSweep(self.codes.rows, self._max_norm, kernels), self.rows)
            self._scans.setdefault(kernels, scan)
        return self._scans[kernels]

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

    def _check_query(self, query: NDArray[np.float32]) -> None:
        if query.dtype != np.float32 or query.shape != (self.dim,) or not np.isfinite(query).all():
            raise ValueError(f"a query must be {self.dim} finite float32")


def _go_on() -> None:
    """Nobody wants the search to end."""


def _best(
    rows: NDArray[np.int64],
    scores: NDArray[np.float64],
    depth: int,
    tie_key: Callable[[int], Any],
    check: Callable[[], None],
) -> DenseHits:
    """The first `depth` by (-score, tie_key); the key is asked for tied rows only."""
    if len(rows) > depth > 0:
        kept = scores >= np.partition(scores, len(scores) - depth)[len(scores) - depth]
        rows, scores = rows[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")
    rows, scores = rows[order], scores[order]
    borders = np.flatnonzero(np.diff(scores)) + 1
    for start, end in zip([0, *borders], [*borders, len(rows)], strict=True):
        if end - start > 1 and start < depth:
            first = _first(rows[start:end].tolist(), depth - start, tie_key, check)
            rows[start : start + len(first)] = first
    return DenseHits(rows[:depth], scores[:depth])


def _first(rows: list[int], wanted: int, key: Callable[[int], Any], check: Callable[[], None]) -> list[int]:
    """The first of some rows by their key."""
    first: list[int] = []
    for start in range(0, len(rows), TIED_ROWS):
        check()
        first = heapq.nsmallest(wanted, first + rows[start : start + TIED_ROWS], key)
    return first


def _largest_norm(matrix: NDArray[np.float32], present: NDArray[np.bool_]) -> float:
    largest = 0.0
    for start in range(0, len(matrix), NORM_ROWS):
        part = slice(start, start + NORM_ROWS)
        rows = matrix[part][present[part]].astype(np.float64)
        if not np.isfinite(rows).all():
            raise ValueError("a vector must be finite")
        if len(rows):
            largest = max(largest, float(np.sqrt(np.square(rows).sum(axis=1).max())))
    return largest
