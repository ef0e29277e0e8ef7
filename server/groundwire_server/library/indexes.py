"""The derived indexes of one library, kept up with its store: rows of words and rows of vectors."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense import Embedder, VectorDirectory, VectorIndex, model_centre, unpack_vector
from groundwire_server.errors import FailedPrecondition
from groundwire_server.lexical import LexicalDirectory, LexicalIndex, Texts
from groundwire_server.library.columns import ChunkColumns
from groundwire_server.store import Store, StoreReader

__all__ = ["VECTORS", "WORDS", "LibraryIndexes", "texts_of"]

_PUT_ROWS = 4096
_WATCH_ROWS = 1024
_ASIDE = "lexical.new"

WORDS = "lexical"
VECTORS = "vectors"
"""Folders of the two indexes."""


class LibraryIndexes:
    """`lexical/` and `vectors/` in one folder. Deleted or damaged, they are rebuilt from the store with equal results.

    One thread at a time may follow; the indexes that it gives are immutable.
    """

    def __init__(self, folder: Path, store: Store, on_replaced: Callable[[], None]) -> None:
        self._folder = folder
        self._store = store
        self._on_replaced = on_replaced
        self._words = LexicalDirectory(folder / WORDS, on_replaced)
        self._vectors: VectorDirectory | None = None
        self._vectors_behind = False
        self.embedder: Embedder | None = None

    @property
    def lexical(self) -> LexicalIndex:
        """The newest index of words."""
        return self._words.index

    @property
    def vectors(self) -> VectorIndex | None:
        """The newest index of vectors; None without an embedder."""
        return None if self._vectors is None else self._vectors.index

    def follow(self, columns: ChunkColumns, reader: StoreReader) -> None:
        """Bring both up to the rows of the columns."""
        texts = _Texts(columns, reader)
        if self._words.report is None:
            self._words.load(columns.rows, texts, reader.state(), self._store.was)
        elif self.lexical.rows < columns.rows:
            self._words.append(texts(self.lexical.rows, columns.rows), reader.state())
        if self._vectors is not None:
            self._follow_vectors(self._vectors, columns, reader)

    def rebuild_words(
        self, columns: ChunkColumns, reader: StoreReader, watch: Callable[[int], None], *, keep_sound: bool
    ) -> None:
        """Build the index of words anew beside the one in use, then put it in its place.

        Args:
            watch: told now and then how many rows are done; what it raises leaves all as it was.
            keep_sound: take what stands on the disk as it should, and build only what does not; unwatched.

        Raises:
            OSError: the folder cannot be written; all is as it was.
        """
        if keep_sound:
            self._words.close()
            self._words = LexicalDirectory(self._folder / WORDS, self._on_replaced)
            self._words.load(columns.rows, _Texts(columns, reader), reader.state(), self._store.was, check=True)
            return
        aside = self._folder / _ASIDE
        shutil.rmtree(aside, ignore_errors=True)
        words = LexicalDirectory(aside, self._on_replaced)
        try:
            words.load(columns.rows, _Texts(columns, reader, watch), reader.state())
            if words.write_error:
                number = getattr(errno, words.write_error)
                raise OSError(number, os.strerror(number))
            self._words.close()
            shutil.rmtree(self._folder / WORDS, ignore_errors=True)
            words.move_to(self._folder / WORDS)
        except BaseException:
            words.close()
            shutil.rmtree(aside, ignore_errors=True)
            raise
        self._words = words

    def settle(self) -> None:
        """Wait until the work behind the writes is done."""
        self._words.settle()

    def close(self) -> None:
        """Save what is not on disk yet, end the work behind the writes, and let go of the files of vectors."""
        self._words.close()
        if self._vectors is not None:
            self._vectors.close()

    def use_embedder(
        self, embedder: Embedder | None, columns: ChunkColumns, reader: StoreReader, *, anew: bool = False
    ) -> None:
        """Open the vectors of an embedder, and fetch from the store what the folder lacks; with `anew`, all of them."""
        if self._vectors is not None:
            self._vectors.close()
        if anew:
            shutil.rmtree(self._folder / VECTORS, ignore_errors=True)
        self.embedder, self._vectors = embedder, None
        if embedder is not None:
            self._vectors = self._open_vectors(embedder, columns, reader)
            self._vectors_behind = False

    def sweep_vectors(self, columns: ChunkColumns, reader: StoreReader) -> None:
        """Build the vectors anew from those that the store has; without an embedder their files go."""
        if self.embedder is None:
            shutil.rmtree(self._folder / VECTORS, ignore_errors=True)
        elif self._vectors is not None:
            self.use_embedder(self.embedder, columns, reader, anew=True)

    def set_vectors(self, columns: ChunkColumns, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Take over vectors of chunk rows that the store has.

        Raises:
            OSError: the folder cannot be written; the next `follow` takes them from the store.
        """
        if self._vectors is None:
            return
        chunk_rows = np.array([chunk_row for chunk_row, _ in vectors], np.int64)
        rows = columns.rows_of(chunk_rows).tolist()
        self._put(self._vectors, ((row, packed) for row, (_, packed) in zip(rows, vectors, strict=True)))

    def _open_vectors(self, embedder: Embedder, columns: ChunkColumns, reader: StoreReader) -> VectorDirectory:
        folder = self._folder / VECTORS
        texts = _Vectors(columns, reader, embedder.version)
        for attempt in ("as it is", "made anew"):
            directory = VectorDirectory(
                folder,
                model=embedder.name,
                version=embedder.version,
                dim=embedder.dim,
                centre_of=lambda: model_centre(embedder),
            )
            try:
                directory.load(columns.rows, texts, reader.state(), self._store.was)
            except FailedPrecondition:
                # The library says which embedder is its own; a folder of another one is a leftover.
                directory.close()
                if attempt == "made anew":
                    raise
                shutil.rmtree(folder)
            else:
                break
        return directory

    def _follow_vectors(self, directory: VectorDirectory, columns: ChunkColumns, reader: StoreReader) -> None:
        """New rows whose texts were embedded before have their vectors at once."""
        first = directory.index.rows
        if first < columns.rows:
            directory.extend(columns.rows, reader.state())
        start = 0 if self._vectors_behind else first
        if self.embedder is not None and start < columns.rows:
            self._put(directory, _Vectors(columns, reader, self.embedder.version)(start, columns.rows))

    def _put(self, directory: VectorDirectory, vectors: Iterable[tuple[int, bytes | None]]) -> None:
        self._vectors_behind = True
        rows: list[int] = []
        fresh: list[NDArray[np.float32]] = []
        for row, packed in vectors:
            if packed is None or row >= directory.index.rows or directory.index.present[row]:
                continue
            rows.append(row)
            fresh.append(unpack_vector(packed))
            if len(rows) == _PUT_ROWS:
                directory.put(rows, np.stack(fresh))
                rows, fresh = [], []
        if rows:
            directory.put(rows, np.stack(fresh))
        self._vectors_behind = False


