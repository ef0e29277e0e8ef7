"""The formula, compiled: the score of a row, and the most that a row of a block can get from a term.

Scores are those of `Bm25` in every bit: the operations of the formula in its order, in float64, without contraction.
Bounds are counted in float32, with room for its rounding.

`segment` is the address of a segment's row of the table, `hit` that of what is known of a term in it (see `tables`).
"""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, uint64

from groundwire_server.lexical.close import CLASSES, CLOSE_LEVELS
from groundwire_server.lexical.memory import (
    bit_count,
    f32,
    f64,
    helper,
    i64,
    lowest_bit,
    put_f32,
    put_i64,
    u8,
    u16,
    u64,
)
from groundwire_server.lexical.segment import BLOCK_ROWS, CODE_COUNTS, LARGE_FREQUENCY, LENGTH_LEVELS, NO_LENGTH
from groundwire_server.lexical.tables import (
    BOUND_COUNTS,
    BOUND_LENGTHS,
    BOUND_STARTS,
    CAPPED,
    COUNTS,
    FIRST_ROW,
    FREQUENCIES,
    HIT_BITS,
    HIT_BOUND,
    HIT_RANKS,
    HIT_ROWS,
    HIT_START,
    HIT_STOP,
    LARGE,
    LARGE_AT,
    LARGE_COUNTS,
    SIZE,
    WORK_BYTES,
)

__all__ = [
    "CHAIN_POSTING",
    "CHAIN_TERM",
    "bound",
    "count_at",
    "damping_of",
    "dense_posting",
    "fill_close",
    "fill_coded",
    "fill_shares",
    "length_shift",
    "score_chained",
    "score_row",
    "share",
]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
CHAIN_TERM, CHAIN_POSTING, CHAIN_PART = np.uint64(16), np.uint64(32), np.uint64(0xFFFF)
"""A link of a chain: the link before, the term, the posting."""
_STRIDE = CAPPED + 1
_LEVELS = len(LENGTH_LEVELS)


@helper
def damping_of(length, average, k1, b):  # type: ignore[no-untyped-def]
    """What is added to tf below the line."""
    return ((b * length) / average + (1.0 - b)) * k1


@helper
def count_at(segment, posting):  # type: ignore[no-untyped-def]
    """Occurrences at a posting."""
    frequency = u8(i64(segment, FREQUENCIES), posting)
    if frequency < LARGE_FREQUENCY:
        return frequency
    start, stop = 0, i64(segment, LARGE)
    while start < stop:
        middle = (start + stop) >> 1
        if i64(i64(segment, LARGE_AT), middle) < posting:
            start = middle + 1
        else:
            stop = middle
    return i64(i64(segment, LARGE_COUNTS), start)


@helper
def dense_posting(bits, ranks, start, stop, row):  # type: ignore[no-untyped-def]
    """Whether a row holds a dense term, and the posting where it is or would be: no branch, as either is as likely."""
    word = u64(bits, row >> 6)
    place = uint64(row & 63)
    below = word & ((_ONE << place) - _ONE)
    posting = start + u16(ranks, row >> 6) + bit_count(below)
    return int64(word >> place & _ONE), min(posting, stop - 1)


@helper
def _last_not_above(base, start, stop, row):  # type: ignore[no-untyped-def]
    """The last posting in [start, stop) whose row is `row` or less; `start` when there is none.

    Without a branch, so that the searches for several terms wait for memory side by side.
    """
    left = stop - start
    while left > 1:
        half = left >> 1
        start += half & (u16(base, start + half) - row - 1) >> 63
        left -= half
    return start


@helper
def _sparse_posting(segment, hit, row):  # type: ignore[no-untyped-def]
    """Whether a row holds a term without a bitmap, and a posting: that of the row if it does."""
    start, stop = i64(hit, HIT_START), i64(hit, HIT_STOP)
    bounded = i64(hit, HIT_BOUND)
    if bounded >= 0:
        blocks = (i64(segment, SIZE) + BLOCK_ROWS - 1) // BLOCK_ROWS
        block = row // BLOCK_ROWS
        cell = bounded * blocks + block
        base = i64(segment, BOUND_STARTS)
        if block + 1 < blocks:
            stop = start + u16(base, cell + 1)
        start += u16(base, cell)
        if start == stop:
            return 0, start
    rows = i64(hit, HIT_ROWS)
    posting = _last_not_above(rows, start, stop, row)
    return int64(u16(rows, posting) == row), posting


@helper
def _sum_held(segment, weights, first, held, damping, k1, postings, score):  # type: ignore[no-untyped-def]
    """A score, and what those of 64 terms are worth that are held."""
    while held != _ZERO:
        at = lowest_bit(held)
        held &= held - _ONE
        count = float64(count_at(segment, i64(postings, at)))
        score += f64(weights, first + at) * count * (k1 + 1.0) / (damping + count)
    return score


