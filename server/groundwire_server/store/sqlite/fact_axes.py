"""Which axes the figures of a source lie on: what relations are made of, with no figure in it."""

from __future__ import annotations

import sqlite3

from groundwire_server.evidence import Label, ReviewStatus
from groundwire_server.store.rows import FactAxes
from groundwire_server.store.sqlite.codec import decode_dimensions

__all__ = ["read_fact_axes"]


def read_fact_axes(connection: sqlite3.Connection, source_doc: str | None, entity: str | None) -> list[FactAxes]:
    """See `StoreWriter.fact_axes`."""
    narrowed = []
    if source_doc is not None:  # an entity has far fewer figures than a source; the sign keeps to its index
        narrowed.append("source_doc = :doc" if entity is None else "+source_doc = :doc")
    if entity is not None:
        narrowed.append("entity = :entity")
    rows = connection.execute(
        "SELECT source_doc, entity, metric, channel, dimensions, min(label) FROM fact"
        f" WHERE {' AND '.join([*narrowed, 'died IS NULL', 'review_status <> :pending'])}"
        " GROUP BY source_doc, entity, metric, channel, dimensions ORDER BY 1, 2, 3, 4, 5",
        {"doc": source_doc, "entity": entity, "pending": int(ReviewStatus.PENDING)},
    )
    return [
        FactAxes(doc, of_entity, metric, channel, decode_dimensions(dimensions), Label(label))
        for doc, of_entity, metric, channel, dimensions, label in rows.fetchall()
    ]
