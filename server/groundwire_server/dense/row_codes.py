"""Vectors in one byte a dimension, and how far their inner products may be off.

A row x is kept as whole numbers c in -127..127 and a step s, so that s c is near x, with the length r of what is left,
|x - s c|. A query q is kept as t d, d in 16 bits, with e = |q - t d|. Only rows whose bounds reach far enough up need
their true score.

**What is proven.** Let f be a row's score, as `fixed_dots` gives it, m = t (c.d) s and h = r norm + slack, as float64
gives them, with the numbers of `QueryCode`. Then m - h <= f <= m + h, also as float64 rounds the two sums, for every
row that is not longer than N, the largest norm that the index was told. Below, u is 2^-53 and dim is below 2^20.

1. In real numbers, q.x - t s (c.d) = q.(x - s c) + s c.(q - t d). By Cauchy and Schwarz that is in size at most
   |q| r + |s c| e, and |s c| <= |x| + r. So it is at most r (|q| + e) + N e.
2. c.d is exact: |c.d| <= 127 dim max |d| < 2^31, by the choice of t.
3. r: s is a float32, and s c exact in float64 (24 + 7 bits). So what is measured is what the codes that are kept leave,
   whatever s is: a bad s makes r long, never wrong. In no dimension is more left than there was, so r <= |x|. Each
   difference is rounded once, their sum of squares has a relative error below (dim + 2) u; r is raised by a millionth
   and to the next float32. What is kept is not below the true r, and not above 3.1 N: it is at most
   1.00001 |x| + 2^-148, and a float32 that is not zero is at least 2^-149.
4. |q| and e: relative errors below (dim + 2) u, and e is off by u |t d| <= u (|q| + e) besides, as t d is rounded.
   `norm` is |q| + e raised by 1e-9 of it, which is more than both.
5. f is off q.x by at most 1.01 dim u N |q| (Higham, as in `kernel.coarse_error`); m by two roundings, 2 u |s c| |t d|,
   at most 4 u N (|q| + e); h by two, at most 2 u (3.2 N (|q| + e) + slack); m + h and m - h by one more, of at most
   6.3 N (|q| + e). With 4, all that is less than (dim + 16) 2 u N (|q| + e).
6. `slack` is N e plus the last term of 5, and 1 % more than both: for its own roundings, for those of e, and for N,
   which may have been measured in float64.
7. Nothing underflows or overflows: a float32 that is not zero is at least 2^-149, t at least 2^-164, so that products
   and squares stay above 2^-700, and all are below 2^300.

A row whose m + h is below the k-th largest m - h has k rows above it with larger scores: it is not among the best k,
not even by a tie.
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
        """For rows that are no longer than `max_norm`; the numbers of the proof above."""
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
