"""What an ingest tells its client, and how outcomes are kept so that a repeat gets the same ones."""

from __future__ import annotations

import json
from dataclasses import dataclass

from groundwire_server.errors import Cause, ErrorReason
from groundwire_server.readers import ReadWarning, WarningKind

__all__ = [
    "MAX_WARNINGS",
    "Accepted",
    "Ack",
    "DocumentOutcome",
    "IngestEvent",
    "IngestSummary",
    "RejectedRow",
    "RowsOutcome",
    "RowsRejected",
    "decode_document_outcomes",
    "decode_rows_outcome",
    "encode_document_outcomes",
    "encode_rows_outcome",
]

MAX_WARNINGS = 100
_MAX_VALUE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Accepted:
    """First: the ingest is open. Go on after `durable_seq`; so many parts may be unacknowledged."""

    durable_seq: int
    max_in_flight_parts: int


@dataclass(frozen=True, slots=True)
class Ack:
    """Every part up to here survives a crash, and its outcomes were given before."""

    durable_seq: int


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """What became of a document; final. `seq` is that of its last part; revision 0: it has no active one.

    At most 100 warnings.
    """

    doc_id: str
    seq: int
    revision: int = 0
    chunks: int = 0
    unchanged: bool = False
    error: Cause | None = None
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was refused. `file` is empty for a record; `row` is 0 where it speaks of the file as a whole.

    `value` is what was given, cut to 200 code points.
    """

    seq: int
    file: str
    row: int
    column: str
    value: str
    reason: ErrorReason
    message: str


@dataclass(frozen=True, slots=True)
class RowsRejected:
    """Rows that were refused, at most 1,000."""

    rows: tuple[RejectedRow, ...]


@dataclass(frozen=True, slots=True)
class RowsOutcome:
    """What became of the rows of a part or of a file; final. `failed` counts those, too, that are not listed."""

    seq: int
    stored: int
    unchanged: int
    failed: int
    rejected: tuple[RejectedRow, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """Last: documents, or rows, that were new or changed, there already, and refused, over the whole ingest."""

    stored: int
    unchanged: int
    failed: int


IngestEvent = Accepted | Ack | DocumentOutcome | RowsRejected | IngestSummary


def encode_document_outcomes(outcomes: list[DocumentOutcome]) -> bytes:
    """The outcomes of one part as the store keeps them."""
    rows = [
        [
            outcome.doc_id,
            outcome.seq,
            outcome.revision,
            outcome.chunks,
            outcome.unchanged,
            _encode_cause(outcome.error),
            [[warning.locator, warning.message, warning.kind.value] for warning in outcome.warnings],
        ]
        for outcome in outcomes
    ]
    return json.dumps(rows, separators=(",", ":")).encode()


def decode_document_outcomes(raw: bytes) -> list[DocumentOutcome]:
    """The inverse of `encode_document_outcomes`.

    >>> decode_document_outcomes(encode_document_outcomes([DocumentOutcome("a", 1, 2, 3)]))[0].chunks
    3
    """
    return [
        DocumentOutcome(
            doc_id,
            seq,
            revision,
            chunks,
            unchanged,
            _decode_cause(cause),
            tuple(_decode_warning(*warning) for warning in warnings),
        )
        for doc_id, seq, revision, chunks, unchanged, cause, warnings in json.loads(raw)
    ]


def _decode_warning(locator: str, message: str, kind: int = WarningKind.METADATA_SKIPPED.value) -> ReadWarning:
    """A warning that an earlier version kept says no kind: all of them were of one."""
    return ReadWarning(locator, message, WarningKind(kind))


def encode_rows_outcome(outcome: RowsOutcome) -> bytes:
    """The outcome of one part of figures as the store keeps it."""
    rows = [
        [row.seq, row.file, row.row, row.column, row.value[:_MAX_VALUE_CHARS], row.reason.name, row.message]
        for row in outcome.rejected
    ]
    content = [outcome.seq, outcome.stored, outcome.unchanged, outcome.failed, rows]
    return json.dumps(content, separators=(",", ":")).encode()


def decode_rows_outcome(raw: bytes) -> RowsOutcome:
    """The inverse of `encode_rows_outcome`."""
    seq, stored, unchanged, failed, rows = json.loads(raw)
    rejected = tuple(
        RejectedRow(part, file, row, column, value, ErrorReason[reason], message)
        for part, file, row, column, value, reason, message in rows
    )
    return RowsOutcome(seq, stored, unchanged, failed, rejected)


def _encode_cause(cause: Cause | None) -> list[object] | None:
    return None if cause is None else [cause.reason.name, cause.message, [list(detail) for detail in cause.details]]


def _decode_cause(raw: list[object] | None) -> Cause | None:
    if raw is None:
        return None
    reason, message, details = raw
    pairs = details if isinstance(details, list) else []
    return Cause(ErrorReason[str(reason)], str(message), tuple((str(name), str(value)) for name, value in pairs))
