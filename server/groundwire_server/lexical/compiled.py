"""The search by the compiled kernels: what they are given, and what numpy and `math` still do for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.bm25 import Bm25
from groundwire_server.lexical.candidates import Candidates
from groundwire_server.lexical.scores import LexicalScores
from groundwire_server.lexical.segment import BLOCK_ROWS, Segment
from groundwire_server.lexical.tables import (
    CAPPED,
    POSTINGS_CELL,
    STATE_STOP,
    TERM_CELLS,
    TERMS_CELL,
    WORK_COLUMNS,
    address,
    segment_table,
)
from groundwire_server.lexical.terms import QueryTerms

__all__ = ["CompiledSearch", "capped_lengths"]

_MOST_K1 = 1e6  # beyond it float32 is too small for what bounds the scores
_BUDGET = 1 << 21  # postings that a kernel looks at before it can be told to stop: a few milliseconds
_ROOM = 4 * BLOCK_ROWS  # rows of results that a thread has room for from the beginning
_MOST_ROOM = 16 * _ROOM  # memory that has grown beyond is not kept
_NO_ROOM = -2  # what a kernel returns then
_FEW_OF = 16  # where one row of so many is a candidate, and few are in all, each is scored by itself
_KEPT_CELLS = 1 << 15  # of a query's counts that are kept for the next question about it


def capped_lengths(lengths: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Lengths in two bytes; `CAPPED` stands for all from there on."""
    return np.minimum(lengths, CAPPED).astype(np.uint16)


@dataclass(frozen=True, slots=True, eq=False)
class _Weighed:
    """A query over some candidates: where its terms stand, and what they weigh.

    Attributes:
        work, weights, order: addresses within `memory`; terms of most weight come first in `order`.
    """

    query: QueryTerms
    candidates: Candidates
    parameters: Bm25
    memory: NDArray[np.int64]
    work: int
    weights: int
    order: int

    def answers(self, query: QueryTerms, candidates: Candidates, parameters: Bm25) -> bool:
        """Whether this is that query over those candidates."""
        return (
            self.candidates is candidates
            and self.query.tokens == query.tokens
            and self.query.counts == query.counts
            and self.parameters == parameters
        )


