"""One call as its handler sees it: who asks, under which id, how to write, and the token that stops its work."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NoReturn, cast

import grpc
from google.protobuf.message import Message

from groundwire_server.errors import ErrorReason, GroundwireError, InvalidRequest
from groundwire_server.evidence import CancelToken, Label, Principal
from groundwire_server.rpc.admission import Slot
from groundwire_server.rpc.request_id import request_id_from

__all__ = ["CURRENT_CALL", "NOBODY", "RpcCall"]

NOBODY = Principal("", Label.PUBLIC, may_write=False, may_administer=False)
"""Who asks where nobody has said so yet."""

CURRENT_CALL: ContextVar[RpcCall | None] = ContextVar("groundwire_call", default=None)
"""The call that runs here, also in the threads that work for it; for lines of the log."""


def _nobody_is_told(_news: object) -> None:
    pass


class RpcCall:
    """Handlers get this instead of grpc's context.

    Attributes:
        method: full name, e.g. "groundwire.v1.NarrativeService/NarrativeRetrieve".
        request_id: the caller's id where it is a good one, else one made here.
        principal: who asks; nobody until the guard has looked at the credentials.
        cancel: polled by the work; set when the call ends, however it ends.
        frames: messages that were written.
        sent: bytes of these.
        trace_id: of the trace that the call is in, 32 hexadecimal digits; empty: in none.
        outcome: name of the status and of the reason, once the call has ended.
        context: grpc's own.
        slot: its place among the calls of its service; None where it needs none.
        stopping: the server stops: the answer should end with what was sent, if the rest can be had elsewhere.
        cut: why it is being ended before its time; None: it is not.
        writing_since: as `time.monotonic` reads, when it began to write what its client has not taken yet; None: all is
            taken.
        on_write: told the size of each message that was written.
        tell: told what a service says of its work: the summary of a stream, the events of an ingest; from any thread.
        ends: when its time is over, as `time.monotonic` reads; None: never.
    """

    __slots__ = (
        "_serialize",
        "cancel",
        "context",
        "cut",
        "ends",
        "frames",
        "method",
        "on_write",
        "outcome",
        "principal",
        "request_id",
        "sent",
        "slot",
        "started",
        "stopping",
        "tell",
        "trace_id",
        "writing_since",
    )

    def __init__(self, context: Any, method: str, serialize: Any) -> None:
        self._serialize = serialize
        self.context = context
        self.method = method
        self.principal = NOBODY
        self.outcome: tuple[str, str] | None = None
        self.on_write: Callable[[int], None] = _nobody_is_told
        self.tell: Callable[[object], None] = _nobody_is_told
        self.trace_id = ""
        self.request_id = request_id_from(context.invocation_metadata())
        self.cancel = CancelToken()
        self.frames = 0
        self.slot: Slot | None = None
        self.stopping = False
        self.cut: GroundwireError | None = None
        self.writing_since: float | None = None
        self.sent = 0
        self.started = time.monotonic()
        self.ends: float | None = None

    def bound(self, seconds: float | None) -> None:
        """Its time is what the caller gives it, and no more than `seconds`; None: no bound of ours."""
        left = [each for each in (seconds, self.context.time_remaining()) if each is not None]
        self.ends = self.started + max(0.0, min(left)) if left else None

    async def read(self) -> bytes:
        """The request of a method that takes one. Raises InvalidRequest when the client ends without any."""
        raw = await self.context.read()
        if raw is grpc.aio.EOF:
            raise InvalidRequest.one("request", ErrorReason.VALUE_REQUIRED, "the call brought no message")
        return cast(bytes, raw)

    async def write(self, message: Message | bytes) -> None:
        """Send one message of a streamed answer; waits while the client reads slowly."""
        data = message if isinstance(message, bytes) else self._serialize(message)
        self.writing_since = time.monotonic()
        await self.context.write(data)
        self.writing_since = None
        self.wrote(len(data))

    def wrote(self, size: int) -> None:
        """Count a message that went out."""
        self.frames += 1
        self.sent += size
        self.on_write(size)

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: tuple[tuple[str, str | bytes], ...] = ()
    ) -> NoReturn:
        """End the call with a status."""
        await self.context.abort(code, details, trailing_metadata)
        raise AssertionError("abort returns only by raising")

    def elapsed_ms(self) -> float:
        """Time since the call came in, in milliseconds."""
        return (time.monotonic() - self.started) * 1000
