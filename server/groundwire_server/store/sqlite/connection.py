"""Connections: one that writes, a pool of those that can only read, and what their errors mean to a caller."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire_server.errors import ErrorReason, FailedPrecondition, GroundwireError, ResourceExhausted, Unavailable

__all__ = ["ReadPool", "connect_follower", "connect_writer", "storage_full", "translated"]

_log = logging.getLogger(__name__)

_IDLE_LIMIT = 16
_BUSY_SECONDS = 10.0
# A write that the system refuses for another reason than a full disk: a quota, a limit on files, a disk that is broken;
# and shared memory for which there is no room.
_REFUSED_WRITES = frozenset({sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE})
_READ_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})


def connect_writer(path: Path) -> sqlite3.Connection:
    """The connection that writes: WAL, and each commit on the disk before it returns."""
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        # Pages that many writes touch (of indexes over hashes) are copied back once for more of them.
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
    except BaseException:
        connection.close()
        raise
    return connection


def _authorize(action: int, name: str | None, detail: str | None, database: str | None, inner: str | None) -> int:
    if action in _READ_ACTIONS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and detail != "load_extension":
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def connect_follower(path: Path) -> sqlite3.Connection:
    """A connection that only reads what another process writes, and may be asked for more than rows."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.execute("PRAGMA query_only = ON")
    return connection


def _connect_reader(path: Path) -> sqlite3.Connection:
    connection = connect_follower(path)
    connection.set_authorizer(_authorize)
    return connection


class ReadPool:
    """Connections that can only read: opened read-only, and an authorizer refuses all but a select.

    Each is used by one thread at a time. Whoever borrows one reads its rows to the end before giving it back, so that
    no read transaction stays open between two reads.

    Args:
        path: of the file.
        file: what `path.stat()` gave when it was first opened; None: whatever stands at the path. Another file that was
            put in its place meanwhile is not read.
    """

    def __init__(self, path: Path, file: os.stat_result | None = None) -> None:
        self._path = path
        self._file = file
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Borrow one.

        Raises:
            Unavailable: NOT_SERVING, after `close`.
        """
        with self._lock:
            if self._closed:
                raise Unavailable(ErrorReason.NOT_SERVING, "The library is closed.")
            connection = self._idle.pop() if self._idle else None
        with translated():
            connection = connection or self._connect()
            try:
                yield connection
            finally:
                with self._lock:
                    keep = not self._closed and len(self._idle) < _IDLE_LIMIT
                    if keep:
                        self._idle.append(connection)
                if not keep:
                    connection.close()

    def _connect(self) -> sqlite3.Connection:
        """A new one, of the same file as all before; looked at afterwards, as a place never gets its old file back."""
        connection = _connect_reader(self._path)
        if self._file is not None and not _is_at(self._path, self._file):
            connection.close()
            raise Unavailable(ErrorReason.LIBRARIES_UNREACHABLE, "The library is not there any more.")
        return connection

    def close(self) -> None:
        """Close those that are idle; one in use closes when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _is_at(path: Path, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), file)
    except OSError:
        return False


def storage_full() -> ResourceExhausted:
    """The error of a disk that takes no more."""
    return ResourceExhausted(
        ErrorReason.STORAGE_FULL,
        "The disk takes no more data; nothing was half written.",
        hint="Free some space, or look at quotas and limits, and send it again.",
    )


class translated:  # noqa: N801 - used like a function
    """Turn errors of SQLite into ours; their texts stay in the chain for the log and reach no caller.

    Raises:
        ResourceExhausted: STORAGE_FULL.
        FailedPrecondition: NOT_SERVING, a file that may not be opened or written.
        Unavailable: NOT_SERVING, another process holds the store; LIBRARIES_UNREACHABLE, the file is damaged.
        GroundwireError: INTERNAL, a fault of ours.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise _translate(error) from error


def _translate(error: sqlite3.Error) -> GroundwireError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code in _REFUSED_WRITES:
        return storage_full()
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return storage_full()
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return FailedPrecondition(
                ErrorReason.NOT_SERVING,
                "The store cannot be opened or written.",
                hint="Look at the permissions of the data folder.",
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Unavailable(ErrorReason.NOT_SERVING, "Another process holds the store.")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            _log.error("a store is damaged: %s", getattr(error, "sqlite_errorname", "SQLITE_CORRUPT"))
            return Unavailable(
                ErrorReason.LIBRARIES_UNREACHABLE, "The store is damaged.", hint="Put its last backup in place."
            )
        case _:
            return GroundwireError(ErrorReason.INTERNAL, "The store failed.")
