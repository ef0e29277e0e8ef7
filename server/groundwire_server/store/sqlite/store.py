"""A library's system of record in one SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from groundwire_server.errors import ErrorReason, GroundwireError, InvalidRequest, Unavailable
from groundwire_server.evidence import AttributeType
from groundwire_server.store.rows import GenerationMark
from groundwire_server.store.sqlite import generations
from groundwire_server.store.sqlite.connection import ReadPool, connect_writer, translated
from groundwire_server.store.sqlite.reader import SqliteReader
from groundwire_server.store.sqlite.schema import MIGRATIONS, Migration, apply_migrations
from groundwire_server.store.sqlite.transaction import Transaction
from groundwire_server.store.sqlite.writer import SqliteWriter

__all__ = ["SqliteStore"]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SqliteStore:
    """`Store` in a file: WAL, every commit on the disk before it returns, readers beside one writer.

    Args:
        path: the file; made when it is not there.
        now: clock of commit times; a commit never stands before the one ahead of it, whatever the clock says.
        migrations: steps of the schema.

    Raises:
        FailedPrecondition: STORE_VERSION, the file is of a newer version; NOT_SERVING, it may not be opened.
        Unavailable: LIBRARIES_UNREACHABLE, the file is damaged.
    """

    def __init__(
        self,
        path: Path,
        *,
        now: Callable[[], datetime] = _utc_now,
        migrations: Sequence[tuple[str, Migration]] = MIGRATIONS,
    ) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._closed = False
        with translated():
            self._connection = connect_writer(path)
            try:
                apply_migrations(self._connection, migrations)
            except BaseException:
                self._connection.close()
                raise
        self._pool = ReadPool(path)

    def reader(self, generation: int | None = None) -> SqliteReader:
        """See `Store.reader`. Raises ValueError for a generation that was not committed yet."""
        with self._pool.connection() as connection:
            last = generations.last_generation(connection)
        if generation is not None and not 0 <= generation <= last:
            raise ValueError(f"generation {generation} is not in 0..{last}")
        return SqliteReader(self._pool, last if generation is None else generation)

    @contextmanager
    def writer(self, declared: Mapping[str, AttributeType] | None = None) -> Iterator[SqliteWriter]:
        """See `Store.writer`."""
        with self._lock:
            if self._closed:
                raise Unavailable(ErrorReason.NOT_SERVING, "The library is closed.")
            connection = self._connection
            with translated():
                connection.execute("BEGIN IMMEDIATE")
            try:
                with translated():
                    generation = generations.last_generation(connection) + 1
                    transaction = Transaction(connection, generation, declared or {})
                yield SqliteWriter(transaction, self._now)
                with translated():
                    self._commit(transaction)
            except BaseException:
                self._undo()
                raise

    def _commit(self, transaction: Transaction) -> None:
        if transaction.changed:
            transaction.digest.write(transaction.generation)
            generations.add_generation(transaction.connection, transaction.generation, self._now())
        transaction.connection.execute("COMMIT")

    def _undo(self) -> None:
        """SQLite may have rolled back by itself, e.g. on a full disk."""
        if self._connection.in_transaction:
            with translated():
                self._connection.execute("ROLLBACK")

    def sweep(self) -> None:
        """See `Store.sweep`.

        `secure_delete` would leave what pages held of rows that were moved before; a file written anew has nothing.
        """
        with self._lock:
            if self._closed:
                raise Unavailable(ErrorReason.NOT_SERVING, "The library is closed.")
            with translated():
                self._connection.execute("VACUUM")
                (busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if busy:
                    raise Unavailable(ErrorReason.NOT_SERVING, "A reader holds the store's log.")

    def generation_at(self, moment: datetime) -> int:
        """See `Store.generation_at`."""
        with self._pool.connection() as connection:
            return generations.generation_at(connection, moment)

    def was(self, state: str) -> bool:
        """See `Store.was`."""
        with self._pool.connection() as connection:
            return generations.was_in_state(connection, state)

    def generations(self) -> list[GenerationMark]:
        """See `Store.generations`."""
        with self._pool.connection() as connection:
            return generations.read_generations(connection)

    def execute_read(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of one SELECT, hidden ones included: for the people who run the house.

        Raises:
            InvalidRequest: VALUE_MALFORMED, for anything but one read (seed: execute_read).
        """
        try:
            with self._pool.connection() as connection:
                return connection.execute(statement, tuple(parameters)).fetchall()
        except (GroundwireError, ValueError, sqlite3.Warning) as error:
            if isinstance(error, GroundwireError) and not isinstance(error.__cause__, sqlite3.Error):
                raise
            raise InvalidRequest.one(
                "statement", ErrorReason.VALUE_MALFORMED, "is not one SELECT over the tables of the store"
            ) from error

    def close(self) -> None:
        """Wait for the writer, then close; a read that is running ends undisturbed."""
        self._pool.close()
        with self._lock:
            self._closed = True
            self._connection.close()
