"""Errors of the client.

GroundwireError            the server refused or failed, or could not be reached
└── BrokenStream           a stream ended without its summary, or its frames came in a wrong order
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from groundwire._model.reason import ErrorReason

__all__ = ["BrokenStream", "GroundwireError", "Violation"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One wrong field of a request: its path, why, and what would be right."""

    field: str
    description: str
    reason: ErrorReason = ErrorReason.UNSPECIFIED


class GroundwireError(Exception):
    """A call failed as a whole.

    Attributes:
        reason: stable reason; UNSPECIFIED when no server of ours answered.
        status: name of the gRPC status code, e.g. "INVALID_ARGUMENT", "UNAVAILABLE".
        message: sentence for people.
        violations: every wrong field at once, for INVALID_REQUEST.
        details: facts for machines, by name, e.g. the request_id under which the server's log has it.
        retry_after: when to try again, where the server says so.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: ErrorReason = ErrorReason.UNSPECIFIED,
        status: str = "UNKNOWN",
        violations: Sequence[Violation] = (),
        details: Mapping[str, str] | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.message = message
        self.violations = tuple(violations)
        self.details = dict(details or {})
        self.retry_after = retry_after

    def __str__(self) -> str:
        name = self.status if self.reason is ErrorReason.UNSPECIFIED else f"{self.status}, {self.reason.name}"
        return f"{self.message} ({name})"


class BrokenStream(GroundwireError):
    """A stream that did not keep to header, frames, summary: what came of it may not be the whole."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status="INTERNAL")