@helper
def score_row(segment, hits, terms, weights, lengths, row, average, k1, b, postings):  # type: ignore[no-untyped-def]
    """The score of a row, as the formula has it. `postings`: the address of 64 cells for its own use."""
    damping = damping_of(f64(lengths, i64(segment, FIRST_ROW) + row), average, k1, b)
    score = 0.0
    for first in range(0, terms, 64):
        held = _ZERO
        for at in range(min(64, terms - first)):
            hit = hits + (first + at) * WORK_BYTES
            start, stop = i64(hit, HIT_START), i64(hit, HIT_STOP)
            if start == stop:
                continue
            if i64(hit, HIT_BITS) != 0:
                holds, posting = dense_posting(i64(hit, HIT_BITS), i64(hit, HIT_RANKS), start, stop, row)
            else:
                holds, posting = _sparse_posting(segment, hit, row)
            put_i64(postings, at, posting)
            held |= uint64(holds) << uint64(at)
        score = _sum_held(segment, weights, first, held, damping, k1, postings, score)
    return score


@helper
def score_chained(  # type: ignore[no-untyped-def]
    segment, hits, terms, weights, lengths, row, average, k1, b, postings, chains, chain,
):  # fmt: skip
    """As `score_row`, where the postings of terms without a bitmap are in a chain (0: there are none)."""
    damping = damping_of(f64(lengths, i64(segment, FIRST_ROW) + row), average, k1, b)
    score = 0.0
    for first in range(0, terms, 64):
        held = _ZERO
        for at in range(min(64, terms - first)):
            hit = hits + (first + at) * WORK_BYTES
            bits = i64(hit, HIT_BITS)
            if bits == 0:
                continue
            holds, posting = dense_posting(bits, i64(hit, HIT_RANKS), i64(hit, HIT_START), i64(hit, HIT_STOP), row)
            put_i64(postings, at, posting)
            held |= uint64(holds) << uint64(at)
        link = chain
        while link != 0:
            entry = u64(chains, link)
            at = int64(entry >> CHAIN_TERM & CHAIN_PART) - first
            if 0 <= at < 64:
                put_i64(postings, at, int64(entry >> CHAIN_POSTING))
                held |= _ONE << uint64(at)
            link = int64(entry & CHAIN_PART)
        score = _sum_held(segment, weights, first, held, damping, k1, postings, score)
    return score


@helper
def fill_shares(shares, longest, average, k1, b):  # type: ignore[no-untyped-def]
    """What a term of weight 1 is worth, by count and length."""
    above = float32(k1 + 1.0)
    for length in range(longest + 1):
        put_f32(shares, length, float32(damping_of(float64(length), average, k1, b)))
    for held in range(1, COUNTS):
        times = float32(held)
        row = shares + 4 * held * _STRIDE
        for length in range(longest + 1):
            put_f32(row, length, times * above / (times + f32(shares, length)))


@helper
def fill_coded(coded, average, k1, b):  # type: ignore[no-untyped-def]
    """The most that a term of weight 1 is worth, by code."""
    for code in range(CODE_COUNTS * _LEVELS):
        held = code // _LEVELS + 1
        once = k1 * (1.0 - b) / held if held < CODE_COUNTS else 0.0
        put_f32(coded, code, float32((k1 + 1.0) / (1.0 + once + k1 * b / average * LENGTH_LEVELS[code % _LEVELS])))


@helper
def length_shift(average):  # type: ignore[no-untyped-def]
    """By how many bits lengths are shifted to be levels: some five levels up to the average."""
    shift = 0
    while average > 6.0 and shift < 6:
        average *= 0.5
        shift += 1
    return shift


@helper
def fill_close(close, average, k1, b):  # type: ignore[no-untyped-def]
    """The most that a term of weight 1 is worth, by count (first those that are not told apart) and level of length."""
    shift = length_shift(average)
    for level in range(CLOSE_LEVELS):
        put_f32(close, level, float32(k1 + 1.0))
        damping = damping_of(float64(level << shift), average, k1, b)
        for held in range(1, len(CLASSES) - 1):
            # Counts ascend, so the largest of a class comes last.
            worth = float32(float64(held) * (k1 + 1.0) / (float64(held) + damping))
            put_f32(close, CLASSES[held] * CLOSE_LEVELS + level, worth)


@helper
def share(segment, capped, posting, row, shares, lengths, average, k1, b):  # type: ignore[no-untyped-def]
    """What a posting of a term of weight 1 is worth."""
    frequency = u8(i64(segment, FREQUENCIES), posting)
    length = u16(capped, row)
    if frequency < COUNTS and length < CAPPED:
        return float64(f32(shares, frequency * _STRIDE + length))
    held = float64(count_at(segment, posting))
    damping = damping_of(f64(lengths, i64(segment, FIRST_ROW) + row), average, k1, b)
    return held * (k1 + 1.0) / (held + damping)


@helper
def bound(segment, cell, shares, average, k1, b):  # type: ignore[no-untyped-def]
    """The most that a term of weight 1 is worth in a block."""
    most = 0.0
    for kind in range(3):
        length = u16(i64(segment, BOUND_LENGTHS), 3 * cell + kind)
        if length == NO_LENGTH:
            continue
        held = kind + 1
        if kind == 2:
            held = u8(i64(segment, BOUND_COUNTS), cell)
        if held < COUNTS and length < CAPPED:
            most = max(most, float64(f32(shares, held * _STRIDE + length)))
        elif held < LARGE_FREQUENCY:
            most = max(most, held * (k1 + 1.0) / (held + damping_of(float64(length), average, k1, b)))
        else:
            most = k1 + 1.0
    return most
