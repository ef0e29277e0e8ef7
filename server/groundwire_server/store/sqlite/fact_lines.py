"""Figures of many entities at once, as few columns as a sum needs; and whole figures by their rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Iterable, Sequence

from groundwire_server.evidence import Dimension, Period, PeriodKind, ReviewStatus
from groundwire_server.store.rows import FactLine, StoredFact
from groundwire_server.store.sqlite.codec import encode_dimensions
from groundwire_server.store.sqlite.facts import FACT, KNOWN, fact_of_row, last_words
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["read_fact_lines", "read_fact_rows"]

# In the order of FactLine. The time of writing is looked up only where nobody said when a value was filed.
_LINE = (
    "SELECT entity, fact_id, fact_row, value, unit, decimals, label,"
    " CASE source WHEN '' THEN source_doc ELSE source END, source_doc, locator, filed_at,"
    " coalesce(filed_at, (SELECT committed_at FROM generation WHERE generation = born)), period"
    " FROM fact WHERE metric = :metric AND period_first = :first AND period_last = :last AND channel = :channel"
    " AND dimensions = :dimensions AND (instr(period, '/') = 0 AND period_first = period_last) = :instant"
    " AND label <= :label AND review_status <> :pending"
    " AND (:valid IS NULL OR valid_as_of IS NULL OR valid_as_of <= :valid)"
    " AND {state} ORDER BY entity, fact_row"
)
_ROWS_A_READ = 500


def read_fact_lines(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    *,
    metric: str,
    period: Period,
    channel: str,
    dimensions: Iterable[Dimension],
    known: tuple[int, int] | None,
    valid_at: int | None,
) -> list[FactLine]:
    """See `StoreReader.fact_lines`. known: (instant, generation then)."""
    moment, then = known or (0, 0)
    rows = connection.execute(
        _LINE.format(state=VISIBLE if known is None else KNOWN),
        {
            "metric": metric,
            "first": period.first.isoformat(),
            "last": period.last.isoformat(),
            "channel": channel,
            "dimensions": encode_dimensions(dimensions),
            "instant": period.kind is PeriodKind.INSTANT,
            "label": strictest,
            "pending": int(ReviewStatus.PENDING),
            "valid": valid_at,
            "g": generation,
            "known": moment,
            "then": then,
        },
    )
    lines = list(map(FactLine._make, rows.fetchall()))
    if known is None:
        return lines
    return [lines[place] for place in last_words([_words(line) for line in lines])]


def _words(line: FactLine) -> tuple[Hashable, int, bool]:
    statement = (line.fact_id, line.source_doc, line.locator, line.filed_at, line.value)
    return statement, line.fact_row, line.filed_at is not None


def read_fact_rows(
    connection: sqlite3.Connection, generation: int, strictest: int, wanted: Sequence[int]
) -> list[StoredFact]:
    """See `StoreReader.fact_rows`."""
    found: dict[int, StoredFact] = {}
    for begin in range(0, len(wanted), _ROWS_A_READ):
        part = wanted[begin : begin + _ROWS_A_READ]
        places = ", ".join(str(int(row)) for row in part)
        statement = f"{FACT}born <= :g AND fact_row IN ({places})"
        rows = connection.execute(statement, {"g": generation, "label": strictest}).fetchall()
        found.update((fact.fact_row, fact) for fact in map(fact_of_row, rows))
    return [found[row] for row in wanted if row in found]
