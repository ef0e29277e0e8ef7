"""A streamed answer, read by asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import grpc

from groundwire._async.cancelling import call_cancelled, task_is_cancelled
from groundwire._errors import BrokenStream, GroundwireError
from groundwire._operation.flow import Flow
from groundwire._operation.fold import Frame
from groundwire._operation.kinds import Reader
from groundwire._operation.resumption import Resumption

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
            self._ended()
            return
        except grpc.RpcError as error:
            self._broke(self._failure(error))
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

    def _ended(self) -> None:
        """The server has ended the call in order."""
        self._flow.end()

    def _broke(self, error: GroundwireError) -> None:
        """The connection is gone, or the call failed."""
        self._flow.fail(error)

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
    """Frames as they come: iterate over them with `async for`, or `await collect()` the whole, or take it by pages.

    A stream that breaks is gone on with on another connection, where the server gave a cursor for what has come: a
    `Reconnecting` says so, nothing is lost and nothing comes twice. Leaving an `async with` block, `cancel`, or
    cancelling the task that reads, ends the call on the server too. After `cancel` the iteration just ends.

    Raises, while it is read:
        GroundwireError: the call failed; RESUME_SNAPSHOT_GONE, it broke and what it was reading is gone.
        BrokenStream: it ended without its summary, or its frames came in a wrong order.
    """

    def __init__(
        self,
        begin: Callable[[Any, float | None], Any],
        whole: Resumption[ResultT],
        failure: Callable[[grpc.RpcError], GroundwireError],
        timeout: float | None,
    ) -> None:
        self._begin = begin
        self._whole = whole
        self._timeout = timeout
        self._ends = None if timeout is None else time.monotonic() + timeout
        self._stopped = asyncio.Event()
        self._pause: float | None = None
        super().__init__(begin(whole.request, timeout), whole, failure)

    async def collect(self) -> ResultT:
        """Read what is left, and give the whole."""
        async for _ in self:
            pass
        self._flow.check()
        return self._whole.result()

    def more(self) -> AsyncStream[ResultT] | None:
        """What comes after this stream, which has been read to its end: the next `top_k`, or what a budget left out.

        None: nothing is left, or it cannot be asked for.
        """
        following = self._whole.more()
        return None if following is None else AsyncStream(self._begin, following, self._failure, self._timeout)

    async def pages(self) -> AsyncIterator[ResultT]:
        """This whole, then page by page what comes after it, as it was when this one began."""
        page: AsyncStream[ResultT] | None = self
        while page is not None:
            yield await page.collect()
            page = page.more()

    def cancel(self) -> None:
        """End the call. May be called more than once."""
        self._stopped.set()
        super().cancel()

    async def _read(self) -> None:
        if self._pause is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), self._pause)
            self._pause = None
            if self._flow.over:
                return
            self._call = self._begin(self._whole.request, self._left())
            self._responses = aiter(self._call)
        await super()._read()

    def _ended(self) -> None:
        if self._whole.is_whole:
            self._flow.end()
        else:
            self._broke(BrokenStream("the stream ended without its summary"))

    def _broke(self, error: GroundwireError) -> None:
        """Go on later, or raise what ended the connection."""
        again = None if self._flow.over else self._whole.breaks(error)
        left = self._left()
        if again is None or (left is not None and left <= again.delay_seconds):
            if isinstance(error, BrokenStream):
                self._flow.end()
            else:
                self._flow.fail(error)
            return
        self._pause = again.delay_seconds
        self._flow.tell(again)

    def _left(self) -> float | None:
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())
