"""From texts to postings: tokens as numbers, sorted once, counted by their neighbours.

Where the compiled kernels are there they walk through the texts instead (`counted`); both make the same postings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from groundwire_server import kernels
from groundwire_server.lexical.counted import PostingsCounter
from groundwire_server.lexical.merge import merge_postings
from groundwire_server.lexical.postings import Postings, spelling_arrays
from groundwire_server.lexical.segment import MAX_ROWS, frequency_bytes, narrowest
from groundwire_server.lexical.terms import WORD_BIT, rank_words, word_codes
from groundwire_server.text import TokenBatch, tokenize_batch

__all__ = ["PostingsBuilder", "build_postings"]

_KERNELS = "groundwire_server.lexical.build_kernels"

_ROW_BITS = 16
_ROW_MASK = np.uint64(MAX_ROWS - 1)


class PostingsBuilder:
    """Gathers texts, one row each, block by block.

    Attributes:
        rows: how many there are so far.
    """

    def __init__(self) -> None:
        self.rows = 0
        compiled = kernels.compiled(_KERNELS)
        self._counter = None if compiled is None else PostingsCounter(compiled)
        self._blocks: list[Postings] = []

    def add(self, texts: Sequence[str]) -> None:
        """Take further texts.

        Raises:
            ValueError: more texts than a segment holds.
        """
        if self.rows + len(texts) > MAX_ROWS:
            raise ValueError(f"{self.rows + len(texts)} texts; a segment holds at most {MAX_ROWS}")
        if self._counter is not None:
            self._counter.add(texts, self.rows)
        elif texts:
            self._blocks.append(_sorted_postings(texts))
        self.rows += len(texts)

    def finish(self) -> Postings:
        """The postings of all texts; the builder is used up."""
        if self._counter is not None:
            return self._counter.finish()
        return merge_postings(self._blocks or [_sorted_postings([])])


def build_postings(texts: Sequence[str]) -> Postings:
    """The postings of up to 65,536 texts, one row each.

    Raises:
        ValueError: more texts than a segment holds.
    """
    builder = PostingsBuilder()
    builder.add(texts)
    return builder.finish()


def _sorted_postings(texts: Sequence[str]) -> Postings:
    batch = tokenize_batch(texts)
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    word_numbers = np.fromiter(map(numbers.__getitem__, batch.words), dtype=np.int64, count=len(batch.words))
    words = list(numbers)
    codes = word_codes(words)
    order = rank_words(words, codes)
    ranks = np.empty(len(words), dtype=np.uint64)
    ranks[order] = np.arange(len(words), dtype=np.uint64)

    occurrences = np.concatenate((_cjk_occurrences(batch), _word_occurrences(batch, ranks[word_numbers])))
    occurrences.sort()
    postings = _changes(occurrences)
    frequencies, large_at, large_counts = frequency_bytes(np.diff(postings, append=len(occurrences)))
    distinct = occurrences[postings]
    terms = distinct >> np.uint64(_ROW_BITS)
    starts = _changes(terms)
    term_codes = terms[starts]
    first_word = len(term_codes) - len(words)
    term_codes[first_word:] = codes[order]
    word_offsets, spellings = spelling_arrays([words[at] for at in order.tolist()])
    return Postings(
        codes=term_codes,
        offsets=np.append(starts, len(postings)),
        rows=(distinct & _ROW_MASK).astype(np.uint16),
        frequencies=frequencies,
        large_at=large_at,
        large_counts=large_counts,
        lengths=narrowest(batch.lengths),
        word_offsets=word_offsets,
        spellings=spellings,
    )


def _cjk_occurrences(batch: TokenBatch) -> NDArray[np.uint64]:
    """Code and row of each CJK token in one number; below that of every word."""
    codes = batch.first.astype(np.uint64) << np.uint64(21) | batch.second
    return codes << np.uint64(_ROW_BITS) | batch.texts.astype(np.uint64)


def _word_occurrences(batch: TokenBatch, ranks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Rank and row of each word in one number."""
    rows = np.repeat(np.arange(len(batch.word_counts), dtype=np.uint64), batch.word_counts)
    return ranks << np.uint64(_ROW_BITS) | rows | np.uint64(WORD_BIT)


def _changes(ordered: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where a new value begins."""
    if len(ordered) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate((np.zeros(1, dtype=np.int64), np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
