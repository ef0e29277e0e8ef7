"""An ingest, driven by asyncio: parts go up from a task of its own, events come down in the caller's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from types import TracebackType
from typing import Any, Self

import grpc

from groundwire._async.cancelling import call_cancelled, task_is_cancelled
from groundwire._async.parts import cut_async
from groundwire._errors import GroundwireError
from groundwire._ingest.machine import IngestEvent, Need
from groundwire._ingest.parts import Part, Upload
from groundwire._model.result import IngestReport
from groundwire._operation.ingest import Ingest

__all__ = ["AsyncIngestStream"]


class AsyncIngestStream:
    """Events of an ingest as they come: iterate over them with `async for`, or `await collect()` the report.

    Nothing is sent before it is read. A broken connection is opened again with the same `ingest_id`, from where the
    server has everything; nothing is lost and nothing stored twice. Cancelling the task that reads breaks the ingest
    off, as `cancel` does.

    Raises, while it is read:
        GroundwireError: the ingest failed as a whole; what was acknowledged stays, and the same call with the same
            `ingest_id` goes on.
        Whatever the caller's own iterator of documents or records raises.
    """

    def __init__(
        self,
        ingest: Ingest,
        open_call: Callable[[], Any],
        failure: Callable[[grpc.RpcError], GroundwireError],
    ) -> None:
        self.ingest_id = ingest.run.ingest_id
        self._run = ingest.run
        self._parts = cut_async(ingest.items, ingest.cutter)
        self._open_call = open_call
        self._failure = failure
        self._change = asyncio.Event()  # the run has changed since the sending task looked at it
        self._stopped = asyncio.get_running_loop().create_future()
        self._call: Any = None
        self._responses: AsyncIterator[Any] | None = None
        self._sending: asyncio.Task[None] | None = None
        self._pulling: asyncio.Task[Part | None] | None = None  # outlives the connection that it was begun on

    def __aiter__(self) -> AsyncIterator[IngestEvent]:
        return self

    async def __anext__(self) -> IngestEvent:
        while (event := self._run.event()) is None:
            if self._run.over:
                raise StopAsyncIteration
            try:
                await self._read()
            except asyncio.CancelledError:
                self.cancel()
                raise
        return event

    async def collect(self) -> IngestReport:
        """Read to the end, and give the report."""
        async for _ in self:
            pass
        return self._run.report()

    def cancel(self) -> None:
        """Break off. What was acknowledged stays; the same ingest_id goes on later."""
        if not self._stopped.done():
            self._stopped.set_result(None)
        self._run.cancel()
        self._hang_up()
        if self._pulling is not None:
            self._pulling.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()
        left = [task for task in (self._sending, self._pulling) if task is not None]
        if left:
            await asyncio.wait(left)

    async def _read(self) -> None:
        """One response, or what to do without one."""
        responses = self._responses or await self._connect()
        if responses is None:
            return
        try:
            news = partial(self._run.receive, await anext(responses))
        except StopAsyncIteration:
            news = partial(self._run.end)
        except grpc.RpcError as error:
            news = partial(self._run.fail, self._failure(error))
        except asyncio.CancelledError:
            if task_is_cancelled():
                raise
            news = partial(self._run.fail, call_cancelled())
        try:
            news()
        finally:
            if not self._run.connected:
                self._hang_up()
            self._change.set()

    async def _connect(self) -> AsyncIterator[Any] | None:
        """The responses of a new connection, None when there is to be none."""
        # Not asyncio.timeout: a task that is cancelled in the moment in which it runs out would not hear of it.
        await asyncio.wait([self._stopped], timeout=self._run.delay)
        if not self._run.over:
            connection, first = self._run.connect()
            self._call = self._open_call()
            self._responses = aiter(self._call)
            self._sending = asyncio.create_task(self._send(self._call, connection, first))
        return self._responses

    def _hang_up(self) -> None:
        """End the present connection, and the task that sends on it."""
        call, self._call, self._responses = self._call, None, None
        if call is not None:
            call.cancel()
        if self._sending is not None:
            self._sending.cancel()

    async def _send(self, call: Any, connection: int, first: Upload) -> None:
        """Send on one connection until it is over; whoever reads hears why."""
        try:
            await call.write(first)
            while (step := await self._step(connection)) is not Need.NOTHING:
                if step is Need.PART:
                    await self._pull()
                else:
                    await call.write(step)
            await call.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError, asyncio.CancelledError):
            pass  # the call has ended, and with it this task
        except Exception as error:  # noqa: BLE001  it goes to whoever reads
            self._give_up(error)

    async def _step(self, connection: int) -> Upload | Need:
        while (step := self._run.step(connection)) is Need.WAIT:
            self._change.clear()
            await self._change.wait()
        return step

    async def _pull(self) -> None:
        """Ask the caller's iterator for a part; a connection that breaks meanwhile leaves it to the next."""
        if self._pulling is None:
            self._pulling = asyncio.create_task(self._next_part())
            self._pulling.add_done_callback(_heard)
        await asyncio.wait([self._pulling])
        pulled, self._pulling = self._pulling, None
        try:
            self._run.offer(pulled.result())
        except BaseException as error:  # noqa: BLE001  it is the caller's own, and goes to the caller's task
            self._give_up(error)

    async def _next_part(self) -> Part | None:
        return await anext(self._parts, None)

    def _give_up(self, error: BaseException) -> None:
        self._run.fault(error)
        if self._call is not None:
            self._call.cancel()


def _heard(task: asyncio.Task[Part | None]) -> None:
    """What a task has raised that nobody waits for any more is nobody's fault to be logged."""
    if not task.cancelled():
        task.exception()
