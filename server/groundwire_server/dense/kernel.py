"""The arithmetic of vectors whose bits depend on nothing but the two vectors.

BLAS adds in an order that changes with the shape of the call, so the same row gets other last bits in another batch or
under another filter. Everything that is shown, compared or stored is computed here instead, in float64, in one order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["coarse_error", "fixed_dots", "fold", "unit_vector"]

BLOCK_ROWS = 512  # the products of one block, 1.5 MB at 384 dimensions, stay in the cache
HALF_ULP_32 = 2.0**-24
HALF_ULP_64 = 2.0**-53
SMALLEST_NORMAL_32 = 2.0**-126


def fixed_dots(rows: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Inner products of float32 rows [n, dim] with a float32 query [dim], as float64 [n].

    Order: multiply in float64 (exact, 24 + 24 bits fit 53, so a fused multiply-add could change nothing); while the
    number of terms is even, add the upper half to the lower half, term by term; then add what is left from left to
    right. Only elementwise operations are used, each rounded by itself as IEEE 754 says, so the bits do not depend on
    vector width, alignment, blocking or threads. A zero is always +0.0.

    >>> float(fixed_dots(np.array([[3, 4]], np.float32), np.array([1, 1], np.float32))[0])
    7.0
    """
    wide = query.astype(np.float64)
    scores = np.empty(len(rows), np.float64)
    for start in range(0, len(rows), BLOCK_ROWS):
        scores[start : start + BLOCK_ROWS] = fold(np.multiply(rows[start : start + BLOCK_ROWS], wide))
    return scores


def unit_vector(vector: NDArray[np.float64]) -> NDArray[np.float32]:
    """The vector divided by its length, as float32; read-only. The zero vector stays zero."""
    length = np.sqrt(fold(vector[None] * vector[None])[0])
    unit = (vector / length if length > 0 else np.zeros_like(vector)).astype(np.float32)
    unit.flags.writeable = False
    return unit


def coarse_error(dim: int, row_norm: float, query_norm: float) -> float:
    """How far a float32 inner product, summed in any order, may lie from `fixed_dots`: an upper bound.

    With u = 2^-24 and g(n, u) = n u / (1 - n u), a sum of n products in float32, in whatever order, blocked or with
    fused operations, differs from the true value by at most g(n, u) · sum |x_i q_i| (Higham, Accuracy and Stability of
    Numerical Algorithms, 2nd ed., section 3.1), which is at most g(n, u) |x| |q| by Cauchy and Schwarz. `fixed_dots`
    differs from the true value by at most g(n, 2^-53) |x| |q|. Underflow, gradual or flushed to zero, adds at most
    2^-126 (1 + |x_i| + |q_i|) a term, with |x_i| <= |x|. The two distances add up. The norms given may be rounded: the
    result is raised by 1 %, thousands of times what they and the few roundings here can lose.

    This holds for any BLAS that computes in IEEE single precision; one that rounds inputs to fewer bits is not one.
    """
    single = dim * HALF_ULP_32 / (1 - dim * HALF_ULP_32)
    double = dim * HALF_ULP_64 / (1 - dim * HALF_ULP_64)
    underflow = dim * SMALLEST_NORMAL_32 * (1 + row_norm + query_norm)
    return 1.01 * ((single + double) * row_norm * query_norm + underflow)


def fold(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of each row of [n, dim] in the order that `fixed_dots` says."""
    width = terms.shape[1]
    while width > 1 and width % 2 == 0:
        width //= 2
        terms = terms[:, :width] + terms[:, width:]
    total = terms[:, 0]
    for column in range(1, width):
        total = total + terms[:, column]
    return total + 0.0  # -0.0 becomes 0.0
