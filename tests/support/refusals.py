"""For tests that say: either it works, or it is refused with one of these reasons, and in the form of the contract."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from groundwire_server.errors import ErrorReason, GroundwireError

__all__ = ["faults_of_form", "reason_of"]

_MESSAGE_BYTES, _DETAILS_BYTES, _TRAILER_CHARS = 1024, 4096, 8192
_RETRIED = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE)
_KINDS = (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo)
# What stands in texts of foreign exceptions, and in none of ours.
_FOREIGN = re.compile(
    rb"Traceback|\w(?:Error|Exception)\b|\.py\b|<class |object at 0x|sqlite|numpy|protobuf|/work/|/tmp/"
)


def reason_of(call: Callable[[], object]) -> ErrorReason | None:
    """The reason with which a call is refused; None when it is not. Any other exception goes on."""
    try:
        call()
    except GroundwireError as refused:
        return refused.reason
    return None


def faults_of_form(error: Any, sent: bytes = b"", hidden: Sequence[bytes] = ()) -> list[str]:
    """What a status lacks of the form that errors.proto gives it, and what it tells that it may not.

    Args:
        error: a `grpc.RpcError` with its trailers.
        sent: the bytes of the request: whatever stands in them may come back.
        hidden: what the caller may not read.
    """
    trailers = dict(error.trailing_metadata() or ())
    raw, said = trailers.get("grpc-status-details-bin", b""), (error.details() or "").encode()
    try:
        status = status_pb2.Status.FromString(raw)
    except DecodeError:
        return ["details are no google.rpc.Status"]
    found: dict[str, Any] = {}
    for detail in status.details:
        for kind in _KINDS:
            if detail.Is(kind.DESCRIPTOR):
                found[kind.DESCRIPTOR.name] = message = kind()
                detail.Unpack(message)
    info = found.get("ErrorInfo", error_details_pb2.ErrorInfo())
    fields = found.get("BadRequest", error_details_pb2.BadRequest()).field_violations
    code = error.code()
    wrong = info.reason == "INVALID_REQUEST"
    checks = {
        "no reason of the contract": info.reason in ErrorReason.__members__,
        "another domain": info.domain == "groundwire.v1",
        "no request id": bool(info.metadata.get("request_id")),
        "code or message of the status differ": (status.code, status.message) == (code.value[0], error.details()),
        "no message": bool(said),
        "message over 1 KiB": len(said) <= _MESSAGE_BYTES,
        "details over 4 KiB": len(raw) <= _DETAILS_BYTES,
        "trailers over 8 KiB": len(raw) * 4 // 3 + len(said) <= _TRAILER_CHARS,
        "a fault of the server": code not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN),
        "RetryInfo where it does not belong, or none where it does": ("RetryInfo" in found) == (code in _RETRIED),
        "INVALID_REQUEST without violations": bool(fields) or not wrong,
        "a violation without reason, field or description": all(
            each.reason in ErrorReason.__members__ and (each.field or each.description) for each in fields
        ),
        "more than 20 violations and a count": len(fields) <= 21,
        "words of another's exception": not any(each not in sent for each in _FOREIGN.findall(raw + said)),
        "hidden content": not any(each in raw + said for each in hidden if each not in sent),
    }
    return [fault for fault, holds in checks.items() if not holds]
