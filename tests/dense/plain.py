"""Oracles in plain Python: the same definitions, written as slowly as they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def plain_dot(row: NDArray[np.float32], query: NDArray[np.float32]) -> float:
    """Multiply; fold the upper half onto the lower while the number of terms is even; add the rest left to right."""
    terms = [float(a) * float(b) for a, b in zip(row, query, strict=True)]
    while len(terms) > 1 and len(terms) % 2 == 0:
        half = len(terms) // 2
        terms = [terms[i] + terms[i + half] for i in range(half)]
    total = terms[0]
    for term in terms[1:]:
        total += term
    return total + 0.0


def plain_search(
    matrix: NDArray[np.float32],
    eligible: NDArray[np.bool_],
    query: NDArray[np.float32],
    depth: int,
    tie_key: Callable[[int], Any],
) -> list[tuple[int, float]]:
    """Score everything that may be found, sort, cut."""
    scored = [(row, plain_dot(matrix[row], query)) for row in range(len(matrix)) if eligible[row]]
    return sorted(scored, key=lambda hit: (-hit[1], tie_key(hit[0])))[:depth]
