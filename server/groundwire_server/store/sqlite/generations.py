"""Generations and when they were committed, and the named texts of the library that have generations too."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from groundwire_server.evidence import Label
from groundwire_server.store.rows import GenerationMark
from groundwire_server.store.sqlite.codec import decode_instant, encode_instant
from groundwire_server.store.sqlite.digest import hash_parts, read_label_digest

__all__ = [
    "add_generation",
    "generation_at",
    "last_generation",
    "read_generations",
    "read_meta",
    "read_state",
    "was_in_state",
    "write_meta",
]


def last_generation(connection: sqlite3.Connection) -> int:
    """The last committed generation; 0 when there is none."""
    return int(connection.execute("SELECT coalesce(max(generation), 0) FROM generation").fetchone()[0])


def add_generation(connection: sqlite3.Connection, generation: int, now: datetime) -> None:
    """Commit time of a generation: now, or that of the one before where the clock has gone back."""
    connection.execute(
        "INSERT INTO generation (generation, committed_at)"
        " SELECT ?, max(?, coalesce(max(committed_at), ?)) FROM generation",
        (generation, encode_instant(now), encode_instant(now)),
    )


def generation_at(connection: sqlite3.Connection, moment: datetime) -> int:
    """The last generation committed at or before a moment; 0 when there was none."""
    row = connection.execute(
        "SELECT generation FROM generation WHERE committed_at <= ? ORDER BY committed_at DESC, generation DESC LIMIT 1",
        (encode_instant(moment),),
    ).fetchone()
    return 0 if row is None else int(row[0])


def read_generations(connection: sqlite3.Connection) -> list[GenerationMark]:
    """All of them, in order."""
    rows = connection.execute("SELECT generation, committed_at FROM generation ORDER BY generation")
    return [GenerationMark(generation, decode_instant(committed_at)) for generation, committed_at in rows.fetchall()]


def read_state(connection: sqlite3.Connection, generation: int) -> str:
    """The generation, and a hash of when it was committed and of all that was born and died up to it."""
    moment = connection.execute("SELECT committed_at FROM generation WHERE generation = ?", (generation,)).fetchone()
    digests = [read_label_digest(connection, label, generation) for label in Label]
    history = hash_parts(*(moment or (None,)), *map(str, digests))
    return f"{generation}:{history.hex()[:32]}"


def was_in_state(connection: sqlite3.Connection, state: str) -> bool:
    """Whether a state lies on the way to the present one."""
    generation, _, _ = state.partition(":")
    if not generation.isdecimal() or int(generation) > last_generation(connection):
        return False
    return read_state(connection, int(generation)) == state


def read_meta(connection: sqlite3.Connection, generation: int, name: str) -> str | None:
    """A named text as it was at a generation."""
    row = connection.execute(
        "SELECT value FROM meta WHERE name = ? AND generation <= ? ORDER BY generation DESC LIMIT 1", (name, generation)
    ).fetchone()
    return None if row is None else str(row[0])


def write_meta(connection: sqlite3.Connection, generation: int, name: str, value: str) -> bool:
    """Set a named text from a generation on. Returns whether it is another than before."""
    if read_meta(connection, generation, name) == value:
        return False
    connection.execute(
        "INSERT OR REPLACE INTO meta (name, generation, value) VALUES (?, ?, ?)", (name, generation, value)
    )
    return True
