"""Every error that Groundwire raises on purpose.

GroundwireError
├── InvalidRequest          INVALID_ARGUMENT     fields are wrong; every violation at once
├── Unauthenticated         UNAUTHENTICATED      who calls cannot be said: no credentials, or none that hold
├── NotPermitted            PERMISSION_DENIED    the caller may not call this here
├── UnknownResource         NOT_FOUND            library, document or job that is not there for the caller
├── FailedPrecondition      FAILED_PRECONDITION  no embedder, no model, mismatched index, forbidden degradation ...
├── Aborted                 ABORTED              somebody else was first, or a snapshot is gone
├── GlossaryConflict        ALREADY_EXISTS       two terms share a synonym
├── Unavailable             UNAVAILABLE          stopping, starting, or no library answered
├── ResourceExhausted       RESOURCE_EXHAUSTED   overload or a full disk
├── DeadlineExceeded        DEADLINE_EXCEEDED    time ran out
├── NotImplementedHere      UNIMPLEMENTED        this server does not have it
├── DocumentRefused         (per document)       a document that cannot be read; the others go on
└── RowRefused              (per row)            a figure or relation that cannot be stored; the others go on

A message is safe to show to a caller: it holds no hidden content and no text of a foreign exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

__all__ = [
    "Aborted",
    "Cause",
    "DeadlineExceeded",
    "DocumentRefused",
    "ErrorReason",
    "FailedPrecondition",
    "GlossaryConflict",
    "GroundwireError",
    "InvalidRequest",
    "NotImplementedHere",
    "NotPermitted",
    "ResourceExhausted",
    "RowRefused",
    "Unauthenticated",
    "Unavailable",
    "UnknownResource",
    "Violation",
]


class ErrorReason(Enum):
    """Stable reasons; names and numbers are those of `groundwire.v1.ErrorReason`."""

    INVALID_REQUEST = 1
    UNAUTHENTICATED = 2
    NOT_PERMITTED = 3
    UNKNOWN_LIBRARY = 4
    UNKNOWN_DOCUMENT = 5
    UNKNOWN_JOB = 6
    NO_EMBEDDER = 7
    NO_MODEL = 8
    INDEX_MISMATCH = 9
    DEGRADATION_FORBIDDEN = 10
    RESUME_MISMATCH = 11
    RESUME_SNAPSHOT_GONE = 12
    OVERLOADED = 13
    NOT_SERVING = 14
    LIBRARIES_UNREACHABLE = 15
    DEADLINE = 16
    READER_IDLE = 17
    STORAGE_FULL = 18
    STORE_VERSION = 19
    CONFLICTING_CHANGE = 20
    GLOSSARY_CONFLICT = 21
    INGEST_SEQUENCE_GAP = 22
    INGEST_ORDER = 23
    INGEST_ID_IN_USE = 24
    NOT_IMPLEMENTED = 25
    INTERNAL = 26
    MODEL_FAILED = 27

    VALUE_REQUIRED = 50
    VALUE_OUT_OF_RANGE = 51
    VALUE_MALFORMED = 52
    UNKNOWN_NAME = 53
    CONTRADICTION = 54
    FILTER_UNKNOWN_FIELD = 55
    FILTER_TYPE_MISMATCH = 56
    FILTER_EMPTY = 57
    FILTER_RANGE_REVERSED = 58
    FILTER_TOO_LARGE = 59
    UNKNOWN_NODE = 60

    DOCUMENT_UNSUPPORTED = 100
    DOCUMENT_BROKEN = 101
    DOCUMENT_ENCRYPTED = 102
    DOCUMENT_TOO_LARGE = 103
    DOCUMENT_NO_TEXT = 104
    DOCUMENT_HASH_MISMATCH = 105
    ATTRIBUTE_TYPE_MISMATCH = 106

    FACT_VALUE_MISSING = 110
    FACT_VALUE_MALFORMED = 111
    FACT_PERIOD_MALFORMED = 112
    FACT_UNIT_MISMATCH = 113
    FACT_FIELD_MISSING = 114
    RELATION_UNKNOWN_END = 115


@dataclass(frozen=True, slots=True)
class Violation:
    """One wrong field: its path as the caller wrote it, why, and the valid choices in words."""

    field: str
    reason: ErrorReason
    description: str


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a part of an answer failed: reason, safe sentence, facts for machines sorted by name."""

    reason: ErrorReason
    message: str
    details: tuple[tuple[str, str], ...] = ()


