"""An ingest, driven synchronously: parts go up from gRPC's own thread, events come down in the caller's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Self

import grpc

from groundwire._errors import GroundwireError
from groundwire._ingest.machine import IngestEvent, Need
from groundwire._ingest.parts import Upload, cut
from groundwire._model.result import IngestReport
from groundwire._operation.ingest import Ingest

__all__ = ["IngestStream"]


class IngestStream:
    """Events of an ingest as they come: iterate over them, or `collect` the report.

    Nothing is sent before it is read. A broken connection is opened again with the same `ingest_id`, from where the
    server has everything; nothing is lost and nothing stored twice.

    Raises, while it is read:
        GroundwireError: the ingest failed as a whole; what was acknowledged stays, and the same call with the same
            `ingest_id` goes on.
        Whatever the caller's own iterator of documents or records raises.
    """

    def __init__(
        self,
        ingest: Ingest,
        open_call: Callable[[Iterator[Upload]], Any],
        failure: Callable[[grpc.RpcError], GroundwireError],
    ) -> None:
        self.ingest_id = ingest.run.ingest_id
        self._run = ingest.run
        self._parts = cut(ingest.items, ingest.cutter)
        self._open_call = open_call
        self._failure = failure
        self._change = threading.Condition()  # guards the run and the call
        self._pulling = threading.Lock()  # one thread at a time asks the caller's iterator
        self._stopped = threading.Event()
        self._call: Any = None

    def __iter__(self) -> Iterator[IngestEvent]:
        return self

    def __next__(self) -> IngestEvent:
        while (event := self._run.event()) is None:
            if self._run.over:
                raise StopIteration
            self._read()
        return event

    def collect(self) -> IngestReport:
        """Read to the end, and give the report."""
        for _ in self:
            pass
        return self._run.report()

    def cancel(self) -> None:
        """Break off. What was acknowledged stays; the same ingest_id goes on later."""
        self._stopped.set()
        with self._change:
            self._run.cancel()
            self._hang_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def _read(self) -> None:
        """One response, or what to do without one."""
        call = self._call or self._connect()
        if call is None:
            return
        try:
            news = partial(self._run.receive, next(call))
        except StopIteration:
            news = partial(self._run.end)
        except grpc.RpcError as error:
            news = partial(self._run.fail, self._failure(error))
        self._tell(news)

    def _connect(self) -> Any:
        """The call of a new connection, None when there is to be none."""
        self._stopped.wait(self._run.delay)
        with self._change:
            if not self._run.over:
                connection, first = self._run.connect()
                self._call = self._open_call(self._messages(first, connection))
            return self._call

    def _tell(self, news: Callable[[], None]) -> None:
        with self._change:
            try:
                news()
            finally:
                if not self._run.connected:
                    self._hang_up()
                self._change.notify_all()

    def _hang_up(self) -> None:
        """End the present connection; its sending thread notices."""
        call, self._call = self._call, None
        self._change.notify_all()
        if call is not None:
            call.cancel()

    def _messages(self, first: Upload, connection: int) -> Iterator[Upload]:
        """What goes up on one connection; runs in gRPC's thread."""
        yield first
        while True:
            with self._change:
                while (step := self._run.step(connection)) is Need.WAIT:
                    self._change.wait()
            if step is Need.NOTHING:
                return
            if step is Need.PART:
                self._pull(connection)
            else:
                yield step

    def _pull(self, connection: int) -> None:
        """Ask the caller's iterator for a part, without holding up what comes down meanwhile."""
        with self._pulling:
            with self._change:
                if not self._run.wants_part(connection):
                    return
            try:
                part = next(self._parts, None)
            except BaseException as error:  # noqa: BLE001  it is the caller's own, and goes to the caller's thread
                with self._change:
                    self._run.fault(error)
                    if self._call is not None:
                        self._call.cancel()
                return
            with self._change:
                self._run.offer(part)
