"""The search, compiled: where the terms stand, how many candidates hold them, what rows are worth, which are best.

Imported in the background, and only where numba is installed. One call serves all segments, whose arrays come in as
addresses (see `tables`); the caller keeps them alive. Nothing is shared between calls, so any number of threads may
call at once.

`segment` is the address of a segment's row of the table, `hit` that of what is known of a term in it (see `tables`).
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint64

from groundwire_server.lexical.blocks import every
from groundwire_server.lexical.formula import score_row
from groundwire_server.lexical.memory import (
    bit_count,
    f64,
    helper,
    i64,
    kernel,
    lowest_bit,
    put_f64,
    put_i64,
    u8,
    u16,
    u32,
    u64,
)
from groundwire_server.lexical.pruned import best
from groundwire_server.lexical.tables import (
    BOUND,
    BOUND_TERMS,
    CAPPED,
    CODES,
    DENSE,
    DENSE_BITS,
    DENSE_CODES,
    DENSE_OFFSETS,
    DENSE_RANKS,
    DENSE_TERMS,
    FIRST_ROW,
    FIRST_WORD,
    HIT_BITS,
    HIT_BOUND,
    HIT_CODES,
    HIT_RANKS,
    HIT_ROWS,
    HIT_START,
    HIT_STOP,
    MASK_WORD,
    OFFSETS,
    ROWS,
    SIZE,
    SPELLINGS,
    TABLE_BYTES,
    TERMS,
    WORD_OFFSETS,
    WORK_BYTES,
)

__all__ = ["best", "count", "every", "locate", "masked_total", "score"]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_WORD = np.uint64(63)


@helper
def _find_u32(base, size, value):  # type: ignore[no-untyped-def]
    """The first of `size` ascending numbers that is `value` or more."""
    start, stop = 0, size
    while start < stop:
        middle = (start + stop) >> 1
        if u32(base, middle) < value:
            start = middle + 1
        else:
            stop = middle
    return start


@helper
def _in_mask(mask, row):  # type: ignore[no-untyped-def]
    """1 when a row is a candidate, else 0."""
    return int64(u64(mask, row >> 6) >> uint64(row & 63) & _ONE)


@helper
def _is_spelled(segment, at, spellings, given, size):  # type: ignore[no-untyped-def]
    """Whether the word at a place of the segment is the one that is given."""
    word = at - i64(segment, FIRST_WORD)
    start = u32(i64(segment, WORD_OFFSETS), word)
    if u32(i64(segment, WORD_OFFSETS), word + 1) - 1 - start != size:
        return False
    for byte in range(size):  # noqa: SIM110  a loop is what compiles
        if u8(i64(segment, SPELLINGS), start + byte) != u8(spellings, given + byte):
            return False
    return True


@kernel(types.void(*(int64,) * 9))
def locate(table, segments, codes, terms, spellings, spelling_offsets, work, df, low):  # type: ignore[no-untyped-def]
    """Where the query's terms stand in each segment, and how many rows of all hold them. `low` is for its own use."""
    for s in range(segments):
        segment = table + s * TABLE_BYTES
        size = i64(segment, TERMS)
        base = i64(segment, CODES)
        # All terms step by step together: their reads wait for memory side by side.
        for j in range(terms):
            put_i64(low, j, 0)
        length = size
        while length > 1:
            half = length >> 1
            for j in range(terms):
                at = i64(low, j)
                put_i64(low, j, at + half * (u64(base, at + half - 1) < u64(codes, j)))
            length -= half
        for j in range(terms):
            hit = work + (s * terms + j) * WORK_BYTES
            code = u64(codes, j)
            at = i64(low, j)
            if at < size and u64(base, at) < code:
                at += 1
            found = False
            given = i64(spelling_offsets, j)
            while at < size and u64(base, at) == code:
                found = (code >> _WORD) == _ZERO or _is_spelled(
                    segment, at, spellings, given, i64(spelling_offsets, j + 1) - given
                )
                if found:
                    break
                at += 1
            put_i64(hit, HIT_ROWS, 0)
            put_i64(hit, HIT_BITS, 0)
            put_i64(hit, HIT_RANKS, 0)
            put_i64(hit, HIT_BOUND, -1)
            if not found:
                put_i64(hit, HIT_START, 0)
                put_i64(hit, HIT_STOP, 0)
                continue
            start = u32(i64(segment, OFFSETS), at)
            stop = u32(i64(segment, OFFSETS), at + 1)
            put_i64(hit, HIT_START, start)
            put_i64(hit, HIT_STOP, stop)
            put_i64(df, j, i64(df, j) + stop - start)
            dense = _find_u32(i64(segment, DENSE_TERMS), i64(segment, DENSE), at)
            if dense < i64(segment, DENSE) and u32(i64(segment, DENSE_TERMS), dense) == at:
                words = (i64(segment, SIZE) + 63) >> 6
                put_i64(hit, HIT_BITS, i64(segment, DENSE_BITS) + 8 * words * dense)
                put_i64(hit, HIT_RANKS, i64(segment, DENSE_RANKS) + 2 * words * dense)
                put_i64(hit, HIT_CODES, i64(segment, DENSE_CODES) + words * dense)
            else:
                # The address at which the first posting of the segment would stand if all terms had rows.
                before = u32(i64(segment, DENSE_OFFSETS), dense)
                put_i64(hit, HIT_ROWS, i64(segment, ROWS) - 2 * before)
            bound = _find_u32(i64(segment, BOUND_TERMS), i64(segment, BOUND), at)
            if bound < i64(segment, BOUND) and u32(i64(segment, BOUND_TERMS), bound) == at:
                put_i64(hit, HIT_BOUND, bound)


