"""One ingest as its caller lives through it: what is told, when to connect again, when to give up. Without I/O.

A shell carries the bytes. It calls `connect`, sends what `step` says, offers the parts that it wants, and brings each
response, end or failure of the connection; when it is no longer `connected`, the shell hangs up. Whoever has several
threads holds a lock around each call.
"""

from __future__ import annotations

from collections import deque
from typing import NoReturn

from groundwire._errors import BrokenStream, GroundwireError
from groundwire._ingest.machine import IngestEvent, IngestMachine, Need
from groundwire._ingest.parts import Part, Upload
from groundwire._ingest.retry import is_worth_a_retry, most_attempts, retry_delay
from groundwire._model.ingest import DocumentOutcome, IngestAck, Reconnecting, RejectedRow, RowsRejected
from groundwire._model.result import IngestReport

__all__ = ["IngestRun"]


class IngestRun:
    """An ingest over all its connections."""

    def __init__(self, ingest_id: str, machine: IngestMachine) -> None:
        self.ingest_id = ingest_id
        self.delay = 0.0  # seconds to wait before the next connection
        self.connected = False
        self.over = False  # there will be no further connection
        self._machine = machine
        self._connection = 0
        self._attempt = 0
        self._most = 0  # the longest patience that an error of this row of attempts asks for
        self._was_accepted = False
        self._cancelled = False
        self._error: BaseException | None = None
        self._fault: BaseException | None = None  # what the caller's own iterator raised
        self._events: deque[IngestEvent] = deque()
        self._outcomes: list[DocumentOutcome] = []
        self._rejected: list[RejectedRow] = []

    def event(self) -> IngestEvent | None:
        """The next event to give out; None when there is none, or the ingest was cancelled."""
        if self._cancelled or not self._events:
            return None
        event = self._events.popleft()
        if isinstance(event, DocumentOutcome):
            self._outcomes.append(event)
        elif isinstance(event, RowsRejected):
            self._rejected.extend(event.rows)
        return event

    def report(self) -> IngestReport:
        """The whole. Raises what has ended the ingest before its summary."""
        if self._error is not None:
            raise self._error
        if self._machine.summary is None:
            raise GroundwireError("the ingest was cancelled before its end", status="CANCELLED")
        return IngestReport(self.ingest_id, tuple(self._outcomes), tuple(self._rejected), self._machine.summary)

    def connect(self) -> tuple[int, Upload]:
        """The number of a new connection, and its first message. Raises what the caller's iterator has raised."""
        if self._fault is not None:
            self.give_up(self._fault)
        self.connected = True
        self._connection += 1
        return self._connection, self._machine.connect()

    def is_present(self, connection: int) -> bool:
        """Whether this connection is the one that counts."""
        return self.connected and connection == self._connection

    def step(self, connection: int) -> Upload | Need:
        """What this connection sends now; NOTHING when it is no longer the present one."""
        if not self.is_present(connection) or self._fault is not None:
            return Need.NOTHING
        return self._machine.next_message()

    def wants_part(self, connection: int) -> bool:
        """Whether this connection can send another part at once: the one before may have fetched it meanwhile."""
        return self.is_present(connection) and self._fault is None and self._machine.wants_part()

    def offer(self, part: Part | None) -> None:
        """The next part, None when there are no more. It counts whatever has become of the connection."""
        if part is None:
            self._machine.end()
        else:
            self._machine.offer(part)

    def fault(self, error: BaseException) -> None:
        """The caller's own iterator has raised: no connection is of use any more."""
        self._fault = error

    def receive(self, response: object) -> None:
        """A response has come. Raises what ends the ingest."""
        fault: GroundwireError | None = None
        events: list[IngestEvent] = []
        try:
            events = self._machine.receive(response)
        except GroundwireError as error:
            fault = error
        if fault is not None:
            self.fail(fault)
        self._was_accepted |= self._machine.accepted
        if any(isinstance(event, IngestAck) for event in events):
            self._attempt = self._most = 0
        self._events.extend(events)

    def end(self) -> None:
        """The server has ended the connection in order. Raises what ends the ingest."""
        self.fail(BrokenStream("the ingest ended without its summary"))

    def fail(self, error: GroundwireError) -> None:
        """The connection is gone: another one follows after `delay`, or the error is raised."""
        self.connected = False
        if self.over:
            return
        if self._machine.summary is not None:
            self.over = True  # all is done and told; only the end of the call got lost, if that
            return
        if self._fault is not None:
            self.give_up(self._fault)
        self._attempt += 1
        self._most = max(self._most, most_attempts(error))
        if not self._was_accepted or self._attempt > self._most or not is_worth_a_retry(error):
            self.give_up(error)
        self.delay = retry_delay(self._attempt, error)
        self._events.append(Reconnecting(self._attempt, self.delay, error.message))

    def give_up(self, error: BaseException) -> NoReturn:
        """There is no going on: raises the error."""
        self.over = True
        self.connected = False
        self._error = error
        raise error

    def cancel(self) -> None:
        """The caller wants no more."""
        self._cancelled = not self.over
        self.over = True
        self.connected = False
