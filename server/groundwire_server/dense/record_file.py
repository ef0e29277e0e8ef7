"""A file of equal records that grows and is never shortened, written by one and mapped by many."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RecordFile"]


class RecordFile:
    """Record i is an array of one shape and lies at byte i * its size, little-endian. What was never written takes no
    room.

    A mapping stays valid while the file grows, and sees records that are written later: an index must not look at those
    that were absent when it was made. Raises OSError.

    Args:
        path: of the file; made when it is not there, but not by one that only reads.
        dtype: of the records.
        shape: of each.
        read_only: for a file that another process writes.
    """

    def __init__(self, path: Path, dtype: str, shape: tuple[int, ...], *, read_only: bool = False) -> None:
        self.path = path
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._size = self._dtype.itemsize * int(np.prod(shape))
        self._handle = os.open(path, os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT, 0o644)

    @property
    def records(self) -> int:
        """Whole records that the file has room for."""
        return os.fstat(self._handle).st_size // self._size

    def grow(self, records: int) -> None:
        """Make room for that many; does nothing when there is."""
        if records > self.records:
            os.ftruncate(self._handle, records * self._size)

    def map(self, records: int) -> NDArray[Any]:
        """The first records [records, *shape], read-only, shared with the page cache."""
        if records == 0:
            return np.empty((0, *self._shape), self._dtype)
        mapped = mmap.mmap(self._handle, records * self._size, access=mmap.ACCESS_READ)
        return np.frombuffer(mapped, self._dtype).reshape(records, *self._shape)

    def write(self, numbers: NDArray[np.int64], records: NDArray[Any]) -> None:
        """Put records [m, *shape] at ascending numbers [m]; runs of neighbours in one call."""
        ends = np.flatnonzero(np.diff(numbers) != 1) + 1
        for start, end in zip([0, *ends], [*ends, len(numbers)], strict=True):
            self._write_at(int(numbers[start]) * self._size, records[start:end].astype(self._dtype).tobytes())

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
