"""Calls that one process of a server passes on to the one that writes: bytes both ways, as they come.

What the other process sees is the call itself: its messages, its time, its end when the client goes, its id, the trace
that it is in, and who calls. Nothing else of what the client sent as metadata goes along.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from groundwire_server.errors import DeadlineExceeded, ErrorReason, GroundwireError, Unavailable
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.errors import DETAILS_KEY
from groundwire_server.rpc.passed_on import PassedOn
from groundwire_server.rpc.request_id import REQUEST_ID_KEY
from groundwire_server.rpc.workers.identity import PRINCIPAL_KEY, pack_principal
from groundwire_server.rpc.workers.ingest_watch import IngestWatch
from groundwire_server.rpc.workers.link import AWAY, WriterLink

__all__ = ["Forwarding"]

_TRACE_KEYS = ("traceparent", "tracestate")
_AWAY = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})


class Forwarding:
    """Passes on all calls of one method.

    Args:
        link: to the process that writes.
        method: which one.
        follow: takes up what was written; awaited before the client learns of it.
        stopping: set when this process stops; ingests then say up to where they are durable, and end.
    """

    raw = True  # requests are not parsed here

    def __init__(
        self,
        link: WriterLink,
        method: MethodDescriptor,
        follow: Callable[[], Awaitable[object]],
        stopping: asyncio.Event,
    ) -> None:
        self._link = link
        self._name = f"{method.containing_service.full_name}/{method.name}"
        self._streams = method.server_streaming
        self._response: Any = GetMessageClass(method.output_type) if method.client_streaming else None
        self._watches = method.name == "WatchJob"
        self._follow = follow
        self._stopping = stopping

    async def __call__(self, request: bytes | AsyncIterator[bytes], call: RpcCall) -> bytes | None:
        """The answer of a method that gives one; else it was written to the call.

        Raises:
            PassedOn: the status that the other process gave.
            Unavailable: NOT_SERVING, it is away.
            DeadlineExceeded: the time of the call ran out.
        """
        left = None if call.ends is None else max(0.0, call.ends - time.monotonic())
        outgoing = self._link.begin(self._name, _metadata(call), left)
        ingest = None if self._response is None else IngestWatch(self._response)
        stopping = None if ingest is None else self._stopping
        sending = asyncio.ensure_future(_send(outgoing, request, stopping))
        sending.add_done_callback(lambda done: _end_with(done, outgoing))
        answer: bytes | None = None
        try:
            async for message in outgoing:
                if not self._streams:
                    answer = message
                    continue
                if self._watches or (ingest is not None and ingest.is_last(message)):
                    await self._follow()
                await call.write(message)
        except grpc.aio.AioRpcError as error:
            await self._follow()  # what was good before is kept
            if ingest is not None and _broken_off(sending):
                await call.write(ingest.shutting_down())
                raise Unavailable(
                    ErrorReason.NOT_SERVING, "The server is stopping.", details={"phase": "draining"}
                ) from None
            raise _fault_of(sending) or _refusal(error) from None
        except asyncio.CancelledError:
            fault = _fault_of(sending)
            if fault is not None:
                raise fault from None
            raise
        finally:
            outgoing.cancel()
            sending.cancel()
        await self._follow()
        if answer is None and not self._streams:
            raise GroundwireError(ErrorReason.INTERNAL, "The process that writes gave no answer.")
        return answer


def _metadata(call: RpcCall) -> tuple[tuple[str, str | bytes], ...]:
    """All that goes along: made here, but for the trace."""
    given = call.context.invocation_metadata() or ()
    trace = [(key, value) for key, value in given if key in _TRACE_KEYS and isinstance(value, str)]
    return ((REQUEST_ID_KEY, call.request_id), (PRINCIPAL_KEY, pack_principal(call.principal)), *trace)


async def _send(outgoing: Any, request: bytes | AsyncIterator[bytes], stopping: asyncio.Event | None) -> bool:
    """Write the messages of a call, and say when there are no more. That the other side wants no more is no fault.

    Returns:
        Whether it was broken off because this process stops.
    """
    broken_off = False
    try:
        if isinstance(request, bytes):
            await _write(outgoing, request)
        elif stopping is None:
            async for message in request:
                await _write(outgoing, message)
        else:
            broken_off = await _send_until(outgoing, request, stopping)
        await outgoing.done_writing()
    except (asyncio.InvalidStateError, grpc.RpcError, grpc.aio.InternalError):
        pass
    return broken_off


async def _write(outgoing: Any, message: bytes) -> None:
    """Write a message. Where the other side has ended the call meanwhile, `outgoing.write` would put a status of its
    own in the place of the one that is on its way, which has the reason.

    Raises:
        grpc.RpcError, grpc.aio.InternalError: the call has ended.
    """
    await outgoing.wait_for_connection()
    await outgoing._cython_call.send_serialized_message(message)


async def _send_until(outgoing: Any, request: AsyncIterator[bytes], stopping: asyncio.Event) -> bool:
    """Write messages as they come, until `stopping` is set while there is none."""
    stop = asyncio.ensure_future(stopping.wait())
    try:
        while True:
            coming = asyncio.ensure_future(anext(request, None))
            try:
                await asyncio.wait((coming, stop), return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    return True
                message = coming.result()
            finally:
                coming.cancel()
            if message is None:
                return False
            await _write(outgoing, message)
    finally:
        stop.cancel()


def _broken_off(sending: asyncio.Future[bool]) -> bool:
    return sending.done() and not sending.cancelled() and sending.exception() is None and sending.result()


def _end_with(sending: asyncio.Future[bool], outgoing: Any) -> None:
    """A request that cannot be read ends the call."""
    if _fault_of(sending) is not None:
        outgoing.cancel()


def _fault_of(sending: asyncio.Future[bool]) -> BaseException | None:
    return sending.exception() if sending.done() and not sending.cancelled() else None


def _refusal(error: grpc.aio.AioRpcError) -> Exception:
    """What became of a call that did not end well."""
    details = dict(error.trailing_metadata() or ()).get(DETAILS_KEY)
    if isinstance(details, bytes):
        return PassedOn(error.code(), error.details() or "", details)
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DeadlineExceeded(ErrorReason.DEADLINE, "The time of the call ran out.")
    if error.code() in _AWAY:
        return Unavailable(
            ErrorReason.NOT_SERVING,
            AWAY,
            hint="Try again in a second; reads go on meanwhile.",
            details={"phase": "writer"},
        )
    return GroundwireError(ErrorReason.INTERNAL, "The process that writes cannot be spoken to.")
