"""A library that another process writes, followed from this one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from groundwire_server.adjacency import Adjacency
from groundwire_server.dense import Embedder
from groundwire_server.errors import ErrorReason, Unavailable
from groundwire_server.library.config import LibraryConfig
from groundwire_server.library.followed_indexes import FollowedIndexes, NotYet
from groundwire_server.library.indexes import LibraryIndexes
from groundwire_server.library.kept_columns import KeptColumns
from groundwire_server.library.library import COLUMNS, RELATIONS, Library
from groundwire_server.library.snapshot import Snapshot
from groundwire_server.store import FollowedStore, Store

__all__ = ["FollowedLibrary"]

# How long files are waited for before this process does without them.
_WORDS_SECONDS, _VECTORS_SECONDS = 0.4, 1.0
_GLANCE_SECONDS = 0.005


class FollowedLibrary(Library):
    """Reads as a library does, of what another process stores. It writes nothing and holds no lock that a writer needs.

    `follow` takes up what was committed since: columns and relations from the store, words and vectors from the files
    of the other process, and from the store what these do not have yet. Any thread.

    Args:
        folder: of the library.
        library_id: its id.
        secret: key of snapshot ids.

    Raises:
        Unavailable: LIBRARIES_UNREACHABLE, it is not there, or not brought up to date yet.
        FailedPrecondition: STORE_VERSION.
    """

    store: FollowedStore
    _indexes: FollowedIndexes

    def __init__(self, folder: Path, library_id: str, *, secret: bytes) -> None:
        self._behind = False
        self._pause = threading.Event()  # never set
        self._waiting_since: float | None = None
        super().__init__(folder, library_id, secret=secret)

    def follow(self, *, patient: bool = False) -> bool:
        """Take up what was written since the last time; whether there was anything. Cheap where there was not.

        Args:
            patient: leave many new rows for a moment to the files of the other process, which has indexed them already.
        """
        with self._lock:
            if self._closed:
                return False
            looked = self._indexes.look()  # before the store is asked: files never tell of what it does not have
            changed = self.store.changed()
            if not (looked or changed or self._behind):
                return False
            self._behind = True
            self._behind = not self._follow(patient=patient)
            return True

    def catch_up(self) -> bool:
        """Follow up to the newest state, and wait for what the other process is about to put into its files."""
        moved = self.follow()
        give_up = time.monotonic() + _VECTORS_SECONDS
        while self._behind and time.monotonic() < give_up:
            self._pause.wait(_GLANCE_SECONDS)
            moved = self.follow() or moved
        return moved

    def _follow(self, *, patient: bool) -> bool:
        """Whether nothing is left to wait for."""
        now = time.monotonic()
        waited = 0.0 if self._waiting_since is None else now - self._waiting_since
        self._indexes.awaits_words = patient and waited < _WORDS_SECONDS
        self._indexes.awaits_vectors = waited < _VECTORS_SECONDS
        try:
            self._put_in_place(self._take_snapshot(self._snapshot))
        except NotYet:
            self._waiting_since = self._waiting_since or now
            return False
        self._adjacency.follow(self._snapshot.stored)
        if not self._indexes.awaits_vectors:
            return False  # rows are without vectors for now: look again
        self._waiting_since = None
        return True

    def at(self, generation: int) -> Snapshot | None:
        """As `Library.at`; one that another process told of is caught up with."""
        if generation > self.snapshot().generation:
            self.catch_up()
        return super().at(generation)

    def use_embedder(self, embedder: Embedder | None, *, replace: bool = False, anew: bool = False) -> None:
        """Search with the vectors of an embedder from now on; which the other process makes."""
        with self._lock:
            if self._closed:
                return
            self._indexes.use_embedder(embedder, self._columns.view(), self.store.reader())
            self._indexes.awaits_words = self._indexes.awaits_vectors = False
            self._put_in_place(self._take_snapshot(None))
            self._behind = True

    def _open_store(self, path: Path, now: Callable[[], datetime]) -> Store:
        return FollowedStore(path)

    def _open_derived(self, folder: Path) -> tuple[LibraryIndexes, Adjacency, KeptColumns]:
        indexes = FollowedIndexes(folder, self.store)
        indexes.look()
        return (
            indexes,
            Adjacency(folder / RELATIONS, self.store, keep=False),
            KeptColumns(folder / COLUMNS, self.store, keep=False),
        )

    def _adopt_settings(self, config: LibraryConfig) -> None:
        """Settings and glossary are as the store has them; what people write into the files the other process takes."""
        if not self._kept.are_there(self.store.reader()):
            raise Unavailable(ErrorReason.LIBRARIES_UNREACHABLE, "The library is not set up yet.")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        raise Unavailable(ErrorReason.NOT_SERVING, "This process only reads; another one writes.")
        yield
