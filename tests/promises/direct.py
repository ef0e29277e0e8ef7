"""A whole server without a socket: the stubs' bytes go through the guard, the handlers and the engine, in one thread.

All that a caller can see passes the same code as over a network: requests are parsed, answers encoded, errors made into
statuses, lines logged. Only grpc's transport is left out, and the threads of the pool: work is done where it is asked
for. A world of a few rows so costs milliseconds.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from groundwire_server.engine import Engine
from groundwire_server.library import DataFolder
from groundwire_server.rpc.guard import Guard
from groundwire_server.rpc.log import make_log
from groundwire_server.rpc.methods import Methods
from groundwire_server.rpc.services import build_methods
from groundwire_server.rpc.work import WorkPool
from groundwire_server.settings import load_settings
from tests.rpc.house import House

__all__ = ["DirectHouse", "direct_house"]

Serialize = Callable[[Any], bytes]
Parse = Callable[[bytes], Any]


class _Refused(grpc.RpcError):
    """A call that ended with another status than OK, as a client sees it."""

    def __init__(self, code: grpc.StatusCode, details: str, trailers: tuple[tuple[str, Any], ...]) -> None:
        super().__init__(details)
        self._seen = (code, details, trailers)

    def code(self) -> grpc.StatusCode:
        return self._seen[0]

    def details(self) -> str:
        return self._seen[1]

    def trailing_metadata(self) -> tuple[tuple[str, Any], ...]:
        return self._seen[2]


class _Context:
    """What the guard asks of grpc about a call."""

    def __init__(self, requests: Iterable[bytes]) -> None:
        self._requests = iter(requests)
        self.written: list[bytes] = []

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return ()

    def time_remaining(self) -> float | None:
        return None  # no deadline

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Whoever makes the call is told at once."""

    def peer(self) -> str:
        return "nobody"

    async def read(self) -> Any:
        return next(self._requests, grpc.aio.EOF)

    async def each(self) -> AsyncIterator[bytes]:
        """The requests, as grpc hands them to a handler."""
        for request in self._requests:
            yield request

    async def write(self, data: bytes) -> None:
        self.written.append(data)

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: tuple[tuple[str, Any], ...] = ()
    ) -> None:
        raise _Refused(code, details, trailing_metadata)


class _AtOnce(Executor):
    """Does the work where it is asked for."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*args, **named))
        except BaseException as error:  # noqa: BLE001 - as a thread would keep it for whoever waits
            future.set_exception(error)
        return future


class _Channel:
    """A channel of the generated stubs that ends in this thread."""

    def __init__(self, guard: Guard, methods: Methods, loop: asyncio.AbstractEventLoop) -> None:
        self._guard = guard
        self._methods = methods
        self._loop = loop

    def unary_unary(self, path: str, request_serializer: Serialize, response_deserializer: Parse, **_: Any) -> Any:
        def call(request: Any) -> Any:
            _, answer = self._run(path, [request_serializer(request)])
            return response_deserializer(answer)

        return call

    def unary_stream(self, path: str, request_serializer: Serialize, response_deserializer: Parse, **_: Any) -> Any:
        def call(request: Any) -> Iterator[Any]:
            frames, _ = self._run(path, [request_serializer(request)])
            return iter([response_deserializer(frame) for frame in frames])

        return call

    def stream_stream(self, path: str, request_serializer: Serialize, response_deserializer: Parse, **_: Any) -> Any:
        def call(requests: Iterable[Any]) -> Iterator[Any]:
            frames, _ = self._run(path, map(request_serializer, requests))
            return iter([response_deserializer(frame) for frame in frames])

        return call

    def _run(self, path: str, requests: Iterable[bytes]) -> tuple[list[bytes], Any]:
        context = _Context(requests)
        return context.written, self._loop.run_until_complete(self._answer(path, context))

    async def _answer(self, path: str, context: _Context) -> Any:
        async def find(details: Any) -> Any:
            return self._methods.service(details)

        handler = await self._guard.intercept_service(find, SimpleNamespace(method=path, invocation_metadata=()))
        return await (handler.stream_stream or handler.stream_unary)(context.each(), context)


class DirectHouse(House):
    """A house whose calls are answered in the thread that makes them.

    Attributes:
        engine: what it answers from.
        built: full names of the methods that there are.
    """

    def __init__(self, engine: Engine, loop: asyncio.AbstractEventLoop, level: str) -> None:
        self.engine = engine
        pool = WorkPool(1)
        pool.shutdown()
        pool._executor = pool._others = _AtOnce()  # type: ignore[assignment]
        written = io.StringIO()
        settings = engine.settings
        log = make_log(settings.log.model_copy(update={"format": "json", "level": level}), written)
        guard = Guard(lambda _context: engine.local_principal, log, settings.limits.max_call_seconds)
        built = build_methods(engine, pool, asyncio.Event())
        self.built = frozenset(name.rpartition("/")[2] for name in built)
        super().__init__(None, _Channel(guard, Methods(built), loop), written)  # type: ignore[arg-type]
        self.pool = pool

    def lines(self) -> list[str]:
        """The log without what a clock or a dice gave."""
        lines = [json.loads(line) for line in self.written.getvalue().splitlines()]
        return [repr(sorted((k, v) for k, v in line.items() if k not in _DICED)) for line in lines]


_DICED = ("ms", "timestamp", "request_id")


@contextmanager
def direct_house(
    data: Path, loop: asyncio.AbstractEventLoop, now: Callable[[], datetime], **settings: object
) -> Iterator[DirectHouse]:
    """Answer from a data folder until the block ends. `now` is the clock of all commits."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    chosen = load_settings({"data": data, "embedding.backend": "none", **named}, environ={})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundwire_server.engine.libraries.DataFolder", partial(DataFolder, now=now))
        engine = Engine(chosen)
    try:
        yield DirectHouse(engine, loop, "debug")
    finally:
        engine.close()
