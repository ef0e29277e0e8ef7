"""Putting things in, and taking documents out."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from groundwire._ingest.machine import IngestMachine
from groundwire._ingest.parts import Part, document_parts, fact_parts
from groundwire._model.ingest import Withdrawal
from groundwire._model.upload import DocumentUpload, FactFile, FactRecord, RelationRecord
from groundwire._operation.kinds import Method, Unary, method
from groundwire._wire.mirror import value_of
from groundwire.v1 import ingest_pb2

__all__ = ["Ingest", "ingest_documents", "ingest_facts", "withdraw"]


@dataclass(frozen=True, slots=True)
class Ingest:
    """An ingest that has not begun: its machine and its parts are used once."""

    ingest_id: str
    method: Method
    machine: IngestMachine
    parts: Iterator[Part]


def _ingest(
    name: str, request: Any, ingest_id: str | None, library: str, validate_only: bool, parts: Iterator[Part]
) -> Ingest:
    ingest_id = ingest_id or str(uuid.uuid4())
    machine = IngestMachine(request, ingest_id, library, validate_only=validate_only)
    return Ingest(ingest_id, method(name), machine, parts)


def ingest_documents(
    documents: Iterable[DocumentUpload], library: str, ingest_id: str | None, validate_only: bool
) -> Ingest:
    """IngestService.IngestDocuments."""
    return _ingest(
        "IngestService/IngestDocuments",
        ingest_pb2.IngestDocumentsRequest,
        ingest_id,
        library,
        validate_only,
        document_parts(documents),
    )


def ingest_facts(
    items: Iterable[FactRecord | RelationRecord | FactFile], library: str, ingest_id: str | None, validate_only: bool
) -> Ingest:
    """IngestService.IngestFacts."""
    return _ingest(
        "IngestService/IngestFacts",
        ingest_pb2.IngestFactsRequest,
        ingest_id,
        library,
        validate_only,
        fact_parts(items),
    )


def withdraw(doc_id: str, library: str) -> Unary[Withdrawal]:
    """IngestService.WithdrawDocument."""
    request = ingest_pb2.WithdrawDocumentRequest(library_id=library, doc_id=doc_id)
    return Unary(method("IngestService/WithdrawDocument"), request, value_of(Withdrawal))
