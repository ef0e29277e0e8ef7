"""Where the reading of a stream stands, without I/O: a shell brings what came, and takes what is to be given out."""

from __future__ import annotations

from collections import deque
from typing import Generic, NoReturn, TypeVar

from groundwire._errors import GroundwireError
from groundwire._operation.kinds import Reader

__all__ = ["Flow"]

ItemT = TypeVar("ItemT")


class Flow(Generic[ItemT]):
    """Items of one stream between the server and the caller. An error is raised once; `check` raises it again."""

    def __init__(self, reader: Reader[ItemT]) -> None:
        self._reader = reader
        self._waiting: deque[ItemT] = deque()
        self._error: GroundwireError | None = None
        self._ended = False
        self._cancelled = False

    @property
    def over(self) -> bool:
        """Whether nothing more is to be read."""
        return self._ended or self._cancelled

    def item(self) -> ItemT | None:
        """The next item that has come; None when there is none, or the stream was cancelled."""
        return self._waiting.popleft() if self._waiting and not self._cancelled else None

    def tell(self, item: ItemT) -> None:
        """Give out something that no response has brought."""
        self._waiting.append(item)

    def add(self, response: object) -> None:
        """A response has come. Raises BrokenStream when it stands in a wrong place."""
        try:
            self._waiting.extend(self._reader.add(response))
        except GroundwireError as error:
            self._fail(error)

    def end(self) -> None:
        """The stream has ended. Raises BrokenStream when it should not have."""
        self._ended = True
        try:
            self._reader.end()
        except GroundwireError as error:
            self._fail(error)

    def fail(self, error: GroundwireError) -> None:
        """The call has failed: raises the error, unless that is what cancelling it looks like."""
        if not self._cancelled:
            self._fail(error)

    def cancel(self) -> None:
        """The caller wants no more."""
        self._cancelled = not self._ended

    def check(self) -> None:
        """Raises GroundwireError unless all has come."""
        if self._error is not None:
            raise self._error
        if self._cancelled:
            raise GroundwireError("the stream was cancelled before its end", status="CANCELLED")

    def _fail(self, error: GroundwireError) -> NoReturn:
        self._ended = True
        self._error = error
        raise error from None
