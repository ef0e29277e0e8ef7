"""Searches that are under way at the same moment go through the rows together.

Reading the rows is most of the work of a search over all of them, and what is read for one search serves others. A pass
goes round and round through the parts of the rows; whoever comes gets on at once, looks at every part once, and gets
off. Nobody waits for others to come, and where nobody else is, nothing is different from a search alone.

There is no thread of its own: one of the callers drives, until it has seen everything; then the one that has been there
longest drives on. A caller that is cancelled gets off between two parts, and the others do not notice.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

__all__ = ["SharedPass"]

MOST = 16  # searches in one pass: more would wait for each other longer than for their turn
_POLL_SECONDS = 0.02
T = TypeVar("T")


class SharedPass(Generic[T]):
    """Brings members through all parts. Thread-safe.

    Args:
        parts: how many there are, at least 1.
        advance: brings members through one part; called by one thread at a time for each lane, with 1 to `most`
            members, of which it must treat each by itself.
        lanes: passes at the same time, at most: as many as there are processors. A second caller gets a second one.
        most: members of one pass; others wait, first come, first served.
    """

    def __init__(
        self, parts: int, advance: Callable[[int, Sequence[T]], None], *, lanes: int, most: int = MOST
    ) -> None:
        self._parts = parts
        self._advance = advance
        self._most = most
        self._lock = threading.Lock()
        self._lanes: list[_Lane[T]] = [_Lane() for _ in range(lanes)]

    def run(self, member: T, check: Callable[[], None]) -> None:
        """Bring a member through all parts.

        Args:
            check: polled between parts and while waiting; what it raises ends this member's way, and no other's.

        Raises:
            Exception: what `check` raises; what `advance` raised while this member was in the pass.
        """
        seat = _Seat(member, self._parts)
        with self._lock:
            lane = min(self._lanes, key=_Lane.load)
            lane.waiting.append(seat)
            drives = lane.driver is None
            if drives:
                lane.driver = seat
        try:
            if not drives:
                self._wait(seat, check)
            while seat.left:
                check()
                self._pass(lane)
            if seat.error is not None:
                raise seat.error
        finally:
            self._leave(lane, seat)

    @staticmethod
    def _wait(seat: _Seat[T], check: Callable[[], None]) -> None:
        """Until the member is through, or has to drive."""
        while not seat.called.wait(_POLL_SECONDS):
            check()

    def _pass(self, lane: _Lane[T]) -> None:
        """Bring everybody who is in the lane through its next part."""
        with self._lock:
            while lane.waiting and len(lane.riding) < self._most:
                lane.riding.append(lane.waiting.popleft())
            riding = tuple(lane.riding)
            part = lane.part
            lane.part = (part + 1) % self._parts
        error: BaseException | None = None
        try:
            self._advance(part, [seat.member for seat in riding])
        except BaseException as raised:  # noqa: BLE001 - each of them has to know, whatever it is
            error = raised
        with self._lock:
            for seat in riding:
                seat.left = 0 if error is not None else seat.left - 1
                seat.error = error
                if seat.left == 0:
                    lane.drop(seat)
                    seat.called.set()

    def _leave(self, lane: _Lane[T], seat: _Seat[T]) -> None:
        """Get off, wherever that is; a driver hands on to who has been there longest."""
        with self._lock:
            lane.drop(seat)
            if lane.driver is seat:
                lane.driver = next(iter((*lane.riding, *lane.waiting)), None)
                if lane.driver is not None:
                    lane.driver.called.set()


class _Seat(Generic[T]):
    """A member on its way: how many parts are left, and a call to it: it is through, or it has to drive."""

    def __init__(self, member: T, parts: int) -> None:
        self.member = member
        self.left = parts
        self.error: BaseException | None = None
        self.called = threading.Event()


class _Lane(Generic[T]):
    """One pass: who is in it, who waits, who drives, which part is next."""

    def __init__(self) -> None:
        self.riding: list[_Seat[T]] = []
        self.waiting: deque[_Seat[T]] = deque()
        self.driver: _Seat[T] | None = None
        self.part = 0

    def load(self) -> int:
        """How many there are."""
        return len(self.riding) + len(self.waiting)

    def drop(self, seat: _Seat[T]) -> None:
        """Take a member out, if it is there."""
        if seat in self.riding:
            self.riding.remove(seat)
        elif seat in self.waiting:
            self.waiting.remove(seat)
