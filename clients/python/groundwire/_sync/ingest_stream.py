"""An ingest, driven synchronously: threads send and listen, events come down in the caller's."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

import grpc

from groundwire._errors import GroundwireError
from groundwire._ingest.machine import IngestEvent, Need
from groundwire._ingest.parts import Upload, cut
from groundwire._model.result import IngestReport
from groundwire._operation.ingest import Ingest

__all__ = ["IngestStream"]

News = Callable[[], None]


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
        self._lock = threading.RLock()  # guards the run and the call
        self._change = threading.Condition(self._lock)
        self._pulling = threading.Lock()  # one thread at a time asks the caller's iterator
        self._stopped = threading.Event()
        self._news: SimpleQueue[News] | None = None  # of the present connection
        self._call: Any = None

    def __iter__(self) -> Iterator[IngestEvent]:
        return self

    def __next__(self) -> IngestEvent:
        while (event := self._run.event()) is None:
            if self._run.over:
                raise StopIteration
            try:
                self._read()
            except BaseException:
                self.cancel()  # an interrupt breaks the ingest off; after an error it is over anyway
                raise
        return event

    def collect(self) -> IngestReport:
        """Read to the end, and give the report."""
        for _ in self:
            pass
        return self._run.report()

    def cancel(self) -> None:
        """Break off. What was acknowledged stays; the same ingest_id goes on later."""
        self._stopped.set()
        with self._lock:
            self._run.cancel()
            self._hang_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def _read(self) -> None:
        """One piece of news, or what to do without one."""
        news = self._news or self._connect()
        if news is None:
            return
        tell = news.get()
        with self._lock:
            try:
                tell()
            finally:
                if not self._run.connected:
                    self._hang_up()
                self._change.notify_all()

    def _connect(self) -> SimpleQueue[News] | None:
        """The news of a new connection, None when there is to be none."""
        self._stopped.wait(self._run.delay)
        with self._lock:
            if not self._run.over:
                connection, first = self._run.connect()
                self._news = SimpleQueue()
                # Not threading.Thread: it waits for the thread to begin, and an interrupt leaves its lock broken.
                _thread.start_new_thread(self._listen, (connection, first, self._news))
            return self._news

    def _hang_up(self) -> None:
        """End the present connection; the threads that send and listen on it notice."""
        call, self._call, self._news = self._call, None, None
        self._change.notify_all()
        if call is not None:
            call.cancel()

    def _listen(self, connection: int, first: Upload, news: SimpleQueue[News]) -> None:
        """Open the call of one connection and read it to its end.

        In a thread of its own: Ctrl-C comes to the main thread, and gRPC does not bear it while it begins or reads such
        a call; whoever waits for the news may be interrupted at any time.
        """
        ending: News = self._run.end
        try:
            call: Any = ()
            with self._lock:
                if self._run.is_present(connection):
                    call = self._call = self._open_call(self._messages(first, connection))
            for response in call:
                news.put(partial(self._run.receive, response))
        except grpc.RpcError as error:
            ending = partial(self._run.fail, self._failure(error))
        except Exception as error:  # noqa: BLE001  it is raised where the news are read
            ending = partial(self._run.give_up, error)
        news.put(ending)
        with self._lock:
            if self._run.is_present(connection):
                self._call = None
                self._change.notify_all()

    def _messages(self, first: Upload, connection: int) -> Iterator[Upload]:
        """What goes up on one connection; runs in gRPC's thread."""
        yield first
        while True:
            with self._lock:
                while (step := self._run.step(connection)) is Need.WAIT and self._call is not None:
                    self._change.wait()
            if step in (Need.NOTHING, Need.WAIT):
                return
            if step is Need.PART:
                self._pull(connection)
            else:
                yield step

    def _pull(self, connection: int) -> None:
        """Ask the caller's iterator for a part, without holding up what comes down meanwhile."""
        with self._pulling:
            with self._lock:
                if not self._run.wants_part(connection):
                    return
            try:
                part = next(self._parts, None)
            except BaseException as error:  # noqa: BLE001  it is the caller's own, and goes to the caller's thread
                with self._lock:
                    self._run.fault(error)
                    if self._call is not None:
                        self._call.cancel()
                return
            with self._lock:
                self._run.offer(part)
