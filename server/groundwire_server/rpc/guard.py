"""The outermost layer of every method, ours and others': nothing but a status that we made goes out.

grpcio sends the text of an exception to the client by itself. Here every handler is wrapped before grpcio sees it:
bytes come in and go out, so that parsing and serializing happen under the guard too, and each error becomes a status
(`rpc.errors`) and one line in the log.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any, NoReturn, cast

import grpc
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from groundwire_server.errors import (
    Aborted,
    DeadlineExceeded,
    ErrorReason,
    GroundwireError,
    InvalidRequest,
    NotImplementedHere,
    Unavailable,
    Violation,
)
from groundwire_server.evidence import CallCancelled, Principal
from groundwire_server.rpc.admission import Admission
from groundwire_server.rpc.call import CURRENT_CALL, RpcCall
from groundwire_server.rpc.endings import Endings
from groundwire_server.rpc.errors import DETAILS_KEY, to_status
from groundwire_server.rpc.log import Log, fault_fields
from groundwire_server.rpc.methods import shown_method
from groundwire_server.rpc.observer import CallObserver, Unobserved
from groundwire_server.rpc.passed_on import PassedOn
from groundwire_server.rpc.reflection import REFLECTION_METHODS
from groundwire_server.rpc.request_id import is_request_id
from groundwire_server.rpc.stream import MAX_FRAME_BYTES
from groundwire_server.security import LOCAL_NAME
from groundwire_server.settings import LimitSettings

__all__ = ["Guard", "parse_request", "unknown_fields"]

_UNBOUNDED = frozenset({"IngestDocuments", "IngestFacts", "ServerReflectionInfo", "Watch", "WatchJob"})
_HEALTH = "grpc.health."
_QUIET = (_HEALTH, "grpc.reflection.")
# Calls that last as long as their client likes and have nothing to bring to an end.
_WATCHES = frozenset({"grpc.health.v1.Health/Watch", "groundwire.v1.AdminService/WatchJob", *REFLECTION_METHODS})
# What a watch of the health needs to be told that the server stops.
_TELL_SECONDS = 0.05
# How often, in the time that a client may read nothing, it is looked at.
_LOOKS = 4
# Of the time that calls have when the server stops, the share in which streams go on as ever.
_UNHURRIED = 0.5
# Calls keep coming for this many times `late_seconds` at most.
_LATE_ROUNDS = 10


class Guard(grpc.aio.ServerInterceptor):
    """Wraps every handler of a server.

    Args:
        authenticate: who asks, from grpc's context of a call; raises a `GroundwireError` where that cannot be said.
        max_call_seconds: bound of a read that brings no shorter deadline.
        observer: told of every call.
        limits: how many calls may run at once, and how long a client may read nothing of an answer.
        admission: the places of the services, where others ask for them too; by default made from the limits.
        many_a_peer: a connection brings the calls of many clients: none is refused for what others leave unread.

    Attributes:
        admission: the places of the services.
    """

    def __init__(
        self,
        authenticate: Callable[[Any], Principal],
        log: Log,
        max_call_seconds: float,
        *,
        observer: CallObserver | None = None,
        limits: LimitSettings | None = None,
        admission: Admission | None = None,
        many_a_peer: bool = False,
    ) -> None:
        limits = limits or LimitSettings()
        self._authenticate = authenticate
        self._log = log
        self._max_call_seconds = max_call_seconds
        self._observer: CallObserver = observer or Unobserved()
        self.admission = admission or Admission(limits)
        self._endings = Endings(sys.maxsize) if many_a_peer else Endings()
        self._idle_seconds = limits.reader_idle_seconds
        self._looking = False
        self._wrapped: dict[str, Any] = {}
        self._calls: dict[RpcCall, asyncio.Timeout] = {}
        self._last_call = 0.0  # when one came, by the clock of the loop
        self._draining = False
        self._changed = asyncio.Event()
        self._watches_end = asyncio.Event()

    @property
    def open_calls(self) -> int:
        """Calls that have begun and not ended."""
        return len(self._calls)

    @property
    def open_endings(self) -> int:
        """Calls that have ended and whose clients are not told yet."""
        return len(self._endings)

    async def drain(self, grace: float, late_seconds: float) -> None:
        """Refuse what is new, wait up to `grace` seconds for what runs, then end it; each call with a status that says
        why. Streams that can go on elsewhere end half-way, with a summary that says where. Those that only watch come
        last: they would never end by themselves.

        Args:
            late_seconds: wait until no call has come for so long: one that is on its way and meets a server of grpc's
                that has stopped is told CANCELLED.
        """
        loop = asyncio.get_running_loop()
        self._draining = True
        hurry = loop.call_later(grace * _UNHURRIED, self._hurry_all)
        cut = loop.call_later(grace, self._cut_all)
        try:
            while any(call.method not in _WATCHES for call in self._calls):
                self._changed.clear()
                await self._changed.wait()
        finally:
            hurry.cancel()
            cut.cancel()
        for _ in range(_LATE_ROUNDS):
            left = self._last_call + late_seconds - loop.time()
            if left <= 0:
                break
            await asyncio.sleep(left)
        if self._calls:
            await asyncio.sleep(_TELL_SECONDS)
        self._watches_end.set()

    def _hurry_all(self) -> None:
        for call in self._calls:
            call.stopping = True

    def _cut_all(self) -> None:
        for call, bound in self._calls.items():
            _cut(call, bound, _stopping())

    def _look_at_readers(self) -> None:
        """End the calls whose clients take nothing of what is written; look again while there are calls."""
        now = time.monotonic()
        for call, bound in self._calls.items():
            if call.writing_since is not None and now - call.writing_since >= self._idle_seconds:
                _cut(call, bound, _unread(self._idle_seconds))
        self._looking = bool(self._calls)
        if self._looking:
            self._look_later()

    def _look_later(self) -> None:
        self._looking = True
        asyncio.get_running_loop().call_later(self._idle_seconds / _LOOKS, self._look_at_readers)

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any) -> Any:
        """The wrapped handler of a method; one that nobody has answers UNIMPLEMENTED with its reason."""
        method = handler_call_details.method
        if method not in self._wrapped:
            handler = await continuation(handler_call_details)
            if handler is None:
                return self._wrap(_no_such_method(), method)
            self._wrapped[method] = self._wrap(handler, method)
        return self._wrapped[method]

    def _wrap(self, handler: Any, path: str) -> Any:
        """Requests are read here, also where there is to be one alone: grpcio leaves a call without any for ever."""
        method = path.removeprefix("/")
        behavior = (
            (handler.stream_stream if handler.request_streaming else handler.unary_stream)
            if handler.response_streaming
            else (handler.stream_unary if handler.request_streaming else handler.unary_unary)
        )

        async def answer(requests: AsyncIterator[bytes], context: Any) -> bytes | None:
            return await self._guarded(handler, behavior, method, requests, context)

        if handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(answer)
        return grpc.stream_unary_rpc_method_handler(answer)

    async def _guarded(self, handler: Any, behavior: Any, method: str, requests: Any, context: Any) -> bytes | None:
        call = RpcCall(context, method, handler.response_serializer)
        CURRENT_CALL.set(call)
        call.on_write = partial(self._observer.frame, call)
        call.tell = partial(self._observer.told, call)
        call.bound(self._bound(method))
        self._last_call = asyncio.get_running_loop().time()
        context.add_done_callback(self._endings.told)
        self._observer.begun(call)
        try:
            if not method.startswith(_HEALTH):
                self._let_in(call)
            async with asyncio.timeout(self._bound(method)) as bound:
                self._calls[call] = bound
                return await self._run(handler, behavior, requests, call)
        except grpc.aio.AbortError:
            self._ended(call, context.code().name, "")
            raise
        except TimeoutError as error:
            time_bound = self._calls.get(call)
            ours = time_bound is not None and time_bound.expired()
            await self._refuse(call, (call.cut or _out_of_time()) if ours else error)
        except grpc.aio.InternalError:
            # The core takes nothing more for this call: it has ended meanwhile, and the handler was not told yet.
            raise asyncio.CancelledError from None
        except Exception as error:  # noqa: BLE001 - whatever it is, its text must not reach the client
            await self._refuse(call, error)
        finally:
            # Where nothing else was said the client is gone: grpc cancels the handler, also at the client's deadline.
            late = call.ends is not None and time.monotonic() >= call.ends
            self._ended(call, *(("DEADLINE_EXCEEDED", ErrorReason.DEADLINE.name) if late else ("CANCELLED", "")))

    def _let_in(self, call: RpcCall) -> None:
        """Raises what keeps a call out."""
        if self._draining:
            raise _stopping()
        self._endings.check(call.context)
        call.slot = self.admission.enter(call.method)
        call.principal = self._authenticate(call.context)
        if not self._looking:
            self._look_later()

    def _bound(self, method: str) -> float | None:
        """Seconds that a method may take. A stream that writes or watches is bound by its own deadline alone."""
        return None if method.rpartition("/")[2] in _UNBOUNDED else self._max_call_seconds

    async def _run(self, handler: Any, behavior: Any, requests: Any, call: RpcCall) -> bytes | None:
        if handler.request_streaming:
            request: Any = _parsed(handler.request_deserializer, requests)
        else:
            request = parse_request(handler.request_deserializer, await call.read())
            call.request_id = _id_from(request) or call.request_id
            unknown = unknown_fields(request) if isinstance(request, Message) else []
            if unknown:
                raise InvalidRequest(unknown)
        work = behavior(request, call)
        response = await (self._watch(work) if call.method in _WATCHES else work)
        result: bytes | None = None
        if not handler.response_streaming:
            result = handler.response_serializer(response)
            call.wrote(len(cast(bytes, result)))
        self._ended(call, "OK", "")
        return result

    async def _watch(self, watching: Coroutine[Any, Any, None]) -> None:
        """Let a watch run until the server stops. It has to end with a status; cancelling it alone would not."""
        task, end = asyncio.ensure_future(watching), asyncio.ensure_future(self._watches_end.wait())
        try:
            await asyncio.wait((task, end), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        finally:
            task.cancel()
            end.cancel()
        raise _stopping()

    async def _refuse(self, call: RpcCall, error: Exception) -> NoReturn:
        """End the call with a status; only a `GroundwireError` is one of ours, anything else is a fault."""
        if isinstance(error, CallCancelled):
            # The work noticed before the handler did: the client is gone, so nobody reads this.
            _let_go(error)
            self._ended(call, "CANCELLED", "")
            await call.abort(grpc.StatusCode.CANCELLED, "The call was cancelled.")
        if isinstance(error, PassedOn):
            self._ended(call, error.code.name, error.reason)
            await call.abort(error.code, error.message, ((DETAILS_KEY, error.details),))
        if isinstance(error, GroundwireError) and error.reason is not ErrorReason.INTERNAL:
            known = error
        else:
            self._log.error("fault", **_named(call), **fault_fields(error))
            known = GroundwireError(
                ErrorReason.INTERNAL, "The server made a mistake.", hint=f"Its log has it as {call.request_id}."
            )
        status = to_status(known, call.request_id)
        _let_go(error)
        self._ended(call, status.code.name, known.reason.name)
        await call.abort(status.code, status.message, ((DETAILS_KEY, status.details),))

    def _ended(self, call: RpcCall, code: str, reason: str) -> None:
        """Say how a call ended; only the first word counts."""
        if call.outcome is not None:
            return
        call.outcome = (code, reason)
        call.cancel.cancel()
        self._calls.pop(call, None)
        self._endings.begin(call.context)
        if call.slot is not None:
            call.slot.let_go()
        self._changed.set()
        self._observer.ended(call, code, reason)
        write = self._log.debug if call.method.startswith(_QUIET) else self._log.info
        write(
            "call",
            **_named(call),
            code=code,
            **({"reason": reason} if reason else {}),
            frames=call.frames,
            ms=round(call.elapsed_ms(), 1),
        )


def _let_go(error: BaseException) -> None:
    """Forget the frames that an error came through: they hold what they worked on, states of libraries among it, and
    often the error itself, so that all of it would stay until the next collection of garbage.
    """
    left: list[BaseException | None] = [error]
    seen: set[int] = set()
    while left:
        each = left.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            each.__traceback__ = None
            left += (each.__cause__, each.__context__)


def _named(call: RpcCall) -> dict[str, str]:
    """How a line of the log names its call."""
    names = {"request_id": call.request_id, "method": shown_method(call.method)}
    if call.principal.name not in ("", LOCAL_NAME):
        names["caller"] = call.principal.name  # who its token or certificate is of, as the operator named it
    return names | {"trace_id": call.trace_id} if call.trace_id else names


def _stopping() -> Unavailable:
    return Unavailable(ErrorReason.NOT_SERVING, "The server is stopping.", details={"phase": "draining"})


def _unread(seconds: float) -> Aborted:
    return Aborted(
        ErrorReason.READER_IDLE,
        "The answer was not read for too long.",
        hint="Go on where it ended, with options.resume.",
        details={"idle_seconds": f"{seconds:g}"},
    )


def _out_of_time() -> DeadlineExceeded:
    return DeadlineExceeded(ErrorReason.DEADLINE, "The time of the call ran out.")


def _cut(call: RpcCall, bound: asyncio.Timeout, error: GroundwireError) -> None:
    """End a call from outside its handler, with that error."""
    if not bound.expired():
        call.cut = error
        bound.reschedule(asyncio.get_running_loop().time())


def _no_such_method() -> Any:
    async def refuse(_request: bytes, call: RpcCall) -> NoReturn:
        raise NotImplementedHere(call.method.rpartition("/")[2][:100])

    return grpc.unary_unary_rpc_method_handler(refuse)


def parse_request(deserialize: Callable[[bytes], Any] | None, raw: bytes) -> Any:
    """The message. Raises InvalidRequest when the bytes are too many or none; the parser's own words stay here."""
    if deserialize is None:
        return raw
    if len(raw) > MAX_FRAME_BYTES:
        words = f"{len(raw)} bytes, at most {MAX_FRAME_BYTES}"
        raise InvalidRequest.one("request", ErrorReason.VALUE_OUT_OF_RANGE, words)
    try:
        return deserialize(raw)
    except DecodeError:
        raise InvalidRequest.one(
            "request", ErrorReason.VALUE_MALFORMED, "the bytes are no message of this type"
        ) from None


