"""Segments: the immutable pieces of an index.

A segment holds the postings of at most 65,536 consecutive rows, so that a row within it takes two bytes. It knows
neither where its rows begin nor which file it lives in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.terms import QueryTerms

__all__ = [
    "BLOCK_ROWS",
    "BOUND_POSTINGS",
    "CODE_COUNTS",
    "LARGE_FREQUENCY",
    "LENGTH_LEVELS",
    "MAX_ROWS",
    "NO_LENGTH",
    "Hits",
    "Segment",
    "frequency_bytes",
    "narrowest",
]

MAX_ROWS = 1 << 16
BLOCK_ROWS = 1 << 12
"""Rows of a block: what a search looks at, or passes over, in one go."""
BOUND_POSTINGS = 256
"""Terms with so many postings have bounds for each block."""
CODE_COUNTS = 4
"""Counts of this size or more are one in `dense_codes`."""
LENGTH_LEVELS = 2.0 ** (np.arange(64) / 6)
"""Tokens an occurrence, as `dense_codes` tells them: six levels for twice as many."""
NO_LENGTH = (1 << 16) - 1
"""Stands in `bound_lengths` where a block has no posting of that kind."""
LARGE_FREQUENCY = 255
"""Stands in `frequencies` for a count of this size or more; `large_counts` has the count."""


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The query terms that a segment holds, in query order.

    Attributes:
        terms: their numbers in the query.
        places: their numbers in the segment.
        starts, stops: their postings in the segment.
    """

    terms: list[int]
    places: list[int]
    starts: list[int]
    stops: list[int]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Segment:
    """Postings of consecutive rows, by term.

    Attributes:
        codes: uint64[terms], ascending: CJK tokens, then words (see `terms`).
        offsets: uint32 or uint64[terms + 1], where the postings of each term begin.
        rows: uint16, of the terms that have no bitmap, ascending within a term.
        frequencies: uint8[postings], occurrences in the row.
        large_at: uint64, positions of the postings with more occurrences than a byte holds, ascending.
        large_counts: uint64, those occurrences.
        lengths: uint32 or uint64[rows], tokens of each row.
        word_offsets: uint32 or uint64[words + 1], where the spelling of each word begins.
        spellings: uint8, UTF-8 of the words in the order of their codes, a line feed behind each.
        dense_terms: uint32[dense], ascending, the terms that many rows hold. These have a bitmap and no `rows`.
        dense_offsets: uint32 or uint64[dense + 1], how many postings the dense terms before each have.
        dense_bits: uint64[dense * words], 64 rows a word; bit r is set where row r holds the term.
        dense_ranks: uint16[dense * words], how many rows of the words before hold the term.
        dense_codes: uint8[dense * words], what bounds the scores of the word's rows, whatever the average length is: 64
            times the highest count (1 to 4, less 1), plus the number of the highest of `LENGTH_LEVELS` that is not
            above the fewest tokens an occurrence.
        bound_terms: uint32[bound], ascending, the terms with `BOUND_POSTINGS` or more.
        bound_starts: uint16[bound * blocks], how many postings of the term stand before each block of `BLOCK_ROWS`.
        bound_lengths: uint16[bound * blocks * 3], in each block the fewest tokens of a row that holds the term once,
            twice, more often; NO_LENGTH where there is none. They bound scores whatever the average length is.
        bound_counts: uint8[bound * blocks], the highest of `frequencies` in each block; 0 where there is none.
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
    dense_terms: NDArray[np.uint32]
    dense_offsets: NDArray[np.unsignedinteger]
    dense_bits: NDArray[np.uint64]
    dense_ranks: NDArray[np.uint16]
    dense_codes: NDArray[np.uint8]
    bound_terms: NDArray[np.uint32]
    bound_starts: NDArray[np.uint16]
    bound_lengths: NDArray[np.uint16]
    bound_counts: NDArray[np.uint8]

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.lengths)

    @property
    def first_word(self) -> int:
        """Number of the first term that is a word."""
        return len(self.codes) - len(self.word_offsets) + 1

    def find(self, query: QueryTerms) -> Hits:
        """Where the terms of a query are."""
        hits = Hits([], [], [], [])
        if len(self.codes) == 0:
            return hits
        found = np.minimum(np.searchsorted(self.codes, query.codes), len(self.codes) - 1)
        for number in np.flatnonzero(self.codes[found] == query.codes).tolist():
            at = self._spelled(int(found[number]), query.spellings[number])
            if at >= 0:
                hits.terms.append(number)
                hits.places.append(at)
                hits.starts.append(int(self.offsets[at]))
                hits.stops.append(int(self.offsets[at + 1]))
        return hits

    def rows_of(self, places: Sequence[int]) -> NDArray[np.int64]:
        """Rows of terms, ascending within each, one term behind the other."""
        return np.concatenate([self.term_rows(place) for place in places]).astype(np.int64)

    def term_rows(self, place: int) -> NDArray[Any]:
        """Rows that hold a term, ascending."""
        number = self.dense_number(place)
        if number >= 0:
            return self.dense_rows(number)
        before = int(self.dense_offsets[-1 - number])
        return self.rows[int(self.offsets[place]) - before : int(self.offsets[place + 1]) - before]

    def dense_number(self, place: int) -> int:
        """The number of a term among the dense ones; when it is none, -1 - how many dense ones are before it."""
        number = int(np.searchsorted(self.dense_terms, place))
        is_dense = number < len(self.dense_terms) and int(self.dense_terms[number]) == place
        return number if is_dense else -1 - number

    def bitmap(self, number: int) -> NDArray[np.uint64]:
        """The bitmap of a dense term."""
        words = -(-self.size // 64)
        return self.dense_bits[number * words : (number + 1) * words]

    def dense_rows(self, number: int) -> NDArray[np.int64]:
        """Rows that hold a dense term, ascending."""
        return np.flatnonzero(np.unpackbits(self.bitmap(number).view(np.uint8), bitorder="little").view(np.bool_))

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

    def candidate_rows(
        self, place: int, mask: NDArray[np.bool_], words: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of a mask that hold a term, and which postings of the term those are.

        words: the mask as bits.
        """
        number = self.dense_number(place)
        if number < 0:
            rows = self.term_rows(place)
            among = np.flatnonzero(mask[rows])
            return rows[among].astype(np.int64), among
        bits = self.bitmap(number)
        rows = np.flatnonzero(np.unpackbits((bits & words).view(np.uint8), bitorder="little").view(np.bool_))
        at = rows >> 6
        below = bits[at] & ((np.uint64(1) << (rows & 63).astype(np.uint64)) - np.uint64(1))
        ranks = self.dense_ranks[number * len(bits) : (number + 1) * len(bits)]
        return rows, ranks[at].astype(np.int64) + np.bitwise_count(below)

    def counts_at(self, start: int, stop: int, among: NDArray[np.int64]) -> NDArray[np.float64]:
        """Occurrences at some of the postings from `start` to `stop`, counted from `start`."""
        counts = self.frequencies[start:stop][among].astype(np.float64)
        for place in np.flatnonzero(counts == LARGE_FREQUENCY).tolist() if len(self.large_at) else ():
            large = int(np.searchsorted(self.large_at, np.uint64(start + int(among[place]))))
            counts[place] = self.large_counts[large]
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