def texts_of(columns: ChunkColumns, reader: StoreReader) -> Texts:
    """Index texts of rows, from the store."""
    return _Texts(columns, reader)


class _Texts:
    """Index texts of rows, from the store. `watch` is told now and then up to which row they were taken."""

    def __init__(self, columns: ChunkColumns, reader: StoreReader, watch: Callable[[int], None] | None = None) -> None:
        self._columns = columns
        self._reader = reader
        self._watch = watch

    def __call__(self, start: int, stop: int) -> Iterator[str]:
        if start < stop:
            first, last = self._columns.chunk_rows(np.array([start, stop - 1], np.int64)).tolist()
            for row, (_, text) in enumerate(self._reader.index_texts(first, last), start):
                if self._watch is not None and row % _WATCH_ROWS == 0:
                    self._watch(row)
                yield text


class _Vectors:
    """Packed vectors of rows, from the store."""

    def __init__(self, columns: ChunkColumns, reader: StoreReader, version: str) -> None:
        self._columns = columns
        self._reader = reader
        self._version = version

    def __call__(self, start: int, stop: int) -> Iterator[tuple[int, bytes | None]]:
        if start < stop:
            first, last = self._columns.chunk_rows(np.array([start, stop - 1], np.int64)).tolist()
            found = self._reader.embeddings(self._version, first, last)
            for row, (_, packed) in enumerate(found, start):
                yield row, packed
