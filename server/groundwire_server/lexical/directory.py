"""The index of one library on disk: opened, caught up, repaired, extended, and tidied behind all that.

The store is the truth and this is derived from it. Whatever is missing, damaged, of another tokenizer or not about the
texts that the store has now is built again from the texts, and the results are the same. A write adds its rows in
memory and is done; a thread behind it saves them, merges what is due and checks what was mapped unchecked. Whoever
writes or reads waits for none of that, and a process that dies has lost nothing that the next start does not catch up.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from groundwire_server.lexical.folder import RebuildReason, SegmentFolder
from groundwire_server.lexical.index import LexicalIndex
from groundwire_server.lexical.lengths import RowLengths
from groundwire_server.lexical.manifest import SegmentEntry
from groundwire_server.lexical.merge import merge_segments
from groundwire_server.lexical.pieces import Piece, Texts, built, counted, text_sha256
from groundwire_server.lexical.segment_file import DamagedFile
from groundwire_server.lexical.tiers import is_full, merge_start

__all__ = ["LexicalDirectory", "LoadReport", "Rebuilt"]

_log = logging.getLogger(__name__)
_one_merge = threading.Lock()  # in a process: each takes memory for all the postings that it moves
_CHECK_AFTER_SECONDS = 2.0  # the first answers come before the files are checked
_SAVE_AFTER_SECONDS = 0.2  # small writes that follow each other are saved, and merged, together
_SAVE_AT_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Rows [start, stop) were indexed again."""

    start: int
    stop: int
    reason: RebuildReason


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What `load` found and did, and what was found out afterwards; numbers only, so it can be logged.

    Attributes:
        rows: rows of the index when it was loaded.
        kept: rows whose segments were taken as they were.
        caught_up: rows that were not yet indexed.
        rebuilt: rows that had to be indexed again.
        unchecked: rows whose files were mapped by their stamp and header, and are checked as a whole afterwards.
    """

    rows: int
    kept: int
    caught_up: int
    rebuilt: tuple[Rebuilt, ...]
    unchecked: int = 0


class LexicalDirectory:
    """A folder of segments and the manifest that names them.

    One process owns the folder, and one thread at a time loads or appends (a lock sees to it). Each gives a new
    immutable `LexicalIndex` over rows 0 .. rows - 1, in the order in which texts were given; readers keep the one that
    they have, as long as they like. Between two writes the index may be replaced by one of the same rows in fewer
    segments, which gives the same results.

    A disk that refuses a write does not stop the index: its rows are searched from memory, `unsaved_rows` tells how
    many those are, and the next `append` tries again.

    Args:
        path: the folder; made when it is not there.
        on_replaced: called, by the thread behind the writes, when `index` is another one of the same rows.

    Attributes:
        path: the folder.
        report: what the last `load` found; None before.
    """

    def __init__(self, path: Path, on_replaced: Callable[[], None] = lambda: None) -> None:
        self.path = path
        self.report: LoadReport | None = None
        self._on_replaced = on_replaced
        self._folder = SegmentFolder(path)
        self._writing = threading.Lock()  # one load or append at a time
        self._lock = threading.Lock()  # of all that follows; never held while files are written or segments merged
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._closing = False
        self._hurried = False
        self._to_save = False
        self._unchecked: list[SegmentEntry] = []
        self._texts: Texts = lambda start, stop: ()
        self._state = ""
        self._pieces: list[Piece] = []
        self._lengths = RowLengths()
        self._index: LexicalIndex | None = None

    @property
    def index(self) -> LexicalIndex:
        """The newest index.

        Raises:
            RuntimeError: nothing was loaded yet.
        """
        if self._index is None:
            raise RuntimeError("load() comes first")
        return self._index

    @property
    def write_error(self) -> str:
        """Name of the error ("ENOSPC") that keeps rows unsaved; empty when all is well."""
        return self._folder.write_error

    @property
    def unsaved_rows(self) -> int:
        """Rows at the end that are searched but not on disk; a restart indexes them again."""
        return max(0, self.index.rows - sum(entry.rows for entry in self._folder.saved or ()))

    def load(
        self,
        n_rows: int,
        texts: Texts,
        state: str = "",
        knows: Callable[[str], bool] = lambda state: True,
        *,
        check: bool = False,
    ) -> LexicalIndex:
        """The index of rows 0 .. n_rows - 1: from disk as far as that is sound, from the texts for the rest.

        A segment is sound when its file is the one that was written, the store knows the state that it was made of, and
        the text of its last row is the one that the store has. `report` tells what was done. What had to be built is
        saved before this returns.

        Args:
            n_rows: rows that the store has.
            texts: theirs; also asked afterwards, if a file turns out to be damaged.
            state: of the store now (`StoreReader.state`).
            knows: whether the store was ever in a state.
            check: read every file as a whole now; else those that the file system calls unchanged are checked later.

        Raises:
            ValueError: `texts` gives another number of texts than it was asked for.
        """
        self._end_upkeep()
        with self._writing:
            self._index, self._pieces, self._unchecked = None, [], []
            self._texts, self._state = texts, state
            self._lengths = RowLengths()
            entries, reason = self._folder.read()
            kept, rebuilt = self._take(entries, n_rows, knows, check=check)
            covered = sum(piece.segment.size for piece in self._pieces)
            if reason is not None and n_rows:
                rebuilt.append(Rebuilt(0, n_rows, reason))
            for piece in built(counted(texts, covered, n_rows), state):
                self._pieces.append(piece)
                if is_full(piece.segment.size):  # a killed catch-up keeps what it has
                    self._pieces = self._folder.save(self._pieces)
            unchecked = sum(entry.rows for entry in self._unchecked)
            self.report = LoadReport(n_rows, kept, 0 if reason else n_rows - covered, tuple(rebuilt), unchecked)
            if self._unchecked and not self._folder.note_unchecked():
                self._check_all_now()
            elif not self._unchecked:
                self._folder.forget_unchecked()
            self._pieces = self._folder.save(self._pieces)
            with self._lock:
                self._closing = self._hurried = self._to_save = False
                self._publish(0)
                self._wake()
                return self.index

    def append(self, texts: Iterable[str], state: str = "") -> LexicalIndex:
        """The index with further rows at its end. They are on disk when `settle` returns.

        An exception that comes out of `texts` leaves the index as it was.

        Args:
            texts: of the new rows.
            state: of the store that has them.

        Raises:
            RuntimeError: nothing was loaded yet.
        """
        with self._writing:
            rows = self.index.rows
            added = list(built(texts, state))
            with self._changed:
                self._pieces += added
                self._closing, self._to_save = False, True
                self._publish(rows)
                self._wake()
                self._changed.notify_all()
                return self.index

    def move_to(self, path: Path) -> None:
        """Go on in another place, where nothing stands yet.

        Raises:
            OSError: the folder cannot be moved; it stays where it is.
        """
        self._end_upkeep()
        with self._writing, self._lock:
            try:
                os.replace(self.path, path)
                self.path = self._folder.path = path
            finally:
                self._closing = False
                self._wake()

    def settle(self) -> None:
        """Wait until all is saved, merged and checked, as far as the disk takes it."""
        with self._changed:
            self._hurried = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._thread is None)

    def close(self) -> None:
        """Save what is not on disk yet and end the work behind the writes. The index can be searched on."""
        self._end_upkeep()
        with self._lock:
            if self._index is not None and self._to_save:
                self._pieces = self._folder.save(self._pieces)
            self._folder.forget_unchecked()
            self._unchecked = []

    # What `load` does.

    def _take(
        self, entries: Sequence[SegmentEntry], n_rows: int, knows: Callable[[str], bool], *, check: bool
    ) -> tuple[int, list[Rebuilt]]:
        """Segments that are sound, others built again; how many rows were kept, and what was built."""
        kept = start = 0
        rebuilt: list[Rebuilt] = []
        for entry in entries:
            stop = start + entry.rows
            reason = self._take_one(entry, stop, n_rows, knows, check=check)
            if reason is None:
                kept += entry.rows
            elif start < n_rows:
                stop = min(stop, n_rows)
                self._pieces.extend(built(counted(self._texts, start, stop), self._state))
                rebuilt.append(Rebuilt(start, stop, reason))
            start = stop
        return kept, rebuilt

    def _take_one(
        self, entry: SegmentEntry, stop: int, n_rows: int, knows: Callable[[str], bool], *, check: bool
    ) -> RebuildReason | None:
        """Take a segment; or why it is not sound."""
        if stop > n_rows or not knows(entry.state):
            return RebuildReason.OTHER_TEXTS
        try:
            piece, checked = self._folder.open(entry, check=check)
        except DamagedFile:
            return RebuildReason.DAMAGED
        (last,) = counted(self._texts, stop - 1, stop)
        if text_sha256(last) != entry.last_text_sha256:
            return RebuildReason.OTHER_TEXTS
        self._pieces.append(piece)
        if not checked and piece.entry is not None:
            self._unchecked.append(piece.entry)
        return None

    def _check_all_now(self) -> None:
        """The folder takes no mark that files are still to be checked: they are checked at once."""
        for entry in self._unchecked:
            if not self._folder.is_sound(entry, lambda: False):
                self._pieces = self._repaired(entry, self._pieces)
        self._unchecked = []

    # The work behind the writes. One thread at a time does it, and ends when nothing is left.

    def _wake(self) -> None:
        if self._thread is None and not self._closing and (self._to_save or self._unchecked or self._due() is not None):
            self._thread = threading.Thread(target=self._upkeep, name="groundwire-segments", daemon=True)
            self._thread.start()

    def _end_upkeep(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._thread is None)

    def _upkeep(self) -> None:
        try:
            while (work := self._next_work()) is not None:
                work()
        except Exception:  # noqa: BLE001 - whatever it is, the index answers, and a restart catches up
            _log.exception("The files of an index are not kept up; the next write tries anew.")
            with self._changed:
                self._thread = None
                self._changed.notify_all()

    def _next_work(self) -> Callable[[], None] | None:
        """What is to be done now; None, and the thread has ended, when nothing is."""
        with self._changed:
            if self._to_save and not self._closing:
                self._changed.wait_for(self._is_time_to_save, _SAVE_AFTER_SECONDS)
            if not self._closing:
                if self._due() is not None:  # what is merged at once need not be written before
                    return self._merge
                if self._to_save:
                    return self._save
                if self._unchecked:
                    return self._check_next
            self._thread = None
            self._changed.notify_all()
            return None

    def _is_time_to_save(self) -> bool:
        unsaved = sum(piece.segment.size for piece in self._pieces if piece.entry is None)
        return self._closing or self._hurried or unsaved >= _SAVE_AT_ROWS

    def _due(self) -> int | None:
        """Where the pieces begin that should become one."""
        start = merge_start([piece.segment.size for piece in self._pieces])
        return start if start < len(self._pieces) else None

    def _save(self) -> None:
        with self._lock:
            pieces, self._to_save = list(self._pieces), False
        saved = self._folder.save(pieces)
        self._replace(saved, len(pieces))

    def _merge(self) -> None:
        with self._lock:
            start, pieces = self._due(), list(self._pieces)
        for entry in [piece.entry for piece in pieces[start:] if piece.entry in self._unchecked]:
            self._check(entry)  # damage must not pass into another file
            return
        merged = _merged(pieces[start:])
        if not self._closing:
            self._replace(self._folder.save([*pieces[:start], merged]), len(pieces))

    def _check_next(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._hurried or self._to_save, _CHECK_AFTER_SECONDS)
            if self._closing or self._to_save:
                return
            entry = self._unchecked[0]
        self._check(entry)

    def _check(self, entry: SegmentEntry) -> None:
        """Check a file that was mapped unchecked; where it is damaged, put rows in its place that are built anew."""
        if not self._folder.is_sound(entry, lambda: self._closing):
            with self._lock:
                pieces = list(self._pieces)
            self._replace(self._folder.save(self._repaired(entry, pieces)), len(pieces))
        with self._lock:
            if self._closing:
                return
            self._unchecked.remove(entry)
            if not self._unchecked:
                self._folder.forget_unchecked()

    def _repaired(self, entry: SegmentEntry, pieces: Sequence[Piece]) -> list[Piece]:
        """The pieces with one of them built anew."""
        place = next(at for at, piece in enumerate(pieces) if piece.entry == entry)
        start = sum(piece.segment.size for piece in pieces[:place])
        stop = start + entry.rows
        _log.warning("A file of an index was damaged; its rows are indexed again from the store.")
        anew = built(counted(self._texts, start, stop), self._state)
        if self.report is not None:
            rebuilt = (*self.report.rebuilt, Rebuilt(start, stop, RebuildReason.DAMAGED))
            self.report = replace(self.report, kept=self.report.kept - entry.rows, rebuilt=rebuilt)
        return [*pieces[:place], *anew, *pieces[place + 1 :]]

    def _replace(self, pieces: Sequence[Piece], count: int) -> None:
        """Put pieces in the place of the first `count`; they are of the same rows."""
        with self._lock:
            old = self._pieces[:count]
            self._pieces[:count] = pieces
            replaced = [piece.segment for piece in old] != [piece.segment for piece in pieces]
            if replaced:
                self._publish(self.index.rows)
        if replaced:
            self._on_replaced()

    def _publish(self, known: int) -> None:
        """Make the index of all pieces; the lengths of the first `known` rows are in place already."""
        segments = [piece.segment for piece in self._pieces]
        self._index = LexicalIndex(segments, *self._lengths.of(segments, known))


def _merged(pieces: Sequence[Piece]) -> Piece:
    """One piece with the rows of all."""
    with _one_merge:
        segment = merge_segments([piece.segment for piece in pieces])
    return Piece(segment, pieces[-1].last_text_sha256, pieces[-1].state)
