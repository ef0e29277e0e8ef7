"""The object that holds one library together: its store, its indexes, its glossary, its settings."""

from __future__ import annotations

import shutil
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.adjacency import Adjacency
from groundwire_server.dense import Embedder, pack_vector
from groundwire_server.errors import (
    Aborted,
    ErrorReason,
    FailedPrecondition,
    Unavailable,
)
from groundwire_server.evidence import Label
from groundwire_server.glossary import Glossary
from groundwire_server.library.attributes import AttributeColumns
from groundwire_server.library.columns import ColumnBuilder
from groundwire_server.library.config import LibraryConfig
from groundwire_server.library.derived import Deriver, follow_settings
from groundwire_server.library.fact_names import FactCodes
from groundwire_server.library.indexes import LibraryIndexes
from groundwire_server.library.kept_columns import KeptColumns
from groundwire_server.library.kept_settings import KeptSettings, Look
from groundwire_server.library.named_reader import named_reader
from groundwire_server.library.recut import Recut
from groundwire_server.library.snapshot import Snapshot
from groundwire_server.library.vector_models import note_model, replace_models
from groundwire_server.store import SqliteStore, Store, StoreReader, StoreWriter, disk_errors

__all__ = ["COLUMNS", "RELATIONS", "STORE", "Library"]

