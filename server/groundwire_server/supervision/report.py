"""What a process tells the one that started it, once: that it answers, or why it does not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_server.errors import ErrorReason, GroundwireError

__all__ = ["Report", "pack_failure", "pack_ready"]


def pack_ready(address: str, notes: Sequence[str] = ()) -> bytes:
    """A line that says where a process answers, and what people should know."""
    return json.dumps({"address": address, "notes": list(notes)}).encode() + b"\n"


def pack_failure(error: GroundwireError) -> bytes:
    """A line that says why a process does not answer."""
    told = {"reason": error.reason.name, "message": error.message, "hint": error.hint, "details": error.details}
    return json.dumps(told).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Report:
    """One of the two.

    Attributes:
        address: where it answers; empty: it does not.
        notes: for people.
        failure: why it does not answer.
    """

    address: str = ""
    notes: tuple[str, ...] = ()
    failure: GroundwireError | None = None

    @classmethod
    def of(cls, line: bytes) -> Report:
        """What a line says. Raises ValueError, KeyError for one that says nothing."""
        told = json.loads(line)
        if "address" in told:
            return cls(told["address"], tuple(told["notes"]))
        reason = ErrorReason[told["reason"]]
        return cls(failure=GroundwireError(reason, told["message"], hint=told["hint"], details=told["details"]))
