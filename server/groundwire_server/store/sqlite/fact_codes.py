"""Codes that figures carry, without a look at every figure."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from groundwire_server.evidence import Dimension, ReviewStatus
from groundwire_server.store.sqlite.codec import decode_dimensions
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["read_fact_codes", "read_fact_members", "read_stored_codes", "read_stored_members"]

_AXES = ("channel", "entity", "metric")
_WHOLE = "TOTAL"
# From one code to the next, by an index that begins with the column. That of channels has the whole left out.
_STEP = (
    "WITH RECURSIVE step(code) AS (SELECT min({column}) FROM fact WHERE {left} UNION ALL"
    " SELECT (SELECT min({column}) FROM fact WHERE {column} > step.code AND {left}) FROM step"
    " WHERE step.code IS NOT NULL) SELECT code FROM step WHERE code IS NOT NULL"
)
_LEFT = {"channel": "channel <> 'TOTAL'", "dimensions": "dimensions <> '[]'"}
_SEEN = (
    f"EXISTS (SELECT 1 FROM fact WHERE {{column}} = code AND {{left}} AND {VISIBLE} AND label <= :label"
    " AND review_status <> :pending)"
)
_HAS_WHOLE = (
    f"SELECT 1 FROM fact WHERE channel = '{_WHOLE}' AND {VISIBLE} AND label <= :label"
    " AND review_status <> :pending LIMIT 1"
)


def read_fact_codes(connection: sqlite3.Connection, generation: int, strictest: int, axis: str) -> list[str]:
    """Distinct codes on an axis that a visible fact not PENDING carries, sorted by code point."""
    if axis not in _AXES:
        raise ValueError(f"axis is one of {', '.join(_AXES)}, not {axis!r}")
    given = _given(generation, strictest)
    found = _seen(connection, axis, given)
    if axis == "channel" and connection.execute(_HAS_WHOLE, given).fetchone():
        found.append(_WHOLE)
    return sorted(found)


def read_fact_members(connection: sqlite3.Connection, generation: int, strictest: int) -> list[Dimension]:
    """See `StoreReader.fact_members`."""
    return _members(_seen(connection, "dimensions", _given(generation, strictest)))


def read_stored_codes(connection: sqlite3.Connection, after_row: int) -> tuple[int, dict[str, list[str]]]:
    """See `StoreReader.stored_codes`."""
    last_row = _last_row(connection)
    codes = {axis: _stored(connection, axis, after_row) if after_row < last_row else [] for axis in _AXES}
    if codes["metric"] and not after_row:
        codes["channel"] = sorted([*codes["channel"], _WHOLE])  # a code that is always known; it need not be looked for
    return last_row, codes


def read_stored_members(connection: sqlite3.Connection, after_row: int) -> tuple[int, list[Dimension]]:
    """See `StoreReader.stored_members`."""
    last_row = _last_row(connection)
    return last_row, _members(_stored(connection, "dimensions", after_row) if after_row < last_row else [])


def _given(generation: int, strictest: int) -> dict[str, int]:
    return {"g": generation, "label": strictest, "pending": int(ReviewStatus.PENDING)}


def _last_row(connection: sqlite3.Connection) -> int:
    (last_row,) = connection.execute("SELECT coalesce(max(fact_row), 0) FROM fact").fetchone()
    return int(last_row)


def _seen(connection: sqlite3.Connection, column: str, given: dict[str, int]) -> list[str]:
    """What stands in a column of visible facts."""
    left = _LEFT.get(column, "TRUE")
    statement = f"{_STEP} AND {_SEEN}".format(column=column, left=left)
    return [code for (code,) in connection.execute(statement, given).fetchall()]


def _stored(connection: sqlite3.Connection, column: str, after_row: int) -> list[str]:
    """What stands in a column of the rows behind another, or of all; of channels without the whole then."""
    if not after_row:
        rows = connection.execute(_STEP.format(column=column, left=_LEFT.get(column, "TRUE"))).fetchall()
    else:
        new = f"SELECT DISTINCT {column} FROM fact NOT INDEXED WHERE fact_row > ? ORDER BY 1"
        rows = connection.execute(new, (after_row,)).fetchall()
    return [code for (code,) in rows]


def _members(texts: Iterable[str]) -> list[Dimension]:
    members = {member for text in texts for member in decode_dimensions(text)}
    return sorted(members, key=lambda member: (member.name, member.member))
