# Made from _sync/ingesting.py by `make client`; changes belong there.
"""Putting documents, figures and relations in, and taking documents out."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable

from groundwire._async.connection import AsyncConnection
from groundwire._async.ingest_stream import AsyncIngestStream
from groundwire._model.ingest import IngestWarningKind, Withdrawal
from groundwire._model.upload import DocumentUpload, FactFile, FactRecord, RelationRecord
from groundwire._operation import ingest

__all__ = ["AsyncIngestingClient"]


class AsyncIngestingClient(AsyncConnection):
    """The calls that put things in."""

    def ingest_documents(
        self,
        documents: Iterable[DocumentUpload] | AsyncIterable[DocumentUpload],
        *,
        library: str = "default",
        ingest_id: str | None = None,
        validate_only: bool = False,
        refuse_warnings: Iterable[IngestWarningKind | str] = (),
    ) -> AsyncIngestStream:
        """Store documents; each is visible whole or not at all.

        ingest_id: a UUID of the caller's own makes the very same ingest resumable after a crash of the caller.
        refuse_warnings: kinds of warning, e.g. "PAGE_WITHOUT_TEXT", that refuse a document instead of being told.
        """
        return self._upload(ingest.ingest_documents(documents, library, ingest_id, validate_only, refuse_warnings))

    def ingest_facts(
        self,
        items: Iterable[FactRecord | RelationRecord | FactFile] | AsyncIterable[FactRecord | RelationRecord | FactFile],
        *,
        library: str = "default",
        ingest_id: str | None = None,
        validate_only: bool = False,
    ) -> AsyncIngestStream:
        """Store figures and relations, as records or as files that the server reads. Bad rows are refused one by one.

        ingest_id: a UUID of the caller's own makes the very same ingest resumable after a crash of the caller.
        """
        return self._upload(ingest.ingest_facts(items, library, ingest_id, validate_only))

    async def withdraw(self, doc_id: str, *, library: str = "default", timeout: float | None = None) -> Withdrawal:
        """Take a document out of every answer, with its figures and relations."""
        return await self._value(ingest.withdraw(doc_id, library), timeout)