class GroundwireError(Exception):
    """Base of all errors.

    Attributes:
        reason: stable `ErrorReason`.
        message: safe sentence for people.
        hint: what to do about it; empty when there is nothing to say.
        status: name of the gRPC status code.
        details: facts for machines, by name.
    """

    status = "INTERNAL"

    def __init__(
        self,
        reason: ErrorReason,
        message: str,
        *,
        hint: str = "",
        details: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.hint = hint
        self.details = dict(details or {})

    def __str__(self) -> str:
        closed = self.message if not self.hint or self.message.endswith((".", "!", "?", "。")) else f"{self.message}."
        return f"{closed} {self.hint}".strip()

    def cause(self) -> Cause:
        """The same, as a value that travels inside a frame."""
        return Cause(self.reason, str(self), tuple(sorted(self.details.items())))


class InvalidRequest(GroundwireError):
    """One or more fields are wrong. `violations` names each."""

    status = "INVALID_ARGUMENT"

    def __init__(
        self,
        violations: Sequence[Violation],
        *,
        reason: ErrorReason = ErrorReason.INVALID_REQUEST,
        hint: str = "",
        details: Mapping[str, str] | None = None,
    ) -> None:
        self.violations = tuple(violations)
        listed = "; ".join(f"{v.field}: {v.description}" for v in self.violations[:20])
        more = len(self.violations) - 20
        super().__init__(
            reason,
            listed + (f"; and {more} more" if more > 0 else ""),
            hint=hint,
            details=details,
        )

    @classmethod
    def one(cls, field: str, reason: ErrorReason, description: str) -> InvalidRequest:
        """A request with a single wrong field."""
        return cls([Violation(field, reason, description)])


class Unauthenticated(GroundwireError):
    """Who calls cannot be said. It tells which credentials the server asks for, and nothing of those that came."""

    status = "UNAUTHENTICATED"

    def __init__(self, scheme: str, hint: str) -> None:
        super().__init__(
            ErrorReason.UNAUTHENTICATED,
            "The call brings no credentials that hold here.",
            hint=hint,
            details={"scheme": scheme},
        )


class NotPermitted(GroundwireError):
    """The caller may not do this here."""

    status = "PERMISSION_DENIED"


class UnknownResource(GroundwireError):
    """No such library, document or job, or none that the caller may read: the two look alike."""

    status = "NOT_FOUND"


class FailedPrecondition(GroundwireError):
    """Something that the call needs is not there or does not fit."""

    status = "FAILED_PRECONDITION"


class Aborted(GroundwireError):
    """Somebody else was first; read and try again."""

    status = "ABORTED"


class GlossaryConflict(GroundwireError):
    """Two terms of a kind share a synonym; nothing was changed."""

    status = "ALREADY_EXISTS"


class Unavailable(GroundwireError):
    """Cannot answer now; try again later."""

    status = "UNAVAILABLE"


class ResourceExhausted(GroundwireError):
    """Too much at once, or a full disk."""

    status = "RESOURCE_EXHAUSTED"


class DeadlineExceeded(GroundwireError):
    """Time ran out."""

    status = "DEADLINE_EXCEEDED"


class NotImplementedHere(GroundwireError):
    """This server does not have the method or operation."""

    status = "UNIMPLEMENTED"

    def __init__(self, operation: str, message: str = "") -> None:
        super().__init__(
            ErrorReason.NOT_IMPLEMENTED,
            message or f"{operation} is not available on this server.",
            hint="GetServerInfo lists what is.",
            details={"operation": operation},
        )


class DocumentRefused(GroundwireError):
    """A document cannot be read; the others go on."""

    status = "INVALID_ARGUMENT"


class RowRefused(GroundwireError):
    """A row of figures or relations cannot be stored; the others go on.

    Attributes:
        column: column or field that is wrong.
        value: what was given, cut to 200 code points.
        further: what else is wrong with the same row.
    """

    status = "INVALID_ARGUMENT"

    def __init__(
        self, reason: ErrorReason, message: str, *, column: str, value: str, further: Sequence[RowRefused] = ()
    ) -> None:
        super().__init__(reason, message, details={"column": column})
        self.column = column
        self.value = value[:200]
        self.further = tuple(further)

    @classmethod
    def of(cls, faults: Sequence[RowRefused]) -> RowRefused:
        """One refusal that tells of all that is wrong with a row; at least one fault."""
        first, *others = faults
        return cls(first.reason, first.message, column=first.column, value=first.value, further=others)
