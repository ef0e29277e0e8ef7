"""Files that another process writes, followed from this one: read, and never written.

SQLite keeps the marks of its readers in the `-shm` file beside each database; that is all that a follower touches.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from groundwire_server.errors import ErrorReason, Unavailable
from groundwire_server.evidence import AttributeType
from groundwire_server.store.sqlite.connection import ReadPool, connect_follower, translated
from groundwire_server.store.sqlite.job_rows import JobRow
from groundwire_server.store.sqlite.schema import MIGRATIONS, check_migrations
from groundwire_server.store.sqlite.server_file import ServerFile
from groundwire_server.store.sqlite.store import SqliteStore
from groundwire_server.store.sqlite.writer import SqliteWriter

__all__ = ["FollowedServerFile", "FollowedStore"]

T = TypeVar("T")


class _Watched:
    """A database that others write. One connection of its own for as long as it is open, so that SQLite does not take
    the log away when the writer goes.

    Raises:
        FailedPrecondition: NOT_SERVING, it is not there or may not be read.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._seen = -1
        with translated():
            self._connection = connect_follower(path)
            try:
                self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except BaseException:
                self._connection.close()
                raise

    def changed(self) -> bool:
        """Whether anybody has committed since the last look; True at the first one."""
        (version,) = self.ask(lambda connection: connection.execute("PRAGMA data_version").fetchone())
        with self._lock:
            seen, self._seen = self._seen, version
        return bool(seen != version)

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock, translated():
            return question(self._connection)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def _only_reads() -> Unavailable:
    return Unavailable(ErrorReason.NOT_SERVING, "This process only reads; another one writes.")


class FollowedStore(SqliteStore):
    """The store of a library that another process writes. Any thread.

    Args:
        path: the file, which that process has made and brought up to date.

    Raises:
        FailedPrecondition: STORE_VERSION, the file is of another version; NOT_SERVING, it is not there.
        Unavailable: LIBRARIES_UNREACHABLE, the file is damaged.
    """

    def __init__(self, path: Path) -> None:
        try:
            file = path.stat()
        except OSError as error:
            raise Unavailable(ErrorReason.LIBRARIES_UNREACHABLE, "The library is not there.") from error
        self._watched = _Watched(path)
        try:
            self._watched.ask(_check_version)
        except BaseException:
            self._watched.close()
            raise
        self._pool = ReadPool(path, file)

    def changed(self) -> bool:
        """Whether anything was committed since the last look; True at the first one."""
        return self._watched.changed()

    @contextmanager
    def writer(self, declared: Mapping[str, AttributeType] | None = None) -> Iterator[SqliteWriter]:
        """Raises Unavailable (NOT_SERVING)."""
        raise _only_reads()
        yield

    def sweep(self) -> None:
        """Raises Unavailable (NOT_SERVING)."""
        raise _only_reads()

    def close(self) -> None:
        """A read that is running ends undisturbed."""
        self._pool.close()
        self._watched.close()


def _check_version(connection: sqlite3.Connection) -> None:
    applied = check_migrations([name for (name,) in connection.execute("SELECT name FROM migration ORDER BY place")])
    if applied < len(MIGRATIONS):
        raise Unavailable(ErrorReason.LIBRARIES_UNREACHABLE, "The library is being brought up to date.")


class FollowedServerFile(ServerFile):
    """`server.sqlite` of a data folder that another process has open. Any thread.

    Raises:
        FailedPrecondition: NOT_SERVING, it is not there.
    """

    def __init__(self, path: Path) -> None:
        self._watched = _Watched(path)

    def changed(self) -> bool:
        """Whether anything was committed since the last look; True at the first one."""
        return self._watched.changed()

    def secret(self) -> bytes:
        """The key of snapshot ids. Raises Unavailable (NOT_SERVING): the process that writes has not made it yet."""
        found = self._watched.ask(
            lambda connection: connection.execute("SELECT value FROM kept WHERE name = 'secret'").fetchone()
        )
        if found is None:
            raise Unavailable(ErrorReason.NOT_SERVING, "The data folder is not set up yet.")
        return bytes(found[0])

    def libraries(self) -> dict[str, str]:
        """Ids of the libraries, sorted, each with when it was made: another time, another library."""
        question = "SELECT library_id, created_at FROM library ORDER BY library_id"
        return dict(self._watched.ask(lambda connection: connection.execute(question).fetchall()))

    def library_ids(self) -> list[str]:
        """Ids of the libraries, sorted."""
        return list(self.libraries())

    def created_at(self, library_id: str) -> str:
        """When a library was made; "" for one that is not here."""
        return self.libraries().get(library_id, "")

    def set_libraries(self, library_ids: Iterable[str]) -> None:
        """Raises Unavailable (NOT_SERVING)."""
        raise _only_reads()

    def job_rows(self) -> list[JobRow]:
        """None: the jobs are those of the process that writes."""
        return []

    def save_jobs(self, rows: Sequence[JobRow], forgotten: Sequence[str] = ()) -> None:
        """Raises Unavailable (NOT_SERVING)."""
        raise _only_reads()

    def close(self) -> None:
        """Close the file."""
        self._watched.close()
