"""A streamed answer, read by asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import grpc

from groundwire._async.cancelling import call_cancelled, task_is_cancelled
from groundwire._errors import BrokenStream, GroundwireError
from groundwire._operation.flow import Flow
from groundwire._operation.fold import Frame
from groundwire._operation.kinds import Reader, ResultReader

__all__ = ["AsyncItems", "AsyncStream"]

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class AsyncItems(Generic[ItemT]):
    """Items of a stream as they come: iterate over them with `async for`.

    Leaving an `async with` block, `cancel`, or cancelling the task that reads, ends the call on the server too. After
    `cancel` the iteration just ends.

    Raises, while it is read:
        GroundwireError: the call failed.
        BrokenStream: it ended too soon.
    """

    def __init__(self, call: Any, reader: Reader[ItemT], failure: Callable[[grpc.RpcError], GroundwireError]) -> None:
        self._call = call
        # The iterator, not read(): that one passes over what has come once the status is there.
        self._responses: AsyncIterator[Any] = aiter(call)
        self._flow = Flow(reader)
        self._failure = failure

    def __aiter__(self) -> AsyncIterator[ItemT]:
        return self

    async def __anext__(self) -> ItemT:
        while (item := self._flow.item()) is None:
            if self._flow.over:
                raise StopAsyncIteration
            await self._read()
        return item

    async def _read(self) -> None:
        try:
            response = await anext(self._responses)
        except StopAsyncIteration:
            self._flow.end()
            return
        except grpc.RpcError as error:
            self._flow.fail(self._failure(error))
            return
        except asyncio.CancelledError:
            if task_is_cancelled():
                self.cancel()
                raise
            self._flow.fail(call_cancelled())
            return
        try:
            self._flow.add(response)
        except BrokenStream:
            self._call.cancel()
            raise

    def cancel(self) -> None:
        """End the call. May be called more than once."""
        self._flow.cancel()
        self._call.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class AsyncStream(AsyncItems[Frame], Generic[ResultT]):
    """Frames as they come: iterate over them with `async for`, or `await collect()` the whole.

    Leaving an `async with` block, `cancel`, or cancelling the task that reads, ends the call on the server too. After
    `cancel` the iteration just ends.

    Raises, while it is read:
        GroundwireError: the call failed.
        BrokenStream: it ended without its summary, or its frames came in a wrong order.
    """

    def __init__(
        self, call: Any, reader: ResultReader[Frame, ResultT], failure: Callable[[grpc.RpcError], GroundwireError]
    ) -> None:
        super().__init__(call, reader, failure)
        self._whole = reader

    async def collect(self) -> ResultT:
        """Read what is left, and give the whole."""
        async for _ in self:
            pass
        self._flow.check()
        return self._whole.result()
