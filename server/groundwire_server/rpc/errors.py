"""From our errors to what a client sees: a status code, a safe message, and `google.rpc.Status` details.

The contract stands at the top of errors.proto: ErrorInfo always; BadRequest with every violation; RetryInfo where
trying again helps; a message of at most 1 KiB, all details together of at most 4 KiB. A status that does not fit into
the client's header limit turns into one of the client's own, without any reason. The least of these limits is that of
Java, 8 KiB as the headers go over the wire: a byte of a message that is not printable ASCII is three there, and three
bytes of details are four. So a wide message leaves less room to the details.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from groundwire_server.errors import ErrorReason, GroundwireError, InvalidRequest, Violation

__all__ = [
    "DETAILS_KEY",
    "DOMAIN",
    "MAX_DETAILS_BYTES",
    "MAX_MESSAGE_BYTES",
    "MAX_TRAILER_CHARS",
    "ErrorStatus",
    "cut_utf8",
    "to_status",
]

DOMAIN = "groundwire.v1"
DETAILS_KEY = "grpc-status-details-bin"
MAX_MESSAGE_BYTES = 1024
MAX_DETAILS_BYTES = 4096
MAX_TRAILER_CHARS = 8192
SHOWN_VIOLATIONS = 20
_OTHER_TRAILERS = 600  # names, status, content type, and what a client counts for each pair
_METADATA_NAME_BYTES = 64
_METADATA_VALUE_BYTES = 200
_RETRY_SECONDS = 1
_RETRIED = frozenset({grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class ErrorStatus:
    """What goes into the trailers. `details` is a serialized `google.rpc.Status`."""

    code: grpc.StatusCode
    message: str
    details: bytes


def to_status(error: GroundwireError, request_id: str) -> ErrorStatus:
    """The status of an error. Only `message`, `hint`, `details` and `violations` are read: they are made by us."""
    code = grpc.StatusCode[error.status]
    message = cut_utf8(str(error), MAX_MESSAGE_BYTES)
    # Small things first; violations fill what is left, so that the whole always fits.
    details: list[Message] = [_error_info(error, request_id)]
    if code in _RETRIED:
        details.append(RetryInfo(retry_delay=Duration(seconds=_RETRY_SECONDS)))
    if isinstance(error, InvalidRequest) and error.violations:
        used = _status(code, message, details).ByteSize()
        details.insert(1, _bad_request(error.violations, _room(message) - used - 64))
    return ErrorStatus(code, message, _status(code, message, details).SerializeToString(deterministic=True))


def _room(message: str) -> int:
    """Bytes that all details may have beside a message."""
    wide = sum(1 if 0x20 <= byte <= 0x7E and byte != 0x25 else 3 for byte in message.encode())
    return min(MAX_DETAILS_BYTES, (MAX_TRAILER_CHARS - _OTHER_TRAILERS - wide) * 3 // 4)


def cut_utf8(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, cut at a character; a lone surrogate becomes a question mark.

    >>> cut_utf8("数字列", 6)
    '数…'
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return raw.decode("utf-8")
    ellipsis = "…" if limit >= 3 else ""
    return raw[: limit - len(ellipsis.encode())].decode("utf-8", "ignore") + ellipsis


def _status(code: grpc.StatusCode, message: str, details: Iterable[Message]) -> Status:
    packed = []
    for detail in details:
        wrapped = AnyMessage()
        wrapped.Pack(detail)
        packed.append(wrapped)
    return Status(code=code.value[0], message=message, details=packed)


def _error_info(error: GroundwireError, request_id: str) -> ErrorInfo:
    shown = sorted(error.details.items())[:8]
    metadata = {cut_utf8(name, _METADATA_NAME_BYTES): cut_utf8(value, _METADATA_VALUE_BYTES) for name, value in shown}
    metadata["request_id"] = request_id
    return ErrorInfo(reason=error.reason.name, domain=DOMAIN, metadata=metadata)


def _bad_request(violations: tuple[Violation, ...], room: int) -> BadRequest:
    """The first 20 violations, then "and N more". Where the room is short, descriptions are cut and then violations."""
    shown = violations[:SHOWN_VIOLATIONS]
    for limit in (600, 300, 150, 80, 40):
        message = _fields(shown, len(violations) - len(shown), limit)
        if message.ByteSize() <= room:
            return message
    while len(shown) > 1:
        shown = shown[:-1]
        message = _fields(shown, len(violations) - len(shown), 40)
        if message.ByteSize() <= room:
            return message
    return _fields((), len(violations), 40)


def _fields(shown: tuple[Violation, ...], more: int, limit: int) -> BadRequest:
    message = BadRequest()
    for violation in shown:
        message.field_violations.add(
            field=cut_utf8(violation.field, limit),
            reason=violation.reason.name,
            description=cut_utf8(violation.description, limit),
        )
    if more > 0:
        message.field_violations.add(field="", reason=ErrorReason.INVALID_REQUEST.name, description=f"and {more} more")
    return message
