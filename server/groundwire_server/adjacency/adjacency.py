"""Relations of a library as arrays, kept up with its store."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from groundwire_server.adjacency.file import KeptTable, read_table, write_table
from groundwire_server.adjacency.merge import merge
from groundwire_server.adjacency.table import Table
from groundwire_server.adjacency.tail import Tail, TailRows
from groundwire_server.adjacency.view import AdjacencyView
from groundwire_server.errors import GroundwireError
from groundwire_server.store import EdgeColumns, GraphReader, GraphStore

__all__ = ["Adjacency"]

# Rows behind the table: so many, or a share of those in it, are merged by a thread once somebody looks at them ...
_MOST_LOOKED_AT, _SHARE_LOOKED_AT = 20_000, 16
# ... and so many while rows only come in.
_MOST_WAITING, _SHARE_WAITING = 100_000, 2
# A write follows at once unless it would have to read so many rows of former ones.
_MOST_BEHIND = 200_000
_WORTH_KEEPING = 500


class Adjacency:
    """One file that is derived from a store; deleted, damaged or of another store it is made again from the store.

    A write's rows are there, in memory, when it is done; a thread behind the writes merges them and saves the file.
    Whoever holds a view keeps the file of that view mapped.

    Args:
        path: of the file.
        store: what it is derived from.
        keep: whether the file is this one's to write; else it is another process's, and only read.
    """

    def __init__(self, path: Path, store: GraphStore, *, keep: bool = True) -> None:
        self._path = path
        self._store = store
        self._keep = keep
        self._lock = threading.Lock()
        self._loaded = False
        self._closed = False
        self._table = Table.empty()
        self._tail = Tail(self._table)
        self._fresh: list[EdgeColumns] = []  # what the tail is made of
        self._generation = 0
        self._last_row = 0
        self._deaths: list[tuple[int, int]] = []  # since the thread began to merge
        self._view: AdjacencyView | None = None
        self._viewed = 0  # rows of the tail that are in it
        self._thread: threading.Thread | None = None

    def view(self, reader: GraphReader) -> AdjacencyView:
        """All that is there up to a state of the store, or to a later one."""
        with self._lock:
            if not self._loaded or self._generation < reader.generation:
                self._catch_up(reader)
            if self._view is None or self._viewed != self._tail.count:  # deaths are written where it looks
                self._view, self._viewed = AdjacencyView(self._table, self._tail.rows()), self._tail.count
            self._merge_behind(_MOST_LOOKED_AT, _SHARE_LOOKED_AT)
            return self._view

    def follow(self, reader: GraphReader) -> None:
        """Take over what a write has brought, unless former ones have left so much that whoever looks first does."""
        with self._lock:
            if not self._loaded and reader.edge_count() > _MOST_BEHIND:
                return
            self._catch_up(reader)
            self._merge_behind(_MOST_WAITING, _SHARE_WAITING)

    def settle(self) -> None:
        """Wait until the thread behind the writes is done."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def drop(self) -> None:
        """Leave nothing on the disk of edges that the store has no more; it is made anew by whoever looks next."""
        self.settle()
        with self._lock:
            self._loaded, self._generation, self._last_row = False, 0, 0
            self._table = Table.empty()
            self._tail, self._fresh, self._deaths = Tail(self._table), [], []
            self._view, self._viewed = None, 0
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Save what is worth it, and end the work behind the writes."""
        self.settle()
        with self._lock:
            self._closed = True
            if self._loaded and self._tail.count >= max(_WORTH_KEEPING, self._table.rows // _SHARE_LOOKED_AT):
                rows, generation = self._tail.rows(), self._generation
                self._save(KeptTable(merge(self._table, rows, generation), "", generation, self._last_row))

    def _catch_up(self, reader: GraphReader) -> None:
        if not self._loaded:
            self._load()
        if self._generation >= reader.generation:
            return
        for columns in reader.edge_columns(self._last_row):
            self._tail.add(columns)
            self._fresh.append(columns)
            self._last_row = columns.edge_row[-1]
        deaths = reader.retired_edges(self._generation)
        self._deaths += deaths
        _note(self._table, self._tail, deaths)
        self._generation = reader.generation

    def _load(self) -> None:
        kept = read_table(self._path)
        if kept is not None and self._store.was(kept.state):
            self._table, self._generation, self._last_row = kept.table, kept.generation, kept.last_row
            self._tail = Tail(self._table)
        self._loaded = True

    def _merge_behind(self, most: int, share: int) -> None:
        busy = self._thread is not None and self._thread.is_alive()
        if not busy and not self._closed and self._tail.count > max(most, self._table.rows // share):
            state = KeptTable(self._table, "", self._generation, self._last_row)
            self._deaths = []
            self._thread = threading.Thread(
                target=self._merge, args=(state, self._tail.rows(), len(self._fresh)), name="groundwire-relations",
                daemon=True,
            )  # fmt: skip
            self._thread.start()

    def _merge(self, state: KeptTable, rows: TailRows, merged: int) -> None:
        """Make one table of what there was, and put it in place with what came meanwhile behind it."""
        table = merge(state.table, rows, state.generation)
        kept = KeptTable(table, "", state.generation, state.last_row)
        self._save(kept)
        mapped = read_table(self._path) if self._keep else None  # its pages are the system's, not ours
        if mapped is not None and (mapped.generation, mapped.last_row) == (state.generation, state.last_row):
            table = mapped.table
        tail = Tail(table)
        with self._lock:
            for columns in self._fresh[merged:]:
                tail.add(columns)
            _note(table, tail, self._deaths)
            self._table, self._tail, self._fresh, self._view = table, tail, self._fresh[merged:], None

    def _save(self, kept: KeptTable) -> None:
        if not self._keep:
            return
        with suppress(OSError, GroundwireError):  # then the next start reads more from the store
            state = self._store.reader(kept.generation).state()
            write_table(self._path, KeptTable(kept.table, state, kept.generation, kept.last_row))


def _note(table: Table, tail: Tail, deaths: Sequence[tuple[int, int]]) -> None:
    """Write deaths in place: those who look at older states find such rows alive either way."""
    if not deaths:
        return
    rows, died = np.array(deaths, np.int64).T
    last = int(table.edge_row[-1]) if table.rows else 0
    inside = rows <= last
    table.died[np.searchsorted(table.edge_row, rows[inside])] = died[inside]
    tail.retire(rows[~inside].tolist(), died[~inside].tolist())
