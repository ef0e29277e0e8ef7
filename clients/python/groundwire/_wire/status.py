"""A gRPC status with its standard details, as a typed error."""

from __future__ import annotations

from google.protobuf.any_pb2 import Any
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from groundwire._errors import GroundwireError, Violation
from groundwire._model.reason import ErrorReason

__all__ = ["DETAILS_KEY", "decode_error"]

DETAILS_KEY = "grpc-status-details-bin"
_DOMAIN = "groundwire.v1"


def decode_error(status: str, message: str, details: bytes | None) -> GroundwireError:
    """The error of a status: `status` names its code, `details` is the trailing metadata under DETAILS_KEY, if any.

    Details that are damaged, or not ours, are passed over: the status itself stands.
    """
    info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    for detail in _details(details):
        found = error_details_pb2.ErrorInfo()
        if _unpack(detail, found) and found.domain == _DOMAIN:
            info = found
        _unpack(detail, bad)
        _unpack(detail, retry)
    # An older googleapis-common-protos knows no reason of a violation.
    violations = [
        Violation(each.field, each.description, _reason(getattr(each, "reason", ""))) for each in bad.field_violations
    ]
    return GroundwireError(
        message or status,
        reason=_reason(info.reason),
        status=status,
        violations=violations,
        details=dict(sorted(info.metadata.items())),
        retry_after=retry.retry_delay.ToTimedelta() if retry.HasField("retry_delay") else None,
    )


def _details(blob: bytes | None) -> list[Any]:
    try:
        return list(status_pb2.Status.FromString(blob).details) if blob else []
    except DecodeError:
        return []


def _unpack(detail: Any, into: Message) -> bool:
    """Whether the detail is of this kind, and whole."""
    try:
        return detail.Unpack(into)
    except DecodeError:
        return False


def _reason(name: str) -> ErrorReason:
    return ErrorReason.__members__.get(name, ErrorReason.UNSPECIFIED)
