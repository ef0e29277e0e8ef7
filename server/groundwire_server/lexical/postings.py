"""Postings as they are built and merged, and the segment that they become.

While they are put together all terms look alike: rows of each, ascending, one behind the other. A segment keeps a term
that many rows hold as a bitmap instead, and knows what the postings of its larger terms can be worth at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.segment import (
    BLOCK_ROWS,
    BOUND_POSTINGS,
    CODE_COUNTS,
    LARGE_FREQUENCY,
    LENGTH_LEVELS,
    NO_LENGTH,
    Segment,
    narrowest,
)

__all__ = ["Postings", "pack", "spelling_arrays", "unpack"]

_DENSE_POSTINGS = 256
_DENSE_SHARE = 32
_GROUP_POSTINGS = 1 << 20  # bounds are counted for so many postings in one go: their temporary arrays stay small


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Postings of up to 65,536 consecutive rows, by term. Attributes as those of `Segment`, but for `rows`.

    Attributes:
        rows: uint16[postings], of all terms, ascending within a term.
    """

    codes: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    rows: NDArray[np.uint16]
    frequencies: NDArray[np.uint8]
    large_at: NDArray[np.uint64]
    large_counts: NDArray[np.uint64]
    lengths: NDArray[np.unsignedinteger]
    word_offsets: NDArray[np.unsignedinteger]
    spellings: NDArray[np.uint8]

    @property
    def first_word(self) -> int:
        """Number of the first term that is a word."""
        return len(self.codes) - len(self.word_offsets) + 1

    def words(self) -> list[str]:
        """All words, in the order of their codes."""
        return self.spellings.tobytes().decode().split("\n")[:-1]


def pack(postings: Postings) -> Segment:
    """The segment of postings: bitmaps and bounds made."""
    size = len(postings.lengths)
    offsets = postings.offsets
    counts = np.diff(offsets)
    dense = counts >= max(_DENSE_POSTINGS, -(-size // _DENSE_SHARE))
    dense_terms = np.flatnonzero(dense)
    bits = _bitmaps(postings, dense_terms, size)
    bound_terms = np.flatnonzero(counts >= BOUND_POSTINGS)
    bound_starts, bound_lengths, bound_counts = _bounds(postings, bound_terms, size)
    return Segment(
        codes=postings.codes,
        offsets=narrowest(offsets),
        rows=postings.rows[~np.repeat(dense, counts)] if len(dense_terms) else postings.rows,
        frequencies=postings.frequencies,
        large_at=postings.large_at,
        large_counts=postings.large_counts,
        lengths=postings.lengths,
        word_offsets=postings.word_offsets,
        spellings=postings.spellings,
        dense_terms=dense_terms.astype(np.uint32),
        dense_offsets=narrowest(np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts[dense_terms])))),
        dense_bits=bits.reshape(-1),
        dense_ranks=_ranks(bits).reshape(-1),
        dense_codes=_codes(postings, dense_terms, size),
        bound_terms=bound_terms.astype(np.uint32),
        bound_starts=bound_starts,
        bound_lengths=bound_lengths,
        bound_counts=bound_counts,
    )


def unpack(segment: Segment) -> Postings:
    """The postings of a segment, all terms alike."""
    offsets = segment.offsets.astype(np.int64)
    rows = segment.rows
    if len(segment.dense_terms):
        dense = np.zeros(len(segment.codes), dtype=np.bool_)
        dense[segment.dense_terms] = True
        rows = np.empty(int(offsets[-1]), dtype=np.uint16)
        rows[~np.repeat(dense, np.diff(offsets))] = segment.rows
        for number, term in enumerate(segment.dense_terms.tolist()):
            rows[offsets[term] : offsets[term + 1]] = segment.dense_rows(number)
    return Postings(
        codes=segment.codes,
        offsets=offsets,
        rows=rows,
        frequencies=segment.frequencies,
        large_at=segment.large_at,
        large_counts=segment.large_counts,
        lengths=segment.lengths,
        word_offsets=segment.word_offsets,
        spellings=segment.spellings,
    )


def spelling_arrays(words: Sequence[str]) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]]:
    """Words as the two arrays `word_offsets` and `spellings`."""
    spelled = "\n".join([*words, ""]).encode()
    spellings = np.frombuffer(spelled, dtype=np.uint8)
    ends = np.flatnonzero(spellings == ord("\n")) + 1
    return narrowest(np.concatenate((np.zeros(1, dtype=np.int64), ends))), spellings


