"""The search, compiled: where the terms stand, how many candidates hold them, which rows are best.

Imported in the background, and only where numba is installed. Arrays come in as addresses: one compiled signature then
serves arrays in memory and read-only maps of files alike, one call serves all segments, and nothing is counted up and
down in the inner loops. Whoever calls keeps the arrays alive. Nothing is shared between calls, so any number of threads
may call at once.

Scores are those of `Bm25` in every bit: the operations of the formula in its order, in float64, without contraction.
What decides which rows are worth scoring is counted in float32, with room for its rounding.

`segment` is the address of a segment's row of the table, `hit` that of what is known of a term in it (see `tables`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import float32, float64, int64, njit, types, uint64
from numba.extending import intrinsic

from groundwire_server.lexical.segment import BLOCK_ROWS, LARGE_FREQUENCY, NO_LENGTH
from groundwire_server.lexical.tables import (
    BOUND,
    BOUND_COUNTS,
    BOUND_LENGTHS,
    BOUND_STARTS,
    BOUND_TERMS,
    CAPPED,
    CODES,
    COUNTED,
    DENSE,
    DENSE_BITS,
    DENSE_OFFSETS,
    DENSE_RANKS,
    DENSE_TERMS,
    ENTRY_START,
    ENTRY_STOP,
    EVERYTHING,
    FIRST_ROW,
    FIRST_WORD,
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
    MASK_WORD,
    OFFSETS,
    PICKED,
    ROWS,
    SIZE,
    SPELLINGS,
    TABLE_BYTES,
    TERMS,
    WORD_OFFSETS,
    WORK_BYTES,
)

__all__ = ["best", "count", "every", "locate", "masked_total"]

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_WORD = np.uint64(63)
_ENTRY_ROW = np.uint64(16)
_ENTRY_MASK = np.uint64(0xFFFF)
_COUNTS = 8  # shares of counts below this stand in a table
_STRIDE = CAPPED + 1
_FEW = 400  # sums are cleared one by one up to here
# What looking up a row costs, in postings that are added.
_DENSE_COST = 2
_SPARSE_COST = 8


def _loader(kind: Any, wide: Any) -> Any:
    """An intrinsic that reads a number: the `index`-th one behind an address, widened."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def load(_context: Any, _address: Any, _index: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], kind.as_pointer())
            value = builder.load(builder.gep(base, [arguments[1]]))
            narrow = isinstance(kind, ir.IntType) and kind.width < 64
            return builder.zext(value, ir.IntType(64)) if narrow else value

        return wide(int64, int64), generate

    return load


