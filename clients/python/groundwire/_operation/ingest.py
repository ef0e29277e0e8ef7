"""Putting things in, and taking documents out."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire._ingest.machine import IngestMachine
from groundwire._ingest.parts import Cutter, DocumentCutter, FactCutter
from groundwire._ingest.run import IngestRun
from groundwire._model.ingest import IngestWarningKind, Withdrawal
from groundwire._operation.kinds import Method, Unary, method
from groundwire._operation.options import numbers
from groundwire._wire.mirror import value_of
from groundwire.v1 import ingest_pb2

__all__ = ["Ingest", "ingest_documents", "ingest_facts", "withdraw"]


@dataclass(frozen=True, slots=True)
class Ingest:
    """An ingest that has not begun: what goes in, how it is cut, and the run that it will be. All are used once."""

    method: Method
    items: Any
    cutter: Cutter[Any]
    run: IngestRun


def ingest_documents(
    documents: object,
    library: str,
    ingest_id: str | None,
    validate_only: bool,
    refuse_warnings: Iterable[IngestWarningKind | str],
) -> Ingest:
    """IngestService.IngestDocuments."""
    kinds = numbers(IngestWarningKind, refuse_warnings)
    run = _run(ingest_pb2.IngestDocumentsRequest, library, ingest_id, validate_only, kinds)
    return Ingest(method("IngestService/IngestDocuments"), documents, DocumentCutter(), run)


def ingest_facts(items: object, library: str, ingest_id: str | None, validate_only: bool) -> Ingest:
    """IngestService.IngestFacts."""
    run = _run(ingest_pb2.IngestFactsRequest, library, ingest_id, validate_only)
    return Ingest(method("IngestService/IngestFacts"), items, FactCutter(), run)


def _run(
    request: Any, library: str, ingest_id: str | None, validate_only: bool, refuse_warnings: Sequence[int] = ()
) -> IngestRun:
    ingest_id = ingest_id or str(uuid.uuid4())
    machine = IngestMachine(request, ingest_id, library, validate_only=validate_only, refuse_warnings=refuse_warnings)
    return IngestRun(ingest_id, machine)


def withdraw(doc_id: str, library: str) -> Unary[Withdrawal]:
    """IngestService.WithdrawDocument."""
    request = ingest_pb2.WithdrawDocumentRequest(library_id=library, doc_id=doc_id)
    return Unary(method("IngestService/WithdrawDocument"), request, value_of(Withdrawal))
