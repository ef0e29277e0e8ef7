"""Relations as a list: in the order of their names and ends, behind a place, without reading what is elsewhere."""

from __future__ import annotations

import sqlite3

from groundwire_server.store.rows import EdgePlace, StoredEdge
from groundwire_server.store.sqlite.edges import read_edge
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["read_edge_page"]

_ORDER = ("relation", "source_kind", "source", "target_kind", "target", "edge_id")


def read_edge_page(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    *,
    wanted: dict[str, str],
    after: EdgePlace | None,
    limit: int,
) -> list[list[StoredEdge]]:
    """See `StoreReader.edge_page`. Each label has its own walk through an index, and the walks are merged."""
    conditions = [VISIBLE, *(f"{column} = :{column}" for column in sorted(wanted))]
    named: dict[str, object] = {"g": generation, "limit": limit, **wanted}
    if after is not None:
        left = [name for name in _ORDER if name not in wanted]
        conditions.append(f"({', '.join(left)}) > ({', '.join(f':at_{name}' for name in left)})")
        named |= {f"at_{name}": getattr(after, name) for name in left}
    walks = [
        f"SELECT DISTINCT {', '.join(_ORDER)} FROM edge WHERE {' AND '.join([f'label = {label}', *conditions])}"
        for label in range(1, strictest + 1)
    ]
    statement = f"{' UNION '.join(walks)} ORDER BY {', '.join(_ORDER)} LIMIT :limit"
    ids = [edge_id for *_, edge_id in connection.execute(statement, named).fetchall()]
    source_doc = wanted.get("source_doc")
    return [
        [edge for edge in read_edge(connection, generation, strictest, edge_id) if _is_of(edge, source_doc)]
        for edge_id in ids
    ]


def _is_of(edge: StoredEdge, source_doc: str | None) -> bool:
    return source_doc is None or edge.record.source_doc == source_doc