def _storer(kind: Any, narrow: Any) -> Any:
    """An intrinsic that writes a number: the `index`-th one behind an address."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def store(_context: Any, _address: Any, _index: Any, _value: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], kind.as_pointer())
            value = arguments[2]
            if isinstance(kind, ir.IntType) and kind.width < 64:
                value = builder.trunc(value, kind)
            builder.store(value, builder.gep(base, [arguments[1]]))
            return arguments[1]

        return int64(int64, int64, narrow), generate

    return store


_u8 = _loader(ir.IntType(8), int64)
_u16 = _loader(ir.IntType(16), int64)
_u32 = _loader(ir.IntType(32), int64)
_u64 = _loader(ir.IntType(64), uint64)
_i64 = _loader(ir.IntType(64), int64)
_f32 = _loader(ir.FloatType(), float32)
_f64 = _loader(ir.DoubleType(), float64)
_put_u16 = _storer(ir.IntType(16), int64)
_put_i64 = _storer(ir.IntType(64), int64)
_put_u64 = _storer(ir.IntType(64), uint64)
_put_f32 = _storer(ir.FloatType(), float32)
_put_f64 = _storer(ir.DoubleType(), float64)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _count_bits(_context: Any, _word: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return int64(uint64), generate


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _find_bit(_context: Any, _word: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return int64(uint64), generate


# Their types are those of calls from compiled code, which mypy does not know.
_bit_count: Any = _count_bits
_lowest_bit: Any = _find_bit


def _kernel(signature: Any) -> Callable[[Any], Any]:
    return njit(signature, cache=True, nogil=True, error_model="numpy")  # type: ignore[no-any-return, unused-ignore]


def _helper(function: Any) -> Any:
    """Compiled into the kernels that call it."""
    return njit(function, nogil=True, error_model="numpy")


_pair: Any = types.Tuple
_ints = types.Array(int64, 1, "C")
_floats = types.Array(float64, 1, "C")
_entries = types.Array(uint64, 1, "C")


@_helper
def _last_not_above(base, start, stop, row):  # type: ignore[no-untyped-def]
    """The last posting in [start, stop) whose row is `row` or less; `start` when there is none."""
    left = stop - start
    while left > 1:
        half = left >> 1
        start += half * (_u16(base, start + half) <= row)
        left -= half
    return start


@_helper
def _find_u32(base, size, value):  # type: ignore[no-untyped-def]
    """The first of `size` ascending numbers that is `value` or more."""
    start, stop = 0, size
    while start < stop:
        middle = (start + stop) >> 1
        if _u32(base, middle) < value:
            start = middle + 1
        else:
            stop = middle
    return start


@_helper
def _in_mask(mask, row):  # type: ignore[no-untyped-def]
    """1 when a row is a candidate, else 0."""
    return int64(_u64(mask, row >> 6) >> uint64(row & 63) & _ONE)


@_helper
def _count_at(segment, posting):  # type: ignore[no-untyped-def]
    """Occurrences at a posting."""
    frequency = _u8(_i64(segment, FREQUENCIES), posting)
    if frequency < LARGE_FREQUENCY:
        return frequency
    start, stop = 0, _i64(segment, LARGE)
    while start < stop:
        middle = (start + stop) >> 1
        if _i64(_i64(segment, LARGE_AT), middle) < posting:
            start = middle + 1
        else:
            stop = middle
    return _i64(_i64(segment, LARGE_COUNTS), start)


@_helper
def _blocks(segment):  # type: ignore[no-untyped-def]
    return (_i64(segment, SIZE) + BLOCK_ROWS - 1) // BLOCK_ROWS


@_helper
def _is_spelled(segment, at, spellings, given, size):  # type: ignore[no-untyped-def]
    """Whether the word at a place of the segment is the one that is given."""
    word = at - _i64(segment, FIRST_WORD)
    start = _u32(_i64(segment, WORD_OFFSETS), word)
    if _u32(_i64(segment, WORD_OFFSETS), word + 1) - 1 - start != size:
        return False
    for byte in range(size):  # noqa: SIM110  a loop is what compiles
        if _u8(_i64(segment, SPELLINGS), start + byte) != _u8(spellings, given + byte):
            return False
    return True


@_kernel(types.void(int64, int64, int64, int64, int64, int64, int64, int64))
def locate(table, segments, codes, terms, spellings, spelling_offsets, work, df):  # type: ignore[no-untyped-def]
    """Where the query's terms stand in each segment, and how many rows of all hold them."""
    low = np.empty(terms, np.int64)
    for s in range(segments):
        segment = table + s * TABLE_BYTES
        size = _i64(segment, TERMS)
        base = _i64(segment, CODES)
        # All terms step by step together: their reads wait for memory side by side.
        low[:] = 0
        length = size
        while length > 1:
            half = length >> 1
            for j in range(terms):
                low[uint64(j)] += half * (_u64(base, low[uint64(j)] + half - 1) < _u64(codes, j))
            length -= half
        for j in range(terms):
            hit = work + (s * terms + j) * WORK_BYTES
            code = _u64(codes, j)
            at = low[j]
            if at < size and _u64(base, at) < code:
                at += 1
            found = False
            given = _i64(spelling_offsets, j)
            while at < size and _u64(base, at) == code:
                found = (code >> _WORD) == _ZERO or _is_spelled(
                    segment, at, spellings, given, _i64(spelling_offsets, j + 1) - given
                )
                if found:
                    break
                at += 1
            _put_i64(hit, ENTRY_START, 0)
            _put_i64(hit, ENTRY_STOP, 0)
            _put_i64(hit, HIT_ROWS, 0)
            _put_i64(hit, HIT_BITS, 0)
            _put_i64(hit, HIT_RANKS, 0)
            _put_i64(hit, HIT_BOUND, -1)
            if not found:
                _put_i64(hit, HIT_START, 0)
                _put_i64(hit, HIT_STOP, 0)
                continue
            start = _u32(_i64(segment, OFFSETS), at)
            stop = _u32(_i64(segment, OFFSETS), at + 1)
            _put_i64(hit, HIT_START, start)
            _put_i64(hit, HIT_STOP, stop)
            _put_i64(df, j, _i64(df, j) + stop - start)
            dense = _find_u32(_i64(segment, DENSE_TERMS), _i64(segment, DENSE), at)
            if dense < _i64(segment, DENSE) and _u32(_i64(segment, DENSE_TERMS), dense) == at:
                words = (_i64(segment, SIZE) + 63) >> 6
                _put_i64(hit, HIT_BITS, _i64(segment, DENSE_BITS) + 8 * words * dense)
                _put_i64(hit, HIT_RANKS, _i64(segment, DENSE_RANKS) + 2 * words * dense)
            else:
                # The address at which the first posting of the segment would stand if all terms had rows.
                before = _u32(_i64(segment, DENSE_OFFSETS), dense)
                _put_i64(hit, HIT_ROWS, _i64(segment, ROWS) - 2 * before)
            bound = _find_u32(_i64(segment, BOUND_TERMS), _i64(segment, BOUND), at)
            if bound < _i64(segment, BOUND) and _u32(_i64(segment, BOUND_TERMS), bound) == at:
                _put_i64(hit, HIT_BOUND, bound)


