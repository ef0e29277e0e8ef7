from __future__ import annotations

import base64
from urllib.parse import quote

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server import errors
from groundwire_server.errors import ErrorReason, GroundwireError, InvalidRequest, Violation
from groundwire_server.rpc.errors import (
    MAX_DETAILS_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_TRAILER_CHARS,
    ErrorStatus,
    cut_utf8,
    to_status,
)

HOSTILE = st.text(
    st.one_of(st.characters(), st.sampled_from("\r\n\t\u2028\ud800\udfff\u200dé字が😀\x00"), st.characters()),
    max_size=900,
)
VIOLATIONS = st.lists(st.builds(Violation, HOSTILE, st.sampled_from(ErrorReason), HOSTILE), min_size=1, max_size=40)


def details(status: status_pb2.Status) -> dict[str, object]:
    found: dict[str, object] = {}
    for detail in status.details:
        for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo):
            message = kind()
            if detail.Unpack(message):
                found[kind.__name__] = message
    return found


def on_the_wire(status: ErrorStatus) -> int:
    """Characters of the trailers of a status, as HTTP/2 counts them: with 32 for each pair."""
    pairs = {
        "grpc-status": "16",
        "grpc-message": quote(status.message, safe=_PLAIN),
        "grpc-status-details-bin": base64.b64encode(status.details).decode(),
        "content-type": "application/grpc",
        ":status": "200",
    }
    return sum(len(name) + len(value) + 32 for name, value in pairs.items())


_PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")


def test_a_wide_message_leaves_less_room_to_details() -> None:
    faults = [Violation(f"{number}字" * 200, ErrorReason.VALUE_MALFORMED, "字" * 400) for number in range(40)]
    status = to_status(InvalidRequest(faults, details={f"{n}" * 90: "値" * 90 for n in range(9)}), "q" * 128)
    assert len(status.message.encode()) > MAX_MESSAGE_BYTES - 4
    assert MAX_TRAILER_CHARS - 600 < on_the_wire(status) <= MAX_TRAILER_CHARS


@given(VIOLATIONS, st.dictionaries(HOSTILE, HOSTILE, max_size=12), HOSTILE)
def test_any_error_fits_into_the_trailers(violations: list[Violation], facts: dict[str, str], hint: str) -> None:
    status = to_status(InvalidRequest(violations, hint=hint, details=facts), "q-1" * 40)
    parsed = status_pb2.Status.FromString(status.details)
    assert len(status.message.encode()) <= MAX_MESSAGE_BYTES
    assert len(status.details) <= MAX_DETAILS_BYTES
    assert on_the_wire(status) <= MAX_TRAILER_CHARS
    assert parsed.message == status.message
    assert parsed.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    info = details(parsed)["ErrorInfo"]
    assert isinstance(info, error_details_pb2.ErrorInfo)
    assert (info.domain, info.reason, info.metadata["request_id"]) == ("groundwire.v1", "INVALID_REQUEST", "q-1" * 40)


@given(st.integers(1, 60))
def test_the_first_twenty_violations_stand_there_and_the_rest_are_counted(count: int) -> None:
    faults = [Violation(f"a.b[{n}]", ErrorReason.VALUE_REQUIRED, f"must be {n}") for n in range(count)]
    parsed = status_pb2.Status.FromString(to_status(InvalidRequest(faults), "q").details)
    bad = details(parsed)["BadRequest"]
    assert isinstance(bad, error_details_pb2.BadRequest)
    shown = [(each.field, each.reason, each.description) for each in bad.field_violations]
    assert shown[:20] == [(f.field, f.reason.name, f.description) for f in faults[:20]]
    assert shown[20:] == ([("", "INVALID_REQUEST", f"and {count - 20} more")] if count > 20 else [])


@pytest.mark.parametrize(
    ("kind", "code", "retry"),
    [
        (errors.NotPermitted, grpc.StatusCode.PERMISSION_DENIED, False),
        (errors.UnknownResource, grpc.StatusCode.NOT_FOUND, False),
        (errors.FailedPrecondition, grpc.StatusCode.FAILED_PRECONDITION, False),
        (errors.Aborted, grpc.StatusCode.ABORTED, False),
        (errors.GlossaryConflict, grpc.StatusCode.ALREADY_EXISTS, False),
        (errors.Unavailable, grpc.StatusCode.UNAVAILABLE, True),
        (errors.ResourceExhausted, grpc.StatusCode.RESOURCE_EXHAUSTED, True),
        (errors.DeadlineExceeded, grpc.StatusCode.DEADLINE_EXCEEDED, False),
    ],
)
def test_each_kind_has_its_code_and_a_retry_where_it_helps(
    kind: type[GroundwireError], code: grpc.StatusCode, retry: bool
) -> None:
    status = to_status(kind(ErrorReason.OVERLOADED, "Too much.", hint="Wait."), "q")
    found = details(status_pb2.Status.FromString(status.details))
    assert status.code is code
    assert status.message == "Too much. Wait."
    assert ("RetryInfo" in found) is retry


@given(HOSTILE, st.integers(0, 50))
def test_a_cut_is_a_prefix_in_whole_characters(text: str, limit: int) -> None:
    cut = cut_utf8(text, limit)
    assert len(cut.encode()) <= limit
    assert text.encode("utf-8", "replace").decode().startswith(cut.removesuffix("…")) or cut.endswith("…")