class _Space:
    """Memory of a thread that searches; what it holds from the last search does not matter."""

    def __init__(self, cells: int, room: int) -> None:
        self.cells = np.zeros(cells, dtype=np.int64)
        self.at = address(self.cells)
        self._take(np.empty(room, dtype=np.int64), np.empty(room))

    def grow(self) -> None:
        """Room for twice as many results; those that are there stay."""
        rows, scores = np.empty(2 * self.room, dtype=np.int64), np.empty(2 * self.room)
        rows[: self.room], scores[: self.room] = self.rows, self.scores
        self._take(rows, scores)

    def _take(self, rows: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        self.room, self.rows, self.scores = len(rows), rows, scores
        self.rows_at, self.scores_at = address(rows), address(scores)


class _Spaces(threading.local):
    space: _Space | None = None


_spaces = _Spaces()


def _space(cells: int, room: int) -> _Space:
    """Memory for a search on this thread; it is kept as long as it is not larger than most searches need."""
    kept = _spaces.space
    if kept is None or kept.room > _MOST_ROOM:
        kept = _spaces.space = _Space(TERMS_CELL + TERM_CELLS * 128 + 1024, _ROOM)
    if len(kept.cells) < cells or kept.room < room:
        return _Space(cells, max(room, _ROOM))
    kept.cells[:STATE_STOP] = 0
    return kept


class CompiledSearch:
    """Searches over the segments of one index; holds the arrays whose addresses the kernels are given."""

    def __init__(
        self,
        kernels: ModuleType,
        segments: Sequence[Segment],
        table: NDArray[np.int64],
        lengths: NDArray[np.float64],
        capped: NDArray[np.uint16],
    ) -> None:
        self._kernels = kernels
        self._held = (tuple(segments), table, lengths, capped)
        self._table = (address(table), len(table))
        self._lengths_at, self._capped_at = address(lengths), address(capped)
        self._longest = int(capped.max(initial=0))
        # The last query, for the scores of single rows that are asked for behind it. Replaced as a whole.
        self._last: _Weighed | None = None

    @classmethod
    def of(
        cls,
        kernels: ModuleType,
        segments: Sequence[Segment],
        starts: Sequence[int],
        lengths: NDArray[np.float64],
        capped: NDArray[np.uint16],
    ) -> CompiledSearch | None:
        """None where the segments are of a size that the kernels do not know."""
        table = segment_table(segments, starts)
        return None if table is None else cls(kernels, segments, table, lengths, capped)

    def total(self, words: NDArray[np.uint64]) -> int:
        """Tokens of the candidates."""
        total: int = self._kernels.masked_total(*self._table, address(words), self._lengths_at, self._capped_at)
        return total

    def search(
        self,
        query: QueryTerms,
        candidates: Candidates,
        parameters: Bm25,
        depth: int | None,
        check: Callable[[], None] | None,
    ) -> LexicalScores:
        """As `LexicalIndex.search`, of checked arguments; there is a token and a candidate with a token."""
        if depth is not None and candidates.kept <= min(2 * depth, len(candidates.mask) // _FEW_OF):
            chosen = np.flatnonzero(candidates.mask)
            return _best_of(chosen, self.score(query, candidates, parameters, chosen, check), depth)
        weighed = self._weigh(query, candidates, parameters, check)
        terms = len(query.counts)
        masked = 0 if candidates.everything else 1
        hits = (weighed.work, terms, weighed.weights, weighed.order, self._lengths_at)
        formula = (candidates.total / candidates.kept, parameters.k1, parameters.b)
        if depth is None or parameters.k1 > _MOST_K1 or 2 * depth >= candidates.kept:
            space = _space(TERMS_CELL + TERM_CELLS * terms, candidates.kept)
            found = _run(
                lambda: self._kernels.every(
                    *self._table, *hits[:3], *hits[4:], candidates.words_at, masked, *formula, space.at, space.rows_at,
                    space.scores_at, _BUDGET,
                ),
                space, check,
            )  # fmt: skip
        else:
            space = _space(TERMS_CELL + TERM_CELLS * terms + depth, depth + 2 * BLOCK_ROWS)
            found = _run(
                lambda: self._kernels.best(
                    *self._table, *hits, self._capped_at, candidates.words_at, masked, self._longest, *formula, depth,
                    space.at, space.rows_at, space.scores_at, space.room, _BUDGET,
                ),
                space, check,
            )  # fmt: skip
        rows, scores = space.rows[:found], space.scores[:found]
        if depth is None or found <= depth:
            rows, scores = rows.copy(), scores.copy()
        return _best_of(rows, scores, depth)

    def score(
        self,
        query: QueryTerms,
        candidates: Candidates,
        parameters: Bm25,
        rows: NDArray[np.int64],
        check: Callable[[], None] | None,
    ) -> NDArray[np.float64]:
        """As `LexicalIndex.score`, of checked arguments; there is a token and a candidate with a token."""
        weighed = self._weigh(query, candidates, parameters, check)
        terms = len(query.counts)
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        scores = np.empty(len(rows))
        step = max(1, _BUDGET // (16 * terms))
        space = _space(TERMS_CELL, 0)
        own = space.at + 8 * POSTINGS_CELL
        for first in range(0, len(rows), step):
            if check is not None:
                check()
            count = min(step, len(rows) - first)
            self._kernels.score(
                *self._table, weighed.work, terms, weighed.weights, self._lengths_at, address(rows) + 8 * first, count,
                address(scores) + 8 * first, own, candidates.total / candidates.kept, parameters.k1, parameters.b,
            )  # fmt: skip
        if not candidates.everything:
            scores[~candidates.mask[rows]] = 0.0
        return scores

    def _weigh(
        self, query: QueryTerms, candidates: Candidates, parameters: Bm25, check: Callable[[], None] | None
    ) -> _Weighed:
        """Find the terms, count the candidates that hold each."""
        last = self._last
        if last is not None and last.answers(query, candidates, parameters):
            return last
        segments, terms = self._table[1], len(query.counts)
        cells = segments * terms * WORK_COLUMNS
        memory = np.empty(cells + 3 * terms, dtype=np.int64)
        work = address(memory)
        df = memory[cells : cells + terms]
        df[:] = 0
        df_at = work + 8 * cells
        packed = address(np.frombuffer(query.packed, dtype=np.uint8))
        ends = packed + 8 * terms
        self._kernels.locate(*self._table, packed, terms, ends + 8 * (terms + 1), ends, work, df_at, df_at + 16 * terms)
        counts: list[int] = df.tolist()
        if not candidates.everything:
            counts = self._candidate_df(query, candidates, work, df, counts, check)
        weights = memory.view(np.float64)[cells + terms : cells + 2 * terms]
        weights[:] = list(map(mul, query.counts, parameters.idfs(candidates.kept, counts)))
        memory[cells + 2 * terms :] = (-weights).argsort(kind="stable")
        weighed = _Weighed(query, candidates, parameters, memory, work, df_at + 8 * terms, df_at + 16 * terms)
        self._last = weighed if len(memory) <= _KEPT_CELLS else None
        return weighed

    def _candidate_df(
        self,
        query: QueryTerms,
        candidates: Candidates,
        work: int,
        df: NDArray[np.int64],
        of_all: Sequence[int],
        check: Callable[[], None] | None,
    ) -> list[int]:
        """How many candidates hold each term."""
        known = [candidates.df.get(token, -1) for token in query.tokens]
        if min(known) >= 0:
            return known
        df[:] = 0
        (table, segments), terms = self._table, len(df)
        step = max(1, segments * _BUDGET // (sum(of_all) + 1))
        for first in range(0, segments, step):
            if check is not None:
                check()
            last = min(first + step, segments)
            self._kernels.count(table, first, last, work, terms, candidates.words_at, address(df))
        counted: list[int] = df.tolist()
        candidates.learn(query.tokens, counted)
        return counted


def _best_of(rows: NDArray[np.int64], scores: NDArray[np.float64], depth: int | None) -> LexicalScores:
    """The rows with a term that can be among the best; the arrays that are given, where all of them stay."""
    least = 0.0
    if depth is not None and len(rows) > depth:
        least = float(np.partition(scores, len(rows) - depth)[len(rows) - depth])
    if least > 0.0:
        kept = scores >= least
        rows, scores = rows[kept], scores[kept]
    elif len(rows) and scores.min() <= 0.0:
        kept = scores > 0.0
        rows, scores = rows[kept], scores[kept]
    rows.flags.writeable = False
    scores.flags.writeable = False
    return LexicalScores(rows, scores)


def _run(kernel: Callable[[], int], space: _Space, check: Callable[[], None] | None) -> int:
    """Call a kernel until it is done, with more room when it needs some; how many rows it found."""
    while True:
        if check is not None:
            check()
        found = kernel()
        if found >= 0:
            return found
        if found == _NO_ROOM:
            space.grow()
