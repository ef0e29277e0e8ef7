"""One open write transaction of a SQLite store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from groundwire_server.errors import ErrorReason, UnknownResource
from groundwire_server.store.rows import (
    EdgeRecord,
    FactRecord,
    IngestState,
    NewDocument,
    Replaced,
    Withdrawn,
    WriteCounts,
)
from groundwire_server.store.sqlite import documents, edges, embeddings, facts, generations, ledger
from groundwire_server.store.sqlite.connection import translated
from groundwire_server.store.sqlite.transaction import Transaction

__all__ = ["SqliteWriter"]


class SqliteWriter:
    """`StoreWriter` over the one connection that writes."""

    def __init__(self, transaction: Transaction, now: Callable[[], datetime]) -> None:
        self._transaction = transaction
        self._now = now

    @property
    def generation(self) -> int:
        return self._transaction.generation

    def replace_document(self, document: NewDocument) -> Replaced:
        with translated():
            return documents.replace_document(self._transaction, document)

    def withdraw_document(self, doc_id: str) -> Withdrawn:
        with translated():
            retired = documents.retire_revision(self._transaction, doc_id)
            figures = facts.retire_facts_of(self._transaction, doc_id)
            relations = edges.retire_edges_of(self._transaction, doc_id)
            if retired or figures or relations:
                return Withdrawn(retired or self._last_revision(doc_id), withdrawn_now=True)
            return self._withdrawn_before(doc_id)

    def put_facts(self, records: Iterable[FactRecord]) -> WriteCounts:
        with translated():
            return facts.put_facts(self._transaction, records)

    def put_edges(self, records: Iterable[EdgeRecord]) -> WriteCounts:
        with translated():
            return edges.put_edges(self._transaction, records)

    def put_embeddings(self, model: str, vectors: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        with translated():
            return embeddings.put_embeddings(self._transaction.connection, model, vectors)

    def start_ingest(self, ingest_id: str, kind: str) -> IngestState:
        with translated():
            return ledger.start_ingest(self._transaction.connection, ingest_id, kind, self._now())

    def spool(self, ingest_id: str, seq: int, head: bytes | None, content: bytes) -> None:
        with translated():
            ledger.spool_part(self._transaction.connection, ingest_id, seq, head, content, self._now())

    def finish_part(self, ingest_id: str, seq: int, outcome: bytes) -> None:
        with translated():
            ledger.finish_part(self._transaction.connection, ingest_id, seq, outcome, self._now())

    def finish_ingest(self, ingest_id: str) -> None:
        with translated():
            ledger.finish_ingest(self._transaction.connection, ingest_id, self._now())

    def forget_ingests(self, before: datetime) -> int:
        with translated():
            return ledger.forget_ingests(self._transaction.connection, before)

    def set_meta(self, name: str, value: str) -> None:
        with translated():
            if generations.write_meta(self._transaction.connection, self._transaction.generation, name, value):
                self._transaction.changed = True

    def _last_revision(self, doc_id: str) -> int:
        row = self._transaction.connection.execute(
            "SELECT coalesce(max(revision), 0) FROM document_revision WHERE doc_id = ?", (doc_id,)
        ).fetchone()
        return int(row[0])

    def _withdrawn_before(self, doc_id: str) -> Withdrawn:
        revision = self._last_revision(doc_id)
        (source,) = self._transaction.connection.execute(
            "SELECT EXISTS (SELECT 1 FROM fact WHERE source_doc = :doc)"
            " OR EXISTS (SELECT 1 FROM edge WHERE source_doc = :doc)",
            {"doc": doc_id},
        ).fetchone()
        if not revision and not source:
            raise UnknownResource(
                ErrorReason.UNKNOWN_DOCUMENT, "There is no such document.", details={"doc_id": doc_id}
            )
        return Withdrawn(revision, withdrawn_now=False)
