"""The formula, its parameters and the order of its operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import ErrorReason, InvalidRequest

__all__ = ["Bm25"]


@dataclass(frozen=True, slots=True)
class Bm25:
    """Parameters of Okapi BM25; a library's setting (semantics 2).

    The score of a row is the float64 sum, left to right over the distinct query terms in order of first occurrence, of

        ((qtf * idf) * tf * (k1 + 1)) / (tf + k1 * ((1 - b) + (b * length) / average))

    With k1 = 1.5 and b = 0.75 each of `k1 + 1` = 2.5 and `1 - b` = 0.25 is exact, so these are the very operations of
    the formula as it is written down with constants, and the results agree in every bit.

    Raises:
        InvalidRequest: k1 is negative or not finite, or b is not between 0 and 1.
    """

    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise InvalidRequest.one("k1", ErrorReason.VALUE_OUT_OF_RANGE, f"is {self.k1}; valid: 0 or more")
        if not 0 <= self.b <= 1:
            raise InvalidRequest.one("b", ErrorReason.VALUE_OUT_OF_RANGE, f"is {self.b}; valid: 0 to 1")

    @staticmethod
    def idf(rows: int, df: int) -> float:
        """Weight of a term that `df` of `rows` candidates hold; above 0 always."""
        return math.log(1 + (rows - df + 0.5) / (df + 0.5))

    @staticmethod
    def idfs(rows: int, df: Sequence[int]) -> list[float]:
        """`idf` of several terms."""
        log = math.log
        return [log(1 + (rows - holding + 0.5) / (holding + 0.5)) for holding in df]

    def damping(self, lengths: NDArray[np.float64], average: float) -> NDArray[np.float64]:
        """What is added to tf below the line, for rows of these lengths."""
        damping = self.b * lengths
        damping /= average
        damping += 1 - self.b
        damping *= self.k1
        return damping
