"""A streamed answer, read synchronously."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import grpc

from groundwire._errors import BrokenStream, GroundwireError
from groundwire._operation.flow import Flow
from groundwire._operation.fold import Frame
from groundwire._operation.kinds import Reader, ResultReader

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
            self._flow.end()
            return
        except grpc.RpcError as error:
            self._flow.fail(self._failure(error))
            return
        try:
            self._flow.add(response)
        except BrokenStream:
            self._call.cancel()
            raise

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
    """Frames as they come: iterate over them, or `collect` the whole.

    Leaving a `with` block, or `cancel`, ends the call on the server too. After a cancellation the iteration just ends.

    Raises, while it is read:
        GroundwireError: the call failed.
        BrokenStream: it ended without its summary, or its frames came in a wrong order.
    """

    def __init__(
        self, call: Any, reader: ResultReader[Frame, ResultT], failure: Callable[[grpc.RpcError], GroundwireError]
    ) -> None:
        super().__init__(call, reader, failure)
        self._whole = reader

    def collect(self) -> ResultT:
        """Read what is left, and give the whole."""
        for _ in self:
            pass
        self._flow.check()
        return self._whole.result()
