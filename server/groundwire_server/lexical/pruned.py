"""The best rows of a query, compiled: rows are passed over by what they could be worth at most.

Blocks of 4,096 rows are taken one by one. Each row of a block gets a byte: the sum of what the terms that it holds are
worth, rounded up. Terms with a bitmap are summed for 64 rows in one go, with the most that they can be worth in these.
Only rows whose byte reaches the lowest score of the best so far are looked at closely (all 64 in one go where there are
several and the processor can, see `close`), and those scored that can still reach it. Bounds hold for any average
length, so for any candidates.

A search works in memory of its own (see `tables`) and can be interrupted between blocks: it returns, and goes on where
it stood when it is called again.
"""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, uint64

from groundwire_server.lexical.blocks import ROUNDING, sum_exactly, terms_of_block
from groundwire_server.lexical.close import HAS_CLOSE, sum_closely
from groundwire_server.lexical.formula import (
    CHAIN_POSTING,
    CHAIN_TERM,
    dense_posting,
    fill_close,
    fill_coded,
    fill_shares,
    length_shift,
    score_chained,
    score_row,
    share,
)
from groundwire_server.lexical.memory import (
    at_least,
    bit_count,
    f32,
    f64,
    fetch_soon,
    helper,
    i64,
    kernel,
    lowest_bit,
    put_f64,
    put_i64,
    put_u8,
    put_u16,
    sum_where,
    u8,
    u16,
    u64,
)
from groundwire_server.lexical.segment import BLOCK_ROWS
from groundwire_server.lexical.tables import (
    ACTIVE,
    AMOUNTS,
    BITMAPS,
    CHAIN_CELL,
    CHAIN_ROOM,
    CLOSE_CELL,
    CLOSELY,
    CODED,
    CODED_CELL,
    DAMPING_CELL,
    DENSE_AT,
    EXACT_CELL,
    FIRST_ROW,
    FREQUENCIES,
    HEADS_CELL,
    HIT_BITS,
    HIT_CODES,
    HIT_RANKS,
    HIT_ROWS,
    HIT_START,
    HIT_STOP,
    MASK_WORD,
    POSTINGS_CELL,
    RANKS,
    SHARES_CELL,
    SIZE,
    SPARSE_CELL,
    STARTS,
    STATE_BLOCK,
    STATE_DENSE,
    STATE_FLOOR,
    STATE_FOUND,
    STATE_HELD,
    STATE_LINKS,
    STATE_SCALE,
    STATE_SEGMENT,
    STOPS,
    SUMS_CELL,
    TABLE_BYTES,
    TABLE_CELLS,
    TERM_ARRAYS,
    TERM_CELLS,
    TERMS_CELL,
    TIMES,
    WORK_BYTES,
    WORTH,
)

