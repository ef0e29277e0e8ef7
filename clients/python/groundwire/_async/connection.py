"""A channel of grpc.aio, and how each shape of call is carried out on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
import grpc.aio

from groundwire._async.cancelling import call_cancelled, task_is_cancelled
from groundwire._async.ingest_stream import AsyncIngestStream
from groundwire._async.stream import AsyncItems, AsyncStream
from groundwire._call import Target
from groundwire._operation.fold import Fold
from groundwire._operation.ingest import Ingest
from groundwire._operation.kinds import Method, Paged, Reader, ResultReader, Streamed, Unary
from groundwire._operation.resumption import Resumption

__all__ = ["AsyncConnection"]

T = TypeVar("T")


class AsyncConnection(Target):
    """A connection to a server. It belongs to the event loop in which its first call is made."""

    _loop: asyncio.AbstractEventLoop | None = None

    def _open_here(self) -> Any:
        here = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = here
        if self._loop is not here:
            raise RuntimeError("this client belongs to another event loop, that of its first call")
        return self._open(grpc.aio)

    async def close(self) -> None:
        """Close the connection; calls that still run are cancelled."""
        channel = self._leave()
        if channel is not None:
            await channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _unary(self, operation: Unary[Any] | Paged[Any], timeout: float | None) -> Any:
        method = operation.method
        call = self._open_here().unary_unary(method.path, method.encode, method.decode)
        try:
            return await call(operation.request, timeout=self._seconds(timeout), metadata=self._metadata)
        except grpc.RpcError as error:
            raise self._failure(error) from None
        except asyncio.CancelledError:
            if task_is_cancelled():
                raise
            raise call_cancelled() from None

    async def _value(self, operation: Unary[T], timeout: float | None) -> T:
        return operation.read(await self._unary(operation, timeout))

    async def _rows(self, first: Paged[T], timeout: float | None) -> AsyncIterator[T]:
        listing: Paged[T] | None = first
        while listing is not None:
            page = await self._unary(listing, timeout)
            for row in listing.read(page):
                yield row
            listing = listing.after(page)

    async def _all(self, first: Paged[T], timeout: float | None) -> list[T]:
        return [row async for row in self._rows(first, timeout)]

    def _begin(self, operation: Streamed[Any], timeout: float | None) -> Any:
        method = operation.method
        call = self._open_here().unary_stream(method.path, method.encode, method.decode)
        return call(operation.request, timeout=timeout, metadata=self._metadata)

    def _beginner(self, method: Method) -> Callable[[Any, float | None], Any]:
        def begin(request: Any, timeout: float | None) -> Any:
            call = self._open_here().unary_stream(method.path, method.encode, method.decode)
            return call(request, timeout=timeout, metadata=self._metadata)

        return begin

    def _items(self, operation: Streamed[Reader[T]], timeout: float | None) -> AsyncItems[T]:
        return AsyncItems(self._begin(operation, timeout), operation.reader, self._failure)

    def _stream(self, operation: Streamed[Fold[T]], timeout: float | None) -> AsyncStream[T]:
        whole = Resumption(operation, enabled=self._reconnect)
        return AsyncStream(self._beginner(operation.method), whole, self._failure, self._seconds(timeout))

    async def _whole(self, operation: Streamed[ResultReader[Any, T]], timeout: float | None) -> T:
        call = self._begin(operation, self._seconds(timeout))
        async for _ in AsyncItems(call, operation.reader, self._failure):
            pass
        return operation.reader.result()

    def _upload(self, ingest: Ingest) -> AsyncIngestStream:
        def open_call() -> Any:
            method = ingest.method
            call = self._open_here().stream_stream(method.path, method.encode, method.decode)
            return call(metadata=self._metadata)

        return AsyncIngestStream(ingest, open_call, self._failure)
