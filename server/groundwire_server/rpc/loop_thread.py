"""An event loop in a thread of its own, for a server inside a program that is not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Generic, TypeVar

import uvloop

__all__ = ["LoopThread"]

T = TypeVar("T")


class LoopThread(Generic[T]):
    """Enters an asynchronous context in a new thread, keeps its loop running, and leaves it on `stop`."""

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        self._make = make
        self._entered: Future[T] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave: asyncio.Event | None = None
        self._leaving = False
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="groundwire-server", daemon=True)

    def start(self) -> T:
        """What the context gives. An error on the way in is raised here.

        Whoever is interrupted while waiting (Ctrl-C) has no context to leave: it is left, and the thread over, when the
        interruption goes on.
        """
        self._thread.start()
        try:
            return self._entered.result()
        except BaseException:
            self._ask_to_leave()
            self._thread.join()
            raise

    def stop(self) -> None:
        """Leave the context and wait for the thread. An error on the way out is raised here."""
        self._ask_to_leave()
        self._thread.join()
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    def _ask_to_leave(self) -> None:
        self._leaving = True
        if self._loop is not None and self._leave is not None and not self._loop.is_closed():
            with suppress(RuntimeError):  # it closes at this moment
                self._loop.call_soon_threadsafe(self._leave.set)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            try:
                runner.run(self._main())
            except BaseException as error:  # noqa: BLE001 - raised in the thread that waits for it
                if self._entered.done():
                    self._failed = error
                else:
                    self._entered.set_exception(error)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._leave = asyncio.Event()
        if self._leaving:
            self._leave.set()
        async with self._make() as entered:
            self._entered.set_result(entered)
            await self._leave.wait()
