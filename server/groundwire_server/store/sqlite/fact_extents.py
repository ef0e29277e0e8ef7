"""How far the figures of a code reach, told without making figures of the rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import date

from groundwire_server.evidence import Dimension, ReviewStatus
from groundwire_server.store.rows import FactExtent
from groundwire_server.store.sqlite.codec import encode_dimensions
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["read_fact_extent"]


def read_fact_extent(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    wanted: Mapping[str, str],
    member: Dimension | None,
) -> FactExtent:
    """See `StoreReader.fact_extent`. wanted: codes by column."""
    tests = [VISIBLE, "label <= :label", "review_status <> :pending", *(f"{axis} = :{axis}" for axis in sorted(wanted))]
    if member is not None:
        # The text is JSON: inside one of its strings the quotes of this piece would have a backslash before them.
        tests.append("instr(dimensions, :member) > 0")
    given = {
        "g": generation,
        "label": strictest,
        "pending": int(ReviewStatus.PENDING),
        "member": "" if member is None else encode_dimensions([member])[1:-1],
        **wanted,
    }
    rows = connection.execute(
        f"SELECT fact_id, period_first, period_last, period, unit FROM fact WHERE {' AND '.join(tests)}", given
    )
    facts: set[str] = set()
    spans: set[tuple[str, str, str]] = set()
    units: set[str] = set()
    for fact_id, first, last, period, unit in rows:
        facts.add(fact_id)
        spans.add((first, last, period))
        units.add(unit)
    days = sorted((date.fromisoformat(first), date.fromisoformat(last), period) for first, last, period in spans)
    return FactExtent(len(facts), tuple(days), tuple(sorted(units)))