def _bitmaps(postings: Postings, terms: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
    """uint64[terms, words], bit r of a term set where row r holds it."""
    bits = np.zeros((len(terms), -(-size // 64)), dtype=np.uint64)
    held = np.zeros(bits.shape[1] * 64, dtype=np.bool_)
    for number, term in enumerate(terms.tolist()):
        rows = postings.rows[postings.offsets[term] : postings.offsets[term + 1]]
        held[rows] = True
        bits[number] = np.packbits(held, bitorder="little").view("<u8")
        held[rows] = False
    return bits


def _ranks(bits: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """How many bits are set in the words before each."""
    counts = np.bitwise_count(bits).astype(np.int64)
    ranks: NDArray[np.int64] = np.cumsum(counts, axis=1) - counts
    return ranks.astype(np.uint16)


def _codes(postings: Postings, terms: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
    """`dense_codes` of a segment (see there)."""
    words = -(-size // 64)
    codes = np.zeros(len(terms) * words, dtype=np.uint8)
    for first, last in _groups(postings.offsets, terms):
        places, counts = _places(postings.offsets, terms[first:last])
        rows = postings.rows[places]
        cells = np.repeat(np.arange(first, last) * words, counts) + (rows >> np.uint16(6))
        borders = np.concatenate((np.zeros(1, dtype=np.int64), np.flatnonzero(np.diff(cells)) + 1))
        frequencies = postings.frequencies[places]
        each = postings.lengths[rows] / frequencies
        each[frequencies == LARGE_FREQUENCY] = 1.0  # no token occurs more often than there are tokens
        levels = np.searchsorted(LENGTH_LEVELS, np.minimum.reduceat(each, borders), side="right") - 1
        most = np.minimum(np.maximum.reduceat(frequencies, borders), CODE_COUNTS).astype(np.int64)
        codes[cells[borders]] = (most - 1) * len(LENGTH_LEVELS) + levels
    return codes


def _bounds(
    postings: Postings, terms: NDArray[np.int64], size: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint8]]:
    """`bound_starts`, `bound_lengths` and `bound_counts` of a segment (see there)."""
    blocks = -(-size // BLOCK_ROWS)
    starts = np.zeros((len(terms), blocks), dtype=np.uint16)
    shortest = np.full((len(terms), blocks, 3), NO_LENGTH, dtype=np.uint16)
    most = np.zeros((len(terms), blocks), dtype=np.uint8)
    lengths = np.minimum(postings.lengths, NO_LENGTH - 1).astype(np.uint16)
    for first, last in _groups(postings.offsets, terms):
        places, counts = _places(postings.offsets, terms[first:last])
        rows = postings.rows[places]
        cells = np.repeat(np.arange(last - first) * blocks, counts) + rows // np.uint16(BLOCK_ROWS)
        borders = np.concatenate((np.zeros(1, dtype=np.int64), np.flatnonzero(np.diff(cells)) + 1))
        used = cells[borders]
        held = np.bincount(cells, minlength=(last - first) * blocks).reshape(last - first, blocks)
        starts[first:last] = (np.cumsum(held, axis=1) - held).astype(np.uint16)
        frequencies = postings.frequencies[places]
        of_rows = lengths[rows]
        for kind in range(3):
            chosen = frequencies == kind + 1 if kind < 2 else frequencies >= 3
            least = np.minimum.reduceat(np.where(chosen, of_rows, np.uint16(NO_LENGTH)), borders)
            flat = np.full((last - first) * blocks, NO_LENGTH, dtype=np.uint16)
            flat[used] = least
            shortest[first:last, :, kind] = flat.reshape(last - first, blocks)
        flat_most = np.zeros((last - first) * blocks, dtype=np.uint8)
        flat_most[used] = np.maximum.reduceat(frequencies, borders)
        most[first:last] = flat_most.reshape(last - first, blocks)
    return starts.reshape(-1), shortest.reshape(-1), most.reshape(-1)


def _places(offsets: NDArray[np.int64], terms: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The postings of terms, one behind the other, and how many each has."""
    begins = offsets[terms]
    counts = offsets[terms + 1] - begins
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1])) + np.repeat(begins - (ends - counts), counts), counts


def _groups(offsets: NDArray[np.int64], terms: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Terms in groups of about `_GROUP_POSTINGS` postings: first and last, half-open."""
    ends = np.cumsum(offsets[terms + 1] - offsets[terms])
    first = 0
    while first < len(terms):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + _GROUP_POSTINGS)))
        yield first, last
        first = last
