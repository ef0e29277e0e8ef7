"""Codes that figures carry, without a look at every figure."""

from __future__ import annotations

import sqlite3

from groundwire_server.evidence import Dimension, ReviewStatus
from groundwire_server.store.sqlite.codec import decode_dimensions, encode_dimensions
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["read_fact_codes", "read_stored_codes", "read_stored_members"]

# An index begins with each of these two; that of channels is read whole, which is a tenth of the table.
_LEADING = frozenset({"metric", "entity"})
_AXES = ("channel", "entity", "metric")
_STEP = (
    "WITH RECURSIVE step(code) AS (SELECT min({axis}) FROM fact UNION ALL"
    " SELECT (SELECT min({axis}) FROM fact WHERE {axis} > step.code) FROM step WHERE step.code IS NOT NULL)"
    " SELECT code FROM step WHERE code IS NOT NULL"
)
_WHOLE = "SELECT DISTINCT {axis} FROM fact ORDER BY 1"
_SEEN = f" EXISTS (SELECT 1 FROM fact WHERE {{axis}} = code AND {VISIBLE} AND label <= :label"
_SEEN += " AND review_status <> :pending)"


def read_fact_codes(connection: sqlite3.Connection, generation: int, strictest: int, axis: str) -> list[str]:
    """Distinct codes on an axis that a visible fact not PENDING carries, sorted by code point."""
    if axis not in _AXES:
        raise ValueError(f"axis is one of {', '.join(_AXES)}, not {axis!r}")
    seen = _SEEN.format(axis=axis)
    if axis in _LEADING:
        statement = f"{_STEP.format(axis=axis)} AND {seen} ORDER BY 1"
    else:
        statement = (
            f"SELECT DISTINCT {axis} FROM fact WHERE {VISIBLE} AND label <= :label AND review_status <> :pending"
            " ORDER BY 1"
        )
    rows = connection.execute(
        statement, {"g": generation, "label": strictest, "pending": int(ReviewStatus.PENDING)}
    ).fetchall()
    return [code for (code,) in rows]


def read_stored_codes(connection: sqlite3.Connection, after_row: int) -> tuple[int, dict[str, list[str]]]:
    """See `StoreReader.stored_codes`."""
    (last_row,) = connection.execute("SELECT coalesce(max(fact_row), 0) FROM fact").fetchone()
    if after_row >= last_row:
        return last_row, {axis: [] for axis in _AXES}
    codes: dict[str, list[str]] = {}
    for axis in _AXES:
        if after_row:
            statement = "SELECT DISTINCT {axis} FROM fact NOT INDEXED WHERE fact_row > :after ORDER BY 1"
        else:
            statement = _STEP if axis in _LEADING else _WHOLE
        rows = connection.execute(statement.format(axis=axis), {"after": after_row} if after_row else {}).fetchall()
        codes[axis] = [code for (code,) in rows]
    return last_row, codes


def read_stored_members(connection: sqlite3.Connection, after_row: int) -> tuple[int, list[Dimension]]:
    """See `StoreReader.stored_members`."""
    (last_row,) = connection.execute("SELECT coalesce(max(fact_row), 0) FROM fact").fetchone()
    rows = connection.execute(
        "SELECT DISTINCT dimensions FROM fact NOT INDEXED WHERE fact_row > ? AND dimensions <> ?",
        (after_row, encode_dimensions(())),
    ).fetchall()
    members = {member for (dimensions,) in rows for member in decode_dimensions(dimensions)}
    return last_row, sorted(members, key=lambda member: (member.name, member.member))
