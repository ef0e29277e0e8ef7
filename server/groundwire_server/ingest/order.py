"""Faults of the order of an ingest stream, as errors that say what was expected."""

from __future__ import annotations

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation

__all__ = ["disorder", "gap"]


def gap(field: str, expected: int, seq: int, why: str) -> InvalidRequest:
    """INGEST_SEQUENCE_GAP: a part is missing."""
    return InvalidRequest(
        [Violation(field, ErrorReason.VALUE_OUT_OF_RANGE, f"{seq} does not follow: {why}")],
        reason=ErrorReason.INGEST_SEQUENCE_GAP,
        hint="Open the ingest again and go on after accepted.durable_seq.",
        details={"expected_seq": str(expected), "seq": str(seq)},
    )


def disorder(frame: str, expected: str, why: str) -> InvalidRequest:
    """INGEST_ORDER: a frame stands where it may not."""
    return InvalidRequest(
        [Violation(frame, ErrorReason.CONTRADICTION, why)],
        reason=ErrorReason.INGEST_ORDER,
        details={"frame": frame, "expected": expected},
    )
