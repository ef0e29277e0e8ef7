"""What a failed call says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import code_pb2, error_details_pb2, status_pb2

import groundwire
from groundwire import ErrorReason, GroundwireError
from groundwire._wire.status import decode_error
from tests.client.both import Connect
from tests.client.serving import serving


def _details(*messages: Any) -> bytes:
    packed = []
    for message in messages:
        detail = AnyMessage()
        detail.Pack(message)
        packed.append(detail)
    status = status_pb2.Status(code=code_pb2.INVALID_ARGUMENT, message="top_k: ...", details=packed)
    return bytes(status.SerializeToString())


INFO = error_details_pb2.ErrorInfo(
    reason="INVALID_REQUEST", domain="groundwire.v1", metadata={"request_id": "r-1", "library_id": "a"}
)
BAD = error_details_pb2.BadRequest(
    field_violations=[
        {"field": "top_k", "description": "-1 is not in 0..200", "reason": "VALUE_OUT_OF_RANGE"},
        {"field": "query", "description": "must not be blank", "reason": "VALUE_REQUIRED"},
    ]
)
RETRY = error_details_pb2.RetryInfo()
RETRY.retry_delay.FromTimedelta(timedelta(milliseconds=250))


def test_a_status_over_the_socket_is_a_typed_error(connect: Connect) -> None:
    def method(request: Any, context: grpc.ServicerContext) -> NoReturn:
        context.set_trailing_metadata([("grpc-status-details-bin", _details(INFO, BAD, RETRY))])
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "top_k: -1 is not in 0..200")

    with serving(NarrativeRetrieve=method, GetServerInfo=method) as address, connect(address) as client:
        for call in (lambda: client.retrieve("why").collect(), client.server_info):
            with pytest.raises(GroundwireError) as caught:
                call()
            error = caught.value
            assert error.reason is ErrorReason.INVALID_REQUEST
            assert error.status == "INVALID_ARGUMENT"
            assert error.details == {"request_id": "r-1", "library_id": "a"}
            assert error.retry_after == timedelta(milliseconds=250)
            assert error.violations == (
                groundwire.Violation("top_k", "-1 is not in 0..200", ErrorReason.VALUE_OUT_OF_RANGE),
                groundwire.Violation("query", "must not be blank", ErrorReason.VALUE_REQUIRED),
            )
            assert str(error) == "top_k: -1 is not in 0..200 (INVALID_ARGUMENT, INVALID_REQUEST)"
            assert error.__cause__ is None


def test_a_method_that_the_server_lacks(connect: Connect) -> None:
    with serving() as address, connect(address) as client, pytest.raises(GroundwireError) as caught:
        client.server_info()
    assert caught.value.status == "UNIMPLEMENTED"
    assert caught.value.reason is ErrorReason.UNSPECIFIED


def test_no_server_at_all_says_where_and_what_to_do(connect: Connect) -> None:
    with connect("127.0.0.1:1") as client, pytest.raises(GroundwireError) as caught:
        client.list_libraries()
    assert caught.value.status == "UNAVAILABLE"
    assert "127.0.0.1:1" in str(caught.value)
    assert "groundwire serve" in str(caught.value)


@pytest.mark.parametrize(
    "blob",
    [
        b"\xff\xff\xff",
        b"",
        None,
        _details(error_details_pb2.ErrorInfo(reason="X", domain="elsewhere")),
        _details(error_details_pb2.Help()),
        status_pb2.Status(
            details=[AnyMessage(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\xff")]
        ).SerializeToString(),
    ],
)
def test_foreign_or_damaged_details_are_passed_over(blob: bytes | None) -> None:
    error = decode_error("INTERNAL", "", blob)
    assert (error.status, error.message, error.reason, error.details) == (
        "INTERNAL",
        "INTERNAL",
        ErrorReason.UNSPECIFIED,
        {},
    )


def test_a_reason_of_a_newer_server_is_unspecified() -> None:
    newer = error_details_pb2.ErrorInfo(reason="FROM_THE_FUTURE", domain="groundwire.v1")
    assert decode_error("ABORTED", "x", _details(newer)).reason is ErrorReason.UNSPECIFIED
