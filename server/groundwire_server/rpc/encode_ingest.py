"""What an ingest tells its client."""

from __future__ import annotations

from collections.abc import Iterator

from groundwire.v1 import errors_pb2, ingest_pb2
from groundwire_server.ingest import (
    Accepted,
    Ack,
    DocumentOutcome,
    IngestEvent,
    IngestSummary,
    RejectedRow,
    RowsRejected,
)
from groundwire_server.rpc.encode_value import encode_cause, wire_text
from groundwire_server.rpc.errors import cut_utf8

__all__ = ["encode_document_event", "encode_fact_event", "encode_ingest_summary"]

_WARNING_BYTES = 500
_ROW_BYTES = 400
_ROWS_A_FRAME = 250


def encode_document_event(event: IngestEvent) -> Iterator[ingest_pb2.IngestDocumentsResponse]:
    """The frame of an event of a stream of documents; the summary is made by `encode_ingest_summary`."""
    match event:
        case Accepted():
            yield ingest_pb2.IngestDocumentsResponse(accepted=_accepted(event))
        case Ack(durable_seq):
            yield ingest_pb2.IngestDocumentsResponse(ack=ingest_pb2.IngestAck(durable_seq=durable_seq))
        case DocumentOutcome():
            yield ingest_pb2.IngestDocumentsResponse(outcome=_outcome(event))
        case _:
            raise TypeError(f"{type(event).__name__} is no event of documents")


def encode_fact_event(event: IngestEvent) -> Iterator[ingest_pb2.IngestFactsResponse]:
    """The frames of an event of a stream of figures; the summary is made by `encode_ingest_summary`."""
    match event:
        case Accepted():
            yield ingest_pb2.IngestFactsResponse(accepted=_accepted(event))
        case Ack(durable_seq):
            yield ingest_pb2.IngestFactsResponse(ack=ingest_pb2.IngestAck(durable_seq=durable_seq))
        case RowsRejected(rows):
            # A row can take more than a kilobyte, so that a thousand of them need not fit into one message.
            for start in range(0, len(rows), _ROWS_A_FRAME):
                yield ingest_pb2.IngestFactsResponse(rejected=_rejected(rows[start : start + _ROWS_A_FRAME]))
        case _:
            raise TypeError(f"{type(event).__name__} is no event of figures")


def encode_ingest_summary(
    summary: IngestSummary, *, snapshot_id: str, embedding_job_id: str
) -> ingest_pb2.IngestSummary:
    """The last frame: counts of the whole ingest, the snapshot that holds it, the job that embeds it."""
    return ingest_pb2.IngestSummary(
        stored=summary.stored,
        unchanged=summary.unchanged,
        failed=summary.failed,
        snapshot_id=snapshot_id,
        embedding_job_id=embedding_job_id,
    )


def _accepted(event: Accepted) -> ingest_pb2.IngestAccepted:
    return ingest_pb2.IngestAccepted(durable_seq=event.durable_seq, max_in_flight_parts=event.max_in_flight_parts)


def _outcome(event: DocumentOutcome) -> ingest_pb2.DocumentOutcome:
    message = ingest_pb2.DocumentOutcome(
        doc_id=wire_text(event.doc_id),
        seq=event.seq,
        revision=event.revision,
        chunks=event.chunks,
        unchanged=event.unchanged,
        warnings=[
            ingest_pb2.IngestWarning(
                locator=cut_utf8(each.locator, _WARNING_BYTES),
                message=cut_utf8(each.message, _WARNING_BYTES),
                kind=ingest_pb2.IngestWarningKind.ValueType(each.kind.value),
            )
            for each in event.warnings
        ],
    )
    if event.error is not None:
        message.error.CopyFrom(encode_cause(event.error))
    return message


def _rejected(rows: tuple[RejectedRow, ...]) -> ingest_pb2.RowsRejected:
    return ingest_pb2.RowsRejected(
        rows=[
            ingest_pb2.RejectedRow(
                seq=row.seq,
                file=wire_text(row.file),
                row=row.row,
                column=wire_text(row.column),
                value=wire_text(row.value),
                reason=errors_pb2.ErrorReason.ValueType(row.reason.value),
                message=cut_utf8(row.message, _ROW_BYTES),
            )
            for row in rows
        ]
    )
