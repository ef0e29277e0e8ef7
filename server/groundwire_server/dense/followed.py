"""The vectors of a library that another process writes, mapped from its files and never written.

What counts is what the manifest says: the other process puts vectors and their codes into the files first, then it
replaces the manifest. New rows come without vectors; for these too the files have room before anybody is told of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.code_folder import Codes
from groundwire_server.dense.record_file import RecordFile
from groundwire_server.dense.row_codes import RowCodes
from groundwire_server.dense.sign_codes import BLOCK_ROWS, SignCodes
from groundwire_server.dense.vector_directory import NORM_SLACK
from groundwire_server.dense.vector_index import VectorIndex
from groundwire_server.dense.vector_manifest import MANIFEST, VectorManifest, read_manifest

__all__ = ["FollowedVectors"]

Stamp = tuple[int, ...] | None


class FollowedVectors:
    """One thread at a time may follow; indexes that were given stay usable.

    Args:
        path: folder of the vectors.
        version: of the embedder; vectors of another one do not count.
        dim: length of a vector.
    """

    def __init__(self, path: Path, *, version: str, dim: int) -> None:
        self._path = path
        self._version = version
        self._dim = dim
        self._stamp: Stamp = ()
        self._manifest: VectorManifest | None = None
        self._made_of: VectorManifest | None = None  # None: an index without vectors
        self._index = self._without_any(0)

    @property
    def index(self) -> VectorIndex:
        """The newest index."""
        return self._index

    def look(self) -> bool:
        """Whether there is another manifest than at the last look. Comes before the state is read, as for words."""
        stamp = self._look_at()
        if stamp == self._stamp:
            return False
        self._stamp, self._manifest = stamp, read_manifest(self._path)
        return True

    def follow(self, rows: int, knows: Callable[[str], bool]) -> bool:
        """Bring the index to so many rows; False where the files have no room for them yet, and it stays as it is.

        Args:
            rows: that the store has.
            knows: whether the store was ever in a state.
        """
        manifest = self._manifest
        if manifest is not None and not self._is_of_use(manifest, rows, knows):
            manifest = None
        if self._index.rows == rows and self._made_of is manifest:
            return True
        if manifest is None:
            self.go_without(rows)
            return True
        try:
            index = self._map(manifest, rows)
        except (OSError, ValueError):  # the files are others since, and a newer manifest names those
            index = None
        if index is None:
            return False
        self._index, self._made_of = index, manifest
        return True

    def go_without(self, rows: int) -> None:
        """Have an index of so many rows, none of which has a vector."""
        if self._index.rows != rows or self._made_of is not None:
            self._index, self._made_of = self._without_any(rows), None

    def _is_of_use(self, manifest: VectorManifest, rows: int, knows: Callable[[str], bool]) -> bool:
        fits = (manifest.version, manifest.dim) == (self._version, self._dim)
        return fits and len(manifest.present) <= rows and knows(manifest.state)

    def _look_at(self) -> Stamp:
        try:
            found = (self._path / MANIFEST).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size

    def _without_any(self, rows: int) -> VectorIndex:
        # Zeros that nobody looks at take no memory.
        return VectorIndex(
            np.zeros((rows, self._dim), np.float32), np.zeros(rows, np.bool_), self._version, 1 + NORM_SLACK
        )

    def _map(self, manifest: VectorManifest, rows: int) -> VectorIndex | None:
        matrix = self._records(manifest.file, "<f4", (self._dim,), rows)
        if matrix is None:
            return None
        codes = None
        if manifest.codes is not None:
            codes = self._codes(manifest.codes.name, manifest.codes.centre, rows)
            if codes is None:
                return None
        present = np.zeros(rows, np.bool_)
        present[: len(manifest.present)] = manifest.present
        return VectorIndex(matrix, present, self._version, 1 + NORM_SLACK, codes)

    def _codes(self, name: str, centre: NDArray[np.float32] | None, rows: int) -> Codes | None:
        blocks = -(-rows // BLOCK_ROWS)
        codes = self._records(f"{name}.i8", "i1", (self._dim,), blocks * BLOCK_ROWS)
        steps = self._records(f"{name}.steps", "<f4", (2,), blocks * BLOCK_ROWS)
        if codes is None or steps is None:
            return None
        signs = None
        if centre is not None:
            bits = self._records(f"{name}.bits", "<u8", (-(-self._dim // 64), BLOCK_ROWS), blocks)
            marks = self._records(f"{name}.marks", "<i4", (2, BLOCK_ROWS), blocks)
            if bits is None or marks is None:
                return None
            signs = SignCodes(centre, bits, marks)
        return Codes(RowCodes(codes[:rows], steps[:rows]), signs)

    def _records(self, name: str, dtype: str, shape: tuple[int, ...], count: int) -> NDArray[Any] | None:
        """Records of a file, mapped; None where it has not so many."""
        file = RecordFile(self._path / name, dtype, shape, read_only=True)
        try:
            return file.map(count) if file.records >= count else None
        finally:
            file.close()
