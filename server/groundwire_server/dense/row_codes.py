"""Vectors in one byte a dimension, and how far their inner products may be off.

A row x is kept as whole numbers c in -127..127 and a step s, so that s c is near x, with the length r of what is left,
|x - s c|. A query q is kept as t d, d in 16 bits, with e = |q - t d|. Then

    |q.x - s t (c.d)|  <=  |q| |x - s c| + |s c| |q - t d|  <=  |q| r + (|x| + r) e

by Cauchy and Schwarz, and c.d is exact in 32 bits. Only rows whose bounds reach far enough up need their true score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["QueryCode", "RowCodes", "encode_rows"]

LARGEST = 127
ROUNDING = 2.0**-52


@dataclass(frozen=True, slots=True, eq=False)
class RowCodes:
    """`codes` int8 [n, dim]; `steps` float32 [n, 2], each row's step and a bound of what is left (392 bytes a row)."""

    codes: NDArray[np.int8]
    steps: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class QueryCode:
    """A query in 16 bits a dimension.

    Attributes:
        numbers: int16 [dim], small enough that a sum of products with codes fits 32 bits.
        step: what one of them stands for.
        norm: by this much a row's residual moves its bounds.
        slack: by this much all bounds lie further apart, rounding included.
    """

    numbers: NDArray[np.int16]
    step: float
    norm: float
    slack: float

    @classmethod
    def of(cls, query: NDArray[np.float32], max_norm: float) -> QueryCode:
        """For rows that are no longer than `max_norm`.

        Rounding: the two norms here, `fixed_dots`, and the four operations behind a bound are off by less than
        dim + 16 units of 2^-52 of |x| |q|; what is added is more.
        """
        wide = query.astype(np.float64)
        dim = len(wide)
        most = min(2**15 - 1, (2**31 - 1) // (LARGEST * dim))
        step = float(np.abs(wide).max()) / most
        numbers = np.rint(wide / step) if step > 0 else np.zeros(dim)
        left = float(np.linalg.norm(wide - step * numbers))
        both = float(np.linalg.norm(wide)) + left
        slack = 1.01 * max_norm * (left + (dim + 16) * ROUNDING * both)
        return cls(numbers.astype(np.int16), step, (1 + 1e-9) * both, slack)


def encode_rows(vectors: NDArray[np.float32]) -> RowCodes:
    """Codes of vectors [n, dim], each by itself."""
    wide = vectors.astype(np.float64)
    steps = np.empty((len(wide), 2), np.float32)
    steps[:, 0] = np.abs(wide).max(axis=1) / LARGEST
    step = steps[:, :1].astype(np.float64)
    codes = np.rint(np.divide(wide, step, out=np.zeros_like(wide), where=step > 0))
    np.clip(codes, -LARGEST, LARGEST, out=codes)
    left = np.sqrt(np.square(wide - step * codes).sum(axis=1)) * (1 + 1e-6)
    steps[:, 1] = np.nextafter(left.astype(np.float32), np.float32(np.inf))
    return RowCodes(codes.astype(np.int8), steps)
