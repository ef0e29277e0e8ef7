"""Figures as a list: in the order of their keys, behind a place, without reading what comes before or after."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from groundwire_server.evidence import ReviewStatus
from groundwire_server.store.rows import FactPlace, StoredFact
from groundwire_server.store.sqlite.codec import encode_dimensions, encode_instant
from groundwire_server.store.sqlite.facts import FACT_COLUMNS, fact_of_row
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["read_fact_page"]

# Every part of the order is one of the key of a fact, so that its versions follow one another.
_ORDER = {
    "metric": "metric",
    "entity": "entity",
    "period_first": "period_first",
    "period_last": "period_last",
    "channel": "channel",
    "axes": "CASE dimensions WHEN '[]' THEN '' ELSE dimensions END",
    "stating": "CASE WHEN source = '' THEN source_doc ELSE source END",
    "fact_id": "fact_id",
}
_STATED_AT = "coalesce(filed_at, committed_at)"
_WALK = (
    f"SELECT {FACT_COLUMNS}, {_ORDER['axes']} AS axes, {_ORDER['stating']} AS stating, {_STATED_AT} AS stated_at"
    f" FROM fact JOIN generation ON generation = born WHERE label = {{label}} AND {VISIBLE}"
)
_BESIDE = 3
_IS_LAST = (
    "NOT EXISTS (SELECT 1 FROM fact AS later JOIN generation AS filed ON filed.generation = later.born"
    " WHERE later.fact_id = fact.fact_id AND later.label <= :label"
    " AND later.born <= :g AND (later.died IS NULL OR later.died > :g) AND later.review_status IN ({statuses})"
    " AND (coalesce(later.filed_at, filed.committed_at), later.fact_row)"
    " > (coalesce(fact.filed_at, generation.committed_at), fact.fact_row))"
)


def read_fact_page(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    *,
    statuses: Collection[ReviewStatus],
    wanted: dict[str, str],
    all_versions: bool,
    after: FactPlace | None,
    limit: int,
) -> list[StoredFact]:
    """See `StoreReader.fact_page`. Each label has its own walk through an index, and the walks are merged."""
    states = ", ".join(str(int(status)) for status in sorted(statuses))
    conditions = [f"review_status IN ({states})", *(f"{column} = :{column}" for column in sorted(wanted))]
    named: dict[str, object] = {"g": generation, "label": strictest, **wanted}
    if not all_versions:
        conditions.append(_IS_LAST.format(statuses=states))
    sent = 0
    if after is not None:
        named |= _parameters(after)
        left = [name for name in _ORDER if name not in wanted]
        columns, places = ", ".join(_ORDER[name] for name in left), ", ".join(f":at_{name}" for name in left)
        if all_versions and after.stated_at is not None:
            sent = after.equals
            conditions.append(f"({columns}) >= ({places})")
            conditions.append(f"(fact_id <> :at_fact_id OR {_STATED_AT} >= :at_stated)")
        else:
            conditions.append(f"({columns}) > ({places})")
    walks = [" AND ".join([_WALK.format(label=label), *conditions]) for label in range(1, strictest + 1)]
    statement = f"{' UNION ALL '.join(walks)} ORDER BY {', '.join(_ORDER)}, stated_at, fact_row LIMIT :limit"
    rows = connection.execute(statement, {**named, "limit": limit + sent}).fetchall()
    facts = [fact_of_row(row[:-_BESIDE]) for row in rows]
    if after is not None:
        facts = [fact for at, fact in enumerate(facts) if at >= sent or not _stands_at(fact, after)]
    return facts[:limit]


def _stands_at(fact: StoredFact, place: FactPlace) -> bool:
    return fact.fact_id == place.fact_id and (fact.record.filed_at or fact.recorded_at) == place.stated_at


def _parameters(place: FactPlace) -> dict[str, object]:
    return {
        "at_metric": place.metric,
        "at_entity": place.entity,
        "at_period_first": place.period_first.isoformat(),
        "at_period_last": place.period_last.isoformat(),
        "at_channel": place.channel,
        "at_axes": encode_dimensions(place.dimensions) if place.dimensions else "",
        "at_stating": place.source,
        "at_fact_id": place.fact_id,
        "at_stated": None if place.stated_at is None else encode_instant(place.stated_at),
    }
