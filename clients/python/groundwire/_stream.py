"""A streamed answer, read synchronously."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import grpc

from groundwire._errors import GroundwireError
from groundwire._fold import Fold, Frame

__all__ = ["Stream"]

ResultT = TypeVar("ResultT")


class Stream(Generic[ResultT]):
    """Frames as they come: iterate over them, or `collect` the whole.

    Leaving a `with` block, or `cancel`, ends the call on the server too. After a cancellation the iteration just ends.

    Raises, while it is read:
        GroundwireError: the call failed.
        BrokenStream: it ended without its summary, or its frames came in a wrong order.
    """

    def __init__(self, call: Any, fold: Fold[ResultT], failure: Callable[[grpc.RpcError], GroundwireError]) -> None:
        self._call = call
        self._fold = fold
        self._failure = failure
        self._cancelled = False
        self._ended = False

    def __iter__(self) -> Iterator[Frame]:
        return self

    def __next__(self) -> Frame:
        while not (self._cancelled or self._ended):
            try:
                response = next(self._call)
            except StopIteration:
                self._ended = True
                self._fold.result()  # a stream that ends without a summary is broken, also for one who only iterates
                break
            except grpc.RpcError as error:
                if self._cancelled:
                    break
                self._ended = True
                raise self._failure(error) from None
            frame = self._fold.add(response)
            if frame is not None:
                return frame
        raise StopIteration

    def collect(self) -> ResultT:
        """Read what is left, and give the whole."""
        for _ in self:
            pass
        if self._cancelled:
            raise GroundwireError("the stream was cancelled before its end", status="CANCELLED")
        return self._fold.result()

    def cancel(self) -> None:
        """End the call. Safe from any thread, and more than once."""
        self._cancelled = not self._ended
        self._call.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()
