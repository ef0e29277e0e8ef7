"""A thread with an event loop in which calls run, so that each of them can be ended at any moment."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from groundwire_server.llm.chat import Stop

__all__ = ["LoopThread"]

T = TypeVar("T")

_LOOK_SECONDS = 0.02
_CLOSE_SECONDS = 5.0


class LoopThread:
    """Begun by its first use. Coroutines that it is given must not raise TimeoutError of their own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(self, work: Coroutine[Any, Any, T], stop: Stop) -> T:
        """Wait for a coroutine; what `stop` raises cancels it and comes out."""
        future = self._submit(work)
        try:
            while True:
                with suppress(TimeoutError):
                    return future.result(_LOOK_SECONDS)
                if not future.done():
                    stop()
        finally:
            future.cancel()

    def iterate(self, start: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]], stop: Stop) -> Iterator[T]:
        """What a coroutine puts, as it comes; its end, or what it raises, ends the iterator.

        Args:
            start: makes the coroutine of what takes an item.
        """
        items: SimpleQueue[T] = SimpleQueue()
        future = self._submit(start(items.put))
        try:
            while True:
                try:
                    item = items.get(timeout=_LOOK_SECONDS)
                except Empty:
                    if future.done() and items.empty():
                        future.result()
                        return
                    stop()
                    continue
                stop()
                yield item
        finally:
            future.cancel()

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Cancel what runs, run a last coroutine, and end the thread."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end_all(last), loop).result(_CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_SECONDS)
        loop.close()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._closed:
                work.close()
                raise CancelledError
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)


async def _end_all(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    here = asyncio.current_task()
    others = [task for task in asyncio.all_tasks() if task is not here]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await last()