@_kernel(int64(int64, int64, int64, int64, int64))
def masked_total(table, segments, mask, lengths, capped):  # type: ignore[no-untyped-def]
    """Tokens of all candidates."""
    total = 0
    for s in range(segments):
        segment = table + s * TABLE_BYTES
        first = _i64(segment, FIRST_ROW)
        words = mask + 8 * _i64(segment, MASK_WORD)
        for w in range((_i64(segment, SIZE) + 63) >> 6):
            word = _u64(words, w)
            while word != _ZERO:
                row = first + (w << 6) + _lowest_bit(word)
                word &= word - _ONE
                length = _u16(capped, row)
                total += length if length < CAPPED else int64(_f64(lengths, row))
    return total


@_kernel(_entries(int64, int64, int64, int64, int64, int64, int64))
def count(table, segments, work, terms, mask, mode, df):  # type: ignore[no-untyped-def]
    """How many candidates hold each term. Where few rows are candidates, also which postings of sparse terms they are:
    posting and row in one number, for each segment and term from ENTRY_START to ENTRY_STOP."""
    room = 1
    if mode == PICKED:
        for h in range(segments * terms):
            hit = work + h * WORK_BYTES
            if _i64(hit, HIT_BITS) == 0:
                room += _i64(hit, HIT_STOP) - _i64(hit, HIT_START)
    entries = np.empty(room, np.uint64)
    at = 0
    for s in range(segments):
        segment = table + s * TABLE_BYTES
        base = mask + 8 * _i64(segment, MASK_WORD)
        words = (_i64(segment, SIZE) + 63) >> 6
        for j in range(terms):
            hit = work + (s * terms + j) * WORK_BYTES
            start, stop = _i64(hit, HIT_START), _i64(hit, HIT_STOP)
            if start == stop:
                continue
            held = 0
            bits = _i64(hit, HIT_BITS)
            rows = _i64(hit, HIT_ROWS)
            if bits != 0:
                for w in range(words):
                    held += _bit_count(_u64(bits, w) & _u64(base, w))
            elif mode == PICKED:
                begin = at
                for x in range(start, stop):
                    row = _u16(rows, x)
                    entries[uint64(at)] = uint64(x << 16 | row)
                    at += _in_mask(base, row)
                _put_i64(hit, ENTRY_START, begin)
                _put_i64(hit, ENTRY_STOP, at)
                held = at - begin
            else:
                for x in range(start, stop):
                    held += _in_mask(base, _u16(rows, x))
            _put_i64(df, j, _i64(df, j) + held)
    return entries


