"""Blocking work beside the event loop: a bounded pool of threads, and streams that are never further than a few frames
ahead of their reader.

A thread is given back when the reader is slow, so that a client that stops reading holds a few frames and no thread.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from contextvars import copy_context
from typing import Any, TypeVar

from groundwire_server.rpc.admission import Slot
from groundwire_server.rpc.call import CURRENT_CALL

__all__ = ["BYTES_AHEAD", "FRAMES_AHEAD", "WorkPool"]

FRAMES_AHEAD = 8
BYTES_AHEAD = 256 << 10
"""Of frames that wait for their reader; the one that is being made comes on top."""
# Seconds after which the loop looks for items of a thread that is still at work, and between further looks.
_FIRST_GLANCE = 0.002
_GLANCE = 0.005
_NO_READS = ("groundwire.v1.IngestService/", "groundwire.v1.AdminService/")
_OTHERS = 8  # threads
# How far the threads step back behind that of the loop, as nice(2) counts: a weight of a third.
_STEPS_BACK = 5

T = TypeVar("T")


class WorkPool:
    """Runs blocking functions and generators of a server, each knowing its call: reads in at most `threads` threads,
    and in others what writes or administers, so that no read waits for a disk or a document.

    All of these threads give way to that of the loop where there are too few cores: it answers for every call, theirs
    included, and above all it is what refuses those that find no place.

    Args:
        crowded: whether reads are to be made one at a time for now; any thread asks; None: never. The loop can then
            turn calls away at the rate at which they come: for the interpreter it has one thread to wait for.
    """

    def __init__(self, threads: int, crowded: Callable[[], bool] | None = None) -> None:
        self._executor = _Turns(threads, crowded or _never)
        self._others = ThreadPoolExecutor(_OTHERS, thread_name_prefix="groundwire-other", initializer=_step_back)
        self._open = _OpenWork()

    @property
    def open_work(self) -> int:
        """Functions and streams that have been begun and have not ended; zero when nothing is left."""
        return len(self._open)

    @property
    def waiting(self) -> int:
        """Pieces of work that no thread has taken up yet."""
        return sum(each._work_queue.qsize() for each in (self._executor, self._others))

    def _of_call(self) -> ThreadPoolExecutor:
        call = CURRENT_CALL.get()
        return self._others if call is not None and call.method.startswith(_NO_READS) else self._executor

    async def run(self, function: Callable[[], T]) -> T:
        """The function's result. When the caller is cancelled the function may still run to its next check."""
        loop, mark = asyncio.get_running_loop(), object()
        self._open.add(mark)
        future = self._of_call().submit(copy_context().run, function)
        future.add_done_callback(lambda _: self._open.discard(mark))
        return await asyncio.wrap_future(future, loop=loop)

    async def open(self, make: Callable[[], T], close: Callable[[T], None]) -> T:
        """Like `run`, for something that must be closed: when the caller is cancelled meanwhile, that is done here."""
        loop, mark = asyncio.get_running_loop(), object()
        self._open.add(mark)
        future = self._of_call().submit(copy_context().run, make)
        try:
            return await asyncio.wrap_future(future, loop=loop)
        except asyncio.CancelledError:
            future.add_done_callback(
                lambda done: None if done.cancelled() or done.exception() else close(done.result())
            )
            raise
        finally:
            future.add_done_callback(lambda _: self._open.discard(mark))

    def finish(self, function: Callable[[], object]) -> None:
        """Run a last function of a call, whether or not anybody waits; here and now when the pool is shut down."""
        mark = object()
        self._open.add(mark)

        def work() -> None:
            try:
                function()
            finally:
                self._open.discard(mark)

        try:
            self._of_call().submit(copy_context().run, work)
        except RuntimeError:
            work()

    async def stream(self, source: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
        """The items of a blocking iterator. It is closed, in a thread, however the reader ends."""
        pump = _Pump(source, self._of_call(), asyncio.get_running_loop(), self._open)
        try:
            async for item in pump.items():
                yield item
        finally:
            pump.stop()

    def shutdown(self) -> None:
        """Wait for what runs; drop what waits."""
        for executor in (self._executor, self._others):
            executor.shutdown(wait=True, cancel_futures=True)


def _never() -> bool:
    return False


def _step_back() -> None:
    """Linux alone counts niceness by thread. Where it may not be changed the threads work all the same."""
    if sys.platform == "linux":
        this = threading.get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, this, os.getpriority(os.PRIO_PROCESS, this) + _STEPS_BACK)


