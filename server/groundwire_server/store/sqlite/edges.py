"""Relations: one row a source of an edge, the sources of one edge under one id (semantics 12)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import Any

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Label
from groundwire_server.store.rows import EdgeColumns, EdgeRecord, StoredEdge, WriteCounts
from groundwire_server.store.sqlite.codec import decode_attributes, decode_instant, encode_attributes, is_storable
from groundwire_server.store.sqlite.digest import birth_event, hash_parts, living_event
from groundwire_server.store.sqlite.transaction import VISIBLE, Transaction

__all__ = [
    "count_edges",
    "has_node",
    "make_edge_id",
    "put_edges",
    "read_edge",
    "read_edge_columns",
    "read_edge_rows",
    "read_edges",
    "read_nodes",
    "read_relations",
    "replace_edges",
    "retire_edges_of",
    "take_back_edges",
]

_TEXTS = (
    "source_kind",
    "source",
    "relation",
    "target_kind",
    "target",
    "extractor",
    "source_doc",
    "locator",
    "valid_from",
    "valid_to",
)
_COLUMNS = f"label, {', '.join(_TEXTS)}, attributes"
_INSERT = f"INSERT INTO edge (edge_id, born, event, {_COLUMNS}) VALUES ({', '.join('?' * (len(_TEXTS) + 5))})"


_ROWS_A_WRITE = 500

# What is derived of a glossary, of figures and of attributes says nothing that these do not say. Their digests stand
# for it: they do not depend on the order in which things came.
_GLOSSARY = "extractor <> 'glossary'"
_DERIVED = frozenset({"facts", "glossary", "metadata"})
# What is found in texts alone depends on which of them were there between two writes, and counts while it lives.
_FOUND = "co_occurrence"


def make_edge_id(record: EdgeRecord) -> str:
    """128-bit hex of both ends, the relation and its days: the same edge from another source has the same id."""
    ends = (record.source_kind, record.source, record.relation, record.target_kind, record.target)
    return hash_parts(*ends, record.valid_from, record.valid_to).hex()[:32]


def put_edges(transaction: Transaction, records: Iterable[EdgeRecord], strictest: int) -> WriteCounts:
    """Store sources of edges; see `StoreWriter.put_edges`."""
    stored = unchanged = 0
    refused: list[tuple[int, RowRefused]] = []
    numbered = enumerate(records)
    while some := list(islice(numbered, _ROWS_A_WRITE)):
        writing = _Writing(transaction, [record for _, record in some])
        for place, record in some:
            fault = _fault(transaction, record, strictest)
            if fault is not None:
                refused.append((place, fault))
            elif writing.put(record) or record.label > strictest:
                stored += 1
            else:
                unchanged += 1
        writing.insert()
    return WriteCounts(stored, unchanged, tuple(refused))


def _event_of(record: EdgeRecord) -> Callable[..., bytes]:
    return living_event if record.extractor == _FOUND else birth_event


def _fault(transaction: Transaction, record: EdgeRecord, strictest: int) -> RowRefused | None:
    if not is_storable("".join(_texts(record))):
        name = next(name for name in _TEXTS if not is_storable(getattr(record, name)))
        message = f"{name} holds half a surrogate pair, which has no UTF-8 form."
        return RowRefused(ErrorReason.VALUE_MALFORMED, message, column=name, value=ascii(getattr(record, name)))
    fault = transaction.attributes.fault(record.label, record.attributes, strictest)
    if fault is not None:
        reason, why = fault
        names = ", ".join(attribute.name for attribute in record.attributes)
        return RowRefused(reason, f"The {why}.", column="attributes", value=ascii(names))
    return None


_texts = attrgetter(*_TEXTS)
_Key = tuple[str, str, str, str]


class _Writing:
    """Some records, stored one after the other; what lives of them is read at once, what is new inserted at once."""

    def __init__(self, transaction: Transaction, records: Sequence[EdgeRecord]) -> None:
        self._transaction = transaction
        self._ids = {id(record): make_edge_id(record) for record in records if is_storable("".join(_texts(record)))}
        self._living: dict[_Key, tuple[int, bytes, tuple[Any, ...]]] = {}
        self._read(set(self._ids.values()))
        self._waiting: dict[_Key, tuple[Any, ...]] = {}

    def put(self, record: EdgeRecord) -> bool:
        """Whether anything changed."""
        transaction, edge_id = self._transaction, self._ids[id(record)]
        columns = (int(record.label), *_texts(record), encode_attributes(record.attributes))
        key = edge_id, record.source_doc, record.locator, record.extractor
        waiting = self._waiting.get(key)
        if waiting is not None:
            if waiting[3:] == columns:
                return False
            gone = {name for name, *_ in self._waiting}
            self.insert()
            self._read(gone)
        if key in self._living:
            edge_row, event, held = self._living[key]
            if held == columns:
                return False
            del self._living[key]
            transaction.retire("edge", edge_row, Label(held[0]), event)
        transaction.attributes.fix(record.label, record.attributes)
        event = b"" if record.extractor in _DERIVED else _event_of(record)("edge", edge_id, *columns)
        self._waiting[key] = (edge_id, transaction.generation, event, *columns)
        transaction.born(record.label, event)
        return True

    def insert(self) -> None:
        """Insert what is new."""
        if self._waiting:
            self._transaction.connection.executemany(_INSERT, self._waiting.values())
            self._waiting.clear()

    def _read(self, edge_ids: Collection[str]) -> None:
        rows = self._transaction.connection.execute(
            f"SELECT edge_row, event, edge_id, {_COLUMNS} FROM edge"
            f" WHERE edge_id IN ({', '.join('?' * len(edge_ids))}) AND died IS NULL",
            tuple(edge_ids),
        )
        place = {name: number for number, name in enumerate(("label", *_TEXTS))}
        for edge_row, event, edge_id, *held in rows.fetchall():
            key = edge_id, held[place["source_doc"]], held[place["locator"]], held[place["extractor"]]
            self._living[key] = edge_row, event, tuple(held)


def replace_edges(
    transaction: Transaction,
    source_doc: str,
    extractors: Collection[str],
    records: Iterable[EdgeRecord],
    start: tuple[str, str] | None = None,
) -> WriteCounts:
    """See `StoreWriter.replace_edges`. Where there is nothing to do, new documents are not inserted for it."""
    wanted = list(records)
    if any(record.source_doc != source_doc or record.extractor not in extractors for record in wanted):
        raise ValueError("an edge of another document or extractor")
    if start is not None and any((record.source_kind, record.source) != start for record in wanted):
        raise ValueError("an edge from another node")
    by_place = {(make_edge_id(record), record.locator) for record in wanted}
    # The sign keeps the planner from the index of documents where the node's, with far fewer rows, will do.
    narrowed = "source_doc = ?" if start is None else "+source_doc = ? AND source_kind = ? AND source = ?"
    rows = transaction.gathered.connection.execute(
        f"SELECT edge_row, label, event, edge_id, locator FROM edge WHERE {narrowed} AND died IS NULL"
        f" AND extractor IN ({', '.join('?' * len(extractors))})",
        (source_doc, *(start or ()), *extractors),
    ).fetchall()
    for edge_row, label, event, edge_id, locator in rows:
        if (edge_id, locator) not in by_place:
            transaction.retire("edge", edge_row, Label(label), event)
    return put_edges(transaction, wanted, int(Label.RESTRICTED))


def take_back_edges(transaction: Transaction, records: Iterable[EdgeRecord], strictest: int) -> WriteCounts:
    """See `GraphWriter.take_back_edges`."""
    stored = unchanged = 0
    for record in records:
        rows = transaction.connection.execute(
            "SELECT edge_row, label, event FROM edge"
            " WHERE edge_id = ? AND source_doc = ? AND extractor = ? AND label <= ? AND died IS NULL",
            (make_edge_id(record), record.source_doc, record.extractor, strictest),
        ).fetchall()
        for edge_row, label, event in rows:
            transaction.retire("edge", edge_row, Label(label), event)
        stored, unchanged = stored + bool(rows), unchanged + (not rows)
    return WriteCounts(stored, unchanged)


def retire_edges_of(transaction: Transaction, source_doc: str, strictest: int) -> int:
    """End every source of an edge that a document is, up to a label. Returns how many.

    What the glossary says goes with the glossary, also where a document bears the name of its file.
    """
    return transaction.retire_stated_by("edge", source_doc, strictest, but=_GLOSSARY)


_NODES_A_READ = 250
_ROWS_A_READ = 500
# A death that a later generation brought is none yet for a reader of an older one.
_SELECT = f"SELECT edge_row, edge_id, committed_at, born, CASE WHEN died <= :g THEN died END, {_COLUMNS}"
_READ = f"{_SELECT} FROM edge JOIN generation ON generation = born"
_EDGE = f"{_READ} WHERE {VISIBLE} AND label <= :label AND "
_GONE_EDGE = f"{_READ} WHERE died <= :g AND label <= :label AND "


def _edge(row: tuple[Any, ...]) -> StoredEdge:
    """The columns after the label stand in the order of the fields of a record."""
    edge_row, edge_id, recorded_at, born, died, label, *texts, attributes = row
    fields: list[Any] = [*texts, decode_attributes(attributes), _LABELS[label]]
    return StoredEdge(edge_row, edge_id, EdgeRecord(*fields), _instant(recorded_at), born, died)


# A walk reads tens of thousands of rows, most of which share these with others.
_LABELS = {int(label): label for label in Label}
_instant = lru_cache(maxsize=1024)(decode_instant)


def _in_order(edges: Iterable[StoredEdge]) -> list[StoredEdge]:
    return sorted(edges, key=lambda edge: (edge.edge_id, edge.record.source_doc, edge.record.locator))


def read_edges(
    connection: sqlite3.Connection, generation: int, strictest: int, nodes: Sequence[tuple[str, str]], *, outgoing: bool
) -> list[StoredEdge]:
    """Visible edges that start or end at the nodes, which are looked up many at a time."""
    end = "source_kind = kind AND source = code" if outgoing else "target_kind = kind AND target = code"
    wanted = list(dict.fromkeys(nodes))
    found: list[StoredEdge] = []
    for begin in range(0, len(wanted), _NODES_A_READ):
        some = wanted[begin : begin + _NODES_A_READ]
        values = ", ".join(f"(:kind{place}, :code{place})" for place in range(len(some)))
        named: dict[str, str | int] = {"g": generation, "label": strictest}
        for place, (kind, code) in enumerate(some):
            named[f"kind{place}"], named[f"code{place}"] = kind, code
        # A cross join keeps the order: the index of edges is asked once a node.
        rows = connection.execute(
            f"WITH wanted (kind, code) AS (VALUES {values}) {_SELECT} FROM wanted CROSS JOIN edge"
            f" JOIN generation ON generation = born WHERE {end} AND {VISIBLE} AND label <= :label",
            named,
        )
        found += [_edge(row) for row in rows.fetchall()]
    return _in_order(found)


def read_edge(
    connection: sqlite3.Connection, generation: int, strictest: int, edge_id: str, *, gone: bool = False
) -> list[StoredEdge]:
    """The visible sources of one edge, or those that have died."""
    which = _GONE_EDGE if gone else _EDGE
    rows = connection.execute(f"{which}edge_id = :id", {"g": generation, "label": strictest, "id": edge_id})
    return _in_order(_edge(row) for row in rows.fetchall())


def read_edge_rows(
    connection: sqlite3.Connection, generation: int, strictest: int, rows: Sequence[int]
) -> list[StoredEdge]:
    """The visible ones of some rows."""
    found: list[StoredEdge] = []
    for begin in range(0, len(rows), _ROWS_A_READ):
        some = ",".join(str(int(row)) for row in rows[begin : begin + _ROWS_A_READ])
        statement = f"{_EDGE}edge_row IN ({some})"
        found += [_edge(row) for row in connection.execute(statement, {"g": generation, "label": strictest}).fetchall()]
    return _in_order(found)


_SPANS = (
    "SELECT edge_row, edge_id, label, born, CASE WHEN died <= :g THEN died END, source_kind, source, relation,"
    " target_kind, target, extractor, valid_from, valid_to"
    " FROM edge WHERE edge_row > :after AND born <= :g ORDER BY edge_row LIMIT :limit"
)


def count_edges(connection: sqlite3.Connection, generation: int) -> int:
    """Rows ever written up to a generation: none is deleted, so the last number tells."""
    row = connection.execute(
        "SELECT edge_row FROM edge WHERE born <= ? ORDER BY edge_row DESC LIMIT 1", (generation,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def read_edge_columns(connection: sqlite3.Connection, generation: int, after_row: int, limit: int) -> list[EdgeColumns]:
    """Rows above one, as columns; at most one entry, none where there are no rows."""
    rows = connection.execute(_SPANS, {"g": generation, "after": after_row, "limit": limit}).fetchall()
    return [EdgeColumns(*zip(*rows, strict=True))] if rows else []


def read_retired_edges(connection: sqlite3.Connection, generation: int, after_generation: int) -> list[tuple[int, int]]:
    """(edge_row, died) of rows that died after one generation and up to another, by edge_row."""
    return connection.execute(
        "SELECT edge_row, died FROM edge WHERE died > :after AND died <= :g ORDER BY edge_row",
        {"after": after_generation, "g": generation},
    ).fetchall()


# From each name on to the next one by the index, since a million edges have a few names.
_NAMES = f"""
WITH RECURSIVE named (name) AS (
    SELECT (SELECT relation FROM edge WHERE label = :label ORDER BY relation LIMIT 1)
    UNION ALL
    SELECT (SELECT relation FROM edge WHERE label = :label AND relation > name ORDER BY relation LIMIT 1)
    FROM named WHERE name IS NOT NULL
)
SELECT name FROM named
WHERE name IS NOT NULL AND EXISTS (SELECT 1 FROM edge WHERE label = :label AND relation = name AND {VISIBLE})
"""


def read_relations(connection: sqlite3.Connection, generation: int, strictest: int) -> list[str]:
    """Distinct relation names of visible edges, sorted."""
    found: set[str] = set()
    for label in range(strictest + 1):
        rows = connection.execute(_NAMES, {"g": generation, "label": label}).fetchall()
        found.update(name for (name,) in rows)
    return sorted(found)


def has_node(connection: sqlite3.Connection, generation: int, strictest: int, kind: str, code: str) -> bool:
    """Whether a visible edge touches the node."""
    state = f"{VISIBLE} AND label <= :label"
    row = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM edge WHERE source_kind = :kind AND source = :code AND {state})"
        f" OR EXISTS (SELECT 1 FROM edge WHERE target_kind = :kind AND target = :code AND {state})",
        {"g": generation, "label": strictest, "kind": kind, "code": code},
    ).fetchone()
    return bool(row[0])


def read_nodes(connection: sqlite3.Connection, generation: int, strictest: int) -> list[tuple[str, str]]:
    """Every node that a visible edge touches, sorted."""
    state = f"{VISIBLE} AND label <= :label"
    rows = connection.execute(
        f"SELECT source_kind, source FROM edge WHERE {state} UNION SELECT target_kind, target FROM edge WHERE {state}"
        " ORDER BY 1, 2",
        {"g": generation, "label": strictest},
    )
    return [(kind, code) for kind, code in rows.fetchall()]