@_helper
def _damping(length, average, k1, b):  # type: ignore[no-untyped-def]
    return ((b * length) / average + (1.0 - b)) * k1


@_helper
def _dense_posting(bits, ranks, start, stop, row):  # type: ignore[no-untyped-def]
    """Whether a row holds a dense term, and the posting where it is or would be: no branch, as either is as likely."""
    word = _u64(bits, row >> 6)
    place = uint64(row & 63)
    below = word & ((_ONE << place) - _ONE)
    posting = start + _u16(ranks, row >> 6) + _bit_count(below)
    return int64(word >> place & _ONE), min(posting, stop - 1)


@_helper
def _sparse_posting(segment, hit, row, blocks):  # type: ignore[no-untyped-def]
    """Whether a row holds a term without a bitmap, and a posting: that of the row if it does."""
    start, stop = _i64(hit, HIT_START), _i64(hit, HIT_STOP)
    bound = _i64(hit, HIT_BOUND)
    if bound >= 0:
        block = row // BLOCK_ROWS
        cell = bound * blocks + block
        base = _i64(segment, BOUND_STARTS)
        if block + 1 < blocks:
            stop = start + _u16(base, cell + 1)
        start += _u16(base, cell)
        if start == stop:
            return 0, start - 1
    rows = _i64(hit, HIT_ROWS)
    posting = _last_not_above(rows, start, stop, row)
    return int64(_u16(rows, posting) == row), posting


@_helper
def _score(segment, hits, terms, weights, lengths, row, average, k1, b):  # type: ignore[no-untyped-def]
    """The score of a row, as the formula has it."""
    damping = _damping(_f64(lengths, _i64(segment, FIRST_ROW) + row), average, k1, b)
    blocks = _blocks(segment)
    score = 0.0
    for j in range(terms):
        hit = hits + j * WORK_BYTES
        start, stop = _i64(hit, HIT_START), _i64(hit, HIT_STOP)
        if start == stop:
            continue
        if _i64(hit, HIT_BITS) != 0:
            holds, posting = _dense_posting(_i64(hit, HIT_BITS), _i64(hit, HIT_RANKS), start, stop, row)
        else:
            holds, posting = _sparse_posting(segment, hit, row, blocks)
        if holds != 0:
            held = float64(_count_at(segment, posting))
            score += _f64(weights, j) * held * (k1 + 1.0) / (damping + held)
    return score


@_helper
def _fill_shares(shares, longest, average, k1, b):  # type: ignore[no-untyped-def]
    """What a term of weight 1 is worth, by count and length."""
    above = float32(k1 + 1.0)
    for length in range(longest + 1):
        _put_f32(shares, length, float32(_damping(float64(length), average, k1, b)))
    for held in range(1, _COUNTS):
        times = float32(held)
        row = shares + 4 * held * _STRIDE
        for length in range(longest + 1):
            _put_f32(row, length, times * above / (times + _f32(shares, length)))


@_helper
def _slow_share(segment, posting, row, lengths, average, k1, b):  # type: ignore[no-untyped-def]
    """The share of a posting whose count or length stands in no table."""
    held = float64(_count_at(segment, posting))
    damping = _damping(_f64(lengths, _i64(segment, FIRST_ROW) + row), average, k1, b)
    return float32(held * (k1 + 1.0) / (held + damping))


@_helper
def _share(segment, frequencies, capped, posting, row, shares, lengths, average, k1, b):  # type: ignore[no-untyped-def]
    """What a posting of a term of weight 1 is worth."""
    frequency = _u8(frequencies, posting)
    length = _u16(capped, row)
    if frequency < _COUNTS and length < CAPPED:
        return _f32(shares, frequency * _STRIDE + length)
    return _slow_share(segment, posting, row, lengths, average, k1, b)