__all__ = ["best"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_MOST_BYTE = 255
_LEAST, _TARGET, _MOST = 96, 144, 232
"""The byte of a row that just reaches the best so far: within these it may wander, then it is set anew. Above it, bytes
still tell rows apart."""
_STEP = 12
"""Rows are taken by their bytes, highest first, so many values at once: each time fewer can still reach the best."""
_CLOSE_ROWS = 3
"""So many rows of a word are looked at in one go with the others."""
_SEVERAL = 8
_MOST_TERMS = 128
"""Beyond so many terms in a block, bytes are too coarse: all of its rows are scored."""
_BLOCK_COST = 4096
"""What scoring all rows of a block costs in itself, in postings."""


@helper
def _amount(worth, scale):  # type: ignore[no-untyped-def]
    """A worth as a byte, rounded up."""
    return int64(min(float64(_MOST_BYTE), worth * scale + 1.0))


@helper
def _fetch_next(segment, hits, terms, block, n, per_term, capped):  # type: ignore[no-untyped-def]
    """Have brought into the cache what the next block needs: memory is slower than all that is done here."""
    first = (block + 1) * BLOCK_ROWS
    if first >= i64(segment, SIZE):
        return
    for place in range(0, 2 * BLOCK_ROWS, 64):
        fetch_soon(capped + 2 * first + place)
    frequencies = i64(segment, FREQUENCIES)
    for z in range(n):
        hit = hits + i64(per_term, ACTIVE * terms + z) * WORK_BYTES
        bits = i64(hit, HIT_BITS)
        if bits != 0:
            for place in range(0, BLOCK_ROWS // 8, 64):
                fetch_soon(bits + (first >> 3) + place)
            fetch_soon(i64(hit, HIT_CODES) + (first >> 6))
        else:
            stop = i64(per_term, STOPS * terms + z)
            fetch_soon(i64(hit, HIT_ROWS) + 2 * stop)
            fetch_soon(i64(hit, HIT_ROWS) + 2 * stop + 64)
            fetch_soon(frequencies + stop)
            fetch_soon(frequencies + stop + 64)


@helper
def _fill_table(table, worth, size, factor):  # type: ignore[no-untyped-def]
    """What a term is worth in bytes, rounded up."""
    times = float32(factor)
    for code in range(size):
        put_u8(table, code, int64(min(float32(_MOST_BYTE), f32(worth, code) * times + float32(1.0))))


@helper
def _set_scale(terms, weights, state, scale):  # type: ignore[no-untyped-def]
    """From now on, a worth of 1 is `scale` in bytes: tell what each code is for each term."""
    put_f64(state, STATE_SCALE, scale)
    coded, close = state + 8 * CODED_CELL, state + 8 * CLOSE_CELL
    for j in range(terms):
        factor = f64(weights, j) * scale * (1.0 + ROUNDING)
        table = state + 8 * (TERMS_CELL + TERM_ARRAYS * terms + TABLE_CELLS * j)
        _fill_table(table, coded, 256, factor)
        if HAS_CLOSE:
            _fill_table(table + 256, close, 128, factor)


@helper
def _sum_bounds(  # type: ignore[no-untyped-def]
    segment, hits, terms, weights, order, block, n, per_term, state, capped, mask, masked, shares, lengths, average,
    k1, b,
):  # fmt: skip
    """The byte of each candidate of a block; that of another may be less. `order`: terms by weight. Gives how many
    postings there are."""
    first = block * BLOCK_ROWS
    last = min(i64(segment, SIZE), first + BLOCK_ROWS)
    scale = f64(state, STATE_SCALE)
    # Those of most weight first: what they are really worth soon tells whether a row is worth a closer look.
    dense = 0
    for y in range(terms):
        j = i64(order, y)
        hit = hits + j * WORK_BYTES
        if i64(hit, HIT_BITS) != 0:
            put_i64(per_term, BITMAPS * terms + dense, i64(hit, HIT_BITS) + 8 * (first >> 6))
            put_i64(per_term, CODED * terms + dense, i64(hit, HIT_CODES) + (first >> 6))
            put_i64(per_term, RANKS * terms + dense, i64(hit, HIT_RANKS) + 2 * (first >> 6))
            put_i64(per_term, TIMES * terms + dense, i64(segment, FREQUENCIES) + i64(hit, HIT_START))
            table = per_term + 8 * (TERM_ARRAYS * terms + TABLE_CELLS * j)
            put_i64(per_term, AMOUNTS * terms + dense, table)
            put_i64(per_term, CLOSELY * terms + dense, table + 256)
            put_i64(per_term, DENSE_AT * terms + dense, j)
            dense += 1
    put_i64(state, STATE_DENSE, dense)
    sparse = state + 8 * SPARSE_CELL
    for cell in range(BLOCK_ROWS // 8):
        put_i64(sparse, cell, 0)
    heads, chains = state + 8 * HEADS_CELL, state + 8 * CHAIN_CELL
    links = 0
    postings = 0
    for z in range(n):
        postings += i64(per_term, STOPS * terms + z) - i64(per_term, STARTS * terms + z)
        j = i64(per_term, ACTIVE * terms + z)
        hit = hits + j * WORK_BYTES
        if i64(hit, HIT_BITS) != 0:
            continue
        rows = i64(hit, HIT_ROWS)
        factor = f64(weights, j) * scale * (1.0 + ROUNDING)
        for x in range(i64(per_term, STARTS * terms + z), i64(per_term, STOPS * terms + z)):
            row = u16(rows, x)
            if masked and u64(mask, (row - first) >> 6) >> uint64(row & 63) & _ONE == _ZERO:
                continue
            amount = _amount(share(segment, capped, x, row, shares, lengths, average, k1, b), factor)
            place = row - first
            before = u8(sparse, place)
            put_u8(sparse, place, min(_MOST_BYTE, before + amount))
            links += 1
            if links < CHAIN_ROOM:
                link = uint64(u16(heads, place)) if before != 0 else _ZERO
                put_i64(chains, links, int64(uint64(x) << CHAIN_POSTING | uint64(j) << CHAIN_TERM | link))
                put_u16(heads, place, links)
    sum_where(
        state + 8 * SUMS_CELL, sparse, (last - first + 63) >> 6, per_term + 8 * BITMAPS * terms,
        per_term + 8 * CODED * terms, per_term + 8 * AMOUNTS * terms, dense,
    )  # fmt: skip
    put_i64(state, STATE_LINKS, links)
    return postings


@helper
def _keep(state, heap, depth, rows, scores, row, score):  # type: ignore[no-untyped-def]
    """Note a row that can be among the best; the lowest score of those comes first among the `depth` largest."""
    held = i64(state, STATE_HELD)
    if held == depth and score < f64(state, STATE_FLOOR):
        return
    found = i64(state, STATE_FOUND)
    put_i64(rows, found, row)
    put_f64(scores, found, score)
    put_i64(state, STATE_FOUND, found + 1)
    if held < depth:
        at = held
        while at > 0 and f64(heap, (at - 1) >> 1) > score:
            put_f64(heap, at, f64(heap, (at - 1) >> 1))
            at = (at - 1) >> 1
        put_f64(heap, at, score)
        put_i64(state, STATE_HELD, held + 1)
    elif score > f64(heap, 0):
        at = 0
        while True:
            child = 2 * at + 1
            if child >= depth:
                break
            if child + 1 < depth and f64(heap, child + 1) < f64(heap, child):
                child += 1
            if f64(heap, child) >= score:
                break
            put_f64(heap, at, f64(heap, child))
            at = child
        put_f64(heap, at, score)
    put_f64(state, STATE_FLOOR, f64(heap, 0))


@helper
def _compact(state, depth, rows, scores):  # type: ignore[no-untyped-def]
    """Forget what cannot be among the best any more, and put rows into order: only those of a block can stand the wrong
    way round."""
    full = i64(state, STATE_HELD) == depth
    floor = f64(state, STATE_FLOOR)
    kept = 0
    for y in range(i64(state, STATE_FOUND)):
        score = f64(scores, y)
        if full and score < floor:
            continue
        row = i64(rows, y)
        at = kept
        while at > 0 and i64(rows, at - 1) > row:
            put_i64(rows, at, i64(rows, at - 1))
            put_f64(scores, at, f64(scores, at - 1))
            at -= 1
        put_i64(rows, at, row)
        put_f64(scores, at, score)
        kept += 1
    put_i64(state, STATE_FOUND, kept)
    return kept


@helper
def _can_reach(  # type: ignore[no-untyped-def]
    segment, hits, terms, weights, state, per_term, capped, shares, lengths, row, most, limit, average, k1, b,
):  # fmt: skip
    """Whether a row can still reach a limit when its terms with bitmaps are worth what they are.

    most, limit: its byte and the byte that is needed.
    """
    scale = f64(state, STATE_SCALE)
    bitmaps = per_term + 8 * BITMAPS * terms
    word, bit = (row % BLOCK_ROWS) >> 6, uint64(row & 63)
    dense = i64(state, STATE_DENSE)
    for first in range(0, dense, 64):
        held = _ZERO  # of 64 terms, without a branch for each
        for at in range(first, min(first + 64, dense)):
            held |= (u64(i64(bitmaps, at), word) >> bit & _ONE) << uint64(at - first)
        while held != _ZERO:
            at = first + lowest_bit(held)
            held &= held - _ONE
            j = i64(per_term, DENSE_AT * terms + at)
            hit = hits + j * WORK_BYTES
            _, x = dense_posting(i64(hit, HIT_BITS), i64(hit, HIT_RANKS), i64(hit, HIT_START), i64(hit, HIT_STOP), row)
            worth = f64(weights, j) * share(segment, capped, x, row, shares, lengths, average, k1, b)
            bound = u8(i64(per_term, AMOUNTS * terms + at), u8(i64(per_term, CODED * terms + at), word))
            most += worth * (1.0 + ROUNDING) * scale - bound
            if most < limit:
                return False
    return True


@helper
def _reached_by(sums, words, mask, masked, wanted):  # type: ignore[no-untyped-def]
    """The largest byte that `wanted` candidates have at least; 1 when fewer have one."""
    low, high = 1, _MOST_BYTE
    while low < high:
        middle = (low + high + 1) >> 1
        held = 0
        for w in range(words):
            word = at_least(sums, w, middle)
            held += bit_count(word & u64(mask, w)) if masked else bit_count(word)
        if held >= wanted:
            low = middle
        else:
            high = middle - 1
    return low


@helper
def _look_closely(state, terms, per_term, capped, w, shift):  # type: ignore[no-untyped-def]
    """Lower the bytes of a word's rows to what these are worth at most. `capped`: lengths of the block's rows."""
    sum_closely(
        state + 8 * SUMS_CELL, state + 8 * SPARSE_CELL, w, capped + 128 * w, shift, per_term + 8 * BITMAPS * terms,
        per_term + 8 * RANKS * terms, per_term + 8 * TIMES * terms, per_term + 8 * CLOSELY * terms,
        i64(state, STATE_DENSE),
    )  # fmt: skip


@kernel(int64(*(int64,) * 11, float64, float64, float64, *(int64,) * 6))
def best(  # type: ignore[no-untyped-def]
    table, segments, work, terms, weights, order, lengths, capped, mask, masked, longest, average, k1, b, depth, state,
    rows, scores, room, budget,
):  # fmt: skip
    """Rows that can be among the best `depth`, ascending, with their scores; all that tie for the last place are there.

    Gives their number when all is done; -1 when as many postings as `budget` were looked at; -2 when there is no room
    left for the rows of a block. The state begins as zeros.
    """
    shares = state + 8 * SHARES_CELL
    exact, dampings = state + 8 * EXACT_CELL, state + 8 * DAMPING_CELL
    sums = state + 8 * SUMS_CELL
    postings_at = state + 8 * POSTINGS_CELL
    sparse, heads, chains = state + 8 * SPARSE_CELL, state + 8 * HEADS_CELL, state + 8 * CHAIN_CELL
    per_term = state + 8 * TERMS_CELL
    heap = per_term + 8 * TERM_CELLS * terms
    if i64(state, STATE_SEGMENT) == 0 and i64(state, STATE_BLOCK) == 0:
        fill_shares(shares, longest, average, k1, b)
        fill_coded(state + 8 * CODED_CELL, average, k1, b)
        fill_close(state + 8 * CLOSE_CELL, average, k1, b)
    shift = length_shift(average)
    while i64(state, STATE_SEGMENT) < segments:
        s, block = i64(state, STATE_SEGMENT), i64(state, STATE_BLOCK)
        segment = table + s * TABLE_BYTES
        size = i64(segment, SIZE)
        first = block * BLOCK_ROWS
        if first >= size:
            put_i64(state, STATE_SEGMENT, s + 1)
            put_i64(state, STATE_BLOCK, 0)
            continue
        if budget < 0:
            return -1
        if i64(state, STATE_FOUND) + BLOCK_ROWS > room and _compact(state, depth, rows, scores) + BLOCK_ROWS > room:
            return -2
        put_i64(state, STATE_BLOCK, block + 1)
        hits = work + s * terms * WORK_BYTES
        n = terms_of_block(segment, hits, terms, weights, block, per_term, shares, average, k1, b)
        budget -= terms
        if n == 0:
            continue
        total = 0.0
        for z in range(n):
            total += f64(per_term, WORTH * terms + z)
        full = i64(state, STATE_HELD) == depth
        limit = f64(state, STATE_FLOOR) * (1.0 - ROUNDING) if full else 0.0
        if total < limit:
            continue
        first_row = i64(segment, FIRST_ROW) + first
        last = min(size, first + BLOCK_ROWS)
        own_capped = capped + 2 * i64(segment, FIRST_ROW)
        own_mask = mask + 8 * (i64(segment, MASK_WORD) + (first >> 6))
        words = (last - first + 63) >> 6

        # Rows whose byte is from `low` up to `high`; before there are enough rows, those with the largest first.
        credit = -1
        close = _ZERO
        is_chained = False
        low, high = 1, _MOST_BYTE
        if n <= _MOST_TERMS:
            if not full:
                # No row of a query with many terms holds them all.
                _set_scale(terms, weights, state, (_MOST_BYTE if n < _SEVERAL else 2 * _MOST_BYTE) / total)
            elif not _LEAST < limit * f64(state, STATE_SCALE) < _MOST:
                _set_scale(terms, weights, state, _TARGET / limit)
            scale = f64(state, STATE_SCALE)
            _fetch_next(segment, hits, terms, block, n, per_term, own_capped)
            postings = _sum_bounds(
                segment, hits, terms, weights, order, block, n, per_term, state, own_capped, own_mask, masked, shares,
                lengths, average, k1, b,
            )  # fmt: skip
            credit = 2 * postings + _BLOCK_COST
            is_chained = i64(state, STATE_LINKS) < CHAIN_ROOM
            budget -= postings
            low = int64(limit * scale)
            if not full:
                if HAS_CLOSE:
                    for w in range((last - first) >> 6):
                        if not masked or u64(own_mask, w) != _ZERO:
                            _look_closely(state, terms, per_term, own_capped + 2 * first, w, shift)
                            close |= _ONE << uint64(w)
                low = _reached_by(sums, words, own_mask, masked, depth - i64(state, STATE_HELD))
        while True:
            w = 0
            while w < words and credit >= 0:
                word = at_least(sums, w, low)
                if high < _MOST_BYTE:
                    word &= ~at_least(sums, w, high + 1)
                if masked:
                    word &= u64(own_mask, w)
                is_close = close >> uint64(w) & _ONE != _ZERO
                if HAS_CLOSE and not is_close and (w << 6) + 64 <= last - first and bit_count(word) >= _CLOSE_ROWS:
                    _look_closely(state, terms, per_term, own_capped + 2 * first, w, shift)
                    close |= _ONE << uint64(w)
                    is_close = True
                    word &= at_least(sums, w, low)
                while word != _ZERO:
                    place = (w << 6) + lowest_bit(word)
                    word &= word - _ONE
                    most = u8(sums, place)
                    credit -= n >> 1
                    if not is_close and most < _MOST_BYTE and not _can_reach(
                        segment, hits, terms, weights, state, per_term, own_capped, shares, lengths, first + place,
                        float64(most), limit * scale, average, k1, b,
                    ):  # fmt: skip
                        continue
                    credit -= n
                    if is_chained:
                        chain = u16(heads, place) if u8(sparse, place) != 0 else 0
                        score = score_chained(
                            segment, hits, terms, weights, lengths, first + place, average, k1, b, postings_at, chains,
                            chain,
                        )  # fmt: skip
                    else:
                        score = score_row(
                            segment, hits, terms, weights, lengths, first + place, average, k1, b, postings_at
                        )
                    _keep(state, heap, depth, rows, scores, first_row + place, score)
                    if i64(state, STATE_HELD) == depth:
                        limit = f64(state, STATE_FLOOR) * (1.0 - ROUNDING)
                w += 1
            if credit < 0:
                # So many rows are left that it takes less to score all of the block.
                sum_exactly(segment, hits, terms, weights, block, n, per_term, lengths, exact, dampings, average, k1, b)
                for z in range(n):
                    budget -= i64(per_term, STOPS * terms + z) - i64(per_term, STARTS * terms + z)
                for place in range(last - first):
                    score = f64(exact, place)
                    if score <= 0.0 or (masked and u64(own_mask, place >> 6) >> uint64(place & 63) & _ONE == _ZERO):
                        continue
                    if n <= _MOST_TERMS:
                        byte = u8(sums, place)
                        if byte > high or (byte >= low and place < w << 6):
                            continue  # scored before
                    _keep(state, heap, depth, rows, scores, first_row + place, score)
                break
            if i64(state, STATE_HELD) == depth:
                limit = f64(state, STATE_FLOOR) * (1.0 - ROUNDING)
            least = max(1, int64(limit * scale)) if n <= _MOST_TERMS else low
            if low <= least:
                break
            high = low - 1
            low = max(least, low - _STEP)
    return _compact(state, depth, rows, scores)