@kernel(int64(int64, int64, int64, int64, int64))
def masked_total(table, segments, mask, lengths, capped):  # type: ignore[no-untyped-def]
    """Tokens of all candidates."""
    total = 0
    for s in range(segments):
        segment = table + s * TABLE_BYTES
        first = i64(segment, FIRST_ROW)
        words = mask + 8 * i64(segment, MASK_WORD)
        for w in range((i64(segment, SIZE) + 63) >> 6):
            word = u64(words, w)
            while word != _ZERO:
                row = first + (w << 6) + lowest_bit(word)
                word &= word - _ONE
                length = u16(capped, row)
                total += length if length < CAPPED else int64(f64(lengths, row))
    return total


@kernel(types.void(*(int64,) * 7))
def count(table, first, last, work, terms, mask, df):  # type: ignore[no-untyped-def]
    """How many candidates in some of the segments hold each term; added up."""
    for s in range(first, last):
        segment = table + s * TABLE_BYTES
        base = mask + 8 * i64(segment, MASK_WORD)
        words = (i64(segment, SIZE) + 63) >> 6
        for j in range(terms):
            hit = work + (s * terms + j) * WORK_BYTES
            start, stop = i64(hit, HIT_START), i64(hit, HIT_STOP)
            if start == stop:
                continue
            held = 0
            bits = i64(hit, HIT_BITS)
            if bits != 0:
                for w in range(words):
                    held += bit_count(u64(bits, w) & u64(base, w))
            else:
                rows = i64(hit, HIT_ROWS)
                for x in range(start, stop):
                    held += _in_mask(base, u16(rows, x))
            put_i64(df, j, i64(df, j) + held)


@kernel(types.void(*(int64,) * 10, float64, float64, float64))
def score(table, segments, work, terms, weights, lengths, rows, count, scores, postings, average, k1, b):  # type: ignore[no-untyped-def]
    """The scores of some ascending rows; 0 for a row without a term. `postings`: 64 cells for its own use."""
    s = 0
    for y in range(count):
        row = i64(rows, y)
        segment = table + s * TABLE_BYTES
        while s + 1 < segments and row >= i64(segment, FIRST_ROW) + i64(segment, SIZE):
            s += 1
            segment = table + s * TABLE_BYTES
        hits = work + s * terms * WORK_BYTES
        local = row - i64(segment, FIRST_ROW)
        put_f64(scores, y, score_row(segment, hits, terms, weights, lengths, local, average, k1, b, postings))