class _Turns(ThreadPoolExecutor):
    """Threads that read; one at a time while it is crowded. None waits for another one's work while it has its turn."""

    def __init__(self, threads: int, crowded: Callable[[], bool]) -> None:
        super().__init__(threads, thread_name_prefix="groundwire-work", initializer=_step_back)
        self._crowded = crowded
        self._turn = threading.Lock()

    def submit(self, function: Callable[..., T], /, *args: Any, **named: Any) -> Future[T]:
        """A piece of work."""
        return super().submit(self._in_turn, function, *args, **named)

    def _in_turn(self, function: Callable[..., T], /, *args: Any, **named: Any) -> T:
        with self._turn if self._crowded() else nullcontext():
            return function(*args, **named)


class _OpenWork:
    """What has begun and not ended. Each holds the place of its call, so that nobody else gets it too early."""

    def __init__(self) -> None:
        self._slots: dict[object, Slot | None] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, mark: object) -> None:
        call = CURRENT_CALL.get()
        slot = None if call is None else call.slot
        if slot is not None:
            slot.hold()
        self._slots[mark] = slot

    def discard(self, mark: object) -> None:
        slot = self._slots.pop(mark, None)
        if slot is not None:
            slot.let_go()


class _Pump:
    """Moves items from a thread to the loop.

    The thread puts items into `_ready` and wakes the loop once, at its end: each waking has both fight for one lock.
    While the thread is at work the loop looks by itself every few milliseconds, so that no item waits for the next one.
    All other fields belong to the loop.
    """

    def __init__(
        self,
        source: Iterator[bytes],
        executor: ThreadPoolExecutor,
        loop: asyncio.AbstractEventLoop,
        registry: _OpenWork,
    ) -> None:
        self._source = source
        self._executor = executor
        self._loop = loop
        self._registry = registry
        self._ready: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._running = False
        self._finished = False
        self._stopped = False
        self._error: BaseException | None = None
        self._glance: asyncio.TimerHandle | None = None
        self._context = copy_context()  # of the call; each turn of a thread has a copy of its own
        registry.add(self)

    async def items(self) -> AsyncIterator[bytes]:
        while True:
            if not self._running and not self._finished and len(self._ready) <= FRAMES_AHEAD // 2:
                room = BYTES_AHEAD - sum(map(len, self._ready))
                if room > 0:
                    self._begin(FRAMES_AHEAD - len(self._ready), room)
            if self._ready:
                yield self._ready.popleft()
            elif self._finished:
                break
            else:
                self._wake.clear()
                await self._wake.wait()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """No more is wanted."""
        self._stopped = True
        if not self._running and not self._finished:
            self._begin(0, 0)

    def _begin(self, allowance: int, room: int) -> None:
        self._running = True
        self._glance = self._loop.call_later(_FIRST_GLANCE, self._look)
        try:
            self._executor.submit(self._context.copy().run, self._work, allowance, room)
        except RuntimeError:  # the pool is shut down: nothing runs in it any more, so this thread may close the source
            self._ended(finished=True, error=self._close())

    def _work(self, allowance: int, room: int) -> None:
        """In a thread: make up to `allowance` items, and no further one behind `room` bytes.

        `_stopped` is only read, and only ever goes from False to True.
        """
        finished, error = False, None
        try:
            while allowance > 0 and room > 0 and not self._stopped:
                item = next(self._source)
                self._ready.append(item)
                allowance -= 1
                room -= len(item)
        except StopIteration:
            finished = True
        except BaseException as caught:  # noqa: BLE001 - it is raised again where the reader waits
            finished, error = True, caught
        if self._stopped and not finished:
            finished, error = True, self._close()
        try:
            self._loop.call_soon_threadsafe(self._ended, finished, error)
        except RuntimeError:  # the loop is closed, and nobody waits any more
            self._registry.discard(self)

    def _close(self) -> BaseException | None:
        close = getattr(self._source, "close", None)
        try:
            if close is not None:
                close()
        except BaseException as caught:  # noqa: BLE001 - handed to the reader, if there still is one
            return caught
        return None

    def _look(self) -> None:
        if self._ready:
            self._wake.set()
        self._glance = self._loop.call_later(_GLANCE, self._look)

    def _ended(self, finished: bool, error: BaseException | None) -> None:
        if self._glance is not None:
            self._glance.cancel()
        self._running = False
        self._finished = finished
        self._error = error
        self._wake.set()
        if finished:
            self._registry.discard(self)
        elif self._stopped:
            self._begin(0, 0)
