"""Ingest streams as far as they are durable: parts of the open document, and outcomes that a repeat must get again."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from groundwire_server.errors import Aborted, ErrorReason
from groundwire_server.store.rows import IngestState
from groundwire_server.store.sqlite.codec import encode_instant

__all__ = ["finish_ingest", "finish_part", "forget_ingests", "read_ingest", "read_spool", "spool_part", "start_ingest"]


def read_ingest(connection: sqlite3.Connection, ingest_id: str) -> IngestState | None:
    """Where an ingest stands, or None when it is not known."""
    row = connection.execute(
        "SELECT kind, durable_seq, finished, head FROM ingest WHERE ingest_id = ?", (ingest_id,)
    ).fetchone()
    if row is None:
        return None
    kind, durable_seq, finished, head = row
    outcomes = connection.execute(
        "SELECT outcome FROM ingest_outcome WHERE ingest_id = ? ORDER BY outcome_row", (ingest_id,)
    ).fetchall()
    return IngestState(ingest_id, kind, durable_seq, bool(finished), head, tuple(outcome for (outcome,) in outcomes))


def read_spool(connection: sqlite3.Connection, ingest_id: str) -> bytes:
    """The parts of the open document, put together."""
    rows = connection.execute("SELECT content FROM ingest_spool WHERE ingest_id = ? ORDER BY seq", (ingest_id,))
    return b"".join(content for (content,) in rows.fetchall())


def start_ingest(connection: sqlite3.Connection, ingest_id: str, kind: str, now: datetime) -> IngestState:
    """Open an ingest or find it again. Raises Aborted (INGEST_ID_IN_USE) when the id is one of another kind."""
    connection.execute(
        "INSERT OR IGNORE INTO ingest (ingest_id, kind, durable_seq, finished, head, touched_at)"
        " VALUES (?, ?, 0, 0, x'', ?)",
        (ingest_id, kind, encode_instant(now)),
    )
    state = read_ingest(connection, ingest_id)
    if state is None or state.kind != kind:
        raise Aborted(
            ErrorReason.INGEST_ID_IN_USE,
            "The ingest_id belongs to another kind of ingest.",
            hint="Make a new one.",
            details={"ingest_id": ingest_id},
        )
    return state


def spool_part(
    connection: sqlite3.Connection, ingest_id: str, seq: int, head: bytes | None, content: bytes, now: datetime
) -> None:
    """Keep a part of the open document. `head` comes with its first part."""
    _advance(connection, ingest_id, seq, now, at_least=1, head=head)
    connection.execute("INSERT INTO ingest_spool (ingest_id, seq, content) VALUES (?, ?, ?)", (ingest_id, seq, content))


def finish_part(connection: sqlite3.Connection, ingest_id: str, seq: int, outcome: bytes, now: datetime) -> None:
    """The open document is done."""
    _advance(connection, ingest_id, seq, now, at_least=0, head=b"")
    connection.execute("DELETE FROM ingest_spool WHERE ingest_id = ?", (ingest_id,))
    connection.execute("INSERT INTO ingest_outcome (ingest_id, outcome) VALUES (?, ?)", (ingest_id, outcome))


def finish_ingest(connection: sqlite3.Connection, ingest_id: str, now: datetime) -> None:
    """Nothing more comes. Raises KeyError for an ingest that was not started."""
    done = connection.execute(
        "UPDATE ingest SET finished = 1, touched_at = ? WHERE ingest_id = ?", (encode_instant(now), ingest_id)
    )
    if done.rowcount == 0:
        raise KeyError(ingest_id)


def forget_ingests(connection: sqlite3.Connection, before: datetime) -> int:
    """Drop what was last written before a moment."""
    return connection.execute("DELETE FROM ingest WHERE touched_at < ?", (encode_instant(before),)).rowcount


def _advance(
    connection: sqlite3.Connection, ingest_id: str, seq: int, now: datetime, *, at_least: int, head: bytes | None
) -> None:
    """Make `seq` durable, with another head unless it is None.

    Raises KeyError for an unknown ingest, ValueError when `seq` lies before what is durable.
    """
    done = connection.execute(
        "UPDATE ingest SET durable_seq = ?, touched_at = ?, head = coalesce(?, head)"
        " WHERE ingest_id = ? AND durable_seq <= ?",
        (seq, encode_instant(now), head, ingest_id, seq - at_least),
    )
    if done.rowcount == 0:
        row = connection.execute("SELECT durable_seq FROM ingest WHERE ingest_id = ?", (ingest_id,)).fetchone()
        if row is None:
            raise KeyError(ingest_id)
        raise ValueError(f"part {seq} comes after part {row[0]}")
