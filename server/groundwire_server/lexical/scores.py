"""What a lexical search gives, and its total order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LexicalScores", "top"]


@dataclass(frozen=True, slots=True, eq=False)
class LexicalScores:
    """Rows that share a term with the query, and their scores.

    Attributes:
        rows: int64[n], ascending.
        scores: float64[n], all above 0.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)


def top(scores: LexicalScores, depth: int, tie_key: Callable[[int], Any]) -> list[int]:
    """The best `depth` rows by (-score, tie_key(row)): a total order when `tie_key` is one.

    `tie_key` is asked only about rows that share their score with another one in question.

    Raises:
        ValueError: depth is negative.
    """
    if depth < 0:
        raise ValueError(f"depth is {depth}; valid: 0 or more")
    if depth == 0 or len(scores) == 0:
        return []
    floor = floor_of_top(scores.scores, depth)
    chosen = np.flatnonzero(scores.scores >= floor)
    chosen = chosen[np.argsort(-scores.scores[chosen], kind="stable")]
    rows = scores.rows[chosen].tolist()
    values = scores.scores[chosen].tolist()
    best: list[int] = []
    for _, group in groupby(zip(values, rows, strict=True), key=lambda pair: pair[0]):
        tied = [row for _, row in group]
        best.extend(sorted(tied, key=tie_key) if len(tied) > 1 else tied)
    return best[:depth]


def floor_of_top(values: NDArray[np.float64], depth: int) -> float:
    """The depth-th largest of values; the smallest when there are fewer.

    Partitioning all of many values is slow. The depth-th largest of the maxima of more than `depth` groups is no larger
    than the value sought, so whatever lies below it can be left out first.
    """
    if len(values) <= depth:
        return float(values.min())
    groups = 4 * depth
    if len(values) >= 4 * groups:
        whole = len(values) // groups * groups
        maxima = values[:whole].reshape(-1, groups).max(axis=0)
        values = values[values >= np.partition(maxima, groups - depth)[groups - depth]]
    return float(np.partition(values, len(values) - depth)[len(values) - depth])
