"""Rows block by block, compiled: which terms a block has, and the scores of all of its rows.

`segment` is the address of a segment's row of the table, `hits` that of what is known of the query's terms in it, the
others that of what a search has for itself (see `tables`).
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, uint64

from groundwire_server.lexical.formula import bound, count_at, damping_of
from groundwire_server.lexical.memory import (
    f64,
    helper,
    i64,
    kernel,
    lowest_bit,
    put_f64,
    put_i64,
    u16,
    u64,
)
from groundwire_server.lexical.segment import BLOCK_ROWS
from groundwire_server.lexical.tables import (
    ACTIVE,
    BOUND_STARTS,
    DAMPING_CELL,
    EXACT_CELL,
    FIRST_ROW,
    HIT_BITS,
    HIT_BOUND,
    HIT_ROWS,
    HIT_START,
    HIT_STOP,
    MASK_WORD,
    NEXT,
    SIZE,
    STARTS,
    STATE_BLOCK,
    STATE_FOUND,
    STATE_SEGMENT,
    STOPS,
    TABLE_BYTES,
    TERMS_CELL,
    WORK_BYTES,
    WORTH,
)

__all__ = ["ROUNDING", "every", "sum_exactly", "terms_of_block"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
ROUNDING = 1e-6
"""Room for the rounding of bounds, which are made of float32."""


@helper
def terms_of_block(segment, hits, terms, weights, block, per_term, shares, average, k1, b):  # type: ignore[no-untyped-def]
    """Which terms have postings in a block, which those are, and what each can be worth at most (with shares); how many
    terms that are."""
    size = i64(segment, SIZE)
    blocks = (size + BLOCK_ROWS - 1) // BLOCK_ROWS
    last = min(size, (block + 1) * BLOCK_ROWS)
    bound_starts = i64(segment, BOUND_STARTS)
    n = 0
    for j in range(terms):
        hit = hits + j * WORK_BYTES
        start, stop = i64(hit, HIT_START), i64(hit, HIT_STOP)
        if start == stop:
            continue
        bounded = i64(hit, HIT_BOUND)
        most = k1 + 1.0
        if bounded >= 0:
            cell = bounded * blocks + block
            if block + 1 < blocks:
                stop = start + u16(bound_starts, cell + 1)
            start += u16(bound_starts, cell)
            if shares != 0 and i64(hit, HIT_BITS) != 0:
                most = bound(segment, cell, shares, average, k1, b)
        else:
            rows = i64(hit, HIT_ROWS)
            start = i64(per_term, NEXT * terms + j) if block > 0 else start
            x = start
            while x < stop and u16(rows, x) < last:
                x += 1
            stop = x
            put_i64(per_term, NEXT * terms + j, x)
        if start == stop:
            continue
        put_i64(per_term, ACTIVE * terms + n, j)
        put_i64(per_term, STARTS * terms + n, start)
        put_i64(per_term, STOPS * terms + n, stop)
        put_f64(per_term, WORTH * terms + n, f64(weights, j) * most * (1.0 + ROUNDING))
        n += 1
    return n


@helper
def sum_exactly(segment, hits, terms, weights, block, n, per_term, lengths, sums, dampings, average, k1, b):  # type: ignore[no-untyped-def]
    """The scores of all rows of a block: term after term in query order."""
    first = block * BLOCK_ROWS
    last = min(i64(segment, SIZE), first + BLOCK_ROWS)
    first_row = i64(segment, FIRST_ROW) + first
    for place in range(last - first):
        put_f64(sums, place, 0.0)
        put_f64(dampings, place, damping_of(f64(lengths, first_row + place), average, k1, b))
    for z in range(n):
        j = i64(per_term, ACTIVE * terms + z)
        hit = hits + j * WORK_BYTES
        weight = f64(weights, j)
        bits, rows = i64(hit, HIT_BITS), i64(hit, HIT_ROWS)
        x = i64(per_term, STARTS * terms + z)
        if bits != 0:
            for w in range(first >> 6, (last + 63) >> 6):
                word = u64(bits, w)
                while word != _ZERO:
                    place = (w << 6) + lowest_bit(word) - first
                    word &= word - _ONE
                    held = float64(count_at(segment, x))
                    x += 1
                    worth = weight * held * (k1 + 1.0) / (f64(dampings, place) + held)
                    put_f64(sums, place, f64(sums, place) + worth)
        else:
            for y in range(x, i64(per_term, STOPS * terms + z)):
                place = u16(rows, y) - first
                held = float64(count_at(segment, y))
                worth = weight * held * (k1 + 1.0) / (f64(dampings, place) + held)
                put_f64(sums, place, f64(sums, place) + worth)


@kernel(int64(*(int64,) * 8, float64, float64, float64, *(int64,) * 4))
def every(table, segments, work, terms, weights, lengths, mask, masked, average, k1, b, state, rows, scores, budget):  # type: ignore[no-untyped-def]
    """All candidates that hold a term, ascending, and their scores; gives their number as `best` does, never -2."""
    exact, dampings = state + 8 * EXACT_CELL, state + 8 * DAMPING_CELL
    per_term = state + 8 * TERMS_CELL
    while i64(state, STATE_SEGMENT) < segments:
        s, block = i64(state, STATE_SEGMENT), i64(state, STATE_BLOCK)
        segment = table + s * TABLE_BYTES
        first = block * BLOCK_ROWS
        if first >= i64(segment, SIZE):
            put_i64(state, STATE_SEGMENT, s + 1)
            put_i64(state, STATE_BLOCK, 0)
            continue
        if budget < 0:
            return -1
        put_i64(state, STATE_BLOCK, block + 1)
        hits = work + s * terms * WORK_BYTES
        n = terms_of_block(segment, hits, terms, weights, block, per_term, 0, average, k1, b)
        budget -= terms
        if n == 0:
            continue
        sum_exactly(segment, hits, terms, weights, block, n, per_term, lengths, exact, dampings, average, k1, b)
        for z in range(n):
            budget -= i64(per_term, STOPS * terms + z) - i64(per_term, STARTS * terms + z)
        own_mask = mask + 8 * (i64(segment, MASK_WORD) + (first >> 6))
        first_row = i64(segment, FIRST_ROW) + first
        found = i64(state, STATE_FOUND)
        for place in range(min(i64(segment, SIZE), first + BLOCK_ROWS) - first):
            score = f64(exact, place)
            if score <= 0.0 or (masked and u64(own_mask, place >> 6) >> uint64(place & 63) & _ONE == _ZERO):
                continue
            put_i64(rows, found, first_row + place)
            put_f64(scores, found, score)
            found += 1
        put_i64(state, STATE_FOUND, found)
    return i64(state, STATE_FOUND)
