"""The rows whose signs are nearest to a query's."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.sign_codes import BLOCK_ROWS, NEVER, QuerySigns, SignCodes, estimates

__all__ = ["nearest_by_signs"]

_SAMPLE_BLOCKS, _SAMPLE_ROWS = 8, 64  # of every eighth block so many rows: neighbours, which are read faster
_BLOCKS = 64  # numpy's share at a time, so that what is between stays in the cache
_PIECE = 1024  # blocks between two looks at whether the call is still wanted: a few milliseconds of compiled code


def nearest_by_signs(
    codes: SignCodes,
    query: QuerySigns,
    candidates: NDArray[np.bool_],
    wanted: int,
    kernels: ModuleType | None,
    check: Callable[[], None],
) -> NDArray[np.int64]:
    """Candidates whose estimate is not below the `wanted`-th largest one, ascending: int64 [at least `wanted`, or all].

    Compiled, a sample says which estimates are worth keeping; too few of them, and the pass is done again with more.
    `check` is polled every few milliseconds; what it raises ends the search.
    """
    masked = np.zeros((len(codes.bits), BLOCK_ROWS), np.bool_)
    masked.reshape(-1)[: len(candidates)] = candidates
    if kernels is None:
        return _plain(codes, query, masked, wanted, check)

    def estimated(every: int, width: int, least: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        planes, top, factor, shift = query.planes, query.top, query.factor, query.shift
        rows: list[NDArray[np.int64]] = []
        values: list[NDArray[np.int32]] = []
        for start in range(0, len(masked), _PIECE):
            check()
            bits, marks, mask = (each[start : start + _PIECE] for each in (codes.bits, codes.marks, masked))
            found = kernels.estimated(bits, marks, mask, planes, top, factor, shift, every, width, least)
            rows.append(found[0] + start * BLOCK_ROWS)
            values.append(found[1])
        return np.concatenate(rows), np.concatenate(values)

    if not len(masked):
        return np.empty(0, np.int64)
    _, sample = estimated(_SAMPLE_BLOCKS, _SAMPLE_ROWS, NEVER)
    share = wanted * _SAMPLE_ROWS / (_SAMPLE_BLOCKS * BLOCK_ROWS)
    kept = int(share + 3 * share**0.5 + 3)
    while kept < len(sample):
        rows, values = estimated(1, BLOCK_ROWS, int(np.partition(sample, len(sample) - kept)[len(sample) - kept]))
        if len(rows) >= wanted:
            return _cut(rows, values, wanted)
        kept *= 4
    return _cut(*estimated(1, BLOCK_ROWS, NEVER), wanted)


def _plain(
    codes: SignCodes, query: QuerySigns, candidates: NDArray[np.bool_], wanted: int, check: Callable[[], None]
) -> NDArray[np.int64]:
    values = np.empty(candidates.shape, np.int32)
    for start in range(0, len(values), _BLOCKS):
        check()
        part = slice(start, start + _BLOCKS)
        values[part] = estimates(codes, query, part)
    rows = np.flatnonzero(candidates)
    return _cut(rows, values.reshape(-1)[rows], wanted)


def _cut(rows: NDArray[np.int64], values: NDArray[np.int32], wanted: int) -> NDArray[np.int64]:
    if len(rows) <= wanted:
        return rows
    best: NDArray[np.int64] = rows[values >= np.partition(values, len(values) - wanted)[len(values) - wanted]]
    return best
