"""Segments as the compiled search sees them: a row of numbers each, most of them addresses of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.segment import BLOCK_ROWS, Segment

__all__ = ["CAPPED", "WORK_COLUMNS", "address", "segment_table"]

CAPPED = 1023
"""Stands for lengths of this many tokens and more where they take two bytes."""

# Columns of the table of segments.
(
    SIZE, FIRST_ROW, MASK_WORD, TERMS, FIRST_WORD, CODES, OFFSETS, ROWS, FREQUENCIES, LARGE, LARGE_AT, LARGE_COUNTS,
    WORD_OFFSETS, SPELLINGS, DENSE, DENSE_TERMS, DENSE_OFFSETS, DENSE_BITS, DENSE_RANKS, BOUND, BOUND_TERMS,
    BOUND_STARTS, BOUND_LENGTHS, BOUND_COUNTS, DENSE_CODES,
) = range(25)  # fmt: skip

_COLUMNS = 25

# Columns of what is known of a query's term in a segment: its postings; where its rows are, or its bitmap (0: none),
# ranks and codes; its number among the terms with bounds (-1: none).
HIT_START, HIT_STOP, HIT_ROWS, HIT_BITS, HIT_RANKS, HIT_CODES, HIT_BOUND = range(7)
WORK_COLUMNS = 7

TABLE_BYTES = _COLUMNS * 8
WORK_BYTES = WORK_COLUMNS * 8

# What a search has for itself, as the numbers of cells of eight bytes: where it stands; postings of a row; a sum for
# each row of a block as a byte and as float64, what is added below the line for each; the sum as a byte of the terms
# without a bitmap; what a term of weight 1 is worth by count and length, at most by code, and at most by class of count
# and level of length (float32); where the chain of each row begins, and the chains: postings of terms without a bitmap,
# each with its term and the link before it in the same row. Behind these: arrays with a cell for each term, tables of
# 256 and 128 bytes for each, then the best scores.
STATE_SEGMENT, STATE_BLOCK, STATE_HELD, STATE_FOUND, STATE_FLOOR, STATE_SCALE, STATE_DENSE, STATE_LINKS = range(8)
STATE_STOP = 6
"""How many of these begin as zeros."""
COUNTS = 8
"""Shares of counts below this stand in a table."""
POSTINGS_CELL = 64
SUMS_CELL = POSTINGS_CELL + 64
EXACT_CELL = SUMS_CELL + BLOCK_ROWS // 8
DAMPING_CELL = EXACT_CELL + BLOCK_ROWS
SPARSE_CELL = DAMPING_CELL + BLOCK_ROWS
SHARES_CELL = SPARSE_CELL + BLOCK_ROWS // 8
CODED_CELL = SHARES_CELL + COUNTS * (CAPPED + 1) // 2
CLOSE_CELL = CODED_CELL + 128
HEADS_CELL = CLOSE_CELL + 64
CHAIN_CELL = HEADS_CELL + BLOCK_ROWS // 4
CHAIN_ROOM = 1 << 14
"""Where a block has so many postings of terms without a bitmap, they are looked for."""
TERMS_CELL = CHAIN_CELL + CHAIN_ROOM
TERM_ARRAYS = 12
(
    NEXT, ACTIVE, STARTS, STOPS, WORTH, BITMAPS, CODED, AMOUNTS, DENSE_AT, RANKS, TIMES, CLOSELY,
) = range(TERM_ARRAYS)  # fmt: skip
TABLE_CELLS = 32 + 16
"""Of the tables of a term."""
TERM_CELLS = TERM_ARRAYS + TABLE_CELLS
"""Cells for each term."""

_own: WeakKeyDictionary[Segment, list[int]] = WeakKeyDictionary()


def address(array: NDArray[Any]) -> int:
    """Where an array begins in memory. Valid as long as the array is."""
    place: int = array.__array_interface__["data"][0]
    return place


def segment_table(segments: Sequence[Segment], starts: Sequence[int]) -> NDArray[np.int64] | None:
    """int64[segments, columns]; None when a segment is of a size that the compiled search does not know.

    Args:
        starts: row at which each segment begins.
    """
    table = np.empty((len(segments), _COLUMNS), dtype=np.int64)
    words = 0
    for number, (segment, start) in enumerate(zip(segments, starts, strict=False)):
        own = _own.get(segment)
        if own is None:
            own = _own[segment] = _row(segment)
        if not own:
            return None
        table[number] = own
        table[number, FIRST_ROW] = start
        table[number, MASK_WORD] = words
        words += -(-segment.size // 64)
    return table


def _row(segment: Segment) -> list[int]:
    narrow = (segment.offsets, segment.dense_offsets, segment.word_offsets)
    if any(array.dtype != np.uint32 for array in narrow):
        return []
    row = [0] * _COLUMNS
    row[SIZE] = segment.size
    row[TERMS] = len(segment.codes)
    row[FIRST_WORD] = segment.first_word
    row[LARGE] = len(segment.large_at)
    row[DENSE] = len(segment.dense_terms)
    row[BOUND] = len(segment.bound_terms)
    for column, array in (
        (CODES, segment.codes),
        (OFFSETS, segment.offsets),
        (ROWS, segment.rows),
        (FREQUENCIES, segment.frequencies),
        (LARGE_AT, segment.large_at),
        (LARGE_COUNTS, segment.large_counts),
        (WORD_OFFSETS, segment.word_offsets),
        (SPELLINGS, segment.spellings),
        (DENSE_TERMS, segment.dense_terms),
        (DENSE_OFFSETS, segment.dense_offsets),
        (DENSE_BITS, segment.dense_bits),
        (DENSE_RANKS, segment.dense_ranks),
        (BOUND_TERMS, segment.bound_terms),
        (BOUND_STARTS, segment.bound_starts),
        (BOUND_LENGTHS, segment.bound_lengths),
        (BOUND_COUNTS, segment.bound_counts),
        (DENSE_CODES, segment.dense_codes),
    ):
        row[column] = address(array)
    return row
