"""Relations in a networkx graph: the adapter for those who have theirs there, or want its algorithms over ours.

`NetworkxGraphStore.graph` is a MultiDiGraph: nodes are (kind, code), keys of edges their ids, and each edge has its
relation, its days and its sources. It holds what every label holds; who reads it by itself has to mind the labels.
Needs the extra `networkx`.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from groundwire_server.errors import ErrorReason, FailedPrecondition, RowRefused, UnknownResource
from groundwire_server.evidence import Label
from groundwire_server.store.graph_protocol import GraphReader
from groundwire_server.store.rows import EdgeColumns, EdgePlace, EdgeRecord, StoredEdge, Withdrawn, WriteCounts
from groundwire_server.store.sqlite.codec import is_storable
from groundwire_server.store.sqlite.edges import make_edge_id

__all__ = ["NetworkxGraphStore"]

_TEXTS = tuple(each.name for each in fields(EdgeRecord) if each.name not in ("attributes", "label"))
_Ends = tuple[str, str]


@dataclass(slots=True)
class _Row:
    """A source of an edge, and the generations that bore and ended it."""

    edge_row: int
    edge_id: str
    record: EdgeRecord
    recorded_at: datetime
    born: int
    died: int | None = None

    def lives(self, generation: int) -> bool:
        return self.born <= generation and (self.died is None or self.died > generation)

    def stored(self, generation: int) -> StoredEdge:
        died = self.died if self.died is not None and self.died <= generation else None
        return StoredEdge(self.edge_row, self.edge_id, self.record, self.recorded_at, self.born, died)


class NetworkxGraphStore:
    """`GraphStore` in memory.

    Args:
        now: clock of commit times.

    Raises:
        FailedPrecondition: NOT_IMPLEMENTED, networkx is not installed.
    """

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        try:
            import networkx
        except ImportError as error:
            raise FailedPrecondition(
                ErrorReason.NOT_IMPLEMENTED, "networkx is not installed.", hint="Install groundwire-server[networkx]."
            ) from error
        self.graph = networkx.MultiDiGraph()
        self._now = now
        self._rows: list[_Row] = []
        self._lock = threading.RLock()
        self._name = uuid.uuid4().hex
        self._generation = 0

    @classmethod
    def copy_of(cls, reader: GraphReader, clearance: Label) -> NetworkxGraphStore:
        """The relations of another store that a clearance may read, as they are there at a state."""
        store = cls()
        found = reader.edges(clearance, reader.nodes(clearance), outgoing=True)
        with store.writer() as writer:
            writer.put_edges([edge.record for edge in found])
        return store

    def was(self, state: str) -> bool:
        """See `GraphStore.was`."""
        name, _, generation = state.partition(":")
        return name == self._name and generation.isdecimal() and int(generation) <= self._generation

    def reader(self, generation: int | None = None) -> NetworkxReader:
        """See `GraphStore.reader`. Raises ValueError for a generation that was not committed yet."""
        if generation is not None and not 0 <= generation <= self._generation:
            raise ValueError(f"generation {generation} is not in 0..{self._generation}")
        return NetworkxReader(self, self._generation if generation is None else generation)

    @contextmanager
    def writer(self) -> Iterator[NetworkxWriter]:
        """See `GraphStore.writer`. Readers wait meanwhile."""
        with self._lock:
            writer = NetworkxWriter(self, self._generation + 1)
            try:
                yield writer
            except BaseException:
                writer.undo()
                raise
            self._generation += writer.changed

    def close(self) -> None:
        """Nothing is held open."""


class NetworkxReader:
    """`GraphReader` at one generation."""

    def __init__(self, store: NetworkxGraphStore, generation: int) -> None:
        self._store = store
        self._generation = generation

    @property
    def generation(self) -> int:
        return self._generation

    def state(self) -> str:
        return f"{self._store._name}:{self._generation}"

    def edges(self, clearance: Label, nodes: Sequence[_Ends], *, outgoing: bool) -> list[StoredEdge]:
        graph = self._store.graph
        with self._store._lock:
            around = graph.out_edges if outgoing else graph.in_edges
            known = [node for node in dict.fromkeys(nodes) if node in graph]
            sources = [row for *_, rows in around(known, data="sources") for row in rows]
        return self._readable(sources, clearance)

    def edge(self, clearance: Label, edge_id: str) -> list[StoredEdge]:
        return self._readable((row for row in self._all() if row.edge_id == edge_id), clearance)

    def retired_edge(self, clearance: Label, edge_id: str) -> list[StoredEdge]:
        label = min(clearance, Label.CONFIDENTIAL)
        gone = [
            row.stored(self._generation)
            for row in self._all()
            if row.edge_id == edge_id and row.record.label <= label and (row.died or 0) > 0
        ]
        return sorted((edge for edge in gone if edge.died is not None), key=_order)

    def edge_rows(self, clearance: Label, rows: Sequence[int]) -> list[StoredEdge]:
        known = self._all()
        return self._readable((known[row - 1] for row in rows if 0 < row <= len(known)), clearance)

    def edge_count(self) -> int:
        return sum(row.born <= self._generation for row in self._all())

    def edge_columns(self, after_row: int = 0) -> Iterator[EdgeColumns]:
        rows = [row for row in self._all()[after_row:] if row.born <= self._generation]
        edges = [row.stored(self._generation) for row in rows]
        if edges:
            records = [edge.record for edge in edges]
            texts = {name: tuple(getattr(record, name) for record in records) for name in _COLUMNS}
            yield EdgeColumns(
                edge_row=tuple(edge.edge_row for edge in edges),
                edge_id=tuple(edge.edge_id for edge in edges),
                label=tuple(int(record.label) for record in records),
                born=tuple(edge.born for edge in edges),
                died=tuple(edge.died for edge in edges),
                **texts,
            )

    def retired_edges(self, after_generation: int) -> list[tuple[int, int]]:
        deaths = [(row.edge_row, row.died) for row in self._all() if row.died is not None]
        return [(row, died) for row, died in deaths if after_generation < died <= self._generation]

    def edge_page(
        self,
        clearance: Label,
        *,
        relation: str | None = None,
        source_doc: str | None = None,
        after: EdgePlace | None = None,
        limit: int,
    ) -> list[list[StoredEdge]]:
        found = [
            edge
            for edge in self._readable(self._all(), clearance)
            if relation in (None, edge.record.relation) and source_doc in (None, edge.record.source_doc)
        ]
        found.sort(key=lambda edge: (_ends(edge), *_order(edge)))
        begin = None if after is None else tuple(getattr(after, each.name) for each in fields(EdgePlace))
        pages = [list(sources) for ends, sources in groupby(found, key=_ends) if begin is None or ends > begin]
        return pages[:limit]

    def relations(self, clearance: Label) -> list[str]:
        return sorted({edge.record.relation for edge in self._readable(self._all(), clearance)})

    def has_node(self, clearance: Label, kind: str, code: str) -> bool:
        return any(self.edges(clearance, [(kind, code)], outgoing=outgoing) for outgoing in (True, False))

    def nodes(self, clearance: Label) -> list[_Ends]:
        records = [edge.record for edge in self._readable(self._all(), clearance)]
        starts = {(record.source_kind, record.source) for record in records}
        return sorted(starts | {(record.target_kind, record.target) for record in records})

    def _all(self) -> list[_Row]:
        with self._store._lock:
            return list(self._store._rows)

    def _readable(self, rows: Iterable[_Row], clearance: Label) -> list[StoredEdge]:
        label, generation = min(clearance, Label.CONFIDENTIAL), self._generation
        kept = (row for row in rows if row.record.label <= label and row.lives(generation))
        return sorted((row.stored(generation) for row in kept), key=_order)


class NetworkxWriter:
    """`GraphWriter`: what it does is seen at its generation, which is there when it ends well."""

    def __init__(self, store: NetworkxGraphStore, generation: int) -> None:
        self._store = store
        self._generation = generation
        self._first = len(store._rows)
        self._ended: list[_Row] = []

    @property
    def generation(self) -> int:
        return self._generation

    @property
    def changed(self) -> bool:
        """Whether a reader can see a difference."""
        return bool(self._ended) or len(self._store._rows) > self._first

    def put_edges(self, records: Iterable[EdgeRecord], *, clearance: Label | None = None) -> WriteCounts:
        strictest = Label.RESTRICTED if clearance is None else min(clearance, Label.CONFIDENTIAL)
        stored = unchanged = 0
        refused: list[tuple[int, RowRefused]] = []
        for place, record in enumerate(records):
            fault = _fault(record)
            if fault is not None:
                refused.append((place, fault))
            elif self._put(record) or record.label > strictest:
                stored += 1
            else:
                unchanged += 1
        return WriteCounts(stored, unchanged, tuple(refused))

    def take_back_edges(self, records: Iterable[EdgeRecord], *, clearance: Label | None = None) -> WriteCounts:
        strictest = Label.RESTRICTED if clearance is None else min(clearance, Label.CONFIDENTIAL)
        stored = unchanged = 0
        for record in records:
            key = make_edge_id(record), record.source_doc, record.extractor
            living = [
                row
                for row in self._store._rows
                if row.died is None
                and (row.edge_id, row.record.source_doc, row.record.extractor) == key
                and row.record.label <= strictest
            ]
            for row in living:
                self._end(row)
            stored, unchanged = stored + bool(living), unchanged + (not living)
        return WriteCounts(stored, unchanged)

    def replace_edges(
        self,
        source_doc: str,
        extractors: Collection[str],
        records: Iterable[EdgeRecord],
        *,
        start: _Ends | None = None,
    ) -> WriteCounts:
        wanted = list(records)
        if any(record.source_doc != source_doc or record.extractor not in extractors for record in wanted):
            raise ValueError("an edge of another document or extractor")
        if start is not None and any((record.source_kind, record.source) != start for record in wanted):
            raise ValueError("an edge from another node")
        kept = {(make_edge_id(record), record.locator) for record in wanted if _fault(record) is None}
        for row in self._store._rows:
            record = row.record
            theirs = row.died is None and record.source_doc == source_doc and record.extractor in extractors
            here = start in (None, (record.source_kind, record.source))
            if theirs and here and (row.edge_id, record.locator) not in kept:
                self._end(row)
        return self.put_edges(wanted)

    def withdraw_document(self, doc_id: str, *, clearance: Label | None = None) -> Withdrawn:
        strictest = Label.RESTRICTED if clearance is None else min(clearance, Label.CONFIDENTIAL)
        seen = [row for row in self._store._rows if row.record.source_doc == doc_id and row.record.label <= strictest]
        if not seen:
            what = "There is no such document."
            raise UnknownResource(ErrorReason.UNKNOWN_DOCUMENT, what, details={"doc_id": doc_id})
        living = [row for row in seen if row.died is None and row.record.extractor != "glossary"]
        for row in living:
            self._end(row)
        return Withdrawn(0, withdrawn_now=bool(living))

    def undo(self) -> None:
        """Leave all as it was."""
        graph, rows = self._store.graph, self._store._rows
        for row in self._ended:
            row.died = None
        for row in reversed(rows[self._first :]):
            start, end = _nodes(row.record)
            sources = graph.edges[start, end, row.edge_id]["sources"]
            sources.remove(row)
            if not sources:
                graph.remove_edge(start, end, row.edge_id)
                graph.remove_nodes_from([node for node in {start, end} if not graph.degree(node)])
        del rows[self._first :]

    def _put(self, record: EdgeRecord) -> bool:
        """Whether anything changed."""
        graph, edge_id = self._store.graph, make_edge_id(record)
        start, end = _nodes(record)
        record = _sorted_attributes(record)
        if not graph.has_edge(start, end, edge_id):
            days = {"valid_from": record.valid_from, "valid_to": record.valid_to}
            graph.add_edge(start, end, edge_id, relation=record.relation, **days, sources=[])
        sources = graph.edges[start, end, edge_id]["sources"]
        key = record.source_doc, record.locator, record.extractor
        for row in sources:
            held = row.record
            if row.died is None and (held.source_doc, held.locator, held.extractor) == key:
                if held == record:
                    return False
                self._end(row)
        row = _Row(len(self._store._rows) + 1, edge_id, record, self._store._now(), self._generation)
        self._store._rows.append(row)
        sources.append(row)
        return True

    def _end(self, row: _Row) -> None:
        row.died = self._generation
        self._ended.append(row)


_COLUMNS = tuple(each.name for each in fields(EdgeColumns) if each.name in _TEXTS)


def _fault(record: EdgeRecord) -> RowRefused | None:
    for name in _TEXTS:
        if not is_storable(getattr(record, name)):
            message = f"{name} holds half a surrogate pair, which has no UTF-8 form."
            return RowRefused(ErrorReason.VALUE_MALFORMED, message, column=name, value=ascii(getattr(record, name)))
    return None


def _sorted_attributes(record: EdgeRecord) -> EdgeRecord:
    ordered: dict[str, Any] = {each.name: getattr(record, each.name) for each in fields(EdgeRecord)}
    ordered["attributes"] = tuple(sorted(record.attributes, key=lambda attribute: attribute.name))
    return EdgeRecord(**ordered)


def _nodes(record: EdgeRecord) -> tuple[_Ends, _Ends]:
    return (record.source_kind, record.source), (record.target_kind, record.target)


def _order(edge: StoredEdge) -> tuple[str, str, str]:
    return edge.edge_id, edge.record.source_doc, edge.record.locator


def _ends(edge: StoredEdge) -> tuple[str, ...]:
    record = edge.record
    return record.relation, record.source_kind, record.source, record.target_kind, record.target, edge.edge_id
