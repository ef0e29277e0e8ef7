"""Segments: the immutable pieces of an index.

A segment holds the postings of at most 65,536 consecutive rows, so that a row within it takes two bytes. It knows
neither where its rows begin nor which file it lives in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.terms import QueryTerms

__all__ = ["LARGE_FREQUENCY", "MAX_ROWS", "Hits", "Segment", "frequency_bytes", "narrowest"]

MAX_ROWS = 1 << 16
LARGE_FREQUENCY = 255
"""Stands in `frequencies` for a count of this size or more; `large_counts` has the count."""


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The query terms that a segment holds, in query order.

    Attributes:
        terms: their numbers in the query.
        starts, stops: their postings in the segment.
    """

    terms: list[int]
    starts: list[int]
    stops: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Postings of consecutive rows, by term.

    Attributes:
        codes: uint64[terms], ascending: CJK tokens, then words (see `terms`).
        offsets: uint32 or uint64[terms + 1], where the postings of each term begin.
        rows: uint16[postings], ascending within a term.
        frequencies: uint8[postings], occurrences in the row.
        large_at: uint64, positions of the postings with more occurrences than a byte holds, ascending.
        large_counts: uint64, those occurrences.
        lengths: uint32 or uint64[rows], tokens of each row.
        word_offsets: uint32 or uint64[words + 1], where the spelling of each word begins.
        spellings: uint8, UTF-8 of the words in the order of their codes, a line feed behind each.
    """

    codes: NDArray[np.uint64]
    offsets: NDArray[np.unsignedinteger]
    rows: NDArray[np.uint16]
    frequencies: NDArray[np.uint8]
    large_at: NDArray[np.uint64]
    large_counts: NDArray[np.uint64]
    lengths: NDArray[np.unsignedinteger]
    word_offsets: NDArray[np.unsignedinteger]
    spellings: NDArray[np.uint8]

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.lengths)

    @property
    def first_word(self) -> int:
        """Number of the first term that is a word."""
        return len(self.codes) - len(self.word_offsets) + 1

    def words(self) -> list[str]:
        """All words, in the order of their codes."""
        return self.spellings.tobytes().decode().split("\n")[:-1]

    def find(self, query: QueryTerms) -> Hits:
        """Where the terms of a query are."""
        hits = Hits([], [], [])
        if len(self.codes) == 0:
            return hits
        found = np.minimum(np.searchsorted(self.codes, query.codes), len(self.codes) - 1)
        for number in np.flatnonzero(self.codes[found] == query.codes).tolist():
            at = self._spelled(int(found[number]), query.spellings[number])
            if at >= 0:
                hits.terms.append(number)
                hits.starts.append(int(self.offsets[at]))
                hits.stops.append(int(self.offsets[at + 1]))
        return hits

    def rows_of(self, starts: Sequence[int], stops: Sequence[int]) -> NDArray[np.int64]:
        """Rows of stretches of postings, one behind the other."""
        parts = [self.rows[start:stop] for start, stop in zip(starts, stops, strict=True)]
        return np.concatenate(parts).astype(np.int64)

    def counts_of(self, starts: Sequence[int], stops: Sequence[int]) -> NDArray[np.float64]:
        """Occurrences in stretches of postings, one behind the other."""
        parts = [self.frequencies[start:stop] for start, stop in zip(starts, stops, strict=True)]
        counts = np.concatenate(parts).astype(np.float64)
        if len(self.large_at):
            shift = 0
            for start, stop in zip(starts, stops, strict=True):
                first, last = np.searchsorted(self.large_at, np.asarray([start, stop], dtype=np.uint64))
                places = self.large_at[first:last].astype(np.int64) + (shift - start)
                counts[places] = self.large_counts[first:last]
                shift += stop - start
        return counts

    def _spelled(self, at: int, spelling: bytes | None) -> int:
        """The term with the code of term `at` and this spelling; -1 when there is none."""
        if spelling is None:
            return at
        code = self.codes[at]
        while at < len(self.codes) and self.codes[at] == code:
            word = at - self.first_word
            start, stop = int(self.word_offsets[word]), int(self.word_offsets[word + 1]) - 1
            if self.spellings[start:stop].tobytes() == spelling:
                return at
            at += 1
        return -1


def frequency_bytes(
    counts: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]:
    """Occurrences as the three arrays `frequencies`, `large_at` and `large_counts`."""
    large = np.flatnonzero(counts >= LARGE_FREQUENCY)
    return (
        np.minimum(counts, LARGE_FREQUENCY).astype(np.uint8),
        large.astype(np.uint64),
        counts[large].astype(np.uint64),
    )


def narrowest(values: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
    """Values that are not negative, in four bytes where they fit, else in eight."""
    if len(values) == 0 or int(values.max()) < 1 << 32:
        return values.astype(np.uint32)
    return values.astype(np.uint64)
