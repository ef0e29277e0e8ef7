"""The search by the compiled kernels: what they are given, and what numpy and `math` still do for them."""

from __future__ import annotations

from collections.abc import Sequence
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
    COUNTED,
    EVERYTHING,
    PICKED,
    WORK_COLUMNS,
    address,
    segment_table,
)
from groundwire_server.lexical.terms import QueryTerms

__all__ = ["CompiledSearch", "capped_lengths"]

_PICKED_SHARE = 8  # postings of candidates are picked out where at most one row of so many is one
_MOST_K1 = 1e6  # beyond it float32 is too small for what bounds the scores
_SCRATCH = BLOCK_ROWS + 8 * (CAPPED + 1) + BLOCK_ROWS + 4  # float32: sums, shares; uint16, twice: places
_NO_ENTRIES = np.zeros(0, dtype=np.uint64)


def capped_lengths(lengths: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Lengths in two bytes; `CAPPED` stands for all from there on."""
    return np.minimum(lengths, CAPPED).astype(np.uint16)


@dataclass(frozen=True, slots=True, eq=False)
class CompiledSearch:
    """Searches over the segments of one index; holds the arrays whose addresses the kernels are given."""

    kernels: ModuleType
    segments: tuple[Segment, ...]
    table: NDArray[np.int64]
    lengths: NDArray[np.float64]
    capped: NDArray[np.uint16]
    _table: tuple[int, int]
    _row_lengths: tuple[int, int]
    longest: int

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
        if table is None:
            return None
        rows = (address(lengths), address(capped))
        return cls(
            kernels,
            tuple(segments),
            table,
            lengths,
            capped,
            (address(table), len(table)),
            rows,
            int(capped.max(initial=0)),
        )

    def total(self, words: NDArray[np.uint64]) -> int:
        """Tokens of the candidates."""
        total: int = self.kernels.masked_total(*self._table, address(words), *self._row_lengths)
        return total

    def search(self, query: QueryTerms, candidates: Candidates, parameters: Bm25, depth: int | None) -> LexicalScores:
        """As `LexicalIndex.search`, of checked arguments; there is a token and a candidate with a token."""
        terms = len(query.counts)
        cells = len(self.table) * terms * WORK_COLUMNS
        memory = np.zeros(cells + terms, dtype=np.int64)
        work = address(memory)
        df_at = work + 8 * cells
        packed = address(np.frombuffer(query.packed, dtype=np.uint8))
        ends = packed + 8 * terms
        self.kernels.locate(*self._table, packed, terms, ends + 8 * (terms + 1), ends, work, df_at)
        counts, mode, entries = self._df(query, candidates, work, memory[cells:])
        weights = np.array(list(map(mul, query.counts, parameters.idfs(candidates.kept, counts))))
        hits = (work, terms, address(weights))
        formula = (candidates.total / candidates.kept, parameters.k1, parameters.b)
        if depth is None or parameters.k1 > _MOST_K1:
            scratch = np.empty(2 * BLOCK_ROWS)
            rows, scores = self.kernels.every(
                *self._table, *hits, self._row_lengths[0], candidates.words_at, entries, mode, *formula,
                address(scratch),
            )  # fmt: skip
        else:
            depth = min(depth, len(candidates.mask))
            order = (-weights).argsort(kind="stable")
            scratch = np.empty(_SCRATCH + depth, dtype=np.float32)
            rows, scores = self.kernels.best(
                *self._table, *hits, address(order), *self._row_lengths, candidates.words_at, entries, mode,
                self.longest, *formula, depth, address(scratch),
            )  # fmt: skip
        if depth is not None and len(scores) > depth:
            kept = scores >= np.partition(scores, len(scores) - depth)[len(scores) - depth]
            rows, scores = rows[kept], scores[kept]
        rows.flags.writeable = False
        scores.flags.writeable = False
        return LexicalScores(rows, scores)

    def _df(
        self, query: QueryTerms, candidates: Candidates, work: int, df: NDArray[np.int64]
    ) -> tuple[list[int], int, NDArray[np.uint64]]:
        """How many candidates hold each term, which rows count, and the postings of candidates where picked out."""
        counted: list[int]
        if candidates.everything:
            counted = df.tolist()
            return counted, EVERYTHING, _NO_ENTRIES
        selective = _PICKED_SHARE * candidates.kept <= len(candidates.mask)
        if not selective:
            known = [candidates.df.get(token, -1) for token in query.tokens]
            if min(known) >= 0:
                return known, COUNTED, _NO_ENTRIES
        df[:] = 0
        mode = PICKED if selective else COUNTED
        entries = self.kernels.count(*self._table, work, len(df), candidates.words_at, mode, address(df))
        counted = df.tolist()
        if not selective:
            candidates.learn(query.tokens, counted)
        return counted, mode, entries
