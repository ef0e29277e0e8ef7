"""Lengths of all rows of an index in one array that grows with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.compiled import capped_lengths
from groundwire_server.lexical.segment import Segment

__all__ = ["RowLengths"]


class RowLengths:
    """Readers of older indexes see only their own rows of the arrays, and those never change."""

    def __init__(self) -> None:
        self._lengths = np.zeros(0)
        self._capped = np.zeros(0, dtype=np.uint16)

    def of(self, segments: Sequence[Segment], known: int) -> tuple[NDArray[np.float64], NDArray[np.uint16]]:
        """float64[rows] and uint16[rows] of segments in row order.

        Args:
            known: the lengths of so many rows at the beginning are in place already.
        """
        rows = sum(segment.size for segment in segments)
        if rows > len(self._lengths):
            # Room for as many again, so that small appends do not copy all lengths each time.
            grown = np.empty(2 * rows)
            grown[:known] = self._lengths[:known]
            capped = np.empty(2 * rows, dtype=np.uint16)
            capped[:known] = self._capped[:known]
            self._lengths, self._capped = grown, capped
        stop = rows
        for segment in reversed(segments):
            if stop <= known:
                break
            start = stop - segment.size
            first = max(start, known)
            self._lengths[first:stop] = segment.lengths[first - start :]
            self._capped[first:stop] = capped_lengths(self._lengths[first:stop])
            stop = start
        lengths = self._lengths[:rows]
        lengths.setflags(write=False)
        return lengths, self._capped[:rows]
