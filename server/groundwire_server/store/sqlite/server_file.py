"""`server.sqlite`: the libraries of a data folder, its jobs, and the secret of its snapshot ids."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from groundwire_server.store.sqlite.connection import connect_writer, translated
from groundwire_server.store.sqlite.job_rows import JobRow, lay_job_table, read_jobs, write_jobs
from groundwire_server.store.sqlite.schema import Migration, apply_migrations

__all__ = ["ServerFile"]

_SECRET_BYTES = 32


def _lay_tables(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE library (library_id TEXT PRIMARY KEY, created_at TEXT NOT NULL)")
    connection.execute("CREATE TABLE kept (name TEXT PRIMARY KEY, value BLOB NOT NULL)")


_MIGRATIONS: tuple[tuple[str, Migration], ...] = (
    ("0001_lay_tables", _lay_tables),
    ("0002_jobs", lay_job_table),
)


class ServerFile:
    """What a server keeps beside its libraries. Any thread may use it.

    Raises:
        FailedPrecondition: STORE_VERSION, or NOT_SERVING where the file may not be written.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        with translated():
            self._connection = connect_writer(path)
            try:
                apply_migrations(self._connection, _MIGRATIONS)
            except BaseException:
                self._connection.close()
                raise

    def secret(self) -> bytes:
        """The key of snapshot ids: made once, then always the same."""
        with self._lock, translated():
            self._connection.execute(
                "INSERT OR IGNORE INTO kept (name, value) VALUES ('secret', ?)", (secrets.token_bytes(_SECRET_BYTES),)
            )
            (value,) = self._connection.execute("SELECT value FROM kept WHERE name = 'secret'").fetchone()
        return bytes(value)

    def library_ids(self) -> list[str]:
        """Ids of the libraries, sorted."""
        with self._lock, translated():
            rows = self._connection.execute("SELECT library_id FROM library ORDER BY library_id").fetchall()
        return [library_id for (library_id,) in rows]

    def set_libraries(self, library_ids: Iterable[str]) -> None:
        """Make these the libraries, whatever stood here."""
        now = datetime.now(UTC).isoformat()
        wanted = sorted(library_ids)
        with self._lock, translated():
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT OR IGNORE INTO library (library_id, created_at) VALUES (?, ?)", [(name, now) for name in wanted]
            )
            places = ",".join("?" * len(wanted))
            self._connection.execute(f"DELETE FROM library WHERE library_id NOT IN ({places})", wanted)
            self._connection.execute("COMMIT")

    def created_at(self, library_id: str) -> str:
        """When a library was made; it tells one apart from a later one of the same id. "" for one that is not here."""
        with self._lock, translated():
            found = self._connection.execute(
                "SELECT created_at FROM library WHERE library_id = ?", (library_id,)
            ).fetchone()
        return str(found[0]) if found else ""

    def job_rows(self) -> list[JobRow]:
        """All jobs that are kept, oldest first."""
        with self._lock, translated():
            return read_jobs(self._connection)

    def save_jobs(self, rows: Sequence[JobRow], forgotten: Sequence[str] = ()) -> None:
        """Keep some jobs as they are now, and forget others, durably and together."""
        with self._lock, translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                write_jobs(self._connection, rows, forgotten)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
