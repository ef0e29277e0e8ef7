"""One call as its handler sees it: who asks, under which id, how to write, and the token that stops its work."""

from __future__ import annotations

import time
from typing import Any, NoReturn, cast

import grpc
from google.protobuf.message import Message

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import CancelToken, Principal
from groundwire_server.rpc.request_id import request_id_from

__all__ = ["RpcCall"]


class RpcCall:
    """Handlers get this instead of grpc's context.

    Attributes:
        method: full name, e.g. "groundwire.v1.NarrativeService/NarrativeRetrieve".
        request_id: the caller's id where it is a good one, else one made here.
        principal: who asks.
        cancel: polled by the work; set when the call ends, however it ends.
        frames: messages that were written.
        ends: when its time is over, as `time.monotonic` reads; None: never.
    """

    __slots__ = ("_context", "_serialize", "cancel", "ends", "frames", "method", "principal", "request_id", "started")

    def __init__(self, context: Any, method: str, principal: Principal, serialize: Any) -> None:
        self._context = context
        self._serialize = serialize
        self.method = method
        self.principal = principal
        self.request_id = request_id_from(context.invocation_metadata())
        self.cancel = CancelToken()
        self.frames = 0
        self.started = time.monotonic()
        self.ends: float | None = None

    def bound(self, seconds: float | None) -> None:
        """Its time is what the caller gives it, and no more than `seconds`; None: no bound of ours."""
        left = [each for each in (seconds, self._context.time_remaining()) if each is not None]
        self.ends = self.started + max(0.0, min(left)) if left else None

    async def read(self) -> bytes:
        """The request of a method that takes one. Raises InvalidRequest when the client ends without any."""
        raw = await self._context.read()
        if raw is grpc.aio.EOF:
            raise InvalidRequest.one("request", ErrorReason.VALUE_REQUIRED, "the call brought no message")
        return cast(bytes, raw)

    async def write(self, message: Message | bytes) -> None:
        """Send one message of a streamed answer; waits while the client reads slowly."""
        data = message if isinstance(message, bytes) else self._serialize(message)
        await self._context.write(data)
        self.frames += 1

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: tuple[tuple[str, str | bytes], ...] = ()
    ) -> NoReturn:
        """End the call with a status."""
        await self._context.abort(code, details, trailing_metadata)
        raise AssertionError("abort returns only by raising")

    def elapsed_ms(self) -> float:
        """Time since the call came in, in milliseconds."""
        return (time.monotonic() - self.started) * 1000
