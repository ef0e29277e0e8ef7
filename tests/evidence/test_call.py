from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from groundwire_server.errors import ErrorReason, FailedPrecondition
from groundwire_server.evidence import Call, CallOptions, Degradation, DegradationKind, Label, Principal

CALLER = Principal("local", Label.INTERNAL)
NOW = datetime(2025, 6, 30, 23, 30, tzinfo=timezone(timedelta(hours=-2)))


def test_days_are_counted_from_what_is_given_else_from_valid_at_else_from_today() -> None:
    valid_at = datetime(2021, 5, 4, 1, 0, tzinfo=UTC)
    assert Call(CALLER, now=lambda: NOW).reference_day == date(2025, 7, 1)
    assert Call(CALLER, CallOptions(valid_at=valid_at), now=lambda: NOW).reference_day == date(2021, 5, 4)
    given = CallOptions(valid_at=valid_at, reference_date=date(2000, 1, 1))
    assert Call(CALLER, given, now=lambda: NOW).reference_day == date(2000, 1, 1)


def test_a_forbidden_degradation_is_an_error() -> None:
    call = Call(CALLER, CallOptions(forbid=frozenset({DegradationKind.VECTOR_OFF})))
    partial = Degradation(DegradationKind.VECTOR_PARTIAL, "embedder")
    assert call.accept(partial) is partial
    with pytest.raises(FailedPrecondition) as raised:
        call.accept(Degradation(DegradationKind.VECTOR_OFF, "embedder"))
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN
    assert raised.value.details == {"kind": "VECTOR_OFF", "component": "embedder"}
