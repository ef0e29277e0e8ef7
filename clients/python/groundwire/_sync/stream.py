"""A streamed answer, read synchronously."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import grpc

from groundwire._errors import BrokenStream, GroundwireError
from groundwire._operation.flow import Flow
from groundwire._operation.fold import Frame
from groundwire._operation.kinds import Reader
from groundwire._operation.resumption import Resumption

__all__ = ["Items", "Stream"]

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class Items(Generic[ItemT]):
    """Items of a stream as they come: iterate over them.

    Leaving a `with` block, or `cancel`, ends the call on the server too. After a cancellation the iteration just ends.

    Raises, while it is read:
        GroundwireError: the call failed.
        BrokenStream: it ended too soon.
    """

    def __init__(self, call: Any, reader: Reader[ItemT], failure: Callable[[grpc.RpcError], GroundwireError]) -> None:
        self._call = call
        self._flow = Flow(reader)
        self._failure = failure

    def __iter__(self) -> Iterator[ItemT]:
        return self

    def __next__(self) -> ItemT:
        while (item := self._flow.item()) is None:
            if self._flow.over:
                raise StopIteration
            self._read()
        return item

    def _read(self) -> None:
        try:
            response = next(self._call)
        except StopIteration:
            self._ended()
            return
        except grpc.RpcError as error:
            self._broke(self._failure(error))
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
        """End the call. Safe from any thread, and more than once."""
        self._flow.cancel()
        self._call.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class Stream(Items[Frame], Generic[ResultT]):
    """Frames as they come: iterate over them, or `collect` the whole, or take it page by page.

    A stream that breaks is gone on with on another connection, where the server gave a cursor for what has come: a
    `Reconnecting` says so, nothing is lost and nothing comes twice. Leaving a `with` block, or `cancel`, ends the call
    on the server too. After a cancellation the iteration just ends.

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
        self._stopped = threading.Event()
        self._pause: float | None = None
        super().__init__(begin(whole.request, timeout), whole, failure)

    def collect(self) -> ResultT:
        """Read what is left, and give the whole."""
        for _ in self:
            pass
        self._flow.check()
        return self._whole.result()

    def more(self) -> Stream[ResultT] | None:
        """What comes after this stream, which has been read to its end: the next `top_k`, or what a budget left out.

        None: nothing is left, or it cannot be asked for.
        """
        following = self._whole.more()
        return None if following is None else Stream(self._begin, following, self._failure, self._timeout)

    def pages(self) -> Iterator[ResultT]:
        """This whole, then page by page what comes after it, as it was when this one began."""
        page: Stream[ResultT] | None = self
        while page is not None:
            yield page.collect()
            page = page.more()

    def cancel(self) -> None:
        """End the call. Safe from any thread, and more than once."""
        self._stopped.set()
        super().cancel()

    def _read(self) -> None:
        if self._pause is not None:
            self._stopped.wait(self._pause)
            self._pause = None
            if self._flow.over:
                return
            self._call = self._begin(self._whole.request, self._left())
        super()._read()

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
