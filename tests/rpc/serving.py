"""A real server on a free port around handlers of a test."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

from groundwire_server.evidence import Label, Principal
from groundwire_server.rpc.guard import Guard
from groundwire_server.rpc.log import make_log
from groundwire_server.rpc.loop_thread import LoopThread
from groundwire_server.rpc.methods import Handler
from groundwire_server.rpc.observer import CallObserver
from groundwire_server.rpc.server import WireServer
from groundwire_server.settings import LogSettings, ServerSettings

PREFIX = "groundwire.v1."


@dataclass
class Served:
    """A running server, a channel to it, and what it logs."""

    address: str
    channel: grpc.Channel
    guard: Guard
    written: io.StringIO

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]


@contextmanager
def serving(
    built: Mapping[str, Handler], *, max_call_seconds: float = 30.0, observer: CallObserver | None = None
) -> Iterator[Served]:
    """Serve handlers, by method name without the package, until the block ends."""
    written = io.StringIO()
    log = make_log(LogSettings(level="debug", format="json"), written)
    guard = Guard(lambda _context: Principal("local", Label.INTERNAL), log, max_call_seconds, observer=observer)

    @asynccontextmanager
    async def make() -> AsyncIterator[str]:
        server = WireServer({PREFIX + name: handler for name, handler in built.items()}, guard, ServerSettings(port=0))
        await server.start()
        yield server.address
        await server.stop(0)

    thread = LoopThread(make)
    address = thread.start()
    channel = grpc.insecure_channel(address)
    try:
        yield Served(address, channel, guard, written)
    finally:
        channel.close()
        thread.stop()


@dataclass
class Failure:
    """What a client sees of a call that failed."""

    code: grpc.StatusCode
    message: str
    reason: str
    metadata: dict[str, str]
    violations: list[tuple[str, str, str]]
    retry: bool
    raw: bytes

    @classmethod
    def of(cls, error: grpc.RpcError) -> Failure:
        call: Any = error
        trailers = dict(call.trailing_metadata() or ())
        raw = trailers.get("grpc-status-details-bin", b"")
        status = status_pb2.Status.FromString(raw)
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        retry = False
        for detail in status.details:
            detail.Unpack(info)
            detail.Unpack(bad)
            retry = retry or detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR)
        violations = [(each.field, each.reason, each.description) for each in bad.field_violations]
        seen = repr((call.details(), call.trailing_metadata(), call.initial_metadata())).encode() + raw
        return cls(call.code(), call.details(), info.reason, dict(info.metadata), violations, retry, seen)


def failure_of(invoke: Any) -> Failure:
    """Call something that must fail, unary or streamed, and give what the client saw."""
    try:
        answer = invoke()
        if hasattr(answer, "__next__"):
            list(answer)
    except grpc.RpcError as error:
        return Failure.of(error)
    raise AssertionError("the call did not fail")
