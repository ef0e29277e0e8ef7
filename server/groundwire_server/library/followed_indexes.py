"""The derived indexes of a library that another process writes: its files, mapped, and what they lack, in memory."""

from __future__ import annotations

from pathlib import Path

from groundwire_server.dense import Embedder, FollowedVectors, VectorIndex
from groundwire_server.lexical import FollowedWords, LexicalIndex
from groundwire_server.library.columns import ChunkColumns
from groundwire_server.library.indexes import VECTORS, WORDS, LibraryIndexes, texts_of
from groundwire_server.store import Store, StoreReader

__all__ = ["FollowedIndexes", "NotYet"]


# So many rows are sooner mapped than indexed: the other process saves them a moment after it has stored them.
_MANY_ROWS = 256


class NotYet(Exception):
    """The files do not have rows yet that the store has: the process that writes is about to put them there."""


class FollowedIndexes(LibraryIndexes):
    """One thread at a time may follow; the indexes that it gives are immutable.

    Attributes:
        awaits_vectors: whether `follow` raises NotYet where the files of vectors have no room yet for new rows; else
            such rows are without vectors for now.
        awaits_words: whether it does where many rows have no words in the files yet; else they are indexed here.
    """

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder = folder
        self._store = store
        self._followed_words = FollowedWords(folder / WORDS)
        self._followed_vectors: FollowedVectors | None = None
        self.embedder = None
        self.awaits_vectors = self.awaits_words = False

    @property
    def lexical(self) -> LexicalIndex:
        """The newest index of words."""
        return self._followed_words.index

    @property
    def vectors(self) -> VectorIndex | None:
        """The newest index of vectors; None without an embedder."""
        return None if self._followed_vectors is None else self._followed_vectors.index

    def look(self) -> bool:
        """Whether files were written since the last look; to be called before the state is read that is followed."""
        words = self._followed_words.look()
        return (self._followed_vectors is not None and self._followed_vectors.look()) or words

    def follow(self, columns: ChunkColumns, reader: StoreReader) -> None:
        """Bring both up to the rows of the columns.

        Raises:
            NotYet: as `awaits_words` and `awaits_vectors` say.
        """
        if self.awaits_words and columns.rows - self._followed_words.mapped_rows > _MANY_ROWS:
            raise NotYet
        self._followed_words.follow(columns.rows, texts_of(columns, reader), reader.state(), self._store.was)
        vectors = self._followed_vectors
        if vectors is not None and not vectors.follow(columns.rows, self._store.was):
            if self.awaits_vectors:
                raise NotYet
            vectors.go_without(columns.rows)

    def use_embedder(
        self, embedder: Embedder | None, columns: ChunkColumns, reader: StoreReader, *, anew: bool = False
    ) -> None:
        """Follow the vectors of an embedder from now on."""
        self.embedder, self._followed_vectors = embedder, None
        if embedder is not None:
            self._followed_vectors = FollowedVectors(self._folder / VECTORS, version=embedder.version, dim=embedder.dim)
            self._followed_vectors.look()

    def settle(self) -> None:
        """Nothing goes on behind."""

    def close(self) -> None:
        """Nothing to save; indexes stay usable."""
