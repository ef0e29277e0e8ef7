"""An ingest, driven synchronously: parts go up from gRPC's own thread, events come down in the caller's."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

import grpc

from groundwire._errors import BrokenStream, GroundwireError
from groundwire._ingest.machine import IngestEvent, Need
from groundwire._ingest.parts import Upload
from groundwire._ingest.retry import MAX_ATTEMPTS, is_worth_a_retry, retry_delay
from groundwire._model.ingest import DocumentOutcome, IngestAck, Reconnecting, RejectedRow, RowsRejected
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
        self.ingest_id = ingest.ingest_id
        self._machine = ingest.machine
        self._parts = ingest.parts
        self._open_call = open_call
        self._failure = failure
        self._change = threading.Condition()  # guards the machine
        self._pulling = threading.Lock()  # one thread at a time asks the caller's iterator
        self._pull_error: BaseException | None = None
        self._call: Any = None
        self._connection = 0
        self._attempt = 0
        self._delay = 0.0
        self._was_accepted = False
        self._stopped = threading.Event()
        self._events: deque[IngestEvent] = deque()
        self._outcomes: list[DocumentOutcome] = []
        self._rejected: list[RejectedRow] = []

    def __iter__(self) -> Iterator[IngestEvent]:
        return self

    def __next__(self) -> IngestEvent:
        while not self._events:
            if self._stopped.is_set():
                raise StopIteration
            self._read()
        event = self._events.popleft()
        if isinstance(event, DocumentOutcome):
            self._outcomes.append(event)
        elif isinstance(event, RowsRejected):
            self._rejected.extend(event.rows)
        return event

    def collect(self) -> IngestReport:
        """Read to the end, and give the report."""
        for _ in self:
            pass
        if self._machine.summary is None:
            raise GroundwireError("the ingest was cancelled before its end", status="CANCELLED")
        return IngestReport(self.ingest_id, tuple(self._outcomes), tuple(self._rejected), self._machine.summary)

    def cancel(self) -> None:
        """Break off. What was acknowledged stays; the same ingest_id goes on later."""
        self._stopped.set()
        self._hang_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def _read(self) -> None:
        """One response, or what to do without one."""
        if self._call is None:
            if self._stopped.wait(self._delay):
                return
            with self._change:
                first = self._machine.connect()
            self._call = self._open_call(self._messages(first, self._connection))
        try:
            response = next(self._call)
            with self._change:
                events = self._machine.receive(response)
                self._was_accepted |= self._machine.accepted
                self._change.notify_all()
        except StopIteration:
            if self._machine.summary is None:
                self._fail(BrokenStream("the ingest ended without its summary"))
            else:
                self.cancel()
            return
        except grpc.RpcError as error:
            self._fail(self._failure(error))
            return
        except GroundwireError as error:
            self._fail(error)
            return
        if any(isinstance(event, IngestAck) for event in events):
            self._attempt = 0
        self._events.extend(events)

    def _fail(self, error: GroundwireError) -> None:
        self._hang_up()
        if self._stopped.is_set():
            return
        if self._machine.summary is not None:
            self._stopped.set()  # all is done and told; only the end of the call got lost
            return
        if self._pull_error is not None:
            self._stopped.set()
            raise self._pull_error
        self._attempt += 1
        if not self._was_accepted or self._attempt > MAX_ATTEMPTS or not is_worth_a_retry(error):
            self._stopped.set()
            raise error
        self._delay = retry_delay(self._attempt, error)
        self._events.append(Reconnecting(self._attempt, self._delay, error.message))

    def _hang_up(self) -> None:
        """End the present connection; its sending thread notices."""
        call, self._call = self._call, None
        with self._change:
            self._connection += 1
            self._change.notify_all()
        if call is not None:
            call.cancel()

    def _messages(self, first: Upload, connection: int) -> Iterator[Upload]:
        """What goes up on one connection; runs in gRPC's thread."""
        yield first
        while self._pull_error is None:
            with self._change:
                while (step := self._step(connection)) is Need.WAIT:
                    self._change.wait()
            if step is Need.NOTHING:
                return
            if step is Need.PART:
                self._pull(connection)
            else:
                yield step

    def _step(self, connection: int) -> Upload | Need:
        if connection != self._connection:
            return Need.NOTHING
        return self._machine.next_message()

    def _pull(self, connection: int) -> None:
        """Ask the caller's iterator for a part, without holding up what comes down meanwhile."""
        with self._pulling:
            with self._change:
                # The connection before may have fetched the part while this one waited for its turn.
                if connection != self._connection or not self._machine.wants_part():
                    return
            try:
                part = next(self._parts, None)
            except BaseException as error:  # noqa: BLE001  it is the caller's own, and goes to the caller's thread
                self._pull_error = error
                self._call_off(connection)
                return
            with self._change:
                if part is None:
                    self._machine.end()
                else:
                    self._machine.offer(part)

    def _call_off(self, connection: int) -> None:
        with self._change:
            call = self._call if connection == self._connection else None
        if call is not None:
            call.cancel()
