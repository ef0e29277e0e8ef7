"""The derived vector index of one library on disk.

The truth is in the store, which keeps each text's vector by content hash and model. This folder holds the same vectors
by row, mapped: `vectors-<number>.f32` and `vectors.json`, the manifest; beside them, under the same name, the codes
that a search reads first (`CodeFolder`). Whatever is missing or damaged here is fetched from the store or made again,
with identical results. A vector of 384 dimensions takes 1536 bytes, its codes 392, and 56 more in a large library.

Order of writing: rows into the file, fsync, then the manifest by rename. A row counts only once the manifest says so,
and the manifest's checksums cover the rows that count: a process killed at any point leaves the state before or after.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.code_folder import CodeFolder
from groundwire_server.dense.record_file import RecordFile
from groundwire_server.dense.vector_index import VectorIndex
from groundwire_server.dense.vector_manifest import (
    BLOCK_ROWS,
    VectorManifest,
    block_checksum,
    read_manifest,
    write_manifest,
)
from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["VectorDirectory", "VectorsOf"]

VectorsOf = Callable[[int, int], Iterable[tuple[int, bytes | None]]]
NORM_SLACK = 1e-3


class VectorDirectory:
    """One writer's view of the folder; `load` first. Its methods may be called from several threads.

    Args:
        path: the folder; made when it is not there.
        model: name of the embedder, for people.
        version: the embedder's; vectors of another one are refused.
        dim: length of a vector.
        centre_of: gives the model's centre (`model_centre`), asked once the library is large; None: every search reads
            all candidates.
    """

    def __init__(
        self,
        path: Path,
        *,
        model: str,
        version: str,
        dim: int,
        centre_of: Callable[[], NDArray[np.float32]] | None = None,
    ) -> None:
        self._path = path
        self._model = model
        self._version = version
        self._dim = dim
        self._lock = threading.Lock()
        self._file: RecordFile | None = None
        self._checksums: list[int] = []
        self._state = ""
        self._codes = CodeFolder(path, dim, centre_of)
        self._index: VectorIndex | None = None

    @property
    def index(self) -> VectorIndex:
        """The newest index. Raises RuntimeError before `load`."""
        if self._index is None:
            raise RuntimeError("load the directory first")
        return self._index

    def load(
        self,
        n_rows: int,
        vectors_of: VectorsOf,
        state: str = "",
        knows: Callable[[str], bool] = lambda state: True,
    ) -> VectorIndex:
        """Verify what is on disk, fetch what is missing or damaged, and return the index over `n_rows` rows.

        `vectors_of(start, stop)` gives (row, packed vector or None) for rows of that range, in any order; a row that it
        leaves out, or gives None for, stays without a vector. It is asked for ranges that lack a row, never for all of
        a sound index. A file with more rows than `n_rows`, or made of a state that the store does not know, holds the
        vectors of other rows: it is made anew.

        Args:
            n_rows: rows that the store has.
            vectors_of: theirs.
            state: of the store now (`StoreReader.state`).
            knows: whether the store was ever in a state.

        Raises:
            FailedPrecondition: INDEX_MISMATCH; the folder, or a vector of the store, is of another model or dimension.
            OSError: the folder cannot be read or written.
        """
        with self._lock:
            self._path.mkdir(parents=True, exist_ok=True)
            manifest = read_manifest(self._path)
            if manifest is not None:
                self._check_model(manifest)
                if len(manifest.present) > n_rows or not knows(manifest.state):
                    manifest = None
            self._state = state
            present = self._open(manifest, n_rows)
            assert self._file is not None
            self._file.grow(n_rows)
            matrix, name = self._file.map(n_rows), self._file.path.stem
            if self._codes.open(name, None if manifest is None else manifest.codes, matrix, present):
                self._write_manifest(present)
            self._publish(n_rows, present)
            for start, stop in _ranges_with_gaps(present):
                self._fetch(start, stop, vectors_of)
            return self.index

    def extend(self, n_rows: int, state: str = "") -> VectorIndex:
        """An index over more rows, which the store has in a state; the new ones have no vector yet.

        Raises OSError, ValueError for fewer rows.
        """
        with self._lock:
            if n_rows < self.index.rows:
                raise ValueError(f"{n_rows} rows; the index has {self.index.rows}")
            if n_rows > self.index.rows:
                present = np.zeros(n_rows, np.bool_)
                present[: self.index.rows] = self.index.present
                self._state = state
                self._publish(n_rows, present)
            return self.index

    def put(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> VectorIndex:
        """Give rows their vectors, on disk when this returns. Indexes made before stay as they are.

        Args:
            rows: distinct row numbers below `index.rows`, in any order.
            vectors: float32 [len(rows), dim]; unit vectors or zero, as embedders make them.

        Raises:
            ValueError: a row out of range or twice, a vector that is none, or another one for a row that has one.
            OSError: the folder cannot be written; nothing counts as written.
        """
        with self._lock:
            self._put(np.asarray(rows, np.int64), vectors)
            return self.index

    def close(self) -> None:
        """Indexes stay usable."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
            self._codes.close()

    def _check_model(self, manifest: VectorManifest) -> None:
        if (manifest.version, manifest.dim) != (self._version, self._dim):
            raise FailedPrecondition(
                ErrorReason.INDEX_MISMATCH,
                f"The library's vectors were made by {manifest.model} ({manifest.version[:12]}…, {manifest.dim} "
                f"dimensions); the server has {self._model} ({self._version[:12]}…, {self._dim} dimensions).",
                hint=f"Configure the model that the library was embedded with, or delete {self._path} to embed anew.",
                details={
                    "stored_model": manifest.model,
                    "stored_version": manifest.version,
                    "stored_dim": str(manifest.dim),
                    "configured_model": self._model,
                    "configured_version": self._version,
                    "configured_dim": str(self._dim),
                },
            )

    def _open(self, manifest: VectorManifest | None, n_rows: int) -> NDArray[np.bool_]:
        """Open the manifest's file, or a new one, and say which rows are sound."""
        if self._file is not None:
            self._file.close()
        present = np.zeros(n_rows, np.bool_)
        if manifest is None:
            self._file = RecordFile(self._path / self._new_name(), "<f4", (self._dim,))
            self._checksums = []
            return present
        self._file = RecordFile(self._path / manifest.file, "<f4", (self._dim,))
        covered = min(len(manifest.present), self._file.records)
        present[:covered] = manifest.present[:covered]
        self._checksums = list(manifest.checksums)
        matrix = self._file.map(covered)
        for block, checksum in enumerate(self._checksums):
            if block_checksum(matrix, present[:covered], block) != checksum:
                present[block * BLOCK_ROWS : (block + 1) * BLOCK_ROWS] = False
                self._checksums[block] = 0
        return present

    def _new_name(self) -> str:
        """A file name that is not in use: a file that somebody may have mapped is never written anew."""
        used = {path.name for path in self._path.glob("vectors-*.f32")}
        return next(name for n in range(1, len(used) + 2) if (name := f"vectors-{n}.f32") not in used)

    def _publish(self, n_rows: int, present: NDArray[np.bool_]) -> None:
        assert self._file is not None
        self._file.grow(n_rows)
        codes = self._codes.map(n_rows)
        self._index = VectorIndex(self._file.map(n_rows), present, self._version, 1 + NORM_SLACK, codes)

    def _fetch(self, start: int, stop: int, vectors_of: VectorsOf) -> None:
        """Take what the store has for a range, a block at a time."""
        rows: list[int] = []
        vectors: list[NDArray[np.float32]] = []
        for row, packed in vectors_of(start, stop):
            if packed is None or self.index.present[row]:
                continue
            vector = np.frombuffer(packed, "<f4") if len(packed) == self._dim * 4 else None
            if vector is None or not _unit_or_zero(vector[None]):
                raise self._foreign(row)
            rows.append(row)
            vectors.append(vector)
            if len(rows) == BLOCK_ROWS:
                self._put(np.array(rows, np.int64), np.array(vectors, np.float32))
                rows, vectors = [], []
        if rows:
            self._put(np.array(rows, np.int64), np.array(vectors, np.float32))

    def _foreign(self, row: int) -> FailedPrecondition:
        return FailedPrecondition(
            ErrorReason.INDEX_MISMATCH,
            f"The stored vector of row {row} is not one of {self._model}: it must have {self._dim} dimensions and "
            "length one.",
            details={"configured_model": self._model, "configured_dim": str(self._dim)},
        )

    def _put(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        index = self.index
        self._check_vectors(rows, vectors)
        order = np.argsort(rows)
        rows, vectors = rows[order], vectors[order]
        fresh = ~index.present[rows]
        for row, vector in zip(rows[~fresh], vectors[~fresh], strict=True):
            stored = index.vector(int(row))
            if stored is None or stored.tobytes() != vector.tobytes():
                raise ValueError(f"row {row} has another vector already")
        rows, vectors = rows[fresh], vectors[fresh]
        if not len(rows):
            return
        assert self._file is not None
        self._file.write(rows, vectors)
        self._file.sync()
        present = index.present.copy()
        present[rows] = True
        self._save(present, np.unique(rows // BLOCK_ROWS).tolist())
        self._publish(index.rows, present)

    def _check_vectors(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        if vectors.dtype != np.float32 or vectors.shape != (len(rows), self._dim):
            raise ValueError(f"vectors must be float32 [{len(rows)}, {self._dim}]")
        if len(rows) and (rows.min() < 0 or rows.max() >= self.index.rows or len(np.unique(rows)) != len(rows)):
            raise ValueError(f"rows must be distinct and below {self.index.rows}")
        if not _unit_or_zero(vectors):
            raise ValueError("each vector must be of length one, or zero")

    def _save(self, present: NDArray[np.bool_], blocks: list[int]) -> None:
        """Checksum the blocks that changed and write the manifest; then remove files that it no longer names."""
        assert self._file is not None
        matrix = self._file.map(len(present))
        self._checksums += [0] * (-(-len(present) // BLOCK_ROWS) - len(self._checksums))
        for block in blocks:
            self._checksums[block] = block_checksum(matrix, present, block)
        self._codes.update(blocks, matrix, present)
        self._write_manifest(present)

    def _write_manifest(self, present: NDArray[np.bool_]) -> None:
        """Write it; then remove files that it no longer names."""
        assert self._file is not None
        name, stem = self._file.path.name, self._file.path.stem
        checksums, codes = tuple(self._checksums), self._codes.state
        write_manifest(
            self._path,
            VectorManifest(self._model, self._version, self._dim, name, present, checksums, codes, self._state),
        )
        for other in self._path.glob("vectors-*.*"):
            if other.stem != stem:
                other.unlink(missing_ok=True)


def _unit_or_zero(vectors: NDArray[np.float32]) -> bool:
    lengths = np.sqrt(np.square(vectors.astype(np.float64)).sum(axis=1))
    return bool(np.all((lengths == 0) | (np.abs(lengths - 1) <= NORM_SLACK)))


def _ranges_with_gaps(present: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Ranges of whole blocks in which a row has no vector; neighbours joined."""
    ranges: list[tuple[int, int]] = []
    for start in range(0, len(present), BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, len(present))
        if present[start:stop].all():
            continue
        if ranges and ranges[-1][1] == start:
            ranges[-1] = (ranges[-1][0], stop)
        else:
            ranges.append((start, stop))
    return ranges
