"""One ingest over any number of connections, as a state machine without I/O, threads or clock.

Parts that are not durable are kept, so that a new connection can send them again; no more of them are out than the
server wants. What the server says twice after a resumption is told once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from groundwire._errors import BrokenStream, GroundwireError
from groundwire._ingest.parts import Part, Upload
from groundwire._model.ingest import (
    DocumentOutcome,
    IngestAccepted,
    IngestAck,
    IngestSummary,
    Reconnecting,
    RejectedRow,
    RowsRejected,
    ShuttingDown,
    Throttle,
)
from groundwire._wire.mirror import decode
from groundwire.v1 import ingest_pb2

__all__ = ["IngestEvent", "IngestMachine", "Need"]

IngestEvent = (
    IngestAccepted | IngestAck | DocumentOutcome | RowsRejected | Throttle | ShuttingDown | Reconnecting | IngestSummary
)


class Need(Enum):
    """What the sending side has to do when there is no message to send."""

    WAIT = "wait for the server"
    PART = "offer the next part"
    NOTHING = "everything is sent"


class IngestMachine:
    """Decides what is sent next and makes events of what comes back.

    A driver calls, for each connection: `connect` and sends its message; then, alternating as they come, `next_message`
    (sends it, or does what it needs: `offer` a part, or tell that there is none with `end`) and `receive`.
    """

    def __init__(
        self,
        request: Callable[..., Upload],
        ingest_id: str,
        library: str,
        *,
        validate_only: bool,
        refuse_warnings: Sequence[int] = (),
    ) -> None:
        self._request = request
        self._start = ingest_pb2.IngestStart(
            ingest_id=ingest_id,
            library_id=library,
            validate_only=validate_only,
            refuse_warnings=[ingest_pb2.IngestWarningKind.ValueType(number) for number in refuse_warnings],
        )
        self._unsure: deque[Part] = deque()  # offered and not durable: seqs after durable, without gaps
        self._untold: deque[Part] = deque()  # durable, and no ack has told yet what became of them; without messages
        self._sent = 0  # highest seq sent on this connection
        self._known = 0  # highest seq up to which it is known what became of all
        self._durable = 0  # highest seq that the server has
        self._last_seq = 0  # highest seq offered
        self._ended = False
        self._finish_sent = False
        self._window = 0
        self._accepted = False
        self._told_documents: Counter[int] = Counter()  # outcomes told, by seq
        self._heard_documents: Counter[int] = Counter()  # the same, of this connection
        self._told_rows: set[tuple[int, str, int, str, int]] = set()
        self._summary: IngestSummary | None = None

    @property
    def summary(self) -> IngestSummary | None:
        """Set when the ingest is done."""
        return self._summary

    @property
    def accepted(self) -> bool:
        """Whether this connection has been accepted."""
        return self._accepted

    @property
    def durable_seq(self) -> int:
        """Highest seq that the server has acknowledged."""
        return self._durable

    def connect(self) -> Upload:
        """The first message of a new connection."""
        self._accepted = False
        self._finish_sent = False
        self._window = 0
        self._heard_documents.clear()
        self._start.resume_after_seq = self._known
        return self._request(start=self._start)

    def next_message(self) -> Upload | Need:
        """The message to send now, or what is needed before there is one."""
        if not self._accepted:
            return Need.WAIT
        if self._finish_sent or self._summary is not None:
            return Need.NOTHING
        in_flight = self._sent - self._durable
        if in_flight < len(self._unsure):
            if in_flight >= self._window:
                return Need.WAIT
            part = self._unsure[in_flight]
            assert part.message is not None
            self._sent = part.seq
            return part.message
        if not self._ended:
            return Need.PART if self.wants_part() else Need.WAIT
        self._finish_sent = True
        return self._request(finish=ingest_pb2.IngestFinish(last_seq=self._last_seq))

    def wants_part(self) -> bool:
        """Whether a part that is offered now can go out at once."""
        in_flight = self._sent - self._durable
        return self._accepted and not self._ended and in_flight == len(self._unsure) and in_flight < self._window

    def offer(self, part: Part) -> None:
        """The next part of what is to go in."""
        self._last_seq = part.seq
        self._unsure.append(part)
        self._settle()

    def end(self) -> None:
        """There are no more parts."""
        self._ended = True

    def receive(self, response: Any) -> list[IngestEvent]:
        """What a response tells, without what was told before.

        Raises BrokenStream when it stands in a wrong place, GroundwireError when the server has lost what it had
        acknowledged.
        """
        member = response.WhichOneof("message")
        if self._summary is not None:
            raise BrokenStream("a message came after the summary")
        if member is None:
            return []
        if (member == "accepted") is self._accepted:
            raise BrokenStream("the ingest was not accepted first" if member != "accepted" else "accepted twice")
        event = decode(getattr(response, member))
        match event:
            case IngestAccepted():
                self._take_accepted(event)
            case IngestAck():
                self._take_ack(event.durable_seq)
            case Throttle():
                self._window = event.max_in_flight_parts
            case DocumentOutcome():
                if not self._is_news(event.seq):
                    return []
            case RowsRejected():
                event = self._new_rows(event)
                return [event] if event.rows else []
            case IngestSummary():
                self._summary = event
        return [event]

    def _take_accepted(self, accepted: IngestAccepted) -> None:
        if accepted.durable_seq < self._durable:
            raise GroundwireError(
                f"the server has parts up to {accepted.durable_seq} of ingest {self._start.ingest_id}, and had "
                f"acknowledged {self._durable}; begin anew with another ingest_id",
                status="DATA_LOSS",
            )
        self._accepted = True
        self._window = max(1, accepted.max_in_flight_parts)
        self._sent = self._durable = accepted.durable_seq
        self._settle()

    def _settle(self) -> None:
        """Let go of the messages of durable parts: they are never sent again."""
        while self._unsure and self._unsure[0].seq <= self._durable:
            part = self._unsure.popleft()
            self._untold.append(replace(part, message=None))

    def _take_ack(self, durable_seq: int) -> None:
        """What became of all up to here has been told; only whole documents, files and records count as known."""
        self._durable = max(self._durable, durable_seq)
        self._sent = max(self._sent, self._durable)
        self._settle()
        while self._untold and self._untold[0].seq <= durable_seq:
            part = self._untold.popleft()
            if part.complete:
                self._known = part.seq
        for seq in [seq for seq in self._told_documents if seq <= self._known]:
            del self._told_documents[seq]
        self._told_rows = {row for row in self._told_rows if row[0] > self._known}

    def _is_news(self, seq: int) -> bool:
        """Whether an outcome was not told before. A part may end several documents, always in the same order."""
        self._heard_documents[seq] += 1
        if self._heard_documents[seq] <= self._told_documents[seq]:
            return False
        self._told_documents[seq] += 1
        return True

    def _new_rows(self, event: RowsRejected) -> RowsRejected:
        records = {part.seq: part.records for part in (*self._untold, *self._unsure)}
        fresh: list[RejectedRow] = []
        for row in event.rows:
            key = (row.seq, row.file, row.row, row.column, row.reason.value)
            if key in self._told_rows:
                continue
            self._told_rows.add(key)
            places = records.get(row.seq, ())
            named = not row.file and 0 < row.row <= len(places)
            fresh.append(replace(row, record=places[row.row - 1]) if named else row)
        return RowsRejected(tuple(fresh))