@_helper
def _bound(segment, cell, shares, average, k1, b):  # type: ignore[no-untyped-def]
    """The most that a term of weight 1 is worth in a block."""
    most = 0.0
    for kind in range(3):
        length = _u16(_i64(segment, BOUND_LENGTHS), 3 * cell + kind)
        if length == NO_LENGTH:
            continue
        held = kind + 1
        if kind == 2:
            held = _u8(_i64(segment, BOUND_COUNTS), cell)
        if held < _COUNTS and length < CAPPED:
            share = float64(_f32(shares, held * _STRIDE + length))
        elif held < LARGE_FREQUENCY:
            share = held * (k1 + 1.0) / (held + _damping(float64(length), average, k1, b))
        else:
            share = k1 + 1.0
        most = max(most, share)
    return most


@_helper
def _add(sums, touched, t, place, more):  # type: ignore[no-untyped-def]
    """Add to the sum of a place; places whose sum was 0 are noted."""
    old = _f32(sums, place)
    _put_u16(touched, t, place)
    _put_f32(sums, place, old + more)
    return t + (old == 0)


@_helper
def _push(heap, held, depth, value):  # type: ignore[no-untyped-def]
    """Keep the `depth` largest values, the smallest of them first; gives how many are held."""
    if held < depth:
        at = held
        while at > 0 and _f32(heap, (at - 1) >> 1) > value:
            _put_f32(heap, at, _f32(heap, (at - 1) >> 1))
            at = (at - 1) >> 1
        _put_f32(heap, at, value)
        return held + 1
    if value > _f32(heap, 0):
        at = 0
        while True:
            child = 2 * at + 1
            if child >= depth:
                break
            if child + 1 < depth and _f32(heap, child + 1) < _f32(heap, child):
                child += 1
            if _f32(heap, child) >= value:
                break
            _put_f32(heap, at, _f32(heap, child))
            at = child
        _put_f32(heap, at, value)
    return held


