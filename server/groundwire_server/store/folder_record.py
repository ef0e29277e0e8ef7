"""What a folder has put into a library: files as they were when they were stored, and the documents that came of them.

It lies where the command runs, not in the library, and all of it can be lost: then every file is read and sent once
more, and nothing is withdrawn that this record would have known.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

__all__ = ["FileState", "FolderRecord", "KnownDocument"]

_PAGE = 500
_SCHEMA = """
CREATE TABLE IF NOT EXISTS file (
    file_id TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, ctime INTEGER, inode INTEGER,
    read_at INTEGER, sha256 BLOB, head BLOB, label INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS document (
    doc_id TEXT PRIMARY KEY, file_id TEXT, revision INTEGER, chunks INTEGER, sha256 BLOB,
    owned INTEGER, gone INTEGER, hidden INTEGER, run INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS document_of_file ON document (file_id);
CREATE TABLE IF NOT EXISTS sending (
    file_id TEXT PRIMARY KEY, sha256 BLOB, since INTEGER) WITHOUT ROWID;
CREATE TEMP TABLE standing (
    doc_id TEXT PRIMARY KEY, revision INTEGER, sha256 BLOB, chunks INTEGER, ingested_at INTEGER) WITHOUT ROWID;
CREATE TEMP TABLE planned (
    file_id TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, ctime INTEGER, inode INTEGER,
    sidecar INTEGER, to_read INTEGER) WITHOUT ROWID;
"""
_VERSION = 1
# `gone` is 1 when a document is no longer in its file, and this when its file is no longer in the folder.
_FILE_GONE = 2
# Documents of ours that stand unchanged since: by content, or by revision where the content is not known here.
_STILL_OURS = """
    FROM document d JOIN standing s USING (doc_id)
    WHERE d.owned AND (s.sha256 = d.sha256 OR (d.sha256 IS NULL AND s.revision = d.revision))
"""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the system describes it; times in nanoseconds."""

    size: int
    mtime: int
    ctime: int
    inode: int


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document that came from a file of the folder, as it was told when it was stored."""

    doc_id: str
    revision: int
    chunks: int


class FolderRecord:
    """The record of one folder and one library. For several threads; one process at a time has use for it.

    Args:
        path: of its file; None: in memory.
        keep: False for a folder that is only looked at: nothing of what is noted stays.

    Attributes:
        run: counts the passes over the folder.
        was_damaged: the file was no record, or a damaged one, and was put aside; this one begins anew.

    Raises:
        BlockingIOError: another process has it open.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path | None, *, keep: bool = True) -> None:
        self._keep = keep
        self._lock = threading.RLock()
        self._hold = None if path is None else _hold(path)
        self.was_damaged = False
        try:
            try:
                self._db = _connect(path)
            except sqlite3.OperationalError as error:
                raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path)) from error
            except sqlite3.DatabaseError:
                assert path is not None
                self.was_damaged = True
                path.replace(path.with_suffix(".damaged"))
                self._db = _connect(path)
        except BaseException:
            self._let_go()
            raise
        self.run = 1 + (self._one("SELECT max(run) FROM document") or 0)
        self._db.execute("BEGIN")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever stored of the folder."""
        return self._one("SELECT 1 FROM document UNION ALL SELECT 1 FROM sending LIMIT 1") is None

    def next_run(self) -> None:
        """Begin to look at the folder once more."""
        self.run += 1
        self._do("DELETE FROM planned")
        self._do("UPDATE document SET gone = 0 WHERE gone = ?", _FILE_GONE)
        self.forget_standing()

    def forget_standing(self) -> None:
        """Before the library is listed."""
        self._do("DELETE FROM standing")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.save()
            with self._lock:  # SQLite does not bear it while another thread reads: whoever asks later is refused
                self._db.close()
        finally:
            self._let_go()

    def save(self) -> None:
        """Keep what was noted so far, also if the process ends now."""
        if not self._keep:
            return
        with self._lock:
            self._db.execute("COMMIT")
            self._db.execute("BEGIN")

    def add_standing(self, doc_id: str, revision: int, sha256: bytes, chunks: int, ingested_at: int) -> None:
        """A document that the library has now."""
        self._do(
            "INSERT OR REPLACE INTO standing VALUES (?, ?, ?, ?, ?)", doc_id, revision, sha256, chunks, ingested_at
        )

    def take_up(self) -> None:
        """After all that stands is known: take as stored what an end without warning kept from being noted."""
        stored = (
            "sending n JOIN standing s ON s.doc_id = n.file_id AND s.sha256 = n.sha256 AND s.ingested_at >= n.since"
        )
        self._do(
            "INSERT OR REPLACE INTO document "
            f"SELECT s.doc_id, n.file_id, s.revision, s.chunks, s.sha256, 1, 0, 0, ? FROM {stored}",
            self.run,
        )
        self._do(f"DELETE FROM sending WHERE file_id IN (SELECT n.file_id FROM {stored})")
        self.learn_hashes()

    def learn_hashes(self) -> None:
        """After all that stands is known: what documents hold that are lines of a file."""
        self._do(
            "UPDATE document SET sha256 = (SELECT s.sha256 FROM standing s WHERE s.doc_id = document.doc_id "
            "AND s.revision = document.revision) WHERE sha256 IS NULL"
        )

    def end_sending(self) -> None:
        """All that was sent is stored and noted."""
        self._do("DELETE FROM sending")
        self.save()

    def mark_hidden(self) -> None:
        """After all was listed anew: what this run has stored and does not stand is beyond what the caller may read."""
        self._do(
            "UPDATE document SET hidden = 1 WHERE run = ? AND doc_id NOT IN (SELECT doc_id FROM standing)", self.run
        )

    def plan(self, file_id: str, state: FileState, *, sidecar: bool) -> None:
        """A file that is in the folder now."""
        row = (file_id, state.size, state.mtime, state.ctime, state.inode, sidecar)
        self._do("INSERT OR REPLACE INTO planned VALUES (?, ?, ?, ?, ?, ?, 1)", *row)

    def pass_over(self, file_id: str) -> None:
        """This file is as it was, and need not be read."""
        self._do("UPDATE planned SET to_read = 0 WHERE file_id = ?", file_id)

    def planned(self, *, to_read: bool) -> Iterator[tuple[str, FileState, bool]]:
        """Files that are planned, in order of their ids, each with whether it has a sidecar."""
        last = ""
        while page := self._all(
            "SELECT file_id, size, mtime, ctime, inode, sidecar FROM planned WHERE to_read = ? AND file_id > ? "
            "ORDER BY file_id LIMIT ?",
            to_read,
            last,
            _PAGE,
        ):
            for file_id, size, mtime, ctime, inode, sidecar in page:
                yield file_id, FileState(size, mtime, ctime, inode), bool(sidecar)
            last = page[-1][0]

    def count(self, *, to_read: bool) -> int:
        """How many files are planned."""
        return int(self._one("SELECT count(*) FROM planned WHERE to_read = ?", to_read) or 0)

    def stored_state(self, file_id: str) -> tuple[FileState, int, bytes, bytes] | None:
        """A file as it was stored: its state, when it was read, SHA-256, and the hash of what was said about it."""
        row = self._row("SELECT size, mtime, ctime, inode, read_at, sha256, head FROM file WHERE file_id = ?", file_id)
        return None if row is None else (FileState(*row[:4]), row[4], row[5], row[6])

    def stored_label(self, file_id: str) -> int:
        """The label that was said with a file; 0: none, or the file is not known."""
        return int(self._one("SELECT label FROM file WHERE file_id = ?", file_id) or 0)

    def stands(self, file_id: str) -> bool:
        """Whether all documents of a file are in the library as they were stored, as far as the caller may see."""
        missing = self._one(
            "SELECT count(*) FROM document d LEFT JOIN standing s USING (doc_id) WHERE d.file_id = ? AND NOT d.gone "
            "AND NOT d.hidden AND s.revision IS NOT d.revision",
            file_id,
        )
        return not missing and bool(self._one("SELECT count(*) FROM document WHERE file_id = ?", file_id))

    def documents_of(self, file_id: str) -> list[KnownDocument]:
        """The documents of a file that are there."""
        sql = "SELECT doc_id, revision, chunks FROM document WHERE file_id = ? AND NOT gone ORDER BY doc_id"
        return [KnownDocument(*row) for row in self._all(sql, file_id)]

    def begin_file(self, file_id: str, sha256: bytes, now: int) -> None:
        """A file is about to be sent; kept before it is, against the end of the process at any moment.

        Args:
            now: microseconds since 1970.
        """
        self._do(
            "INSERT INTO sending VALUES (?, ?, ?) ON CONFLICT (file_id) DO UPDATE SET sha256 = excluded.sha256, "
            "since = CASE WHEN sha256 = excluded.sha256 THEN since ELSE excluded.since END",
            file_id,
            sha256,
            now,
        )
        self.save()

    def take(
        self, file_id: str, doc_id: str, revision: int, chunks: int, sha256: bytes | None, *, unchanged: bool
    ) -> None:
        """What became of a document. It is the folder's own when the folder has made this revision of it."""
        before = self._row("SELECT file_id, owned FROM document WHERE doc_id = ?", doc_id)
        owned = not unchanged or bool(before and before[1]) or self._was_cut_off(file_id, doc_id)
        self._do(
            "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?)",
            *(doc_id, file_id, revision, chunks, sha256, owned, self.run),
        )

    def finish_file(self, file_id: str, state: FileState, read_at: int, sha256: bytes, head: bytes, label: int) -> None:
        """All documents of a file are stored; those that it held before and does not hold now are gone from it."""
        self._do(
            "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(file_id, state.size, state.mtime, state.ctime, state.inode, read_at, sha256, head, label),
        )
        self._do("UPDATE document SET gone = 1 WHERE file_id = ? AND run <> ?", file_id, self.run)
        self._do("DELETE FROM sending WHERE file_id = ?", file_id)

    def refuse_file(self, file_id: str) -> None:
        """A file was refused; what it held before stays, and it is sent again next time."""
        self._do("UPDATE file SET head = x'' WHERE file_id = ?", file_id)
        self._do("DELETE FROM sending WHERE file_id = ?", file_id)

    def keep_file(self, file_id: str, state: FileState, read_at: int) -> None:
        """A file was touched, and its content is as it was."""
        self._do(
            "UPDATE file SET size = ?, mtime = ?, ctime = ?, inode = ?, read_at = ? WHERE file_id = ?",
            *(state.size, state.mtime, state.ctime, state.inode, read_at, file_id),
        )

    def unplanned_files(self) -> Iterator[str]:
        """Files that the folder has put in and that are not planned: vanished, or not asked for now."""
        last = ""
        while page := self._all(
            "SELECT DISTINCT file_id FROM document WHERE file_id > ? AND file_id NOT IN (SELECT file_id FROM planned) "
            "ORDER BY file_id LIMIT ?",
            last,
            _PAGE,
        ):
            yield from (row[0] for row in page)
            last = page[-1][0]

    def mark_gone(self, file_id: str) -> None:
        """A file is no longer in the folder; found out anew in each run."""
        self._do("UPDATE document SET gone = ? WHERE file_id = ?", _FILE_GONE, file_id)

    def own_count(self) -> int:
        """How many documents the folder has put in, gone from it or not; with files whose run was cut off."""
        cut_off = "SELECT count(*) FROM sending WHERE file_id NOT IN (SELECT file_id FROM document)"
        return int(self._one(f"SELECT count(*) {_STILL_OURS}") or 0) + int(self._one(cut_off) or 0)

    def vanished(self, after: str = "", most: int = _PAGE) -> list[KnownDocument]:
        """Documents to withdraw, some at a time: the folder's own, gone from it, and nobody's else since."""
        sql = (
            f"SELECT d.doc_id, s.revision, s.chunks {_STILL_OURS} AND d.gone AND d.doc_id > ? ORDER BY d.doc_id LIMIT ?"
        )
        return [KnownDocument(*row) for row in self._all(sql, after, most)]

    def vanished_count(self) -> int:
        """How many documents `vanished` gives in all."""
        return int(self._one(f"SELECT count(*) {_STILL_OURS} AND d.gone") or 0)

    def left_standing(self) -> list[str]:
        """Documents gone from the folder that are not withdrawn: others have put them in, or changed them since."""
        sql = (
            "SELECT d.doc_id FROM document d JOIN standing t USING (doc_id) WHERE d.gone "
            f"AND d.doc_id NOT IN (SELECT d.doc_id {_STILL_OURS}) ORDER BY d.doc_id"
        )
        return [row[0] for row in self._all(sql)]

    def hidden_gone(self) -> list[str]:
        """Documents gone from the folder that the caller may not read, and so cannot withdraw."""
        return [row[0] for row in self._all("SELECT doc_id FROM document WHERE gone AND hidden ORDER BY doc_id")]

    def forget(self, doc_id: str) -> None:
        """A document was withdrawn, or is nobody's concern here any more."""
        self._do("DELETE FROM document WHERE doc_id = ?", doc_id)
        self._do("DELETE FROM standing WHERE doc_id = ?", doc_id)

    def _let_go(self) -> None:
        if self._hold is not None:
            os.close(self._hold)

    def _was_cut_off(self, file_id: str, doc_id: str) -> bool:
        """Whether an earlier run has stored this document and ended before it could note so."""
        sql = "SELECT 1 FROM sending n JOIN standing s ON s.doc_id = ? WHERE n.file_id = ? AND s.ingested_at >= n.since"
        return self._one(sql, doc_id, file_id) is not None

    def _do(self, sql: str, *values: Any) -> None:
        with self._lock:
            self._db.execute(sql, values)

    def _all(self, sql: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def _row(self, sql: str, *values: Any) -> Any:
        with self._lock:
            return self._db.execute(sql, values).fetchone()

    def _one(self, sql: str, *values: Any) -> Any:
        row = self._row(sql, *values)
        return None if row is None else row[0]


def _connect(path: Path | None) -> sqlite3.Connection:
    db = sqlite3.connect(path or ":memory:", check_same_thread=False, timeout=30, isolation_level=None)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"a record of version {version}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_SCHEMA)
        db.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        db.close()
        raise
    return db


def _hold(path: Path) -> int:
    """A lock that ends with the process, however it ends. Raises BlockingIOError when another process has it."""
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock
