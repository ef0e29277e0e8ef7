"""A file of float32 rows that grows and is never shortened, written by one and mapped by many."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["VectorFile"]


class VectorFile:
    """Row i of [n, dim] lies at byte i * dim * 4, little-endian. Rows that were never written take no room.

    A mapping stays valid while the file grows, and sees rows that are written later: an index must not look at rows
    that were absent when it was made. Raises OSError.
    """

    def __init__(self, path: Path, dim: int) -> None:
        self.path = path
        self._dim = dim
        self._row_bytes = dim * 4
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)

    @property
    def rows(self) -> int:
        """Whole rows that the file has room for."""
        return os.fstat(self._handle).st_size // self._row_bytes

    def grow(self, rows: int) -> None:
        """Make room for that many rows; does nothing when there is."""
        if rows > self.rows:
            os.ftruncate(self._handle, rows * self._row_bytes)

    def map(self, rows: int) -> NDArray[np.float32]:
        """The first rows, read-only, shared with the page cache."""
        if rows == 0:
            return np.empty((0, self._dim), np.float32)
        mapped = mmap.mmap(self._handle, rows * self._row_bytes, access=mmap.ACCESS_READ)
        return np.frombuffer(mapped, "<f4").reshape(rows, self._dim)

    def write(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Put vectors [m, dim] at ascending row numbers [m]; runs of neighbours in one call."""
        ends = np.flatnonzero(np.diff(rows) != 1) + 1
        for start, end in zip([0, *ends], [*ends, len(rows)], strict=True):
            self._write_at(int(rows[start]) * self._row_bytes, vectors[start:end].astype("<f4").tobytes())

    def sync(self) -> None:
        """Everything that was written is on disk when this returns."""
        os.fsync(self._handle)

    def close(self) -> None:
        """Mappings stay usable."""
        os.close(self._handle)

    def _write_at(self, offset: int, data: bytes) -> None:
        left = memoryview(data)
        while left:
            written = os.pwrite(self._handle, left, offset)
            offset, left = offset + written, left[written:]