STORE = "store.sqlite"
COLUMNS = "columns"
RELATIONS = "relations"
_INDEX = "index"


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Library:
    """One library. Any thread may read and write; writers come one at a time, readers never wait for them.

    A write is committed to the store first, then it enters the indexes, then a new `Snapshot` takes the place of the
    old one. A process that dies in between loses nothing: opening catches up from the store.

    Args:
        folder: of the library; made when it is not there.
        library_id: its id.
        secret: key of snapshot ids.
        config: settings of a library that is made by this call; one that exists keeps its own.
        deriver: makes edges of what the library holds, in the transactions that change its settings or its glossary.
        now: clock of commit times.

    Raises:
        InvalidRequest: library.toml or glossary.toml was edited and does not hold.
        FailedPrecondition: STORE_VERSION, or NOT_SERVING where the folder may not be written.
    """

    def __init__(
        self,
        folder: Path,
        library_id: str,
        *,
        secret: bytes,
        config: LibraryConfig | None = None,
        deriver: Deriver | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self.library_id = library_id
        self._deriver = deriver
        self.folder = folder
        self._secret = secret
        self._lock = threading.Lock()
        self._swapping = threading.Lock()  # of `_snapshot`, for no longer than an assignment takes
        self._states: weakref.WeakSet[Snapshot] = weakref.WeakSet()  # all that somebody holds
        self._closed = False
        self._kept = KeptSettings(folder)
        self.store: Store = self._open_store(folder / STORE, now)
        self._indexes, self._adjacency, self._kept_columns = self._open_derived(folder / _INDEX)
        try:
            self._adopt_settings(config or LibraryConfig())
            self._columns, self._followed = self._kept_columns.read()
            self._attributes = AttributeColumns()
            self._fact_codes = FactCodes()
            with self._swapping:  # words that are replaced meanwhile wait for it
                self._snapshot = self._take_snapshot(None)
        except BaseException:
            self._indexes.close()
            self.store.close()
            raise

    def _open_store(self, path: Path, now: Callable[[], datetime]) -> Store:
        path.parent.mkdir(parents=True, exist_ok=True)
        return SqliteStore(path, now=now)

    def _open_derived(self, folder: Path) -> tuple[LibraryIndexes, Adjacency, KeptColumns]:
        return (
            LibraryIndexes(folder, self.store, _weakly(self._take_replaced)),
            Adjacency(folder / RELATIONS, self.store),
            KeptColumns(folder / COLUMNS, self.store),
        )

    @property
    def config(self) -> LibraryConfig:
        """Settings in force."""
        return self._snapshot.config

    def snapshot(self) -> Snapshot:
        """The newest state that is whole."""
        return self._snapshot

    @property
    def earlier_states(self) -> int:
        """How many states beside the newest are held: by streams that read them, and by work behind the calls."""
        return max(0, len(self._states) - 1)

    def at(self, generation: int) -> Snapshot | None:
        """An earlier state, or the newest one; None: there never was such a state.

        Rows and figures are those of then, the settings and the glossary too; which rows have a vector is as of now.

        Raises:
            Unavailable: NOT_SERVING, another process has written it and this one does not know it yet.
        """
        newest = self._snapshot
        if generation == newest.generation:
            return newest
        if not 0 <= generation <= self.store.reader().generation:
            return None
        if generation > newest.generation:
            raise Unavailable(ErrorReason.NOT_SERVING, "The library is catching up.", details={"phase": "starting"})
        reader = self.store.reader(generation)
        return self._noted(newest.at(reader, *self._kept.at(reader, newest)))

    @contextmanager
    def writing(self) -> Iterator[StoreWriter]:
        """The one way to write. On a clean exit everything is committed, indexed and in the new snapshot.

        Raises:
            ResourceExhausted: STORAGE_FULL; nothing of it was stored.
            Unavailable: NOT_SERVING, after `close`.
        """
        with self._changing():
            with self.store.writer(dict(self._snapshot.config.attributes)) as writer:
                yield writer
            self._publish()

    def set_config(self, config: LibraryConfig) -> None:
        """Put other settings in place; see `change_config`."""
        self.change_config(lambda _: config)

    def change_config(
        self, change: Callable[[Snapshot], LibraryConfig], *, dry_run: bool = False
    ) -> tuple[Snapshot, LibraryConfig]:
        """Put in place what `change` makes of the present state; nobody else changes it meanwhile.

        Chunks that are there stay as they were cut; `Recut` then says that there is work.

        Args:
            dry_run: raise what would be raised, and change nothing.

        Returns:
            The state before, and the settings after.

        Raises:
            InvalidRequest: a value is out of bounds.
            GlossaryConflict: the glossary has shared synonyms, and `ambiguous` is no longer "report".
            Exception: what `change` raises; then all stays as it was.
        """
        with self._changing():
            before = self._snapshot
            config = change(before)
            config.check()
            Glossary.from_toml(before.glossary.to_toml(), ambiguous=config.ambiguous)
            if not dry_run:
                with self.store.writer() as writer:
                    self._kept.put_config(writer, config)
                    Recut.read(before.reader).after(before.config, config).write(writer)
                    follow_settings(self._deriver, writer, self.store.reader(), config, before.glossary)
                self._publish()
            return before, config

    @property
    def glossary_fault(self) -> str:
        """Why glossary.toml, which a person has changed, is not in force; empty where it is."""
        return self._kept.glossary_fault

    def adopt_glossary(self, *, settled: bool = True) -> bool:
        """Take in what a person has written into glossary.toml; whether it is another glossary now.

        One that does not hold changes nothing, and `glossary_fault` says why.

        Args:
            settled: take it as it stands; else only where it stood there the last time too, since who writes a file may
                not be done.
        """
        seen = self._kept.look()
        if not self._kept.is_new(seen, settled=settled):
            return False
        with self._changing():
            return self._take_edited_glossary(seen)

    def _take_edited_glossary(self, seen: Look) -> bool:
        edited = self._kept.edited_glossary(self.store.reader(), self._snapshot.config, seen)
        if edited is None:
            return False
        self._put_glossary(*edited)
        self._kept.took(seen)
        return True

    def set_glossary(self, glossary: Glossary) -> None:
        """Put another glossary in place. Raises GlossaryConflict unless the library reports shared synonyms."""
        self.change_glossary(lambda _: glossary)

    def change_glossary(self, change: Callable[[Snapshot], Glossary]) -> None:
        """Put in place what `change` makes of the present state; nobody else changes it meanwhile.

        What a person has written into glossary.toml is taken in before.

        Raises:
            GlossaryConflict: two terms share a name, and the library does not report such.
            Aborted: CONFLICTING_CHANGE, glossary.toml was changed by a person and does not hold.
            Exception: what `change` raises; then all stays as it was.
        """
        with self._changing():
            self._take_edited_glossary(self._kept.look())
            if fault := self._kept.glossary_fault:
                why = f"glossary.toml of library {self.library_id} was edited and does not hold: {fault}"
                raise Aborted(
                    ErrorReason.CONFLICTING_CHANGE,
                    why,
                    hint="Mend the file, or delete it.",
                    details={"library_id": self.library_id},
                )
            text, config = change(self._snapshot).to_toml(), self._snapshot.config
            glossary = Glossary.from_toml(text, ambiguous=config.ambiguous)
            self._put_glossary(text, glossary)

    def _put_glossary(self, text: str, glossary: Glossary) -> None:
        """Have a glossary in force that was read from a text."""
        reader, config = self.store.reader(), self._snapshot.config
        with self.store.writer() as writer:
            self._kept.put_glossary(writer, text)
            follow_settings(self._deriver, writer, reader, config, glossary)
        self._kept.note(reader, text, config, glossary)
        self._publish()

    def use_embedder(self, embedder: Embedder | None, *, replace: bool = False, anew: bool = False) -> None:
        """Search with the vectors of an embedder from now on; None: without any.

        Args:
            replace: take its vectors in place of those that are stored of another one. Coverage starts anew, but for
                texts that this one has embedded before. Without it, nothing is thrown away: who may read texts whose
                vectors are another one's (`Snapshot.foreign_model`) finds nothing by meaning.
            anew: build the index of vectors anew from those that the store has.
        """
        with self._changing():
            if embedder is not None and replace:
                with self.store.writer() as writer:
                    replace_models(self._snapshot.reader, writer, embedder.version)
            with disk_errors(self.folder):
                self._indexes.use_embedder(embedder, self._columns.view(), self.store.reader(), anew=anew)
            self._publish()

    def rebuild_words(self, watch: Callable[[int], None], *, keep_sound: bool = False) -> None:
        """Build the index of words anew from the store; answers stay the same. Writers wait, readers do not.

        Args:
            watch: told now and then how many rows are done; what it raises leaves all as it was.
            keep_sound: take what stands on the disk as it should, and build only what does not; unwatched.

        Raises:
            ResourceExhausted: STORAGE_FULL; all is as it was.
        """
        with self._changing():
            with disk_errors(self.folder):
                self._indexes.rebuild_words(self._columns.view(), self.store.reader(), watch, keep_sound=keep_sound)
            self._publish()

    def rows_without_embedding(self) -> Iterator[tuple[int, str]]:
        """(chunk_row, index text) of visible chunks that the embedder in use has not seen, in row order."""
        snapshot = self._snapshot
        if snapshot.vectors is None:
            return iter(())
        return snapshot.reader.rows_without_embedding(snapshot.vectors.version)

    def add_vectors(self, vectors: Iterable[tuple[int, NDArray[np.float32]]]) -> None:
        """Store vectors of chunk rows, durably, and search with them. Raises FailedPrecondition (NO_EMBEDDER)."""
        packed = [(chunk_row, pack_vector(vector)) for chunk_row, vector in vectors]
        with self._changing():
            embedder = self._indexes.embedder
            if embedder is None:
                raise FailedPrecondition(ErrorReason.NO_EMBEDDER, "The library has no embedder.")
            reader, labels = self.store.reader(), self._labels([chunk_row for chunk_row, _ in packed])
            with self.store.writer() as writer:
                note_model(reader, writer, labels, embedder.version)
                covered = writer.put_embeddings(embedder.version, packed)
            with disk_errors(self.folder):
                self._indexes.set_vectors(self._columns.view(), covered)
            self._publish()

    def _labels(self, chunk_rows: list[int]) -> set[Label]:
        columns = self._columns.view()
        rows = columns.rows_of(np.array(chunk_rows, np.int64))
        return {Label(int(label)) for label in np.unique(columns.label[columns.revision_of[rows[rows < columns.rows]]])}

    def sweep(self, watch: Callable[[int], None]) -> None:
        """Leave nothing on the disk of what was purged: indexes and store are written anew; answers stay the same.

        Writers wait, readers do not. What it raises leaves all as it was, or swept in part; it may be repeated.

        Args:
            watch: as `rebuild_words` has it.

        Raises:
            ResourceExhausted: STORAGE_FULL.
            Unavailable: NOT_SERVING, a read of another process does not end.
        """
        with self._changing():
            columns, reader = self._columns.view(), self.store.reader()
            with disk_errors(self.folder):
                self._indexes.rebuild_words(columns, reader, watch, keep_sound=False)
                self._indexes.sweep_vectors(columns, reader)
                self._kept_columns.drop()
                self._adjacency.drop()
            self.store.sweep()
            self._publish()

    def settle(self) -> None:
        """Wait until what goes on behind the writes is done: files saved, segments merged and checked."""
        self._indexes.settle()
        self._adjacency.settle()

    def close(self, check: Callable[[Snapshot], None] | None = None) -> None:
        """Close the store. Snapshots that are held can be read no more.

        Args:
            check: given the last state, with no write under way; what it raises leaves the library open.
        """
        with self._lock:
            if not self._closed:
                if check is not None:
                    check(self._snapshot)
                self._closed = True
                self._indexes.close()
                self._adjacency.close()
                self._kept_columns.close(self._columns.view(), self._snapshot.reader)
                self.store.close()

    def rebuild_indexes(self) -> None:
        """Delete what is derived and build it anew from the store; answers stay the same."""
        with self._changing():
            embedder = self._indexes.embedder
            with disk_errors(self.folder):
                self._rebuild(embedder)

    def _rebuild(self, embedder: Embedder | None) -> None:
        self._indexes.close()
        self._adjacency.settle()
        shutil.rmtree(self.folder / _INDEX, ignore_errors=True)
        self._adjacency = Adjacency(self.folder / _INDEX / RELATIONS, self.store)
        self._columns, self._followed = ColumnBuilder(), 0
        self._take_columns(self.store.reader())
        self._indexes = LibraryIndexes(self.folder / _INDEX, self.store, _weakly(self._take_replaced))
        self._indexes.use_embedder(embedder, self._columns.view(), self.store.reader())
        self._put_in_place(self._take_snapshot(None))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """One at a time, and only while the library is open."""
        with self._lock:
            if self._closed:
                raise Unavailable(ErrorReason.NOT_SERVING, "The library is closed.")
            yield

    def _adopt_settings(self, config: LibraryConfig) -> None:
        """Have settings and glossary in force when the library opens; `config` where it has none."""
        self._kept.adopt(self.store, config, self._deriver)

    def _publish(self) -> None:
        """Follow what was committed. Called with the lock held."""
        with disk_errors(self.folder):
            self._kept.write_files(self.store.reader())
            self._put_in_place(self._take_snapshot(self._snapshot))
            self._adjacency.follow(self._snapshot.stored)

    def _put_in_place(self, snapshot: Snapshot) -> None:
        """Give a snapshot to all who ask from now on, with the newest index of its words."""
        with self._swapping:
            self._snapshot = self._with_newest_words(snapshot)

    def _take_replaced(self) -> None:
        """The words of the newest state are indexed in fewer segments now: let go of those before."""
        with self._swapping:
            self._snapshot = self._with_newest_words(self._snapshot)

    def _with_newest_words(self, snapshot: Snapshot) -> Snapshot:
        newest = self._indexes.lexical
        if newest is snapshot.lexical or newest.rows != snapshot.lexical.rows:
            return snapshot
        return self._noted(replace(snapshot, lexical=newest))

    def _noted(self, snapshot: Snapshot) -> Snapshot:
        self._states.add(snapshot)
        return snapshot

    def _take_snapshot(self, previous: Snapshot | None) -> Snapshot:
        """What is committed now, indexed; the previous one where it still is that."""
        reader = self.store.reader()
        self._take_columns(reader)
        columns = self._columns.view()
        self._indexes.follow(columns, reader)
        lexical, vectors = self._indexes.lexical, self._indexes.vectors
        if previous is not None and (previous.generation, previous.lexical, previous.vectors) == (
            reader.generation,
            lexical,
            vectors,
        ):
            return previous
        config, glossary = self._kept.in_force(reader)
        snapshot = Snapshot(
            library_id=self.library_id,
            generation=reader.generation,
            reader=named_reader(reader, glossary, self._fact_codes),
            stored=reader,
            config=config,
            glossary=glossary,
            columns=columns,
            lexical=lexical,
            vectors=vectors,
            _adjacency=self._adjacency,
            _store=self.store,
            _attributes=self._attributes,
            _fact_codes=self._fact_codes,
            _secret=self._secret,
        )
        return self._noted(snapshot)

    def _take_columns(self, reader: StoreReader) -> None:
        """Follow births and deaths."""
        if reader.generation != self._followed:
            before = self._columns.revisions
            self._columns.add(reader.revision_spans(self._columns.last_chunk_row))
            died = self._columns.retire(reader.retired_spans(self._followed))
            self._followed = reader.generation
            self._kept_columns.follow(self._columns.view(), reader, self._columns.revisions - before + died)


def _weakly(method: Callable[[], None]) -> Callable[[], None]:
    """A call of a method that does not keep its object: a library that nobody holds is gone at once."""
    held = weakref.WeakMethod(method)

    def call() -> None:
        alive = held()
        if alive is not None:
            alive()

    return call
