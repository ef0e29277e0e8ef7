"""Vectors in one bit a dimension: a cheap guess at which rows are near.

With the model's centre m, a row is x = m + y and a query q = m + z. Kept of a row are the signs b of y and two numbers:
its size a = |y|^2 / |y|_1, by which a b is the multiple of b whose product with y is that of y itself, and its offset
m.y. A query is z in four bits a dimension, odd whole numbers d in -15..15 times a step t. Then

    q.x - q.m  =  m.y + z.y   is near   m.y + a t (b.d)

and b.d is counted in words: 15 dim - 2 (h0 + 2 h1 + 4 h2 + 8 h3), where h are the Hamming distances between b and the
four planes of bits of d. The idea is that of RaBitQ (Gao and Long, 2024), without its rotation and its bound. All
numbers are whole, so that an estimate has the same bits wherever it is made; it says nothing certain, and whoever uses
it has measured what it misses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.kernel import fold

__all__ = ["BLOCK_ROWS", "NEVER", "QuerySigns", "SignCodes", "encode_signs", "estimates"]

BLOCK_ROWS = 1024
PLANES = 4
HIGHEST = 2**PLANES - 1
OFFSET_UNIT = 2.0**-24
SIZE_UNIT = 2.0**-15
FACTORS = 64  # factors lie in 32..63
NEVER = -(2**31)


@dataclass(frozen=True, slots=True, eq=False)
class SignCodes:
    """In blocks of 1024 rows, column by column, so that eight rows go through one instruction (56 bytes a row at 384).

    Attributes:
        centre: float32 [dim].
        bits: uint64 [blocks, words, 1024]; bit j of word w of a row is dimension 64 w + j.
        marks: int32 [blocks, 2, 1024]; sizes and offsets.
    """

    centre: NDArray[np.float32]
    bits: NDArray[np.uint64]
    marks: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class QuerySigns:
    """`planes` uint64 [4, words]; an estimate is (size * b.d * factor >> shift) + offset, and b.d at most `top`."""

    planes: NDArray[np.uint64]
    top: int
    factor: int
    shift: int

    @classmethod
    def of(cls, query: NDArray[np.float32], centre: NDArray[np.float32]) -> QuerySigns:
        """The step is a whole factor times a power of two, the least that reaches the largest number."""
        far = query.astype(np.float64) - centre.astype(np.float64)
        largest = float(np.abs(far).max())
        scale = SIZE_UNIT / OFFSET_UNIT
        wanted = min(max(largest / HIGHEST * scale, 2.0**-20), FACTORS / 2)  # vectors are no longer than one
        shift = max(0, int(np.ceil(np.log2(FACTORS / 2 / wanted))))
        factor = min(int(np.ceil(wanted * 2**shift)), FACTORS - 1)
        step = factor / 2**shift / scale
        levels = np.clip(np.rint((far / step + HIGHEST) / 2), 0, HIGHEST).astype(np.uint8)
        planes = np.stack([_words((levels >> plane) & 1) for plane in range(PLANES)])
        return cls(planes, HIGHEST * len(far), factor, shift)


def encode_signs(
    vectors: NDArray[np.float32], centre: NDArray[np.float32]
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Bits and marks of one block of vectors [1024, dim]: uint64 [words, 1024], int32 [2, 1024]."""
    middle = centre.astype(np.float64)
    far = vectors.astype(np.float64) - middle
    lengths = fold(np.abs(far))
    sizes = np.divide(fold(np.square(far)), lengths, out=np.zeros(len(far)), where=lengths > 0)
    most = (2**31 - 1) // (HIGHEST * vectors.shape[1] * FACTORS)  # so that nothing overflows 32 bits
    marks = np.stack(
        [
            np.clip(np.rint(sizes / SIZE_UNIT), 0, most),
            np.clip(np.rint(fold(far * middle) / OFFSET_UNIT), -(2**29), 2**29),
        ]
    )
    return np.ascontiguousarray(_words(far > 0).T), marks.astype(np.int32)


def estimates(codes: SignCodes, query: QuerySigns, block: slice) -> NDArray[np.int32]:
    """Estimates of the rows of some blocks, int32 [blocks, 1024]; the higher, the nearer."""
    bits, marks = codes.bits[block], codes.marks[block]
    far = np.zeros((len(bits), BLOCK_ROWS), np.int32)
    for plane in range(PLANES):
        for word in range(bits.shape[1]):
            far += np.bitwise_count(bits[:, word] ^ query.planes[plane, word]).astype(np.int32) << plane
    return ((((query.top - 2 * far) * marks[:, 0] * query.factor) >> query.shift) + marks[:, 1]).astype(np.int32)


def _words(bits: NDArray[np.bool_] | NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Bits along the last axis as words; missing ones at the end are 0."""
    packed = np.packbits(bits, axis=-1, bitorder="little")
    short = -packed.shape[-1] % 8
    padded = np.concatenate([packed, np.zeros((*packed.shape[:-1], short), np.uint8)], axis=-1)
    return np.ascontiguousarray(padded).view("<u8").astype(np.uint64, copy=False)
