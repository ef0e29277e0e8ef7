"""Runs of places laid out one behind the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Integers", "lay_out"]

Integers = NDArray[np.int64]


def lay_out(starts: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """(number of the run, place) of every place of the runs [start, start + count).

    >>> [each.tolist() for each in lay_out(np.array([7, 3]), np.array([2, 1]))]
    [[0, 0, 1], [7, 8, 3]]
    """
    run = np.repeat(np.arange(len(starts), dtype=np.int64), counts)
    ends = np.cumsum(counts)
    within = np.arange(len(run), dtype=np.int64) - (ends - counts)[run]
    return run, starts[run] + within
