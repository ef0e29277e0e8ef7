"""One open write transaction of a SQLite store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime

from groundwire_server.evidence import Label
from groundwire_server.store.rows import (
    EdgeRecord,
    FactAxes,
    FactRecord,
    IngestState,
    NewChunk,
    NewDocument,
    PurgePolicy,
    Replaced,
    Withdrawn,
    WriteCounts,
)
from groundwire_server.store.sqlite import documents, edges, embeddings, facts, generations, ledger, purge
from groundwire_server.store.sqlite.connection import translated
from groundwire_server.store.sqlite.fact_axes import read_fact_axes
from groundwire_server.store.sqlite.transaction import Transaction, readable_labels
from groundwire_server.store.sqlite.withdrawal import withdraw_document

__all__ = ["SqliteWriter"]


class SqliteWriter:
    """`StoreWriter` over the one connection that writes."""

    def __init__(self, transaction: Transaction, now: Callable[[], datetime]) -> None:
        self._transaction = transaction
        self._now = now

    @property
    def generation(self) -> int:
        return self._transaction.generation

    def replace_document(self, document: NewDocument, *, clearance: Label | None = None) -> Replaced:
        with translated():
            return documents.replace_document(self._transaction, document, readable_labels(clearance))

    def recut_document(self, doc_id: str, revision: int, chunker: str, chunks: Sequence[NewChunk]) -> Replaced | None:
        with translated():
            return documents.recut_document(self._transaction, doc_id, revision, chunker, chunks)

    def withdraw_document(self, doc_id: str, *, clearance: Label | None = None) -> Withdrawn:
        with translated():
            return withdraw_document(self._transaction, doc_id, readable_labels(clearance))

    def purge(self, policy: PurgePolicy, limit: int, *, clearance: Label | None) -> dict[Label, int]:
        with translated():
            return purge.purge_batch(self._transaction, policy, readable_labels(clearance), limit)

    def put_facts(self, records: Iterable[FactRecord], *, clearance: Label | None = None) -> WriteCounts:
        with translated():
            return facts.put_facts(self._transaction, records, readable_labels(clearance), self._now())

    def put_edges(self, records: Iterable[EdgeRecord], *, clearance: Label | None = None) -> WriteCounts:
        with translated():
            return edges.put_edges(self._transaction, records, readable_labels(clearance))

    def take_back_edges(self, records: Iterable[EdgeRecord], *, clearance: Label | None = None) -> WriteCounts:
        with translated():
            return edges.take_back_edges(self._transaction, records, readable_labels(clearance))

    def replace_edges(
        self,
        source_doc: str,
        extractors: Collection[str],
        records: Iterable[EdgeRecord],
        *,
        start: tuple[str, str] | None = None,
    ) -> WriteCounts:
        with translated():
            return edges.replace_edges(self._transaction, source_doc, extractors, records, start)

    def fact_axes(self, *, source_doc: str | None = None, entity: str | None = None) -> list[FactAxes]:
        with translated():
            return read_fact_axes(self._transaction.connection, source_doc, entity)

    def put_embeddings(self, model: str, vectors: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        with translated():
            return embeddings.put_embeddings(self._transaction.connection, model, vectors)

    def start_ingest(self, ingest_id: str, kind: str) -> IngestState:
        with translated():
            return ledger.start_ingest(self._transaction.gathered.connection, ingest_id, kind, self._now())

    def spool(self, ingest_id: str, seq: int, head: bytes | None, content: bytes) -> None:
        with translated():
            ledger.spool_part(self._transaction.gathered.connection, ingest_id, seq, head, content, self._now())

    def finish_part(self, ingest_id: str, seq: int, outcome: bytes) -> None:
        with translated():
            ledger.finish_part(self._transaction.gathered.connection, ingest_id, seq, outcome, self._now())

    def finish_ingest(self, ingest_id: str) -> None:
        with translated():
            ledger.finish_ingest(self._transaction.gathered.connection, ingest_id, self._now())

    def forget_ingests(self, before: datetime) -> int:
        with translated():
            return ledger.forget_ingests(self._transaction.gathered.connection, before)

    def set_meta(self, name: str, value: str) -> None:
        with translated():
            if generations.write_meta(self._transaction.connection, self._transaction.generation, name, value):
                self._transaction.changed = True
