"""The columns of a library in a file beside its indexes, so that opening it does not read a row for each revision."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import numpy as np

from groundwire_server.errors import GroundwireError
from groundwire_server.library.column_file import read_columns, write_columns
from groundwire_server.library.columns import ChunkColumns, ColumnBuilder
from groundwire_server.store import Store, StoreReader

__all__ = ["KeptColumns"]

_GENERATION = "generation"
_MOST_BEHIND = 20_000  # revisions that a start reads from the store in 0.2 s
_SHARE_BEHIND = 4
_WORTH_KEEPING = 500


class KeptColumns:
    """Derived: without the file, with a damaged one or one of another store all is read from the store again.

    It may lie behind the store; who opens it reads the rest. It is written by a thread of its own when it lies far
    behind, and when the library is closed. One thread at a time may use this.

    Args:
        path: of the file.
        store: what it is derived from.
        keep: whether the file is this one's to write; else it is another process's, and only read.
    """

    def __init__(self, path: Path, store: Store, *, keep: bool = True) -> None:
        self._path = path
        self._store = store
        self._keep = keep
        self._kept = 0  # revisions in the file
        self._changes = 0  # births and deaths since
        self._thread: threading.Thread | None = None

    def read(self) -> tuple[ColumnBuilder, int]:
        """The columns that are kept, and their generation; empty ones, of generation 0, where none can be taken."""
        found = read_columns(self._path)
        if found is None or not self._store.was(found[0]):
            return ColumnBuilder(), 0
        arrays = found[1]
        builder = ColumnBuilder(arrays)
        self._kept = builder.revisions
        return builder, int(arrays[_GENERATION][0])

    def follow(self, columns: ChunkColumns, reader: StoreReader, changes: int) -> None:
        """Note that the columns have changed; write them behind the writes once the file lies far behind."""
        if not self._keep:
            return
        self._changes += changes
        behind = self._changes > max(_MOST_BEHIND, self._kept // _SHARE_BEHIND)
        if behind and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(
                target=self._write, args=(columns, reader), name="groundwire-columns", daemon=True
            )
            self._kept, self._changes = columns.revisions, 0
            self._thread.start()

    def drop(self) -> None:
        """Take the file away; the next start reads all from the store."""
        if self._thread is not None:
            self._thread.join()
        self._path.unlink(missing_ok=True)
        self._kept = 0

    def close(self, columns: ChunkColumns, reader: StoreReader) -> None:
        """Bring the file up to the columns where that is worth it, and wait for it."""
        if self._thread is not None:
            self._thread.join()
        if self._changes >= _WORTH_KEEPING:
            self._write(columns, reader)
            self._kept, self._changes = columns.revisions, 0

    def _write(self, columns: ChunkColumns, reader: StoreReader) -> None:
        arrays = columns.kept(reader.generation) | {_GENERATION: np.array([reader.generation], np.int64)}
        with suppress(OSError, GroundwireError):  # then the next start reads more from the store
            write_columns(self._path, reader.state(), arrays)
