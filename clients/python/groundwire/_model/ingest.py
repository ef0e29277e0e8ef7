"""What comes back while something goes in."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.named import NamedEnum
from groundwire._model.reason import Cause, ErrorReason

__all__ = [
    "DocumentOutcome",
    "IngestAccepted",
    "IngestAck",
    "IngestSummary",
    "IngestWarning",
    "IngestWarningKind",
    "Reconnecting",
    "RejectedRow",
    "RowsRejected",
    "ShuttingDown",
    "Throttle",
    "Withdrawal",
]


@dataclass(frozen=True, slots=True)
class IngestAccepted:
    """The ingest is open; parts up to `durable_seq` are there already."""

    durable_seq: int
    max_in_flight_parts: int


@dataclass(frozen=True, slots=True)
class IngestAck:
    """Everything up to here survives a crash, and what became of it was told."""

    durable_seq: int


class IngestWarningKind(NamedEnum):
    """What was not read as one would expect."""

    UNSPECIFIED = 0
    METADATA_SKIPPED = 1
    PAGE_WITHOUT_TEXT = 2
    PART_SKIPPED = 3
    TEXT_UNCERTAIN = 4
    VALUE_MISSING = 5
    MORE = 6
    RELATIONS_LEFT_OUT = 7


@dataclass(frozen=True, slots=True)
class IngestWarning:
    """Something in a document that was not read as one would expect."""

    locator: str
    message: str
    kind: IngestWarningKind = IngestWarningKind.UNSPECIFIED


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """What became of a document. `error` None: it is stored, as `revision`."""

    doc_id: str
    seq: int
    revision: int = 0
    chunks: int = 0
    unchanged: bool = False
    error: Cause | None = None
    warnings: tuple[IngestWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was refused; the others go on.

    `record` is the place of the record among those that were given to `ingest_facts`, from 0; -1: a row of a file.
    """

    seq: int
    file: str
    row: int
    column: str
    value: str
    reason: ErrorReason
    message: str
    record: int = -1


@dataclass(frozen=True, slots=True)
class RowsRejected:
    """Rows that were refused."""

    rows: tuple[RejectedRow, ...]


@dataclass(frozen=True, slots=True)
class Throttle:
    """The server wants so many unacknowledged parts at a time, no more."""

    max_in_flight_parts: int


@dataclass(frozen=True, slots=True)
class ShuttingDown:
    """The server stops; the client connects again with the same ingest_id."""

    durable_seq: int


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The connection broke; the client tries again after `delay_seconds`.

    `attempt` counts since something last came: an ack of an ingest, a part of an answer.
    """

    attempt: int
    delay_seconds: float
    message: str


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """All is done: counts of the whole ingest, over all its connections."""

    stored: int
    unchanged: int = 0
    failed: int = 0
    snapshot_id: str = ""
    embedding_job_id: str = ""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A document is out of every answer; `withdrawn_now` False: it was out already."""

    revision: int
    withdrawn_now: bool
