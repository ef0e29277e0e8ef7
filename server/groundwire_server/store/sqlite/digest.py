"""A digest of all that was ever born or died, one for each label, whatever the order in which it came.

It is a multiset hash: the sum modulo 2^256 of the SHA-256 of each event. Two stores with equal digests of a label hold
rows with equal histories under it; a write under another label leaves it as it was. Rows that are found in texts count
while they live and leave no trace: a text that came and went within one write was never looked into.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct

from groundwire_server.evidence import Label

__all__ = ["DigestBook", "birth_event", "hash_parts", "living_event", "read_digest", "read_label_digest"]

_MODULUS = 1 << 256
_BYTES = 32
_LIVING = b"~"  # ends the event of a row that counts while it lives
_frame = struct.Struct(">cQ").pack
_FRAMES = [_frame(b"s", length) for length in range(256)]  # most texts are short, and a row has a dozen


def hash_parts(*parts: str | int | bytes | None) -> bytes:
    """SHA-256 of the parts with their lengths and types, so that no two lists of parts meet by accident."""
    framed: list[bytes] = []
    for part in parts:
        if isinstance(part, str):
            raw = part.encode()
            framed += (_FRAMES[len(raw)] if len(raw) < len(_FRAMES) else _frame(b"s", len(raw)), raw)
        elif isinstance(part, bytes):
            framed += (_frame(b"b", len(part)), part)
        elif part is None:
            framed.append(_frame(b"n", 0))
        else:
            raw = str(part).encode()
            framed += (_frame(b"i", len(raw)), raw)
    return hashlib.sha256(b"".join(framed)).digest()


def birth_event(kind: str, *parts: str | int | bytes | None) -> bytes:
    """What enters the digest when a row is born; kept with the row, since its death enters too."""
    return hash_parts("birth", kind, *parts)


def living_event(kind: str, *parts: str | int | bytes | None) -> bytes:
    """The same for a row that leaves the digest again when it dies, as if it had never been."""
    return birth_event(kind, *parts) + _LIVING


class DigestBook:
    """Digests of one write transaction: read when it begins, written when it commits."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sums: dict[int, int] = {}  # by label

    def add_birth(self, label: Label, event: bytes) -> None:
        """A row was born."""
        self._add(label, _number(event))

    def add_death(self, label: Label, event: bytes) -> None:
        """A row died whose birth was `event`."""
        self._add(label, -_number(event) if event.endswith(_LIVING, _BYTES) else _number(hash_parts("death", event)))

    def add_purge(self, label: Label, event: bytes) -> None:
        """What a row held was erased; its birth was `event`."""
        self._add(label, _number(hash_parts("purge", event)))

    def write(self, generation: int) -> None:
        """Keep the digests that changed, as those of `generation`."""
        self._connection.executemany(
            "INSERT INTO digest (label, generation, value) VALUES (?, ?, ?)",
            [(label, generation, value.to_bytes(_BYTES, "big")) for label, value in self._sums.items()],
        )

    def _add(self, label: Label, number: int) -> None:
        key = int(label)
        if key not in self._sums:
            self._sums[key] = read_label_digest(self._connection, label, None)
        self._sums[key] = (self._sums[key] + number) % _MODULUS


def _number(event: bytes) -> int:
    return int.from_bytes(event[:_BYTES], "big")


def read_label_digest(connection: sqlite3.Connection, label: Label, generation: int | None) -> int:
    """The sum of all that was ever born or died under one label, by a generation or by now."""
    row = connection.execute(
        "SELECT value FROM digest WHERE label = ? AND generation <= ? ORDER BY generation DESC LIMIT 1",
        (int(label), 2**62 if generation is None else generation),
    ).fetchone()
    return 0 if row is None else int.from_bytes(row[0], "big")


def read_digest(connection: sqlite3.Connection, clearance: Label, generation: int) -> bytes:
    """The digest of all that `clearance` may read, as it was at `generation`; 32 bytes."""
    readable = [label for label in Label if label <= clearance and label is not Label.RESTRICTED]
    total = sum(read_label_digest(connection, label, generation) for label in readable) % _MODULUS
    return total.to_bytes(_BYTES, "big")
