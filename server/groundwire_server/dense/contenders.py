"""Rows that may be among the best: all rows are looked at once, and only those leave that cannot be.

Two ways, with equal answers behind them: compiled code over the bytes of the rows (`row_codes`), and numpy over the
vectors themselves in float32. Both take several searches through the same rows, each for itself: what one finds depends
on its query, its rows and its depth, not on the order of the parts nor on who else is looking.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.kernel import coarse_error
from groundwire_server.dense.row_codes import QueryCode, RowCodes

__all__ = ["CodeSweep", "FloatSweep", "Quest", "Sweep"]

GATHER_ROWS = 256
OVERFLOW = 2.0**100  # products of longer vectors might not fit float32
_TOGETHER = 4  # compiled code takes so many queries at once


class Quest(Protocol):
    """One search on its way through the rows."""

    def rows(self) -> NDArray[np.int64]:
        """Those seen so far that may be among the best, ascending."""
        ...


Q = TypeVar("Q", bound=Quest)


class Sweep(Protocol[Q]):
    """A way of looking at rows."""

    def begin(self, query: NDArray[np.float32], depth: int) -> Q:
        """A search for the best `depth`, at least 1."""
        ...

    def advance(self, quests: Sequence[Q], rows: NDArray[np.int64], wanted: NDArray[np.bool_]) -> None:
        """Look at some rows, ascending, int64 [n]; `wanted` bool [m, n] says which of them each search looks at.

        No search may see a row twice.
        """
        ...


class CodeQuest:
    """A search by codes: the largest lower bounds so far, and the rows whose upper bounds reach the least of them."""

    def __init__(self, code: QueryCode, depth: int) -> None:
        self.code = code
        self.lows = np.full(depth, -np.inf)
        self._rows: list[NDArray[np.int64]] = []
        self._highs: list[NDArray[np.float64]] = []

    def take(self, lows: NDArray[np.float64], rows: NDArray[np.int64], highs: NDArray[np.float64]) -> None:
        """What was found in some rows."""
        self.lows = lows
        self._rows.append(rows)
        self._highs.append(highs)

    def rows(self) -> NDArray[np.int64]:
        """See `Quest`. Rows with upper bounds below `depth` lower bounds have as many rows above them."""
        if not self._rows:
            return np.empty(0, np.int64)
        found: NDArray[np.int64] = np.concatenate(self._rows)[np.concatenate(self._highs) >= self.lows[0]]
        found.sort()
        return found


class CodeSweep:
    """By compiled code over codes; see `row_codes` for why it leaves out nothing that counts."""

    def __init__(self, codes: RowCodes, max_norm: float, kernels: ModuleType) -> None:
        self._codes = codes
        self._max_norm = max_norm
        self._kernels = kernels

    def begin(self, query: NDArray[np.float32], depth: int) -> CodeQuest:
        """See `Sweep`."""
        return CodeQuest(QueryCode.of(query, self._max_norm), depth)

    def advance(self, quests: Sequence[CodeQuest], rows: NDArray[np.int64], wanted: NDArray[np.bool_]) -> None:
        """See `Sweep`."""
        asked, dim = len(quests), self._codes.codes.shape[1]
        queries = np.zeros((-(-asked // _TOGETHER) * _TOGETHER, dim), np.int16)
        for place, quest in enumerate(quests):
            queries[place] = quest.code.numbers
        measures = np.array([(quest.code.step, quest.code.norm, quest.code.slack) for quest in quests])
        lows = np.concatenate([quest.lows for quest in quests])
        ends = np.cumsum([0, *(len(quest.lows) for quest in quests)])
        found, highs = np.empty(wanted.shape, np.int64), np.empty(wanted.shape)
        counts = self._kernels.contenders(
            self._codes.codes, self._codes.steps, rows, wanted, queries, measures, lows, ends, found, highs
        )
        for place, quest in enumerate(quests):
            count = counts[place]
            own = lows[ends[place] : ends[place + 1]].copy()
            quest.take(own, found[place, :count].copy(), highs[place, :count].copy())


class FloatQuest:
    """A search in float32. Let e be the bound of its errors and t the `depth`-th largest product so far.

    Rows with products of at least t are at least `depth` many, and their exact scores are at least t - e: so is the
    `depth`-th largest exact score. A row that reaches it, ties included, has a product of at least t - 2 e.
    """

    def __init__(self, query: NDArray[np.float32], depth: int, bound: float) -> None:
        self.query = query
        self._depth = depth
        self._bound = bound
        self._least = np.float32(-np.inf)
        self._rows = np.empty(0, np.int64)
        self._products = np.empty(0, np.float32)

    def take(self, rows: NDArray[np.int64], products: NDArray[np.float32]) -> None:
        """What was computed for some rows."""
        if np.isfinite(self._bound):
            near = products >= self._least
            rows, products = rows[near], products[near]
        self._rows = np.concatenate([self._rows, rows])
        self._products = np.concatenate([self._products, products])
        if len(self._rows) <= self._depth or not np.isfinite(self._bound):
            return
        place = len(self._rows) - self._depth
        lowest = float(np.partition(self._products, place)[place]) - 2 * self._bound
        self._least = np.nextafter(np.float32(lowest), np.float32(-np.inf))  # rounded down
        near = self._products >= self._least
        self._rows, self._products = self._rows[near], self._products[near]

    def rows(self) -> NDArray[np.int64]:
        """See `Quest`."""
        return np.sort(self._rows)


class FloatSweep:
    """By numpy over the vectors."""

    def __init__(self, matrix: NDArray[np.float32], max_norm: float) -> None:
        self._matrix = matrix
        self._max_norm = max_norm

    def begin(self, query: NDArray[np.float32], depth: int) -> FloatQuest:
        """See `Sweep`."""
        norm = float(np.linalg.norm(query.astype(np.float64)))
        fits = self._max_norm * norm <= OVERFLOW
        bound = coarse_error(self._matrix.shape[1], self._max_norm, norm) if fits else np.inf
        return FloatQuest(query, depth, bound)

    def advance(self, quests: Sequence[FloatQuest], rows: NDArray[np.int64], wanted: NDArray[np.bool_]) -> None:
        """See `Sweep`."""
        run = len(rows) > 0 and int(rows[-1] - rows[0]) == len(rows) - 1
        if run and len(quests) > 1:
            part = self._matrix[rows[0] : rows[-1] + 1]
            with np.errstate(all="ignore"):  # rows without a vector may hold anything
                products = (part @ np.stack([quest.query for quest in quests]).T).T
            for quest, own, line in zip(quests, wanted, products, strict=True):
                quest.take(rows[own], line[own])
            return
        for quest, own in zip(quests, wanted, strict=True):
            if run:
                with np.errstate(all="ignore"):
                    line = np.asarray(np.vecdot(self._matrix[rows[0] : rows[-1] + 1], quest.query))[own]
            else:
                line = self._gathered(rows[own], quest.query)
            quest.take(rows[own], line)

    def _gathered(self, rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """A dot product a row, which is twice as fast here as a matrix-vector product, in pieces that stay cached."""
        products = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), GATHER_ROWS):
            part = slice(start, start + GATHER_ROWS)
            with np.errstate(all="ignore"):  # of vectors for which there is no bound
                np.vecdot(self._matrix[rows[part]], query, out=products[part])
        return products