@_kernel(
    _pair((_ints, _floats))(
        *(int64,) * 5, int64, int64, int64, int64, _entries, int64, int64, float64, float64, float64, int64, int64
    )
)
def best(  # type: ignore[no-untyped-def]
    table, segments, work, terms, weights, order, lengths, capped, mask, entries, mode, longest, average, k1, b, depth,
    scratch,
):  # fmt: skip
    """Rows that can be among the best `depth`, with their scores; all that tie for the last place are among them.

    Blocks of rows are taken one by one. Terms that are worth most come first, and only rows that hold one of the first
    few are looked at: as many as are needed until the rest together is worth less than the lowest score of the best
    `depth` so far. A row is given up as soon as what it has and what it could have is less than that.
    """
    room = float64(terms + 16) * 4e-7
    sums = scratch
    shares = sums + 4 * BLOCK_ROWS
    touched = shares + 4 * _COUNTS * _STRIDE
    alive = touched + 2 * (BLOCK_ROWS + 4)
    heap = alive + 2 * (BLOCK_ROWS + 4)
    for place in range(BLOCK_ROWS):
        _put_f32(sums, place, float32(0))
    _fill_shares(shares, longest, average, k1, b)
    held = 0
    floor = 0.0
    found_rows = np.empty(1024, np.int64)
    found_sums = np.empty(1024, np.float32)
    found = 0
    next_posting = np.empty(terms, np.int64)
    active = np.empty(terms, np.int64)
    starts = np.empty(terms, np.int64)
    stops = np.empty(terms, np.int64)
    worth = np.empty(terms, np.float64)
    rest = np.empty(terms + 1, np.float64)

    for s in range(segments):
        segment = table + s * TABLE_BYTES
        hits = work + s * terms * WORK_BYTES
        size = _i64(segment, SIZE)
        first_row = _i64(segment, FIRST_ROW)
        frequencies = _i64(segment, FREQUENCIES)
        own_capped = capped + 2 * first_row
        mask_words = mask + 8 * _i64(segment, MASK_WORD)
        blocks = _blocks(segment)
        bound_starts = _i64(segment, BOUND_STARTS)
        for z in range(terms):
            hit = hits + _i64(order, z) * WORK_BYTES
            next_posting[z] = _i64(hit, HIT_START)
            if mode == PICKED and _i64(hit, HIT_BITS) == 0:
                next_posting[z] = _i64(hit, ENTRY_START)
        for block in range(blocks):
            first = block * BLOCK_ROWS
            last = min(size, first + BLOCK_ROWS)
            n = 0
            total = 0.0
            for z in range(terms):
                j = _i64(order, z)
                hit = hits + j * WORK_BYTES
                start, stop = _i64(hit, HIT_START), _i64(hit, HIT_STOP)
                if start == stop:
                    continue
                bound = _i64(hit, HIT_BOUND)
                if mode == PICKED and _i64(hit, HIT_BITS) == 0:
                    x = next_posting[z]
                    start, stop = x, _i64(hit, ENTRY_STOP)
                    while x < stop and int64(entries[uint64(x)] & _ENTRY_MASK) < last:
                        x += 1
                    stop = x
                    next_posting[z] = x
                elif bound >= 0:
                    cell = bound * blocks + block
                    if block + 1 < blocks:
                        stop = start + _u16(bound_starts, cell + 1)
                    start = start + _u16(bound_starts, cell)
                else:
                    x = next_posting[z]
                    start = x
                    rows = _i64(hit, HIT_ROWS)
                    while x < stop and _u16(rows, x) < last:
                        x += 1
                    stop = x
                    next_posting[z] = x
                if start == stop:
                    continue
                most = k1 + 1.0
                if bound >= 0:
                    most = _bound(segment, bound * blocks + block, shares, average, k1, b)
                active[n] = j
                starts[n] = start
                stops[n] = stop
                worth[n] = _f64(weights, j) * most
                total += worth[n]
                n += 1
            limit = floor * (1.0 - room)
            if n == 0 or total * (1.0 + room) < limit:
                continue
            rest[n] = 0.0
            for z in range(n - 1, -1, -1):
                rest[z] = rest[z + 1] + worth[z] * (1.0 + room)

            # Every row that holds one of the first terms; then those that can still reach the floor, term by term. A
            # term is added to the few rows that are left, or to all of the block where that is less work.
            t = 0
            left = 0
            picking = True
            for z in range(n + 1):
                if picking and (z == n or rest[z] < limit):
                    picking = False
                    need = float32(limit - rest[z])
                    for i in range(t):
                        place = _u16(touched, i)
                        reaches = int64(_f32(sums, place) >= need)
                        if mode == COUNTED:
                            reaches &= _in_mask(mask_words, first + place)
                        _put_u16(alive, left, place)
                        left += reaches
                if z == n or (left == 0 and not picking):
                    break
                j = active[z]
                hit = hits + j * WORK_BYTES
                weight = float32(_f64(weights, j))
                bits = _i64(hit, HIT_BITS)
                here = stops[z] - starts[z]
                if picking or here < (_DENSE_COST if bits != 0 else _SPARSE_COST) * left:
                    if bits != 0:
                        begin, ranks = _i64(hit, HIT_START), _i64(hit, HIT_RANKS)
                        for w in range(first >> 6, (last + 63) >> 6):
                            whole = _u64(bits, w)
                            word = whole
                            if mode == PICKED:
                                word &= _u64(mask_words, w)
                            posting = begin + _u16(ranks, w)
                            while word != _ZERO:
                                bit = _lowest_bit(word)
                                x = posting + _bit_count(whole & ((_ONE << uint64(bit)) - _ONE))
                                word &= word - _ONE
                                row = (w << 6) + bit
                                share = _share(
                                    segment, frequencies, own_capped, x, row, shares, lengths, average, k1, b
                                )
                                t = _add(sums, touched, t, row - first, weight * share)
                    elif mode == PICKED:
                        for y in range(starts[z], stops[z]):
                            entry = entries[uint64(y)]
                            row = int64(entry & _ENTRY_MASK)
                            x = int64(entry >> _ENTRY_ROW)
                            share = _share(segment, frequencies, own_capped, x, row, shares, lengths, average, k1, b)
                            t = _add(sums, touched, t, row - first, weight * share)
                    else:
                        rows = _i64(hit, HIT_ROWS)
                        for x in range(starts[z], stops[z]):
                            row = _u16(rows, x)
                            share = _share(segment, frequencies, own_capped, x, row, shares, lengths, average, k1, b)
                            t = _add(sums, touched, t, row - first, weight * share)
                elif bits != 0:
                    begin, end, ranks = _i64(hit, HIT_START), _i64(hit, HIT_STOP), _i64(hit, HIT_RANKS)
                    for i in range(left):
                        place = _u16(alive, i)
                        row = first + place
                        holds, x = _dense_posting(bits, ranks, begin, end, row)
                        share = _share(segment, frequencies, own_capped, x, row, shares, lengths, average, k1, b)
                        _put_f32(sums, place, _f32(sums, place) + weight * share * float32(holds))
                else:
                    for i in range(left):
                        place = _u16(alive, i)
                        row = first + place
                        holds, x = _sparse_posting(segment, hit, row, blocks)
                        if holds != 0:
                            share = _share(segment, frequencies, own_capped, x, row, shares, lengths, average, k1, b)
                            _put_f32(sums, place, _f32(sums, place) + weight * share)
                if not picking:
                    need = float32(limit - rest[z + 1])
                    kept = 0
                    for i in range(left):
                        place = _u16(alive, i)
                        _put_u16(alive, kept, place)
                        kept += _f32(sums, place) >= need
                    left = kept
            for i in range(left):
                place = _u16(alive, i)
                value = _f32(sums, place)
                if value < floor * (1.0 - room):
                    continue
                if found == found_rows.shape[0]:
                    kept = 0
                    for y in range(found):
                        if found_sums[y] >= floor * (1.0 - room):
                            found_rows[kept] = found_rows[y]
                            found_sums[kept] = found_sums[y]
                            kept += 1
                    found = kept
                    if 2 * found > found_rows.shape[0]:
                        more_rows = np.empty(2 * found_rows.shape[0], np.int64)
                        more_sums = np.empty(2 * found_rows.shape[0], np.float32)
                        more_rows[:found] = found_rows[:found]
                        more_sums[:found] = found_sums[:found]
                        found_rows, found_sums = more_rows, more_sums
                found_rows[found] = s << 16 | (first + place)
                found_sums[found] = value
                found += 1
                held = _push(heap, held, depth, value)
                if held == depth:
                    floor = float64(_f32(heap, 0))
            if t < _FEW:
                for i in range(t):
                    _put_f32(sums, _u16(touched, i), float32(0))
            else:
                for place in range(BLOCK_ROWS):
                    _put_f32(sums, place, float32(0))

    kept = 0
    for y in range(found):
        if found_sums[y] >= floor * (1.0 - room):
            row = found_rows[y]
            # Blocks come in order, so only rows of the same block can stand the wrong way round.
            at = kept
            while at > 0 and found_rows[at - 1] > row:
                found_rows[at] = found_rows[at - 1]
                at -= 1
            found_rows[at] = row
            kept += 1
    scores = np.empty(kept, np.float64)
    for y in range(kept):
        s = found_rows[y] >> 16
        row = found_rows[y] & 0xFFFF
        segment = table + s * TABLE_BYTES
        hits = work + s * terms * WORK_BYTES
        scores[y] = _score(segment, hits, terms, weights, lengths, row, average, k1, b)
        found_rows[y] = _i64(segment, FIRST_ROW) + row
    return found_rows[:kept].copy(), scores


