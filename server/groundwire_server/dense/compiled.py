"""The searches over codes, compiled: which rows may be among the best, and the fixed order of adding.

Imported by `kernels` alone, in the background, and only where numba is installed; every function is compiled when this
is imported. Arrays that are read may be read-only maps of files. Nothing is shared between calls, so any number of
threads may call at once, and none holds the interpreter.

Results are those of numpy in every bit: what is compared is whole numbers, or float64 in one written order, and numba
neither reorders nor contracts floating-point operations unless told to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped, import-not-found, unused-ignore]
from numba import boolean, float32, float64, int8, int16, int32, int64, njit, types, uint64
from numba.extending import intrinsic

from groundwire_server.dense.tiles import TILE, fetch_ahead, steps_here, tile

__all__ = ["contenders", "estimated", "fixed_dots"]

_STRIP = 16
_TOGETHER = 4  # queries that go through a row together
_ROWS = 256  # whose codes stay in the cache while queries go through them
_WIDE = 32
_SKIP = 4
_fetch: Any = fetch_ahead
_tile: Any = tile(TILE // _TOGETHER, steps_here()[0])
_PAIR: Any = types.Tuple((int64[::1], int32[::1]))  # type: ignore[no-untyped-call, unused-ignore]
_NEVER = np.int32(-(2**31))


def _read(kind: Any, dimensions: int) -> Any:
    return types.Array(kind, dimensions, "C", readonly=True)


def _kernel(signature: Any) -> Callable[[Any], Any]:
    return njit(signature, cache=True, nogil=True, error_model="numpy")  # type: ignore[no-any-return, unused-ignore]


def _helper(function: Any) -> Any:
    return njit(function, nogil=True, error_model="numpy")


def _whole(operation: str, left: Any, right: Any) -> Any:
    """An operation on int32 that stays one; numba itself widens to 64 bits, and half as many fit a register."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def apply(_context: Any, _left: Any, _right: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            wide = (builder.sext(each, _I32) if each.type.width < 32 else each for each in arguments)
            return getattr(builder, operation)(*wide)

        return int32(left, right), generate

    return apply