async def _parsed(deserialize: Callable[[bytes], Any], raw: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    async for each in raw:
        request = parse_request(deserialize, each)
        unknown = unknown_fields(request) if isinstance(request, Message) else []
        if unknown:
            raise InvalidRequest(unknown)
        yield request


def unknown_fields(message: Message) -> list[Violation]:
    """A violation for each field that this server does not know: a bound must not be lost on the way (stream.proto)."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    if known.ByteSize() == message.ByteSize():
        return []
    found: list[Violation] = []
    _find_unknown(message, "", found)
    return found


def _find_unknown(message: Message, path: str, found: list[Violation]) -> None:
    for unknown in cast(Iterable[Any], UnknownFieldSet(message)):
        words = f"{message.DESCRIPTOR.name} has no field {unknown.field_number} on this server"
        found.append(Violation(path or message.DESCRIPTOR.name, ErrorReason.UNKNOWN_NAME, words))
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        here = f"{path}.{field.name}" if path else field.name
        if isinstance(value, Message):
            _find_unknown(value, here, found)
        else:
            for place, member in enumerate(value):
                _find_unknown(member, f"{here}[{place}]", found)


def _id_from(request: object) -> str:
    """The caller's own id in the options of a read, where it is a good one."""
    options = getattr(request, "options", None)
    request_id = getattr(options, "request_id", "")
    return request_id if isinstance(request_id, str) and is_request_id(request_id) else ""
