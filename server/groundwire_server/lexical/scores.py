"""What a lexical search gives, and its total order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LexicalScores", "collected", "floor_of_top", "top"]


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
    found, values = scores.rows, scores.scores
    if len(values) > 2 * depth:
        chosen = np.flatnonzero(values >= floor_of_top(values, depth))
        found, values = found[chosen], values[chosen]
    ranked = (-values).argsort(kind="stable")
    rows: list[int] = found[ranked].tolist()
    ordered: list[float] = values[ranked].tolist()
    if len(set(ordered)) == len(ordered):
        return rows[:depth]
    best: list[int] = []
    for _, group in groupby(zip(ordered, rows, strict=True), key=lambda pair: pair[0]):
        tied = [row for _, row in group]
        best.extend(sorted(tied, key=tie_key) if len(tied) > 1 else tied)
        if len(best) >= depth:
            break
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


def collected(
    rows: Sequence[NDArray[np.int64]], scores: Sequence[NDArray[np.float64]], floor: float = 0.0
) -> LexicalScores:
    """Scores of several segments as one, without those below a floor."""
    all_rows = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    all_scores = np.concatenate([np.zeros(0), *scores])
    if floor > 0:
        kept = all_scores >= floor
        all_rows, all_scores = all_rows[kept], all_scores[kept]
    all_rows.setflags(write=False)
    all_scores.setflags(write=False)
    return LexicalScores(all_rows, all_scores)