_I32 = ir.IntType(32)
_add = _whole("add", int32, int32)
_times = _whole("mul", int32, int32)
_right = _whole("ashr", int32, int32)
_product = _whole("mul", int8, int16)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _differing_bits(_context: Any, _word: Any, _other: Any) -> Any:
    """How many bits of two words differ."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(builder.xor(*arguments))

    return int64(uint64, uint64), generate


_differing: Any = _differing_bits


@_helper
def _replace_least(heap: Any, value: Any) -> None:
    """Put a value in the place of the least one of a heap, whose root is the least."""
    size = len(heap)
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@_helper
def _keep(found: Any, values: Any, count: Any, least: Any) -> Any:
    """Move what reaches the least value to the front; how many they are."""
    kept = 0
    for i in range(count):
        if values[i] >= least:
            found[kept] = found[i]
            values[kept] = values[i]
            kept += 1
    return kept


@_helper
def _one_query(codes: Any, numbers: Any, count: Any, query: Any, totals: Any) -> None:
    """Products of some rows with one query: as fast as the rows come."""
    dim = codes.shape[1]
    for at in range(count):
        row = numbers[at]
        total = np.int32(0)
        for j in range(dim):
            total = _add(total, _product(codes[row, j], query[j]))
        totals[at] = total


@_helper
def _several_queries(codes: Any, numbers: Any, count: Any, queries: Any, first: Any, totals: Any) -> None:
    """Products of some rows with the next `_TOGETHER` queries; the row behind the last one must be one, too."""
    for at in range(0, count, TILE // _TOGETHER):
        _tile(codes, numbers, at, queries, first, totals)


@_helper
def _near(totals: Any, q: Any, start: Any, sizes: Any, left: Any, step: Any, norm: Any, slack: Any, least: Any) -> Any:
    """Whether the upper bound of any of the next `_WIDE` rows reaches the least one.

    By places, here and below: a slice of an array is counted as one more holder of it, which takes longer than this.
    """
    near = False
    for at in range(start, start + _WIDE):
        near |= np.float64(totals[q, at]) * step * sizes[at] + (left[at] * norm + slack) >= least
    return near


@_kernel(
    int64[::1](
        _read(int8, 2),
        _read(float32, 2),
        _read(int64, 1),
        _read(boolean, 2),
        _read(int16, 2),
        _read(float64, 2),
        float64[::1],
        _read(int64, 1),
        int64[:, ::1],
        float64[:, ::1],
    )
)
def contenders(codes, steps, rows, wanted, queries, measures, lows, places, found, highs):  # type: ignore[no-untyped-def]
    """For several queries, those of some rows that may be among the best; see `contenders.CodeSweep`.

    Args:
        codes, steps: of `row_codes.RowCodes`.
        rows: int64 [n], ascending.
        wanted: boolean [m, n], which of them each query looks at.
        queries: int16 [m, dim], and zeros up to a multiple of four.
        measures: float64 [m, 3], step, norm and slack of each query.
        lows: heaps of the largest lower bounds so far, those of query q from `places[q]` to `places[q + 1]`.
        found, highs: [m, n], where to put rows and their upper bounds.

    Returns:
        int64 [m], how many were found; none is below what `lows` says now.
    """
    asked, count = wanted.shape
    counts = np.zeros(asked, np.int64)
    numbers = np.empty(_ROWS + 1, np.int64)
    totals = np.empty((len(queries), _ROWS + 1), np.int32)
    sizes = np.zeros(_ROWS)
    left = np.zeros(_ROWS)
    origins = np.empty(_ROWS + 1, np.int64)
    anybody = np.empty(_ROWS, np.bool_)
    for first in range(0, count, _ROWS):
        last = min(count, first + _ROWS)
        anybody[:] = False
        for q in range(asked):
            own = wanted[q, first:last]
            for i in range(len(own)):
                anybody[i] |= own[i]
        some = 0
        for at in range(first, last):
            numbers[some] = rows[at]
            origins[some] = at
            some += anybody[at - first]
        if some == 0:
            continue
        if some < last - first <= _SKIP * some:  # reading on costs less than jumping
            some = last - first
            for at in range(first, last):
                numbers[at - first] = rows[at]
                origins[at - first] = at
        numbers[some] = numbers[some - 1]
        scattered = numbers[some - 1] - numbers[0] >= 2 * some
        if scattered:
            for at in range(some):
                _fetch(codes, numbers[at])
        for at in range(some):
            sizes[at] = np.float64(steps[numbers[at], 0])
            left[at] = np.float64(steps[numbers[at], 1])
        left[some:] = -np.inf  # behind the last row, no bound reaches anything
        if asked == 1:
            _one_query(codes, numbers, some, queries[0], totals[0])
        else:
            for group in range(0, asked, _TOGETHER):
                _several_queries(codes, numbers, some, queries, group, totals)
        for q in range(asked):
            low = lows[places[q] : places[q + 1]]
            step, norm, slack = measures[q, 0], measures[q, 1], measures[q, 2]
            taken = counts[q]
            for start in range(0, some, _WIDE):
                end = start + _WIDE
                if not _near(totals, q, start, sizes, left, step, norm, slack, low[0]):
                    continue
                for at in range(start, min(end, some)):
                    middle = np.float64(totals[q, at]) * step * sizes[at]
                    error = left[at] * norm + slack
                    if middle + error >= low[0] and wanted[q, origins[at]]:
                        found[q, taken] = numbers[at]
                        highs[q, taken] = middle + error
                        taken += 1
                        if middle - error > low[0]:
                            _replace_least(low, middle - error)
            counts[q] = taken
    for q in range(asked):
        counts[q] = _keep(found[q], highs[q], counts[q], lows[places[q]])
    return counts


@_helper
def _take(near: Any, width: Any, least: Any, first: Any, found: Any, values: Any, count: Any) -> Any:
    """Put rows whose estimates are not below the least one behind those that were found. How many those are now."""
    for start in range(0, width, _STRIP):
        highest = _NEVER
        for at in range(start, start + _STRIP):
            highest = max(highest, near[at])
        if highest < least or highest == _NEVER:
            continue
        for at in range(start, start + _STRIP):
            if near[at] >= least and near[at] != _NEVER:
                found[count] = first + at
                values[count] = near[at]
                count += 1
    return count


@_kernel(
    _PAIR(
        _read(uint64, 3),
        _read(int32, 3),
        _read(boolean, 2),
        _read(uint64, 2),
        int64,
        int32,
        int32,
        int64,
        int64,
        int32,
    )
)
def estimated(bits, marks, candidates, planes, top, factor, shift, every, width, least):  # type: ignore[no-untyped-def]
    """Candidates whose estimate is not below the least, and the estimates: among the first rows of some blocks.

    See `sign_codes.estimates`; of the `every`-th blocks the first `width` rows, a multiple of 16.
    """
    blocks, words, length = bits.shape
    found = np.empty(4096, np.int64)
    values = np.empty(len(found), np.int32)
    count = 0
    far = np.empty(width, np.int64)
    near = np.empty(width, np.int32)
    for block in range(0, blocks, every):
        far[:] = 0
        for word in range(words):
            q0, q1, q2, q3 = planes[0, word], planes[1, word], planes[2, word], planes[3, word]
            column = bits[block, word, :width]
            for i in range(width):
                x = column[i]
                far[i] += (
                    _differing(x, q0) + (_differing(x, q1) << 1) + (_differing(x, q2) << 2) + (_differing(x, q3) << 3)
                )
        size, offset, candidate = marks[block, 0], marks[block, 1], candidates[block]
        for i in range(width):
            value = _times(_times(np.int32(top - (far[i] << 1)), size[i]), factor)
            near[i] = _add(_right(value, shift), offset[i]) if candidate[i] else _NEVER
        if count + width > len(found):
            found = np.concatenate((found, np.empty(len(found), np.int64)))
            values = np.concatenate((values, np.empty(len(values), np.int32)))
        count = _take(near, width, least, block * length, found, values, count)
    return found[:count].copy(), values[:count].copy()


@_kernel(float64[::1](_read(float32, 2), _read(int64, 1), _read(float32, 1)))
def fixed_dots(matrix, rows, query):  # type: ignore[no-untyped-def]
    """`kernel.fixed_dots` of some rows of a matrix."""
    dim = matrix.shape[1]
    terms = np.empty(dim)
    scores = np.empty(len(rows))
    for at in range(len(rows)):
        row = rows[at]
        for j in range(dim):
            terms[j] = np.float64(matrix[row, j]) * np.float64(query[j])
        width = dim
        while width > 1 and width % 2 == 0:
            width //= 2
            for j in range(width):
                terms[j] = terms[j] + terms[j + width]
        total = terms[0]
        for j in range(1, width):
            total = total + terms[j]
        scores[at] = total + 0.0
    return scores
