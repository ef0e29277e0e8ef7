"""BM25 over an inverted index, exact for any set of candidates.

N, df and the average length are counted over the candidates of each call, so hidden rows and filtered rows have no
influence on any score. Nothing here depends on how the rows are divided into segments, nor on which of two engines
answers: numpy, or the compiled kernels once they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from groundwire_server import kernels
from groundwire_server.lexical.bm25 import Bm25
from groundwire_server.lexical.candidates import Candidates, mask_words
from groundwire_server.lexical.compiled import CompiledSearch, capped_lengths
from groundwire_server.lexical.plain import PlainSearch
from groundwire_server.lexical.scores import LexicalScores, collected
from groundwire_server.lexical.segment import Segment
from groundwire_server.lexical.terms import QueryTerms

__all__ = ["LexicalIndex"]

_KERNELS = "groundwire_server.lexical.kernels"
_MOST_MASKS = 4  # kept with their counts: one for each clearance


class LexicalIndex:
    """Immutable BM25 index over rows 0 .. rows - 1; safe for any number of readers at once.

    Attributes:
        rows: how many rows it covers.
        lengths: float64[rows], tokens of each row (exact: whole numbers).
        segments: its pieces, in row order.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        lengths: NDArray[np.float64] | None = None,
        capped: NDArray[np.uint16] | None = None,
    ) -> None:
        self.segments = tuple(segments)
        if lengths is None:
            parts = [segment.lengths.astype(np.float64) for segment in self.segments]
            lengths = np.concatenate([np.zeros(0), *parts])
        self.lengths = lengths
        self.rows = len(lengths)
        self._capped = capped_lengths(lengths) if capped is None else capped
        self._starts = tuple(accumulate((segment.size for segment in self.segments), initial=0))
        if self._starts[-1] != self.rows:
            raise ValueError(f"{self._starts[-1]} rows in segments, {self.rows} lengths")
        self._total = int(lengths.sum())
        self._plain = PlainSearch(self.segments, self._starts, lengths)
        # Both are replaced as a whole, so readers need no lock.
        self._compiled: CompiledSearch | None = None
        self._kept_masks: tuple[Candidates, ...] = ()

    def search(
        self,
        tokens: Iterable[str],
        candidates: NDArray[np.bool_],
        *,
        parameters: Bm25 | None = None,
        depth: int | None = None,
        check: Callable[[], None] | None = None,
    ) -> LexicalScores:
        """Scores of the candidates for a tokenized query (semantics 2).

        Args:
            tokens: what `tokenize` makes of the query.
            candidates: bool[rows], what the caller may read and the filter keeps. What is counted over a mask that is
                read-only is kept for the next search with the same one.
            parameters: k1 and b; default 1.5 and 0.75.
            depth: leave out rows that cannot be among the best `depth`. All that tie for the last place stay, so
                `top(scores, depth, ...)` is the same with it and without.
            check: asked now and then; what it raises ends the search.

        Raises:
            ValueError: `candidates` is not one bool a row, or depth is below 1.
        """
        self._check_mask(candidates)
        if depth is not None and depth < 1:
            raise ValueError(f"depth is {depth}; valid: 1 or more")
        if check is not None:
            check()
        query = QueryTerms.of(tokens)
        if not query.counts or self.rows == 0:
            return collected([], [])
        compiled = self._compiled_search()
        counted = self._counted(candidates, compiled)
        if counted.total == 0:
            return collected([], [])
        found = (compiled or self._plain).search(query, counted, parameters or Bm25(), depth, check)
        if compiled is None:
            kernels.searched()
        return found

    def score(
        self,
        tokens: Iterable[str],
        candidates: NDArray[np.bool_],
        rows: NDArray[np.int64],
        *,
        parameters: Bm25 | None = None,
        check: Callable[[], None] | None = None,
    ) -> NDArray[np.float64]:
        """float64, the score of each of some ascending rows: the bits that `search` gives it; 0 where it gives none.

        Args:
            tokens, candidates, parameters, check: as for `search`; the counts are those of all candidates.
            rows: int64, ascending, of 0 .. rows - 1.

        Raises:
            ValueError: `candidates` is not one bool a row.
        """
        self._check_mask(candidates)
        query = QueryTerms.of(tokens)
        if not query.counts or len(rows) == 0:
            return np.zeros(len(rows))
        compiled = self._compiled_search()
        counted = self._counted(candidates, compiled)
        if counted.total == 0:
            return np.zeros(len(rows))
        return (compiled or self._plain).score(query, counted, parameters or Bm25(), rows, check)

    def _check_mask(self, candidates: NDArray[np.bool_]) -> None:
        if candidates.shape != (self.rows,) or candidates.dtype != np.bool_:
            raise ValueError(f"candidates: {candidates.dtype}{candidates.shape}; valid: bool({self.rows},)")

    def _compiled_search(self) -> CompiledSearch | None:
        """The compiled search, where the kernels are there and know segments like these."""
        if self._compiled is None:
            compiled = kernels.compiled(_KERNELS)
            if compiled is None:
                return None
            self._compiled = CompiledSearch.of(compiled, self.segments, self._starts, self.lengths, self._capped)
        return self._compiled

    def _counted(self, mask: NDArray[np.bool_], compiled: CompiledSearch | None) -> Candidates:
        for known in self._kept_masks:
            if known.mask is mask and not mask.flags.writeable:
                return known
        kept = int(np.count_nonzero(mask))
        if kept == self.rows:
            counted = Candidates(mask, kept, self._total, np.zeros(1, dtype=np.uint64))
        elif kept == 0:
            return Candidates(mask, 0, 0, np.zeros(1, dtype=np.uint64))
        else:
            words = mask_words(mask, self._starts)
            total = int(self.lengths[mask].sum()) if compiled is None else compiled.total(words)
            counted = Candidates(mask, kept, total, words)
        if not mask.flags.writeable and mask.base is None:
            self._kept_masks = (counted, *self._kept_masks[: _MOST_MASKS - 1])
        return counted