@_kernel(_pair((_ints, _floats))(*(int64,) * 5, int64, int64, _entries, int64, float64, float64, float64, int64))
def every(table, segments, work, terms, weights, lengths, mask, entries, mode, average, k1, b, scratch):  # type: ignore[no-untyped-def]
    """All candidates that hold a term, ascending, and their scores: term after term in query order, block by block."""
    sums = scratch
    damping = sums + 8 * BLOCK_ROWS
    for place in range(BLOCK_ROWS):
        _put_f64(sums, place, 0.0)
    out_rows = np.empty(1024, np.int64)
    out_scores = np.empty(1024, np.float64)
    found = 0
    next_posting = np.empty(terms, np.int64)
    for s in range(segments):
        segment = table + s * TABLE_BYTES
        hits = work + s * terms * WORK_BYTES
        size = _i64(segment, SIZE)
        first_row = _i64(segment, FIRST_ROW)
        mask_words = mask + 8 * _i64(segment, MASK_WORD)
        here = 0
        for j in range(terms):
            hit = hits + j * WORK_BYTES
            next_posting[j] = _i64(hit, HIT_START)
            if mode == PICKED and _i64(hit, HIT_BITS) == 0:
                next_posting[j] = _i64(hit, ENTRY_START)
            here += _i64(hit, HIT_STOP) - _i64(hit, HIT_START)
        if here == 0:
            continue
        for block in range(_blocks(segment)):
            first = block * BLOCK_ROWS
            last = min(size, first + BLOCK_ROWS)
            for place in range(last - first):
                length = _f64(lengths, first_row + first + place)
                _put_f64(damping, place, _damping(length, average, k1, b))
            for j in range(terms):
                hit = hits + j * WORK_BYTES
                stop = _i64(hit, HIT_STOP)
                if _i64(hit, HIT_START) == stop:
                    continue
                weight = _f64(weights, j)
                bits = _i64(hit, HIT_BITS)
                rows = _i64(hit, HIT_ROWS)
                x = next_posting[j]
                if bits != 0:
                    for w in range(first >> 6, (last + 63) >> 6):
                        word = _u64(bits, w)
                        while word != _ZERO:
                            place = (w << 6) + _lowest_bit(word) - first
                            word &= word - _ONE
                            many = float64(_count_at(segment, x))
                            x += 1
                            share = weight * many * (k1 + 1.0) / (_f64(damping, place) + many)
                            _put_f64(sums, place, _f64(sums, place) + share)
                elif mode == PICKED:
                    stop = _i64(hit, ENTRY_STOP)
                    while x < stop:
                        entry = entries[uint64(x)]
                        place = int64(entry & _ENTRY_MASK) - first
                        if place >= BLOCK_ROWS:
                            break
                        x += 1
                        many = float64(_count_at(segment, int64(entry >> _ENTRY_ROW)))
                        share = weight * many * (k1 + 1.0) / (_f64(damping, place) + many)
                        _put_f64(sums, place, _f64(sums, place) + share)
                else:
                    while x < stop:
                        place = _u16(rows, x) - first
                        if place >= BLOCK_ROWS:
                            break
                        many = float64(_count_at(segment, x))
                        x += 1
                        share = weight * many * (k1 + 1.0) / (_f64(damping, place) + many)
                        _put_f64(sums, place, _f64(sums, place) + share)
                next_posting[j] = x
            for place in range(last - first):
                score = _f64(sums, place)
                if score > 0.0:
                    _put_f64(sums, place, 0.0)
                    row = first + place
                    if mode != EVERYTHING and _in_mask(mask_words, row) == 0:
                        continue
                    if found == out_rows.shape[0]:
                        more_rows = np.empty(2 * found, np.int64)
                        more_scores = np.empty(2 * found, np.float64)
                        more_rows[:found] = out_rows
                        more_scores[:found] = out_scores
                        out_rows, out_scores = more_rows, more_scores
                    out_rows[found] = first_row + row
                    out_scores[found] = score
                    found += 1
    return out_rows[:found].copy(), out_scores[:found].copy()
