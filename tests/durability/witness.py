"""The client in a process of its own: it sends the steps, and keeps the list of what it was told is done.

It is told the truth when the server, killed and started again, shows one of the `possible` states and no other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from groundwire import (
    Client,
    DocumentOutcome,
    DocumentUpload,
    ErrorReason,
    FactFile,
    FactRecord,
    GroundwireError,
    IngestAccepted,
    IngestAck,
    IngestStream,
    IngestSummary,
    Reconnecting,
    RejectedRow,
    RelationRecord,
    RowsRejected,
    Throttle,
)
from tests.durability.state import PutDocument, State
from tests.durability.steps import (
    PART_BYTES,
    DocumentStep,
    FactStep,
    GlossaryStep,
    SentDocument,
    Step,
    WithdrawStep,
    states_of,
)

__all__ = ["Told", "Witness"]

_LONGEST_WAIT = 60.0


class _ServerGone(Exception):
    """The connection broke."""


@dataclass
class Told:
    """What the server has said is so.

    Attributes:
        outcomes: of documents, by step and seq, in the order in which they came.
        rejected: rows, by step, as (seq, file, row).
        chunks: of each (doc_id, revision).
        summaries: (stored, unchanged, failed) of each stream, by step.
    """

    outcomes: dict[tuple[int, int], list[DocumentOutcome]] = field(default_factory=dict)
    rejected: dict[int, set[tuple[int, str, int]]] = field(default_factory=dict)
    chunks: dict[tuple[str, int], int] = field(default_factory=dict)
    summaries: dict[int, tuple[int, int, int]] = field(default_factory=dict)


class _Gate:
    """Holds back what is to be sent until all before it is acknowledged; open for good once a connection broke."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._durable = 0
        self._open = False

    def acknowledged(self, seq: int) -> None:
        with self._changed:
            self._durable = max(self._durable, seq)
            self._changed.notify_all()

    def open(self) -> None:
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def wait_for(self, seq: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._open or self._durable >= seq, _LONGEST_WAIT)


class Witness:
    """Goes through steps, on one server after another, until they are all done.

    Args:
        before: the state that the library is in.
        survives: the same client goes on when the server comes back at its old address; else a new one begins each
            time, knows nothing, and sends all of an unfinished stream again.
    """

    def __init__(self, steps: Iterable[Step], before: State, *, survives: bool = False) -> None:
        self._steps = list(steps)
        self._states: list[list[State]] = []
        for step in self._steps:
            self._states.append(states_of(before, step))
            before = self._states[-1][-1]
        self.final = before
        self.survives = survives
        self.told = Told()
        self.acknowledged = 0  # parts of the present step
        self.failure: GroundwireError | None = None
        self._step = 0
        self._shown: set[int] | None = None
        self._client: Client | None = None
        self._stream: IngestStream | None = None
        self._gate = _Gate()
        self._begun = -1  # the last step whose stream was opened

    @property
    def done(self) -> bool:
        """Whether everything is acknowledged."""
        return self._step == len(self._steps)

    def possible(self) -> dict[int, State]:
        """States that the library may be in, by the parts of the present step that are durable then."""
        if self.done:
            return {0: self.final}
        states = self._states[self._step]
        return {parts: states[parts] for parts in range(self.acknowledged, len(states))}

    def shows(self, parts: set[int]) -> None:
        """The server was seen in a state in which so many parts of the present step may be durable, no other number."""
        self._shown = None if self.done else parts

    def go_on(self, address: str) -> bool:
        """Do what is left. False when the server went away before all was done; `failure` is how that looked."""
        if self._client is None:
            self._client = Client(address)
        assert self._client.address == address, "a client that survives waits at the old address"
        try:
            while not self.done:
                self._take(self._client, self._steps[self._step])
                self._step += 1
                self.acknowledged, self._shown = 0, None
        except _ServerGone:
            self._gate.open()
            if not self.survives:
                self.close()
            return False
        self.close()
        return True

    def close(self) -> None:
        """Break off."""
        self._gate.open()
        if self._stream is not None:
            self._stream.cancel()
        if self._client is not None:
            self._client.close()
        self._stream = self._client = None

    def _take(self, client: Client, step: Step) -> None:
        try:
            match step:
                case GlossaryStep(terms):
                    client.update_glossary(terms, timeout=_LONGEST_WAIT)
                case WithdrawStep(doc_id):
                    # A second answer may say that it was out already: the first one got lost with the server.
                    assert client.withdraw(doc_id, timeout=_LONGEST_WAIT).revision == 1
                case DocumentStep() | FactStep():
                    self._read(self._stream or self._begin(client, step), step)
        except GroundwireError as error:
            self.failure, self._stream = error, None
            raise _ServerGone from error

    def _begin(self, client: Client, step: DocumentStep | FactStep) -> IngestStream:
        if self._begun < self._step:
            self._begun, self._gate = self._step, _Gate()
        if isinstance(step, DocumentStep):
            self._stream = client.ingest_documents(self._documents(step), ingest_id=step.ingest_id)
        else:
            self._stream = client.ingest_facts(self._rows(step), ingest_id=step.ingest_id)
        return self._stream

    def _read(self, stream: IngestStream, step: DocumentStep | FactStep) -> None:
        for event in stream:
            match event:
                case IngestAccepted(durable_seq):
                    assert durable_seq >= self.acknowledged, "what was acknowledged is lost"
                    assert self._shown is None or durable_seq in self._shown, (
                        f"{durable_seq} parts are durable, and what is there is that of {sorted(self._shown or ())}"
                    )
                    self._shown = None
                case DocumentOutcome():
                    self._take_outcome(event)
                case RowsRejected(rows):
                    self._take_rejected(rows)
                case IngestAck(durable_seq):
                    self._check_told(step, durable_seq)
                    self.acknowledged = max(self.acknowledged, durable_seq)
                    self._gate.acknowledged(durable_seq)
                case IngestSummary(stored, unchanged, failed):
                    self.told.summaries[self._step] = (stored, unchanged, failed)
                case Throttle():
                    pass  # a slow machine is asked for less at a time
                case Reconnecting(message=message):
                    self.failure = GroundwireError(message)
                    raise _ServerGone
                case _:
                    raise AssertionError(f"unexpected: {event}")
        self._stream = None
        assert self._step in self.told.summaries

    def _take_outcome(self, outcome: DocumentOutcome) -> None:
        """What is said again must be what was said."""
        told = self.told.outcomes.setdefault((self._step, outcome.seq), [])
        if outcome in told:
            return
        state = self._states[self._step][outcome.seq]
        active = state.documents.get(outcome.doc_id)
        assert outcome.revision == (active[0] if active else 0), outcome
        told.append(outcome)
        self.told.chunks.setdefault((outcome.doc_id, outcome.revision), outcome.chunks)
        assert self.told.chunks[outcome.doc_id, outcome.revision] == outcome.chunks, outcome

    def _take_rejected(self, rows: tuple[RejectedRow, ...]) -> None:
        told = self.told.rejected.setdefault(self._step, set())
        told |= {(row.seq, row.file, row.row) for row in rows}

    def _check_told(self, step: DocumentStep | FactStep, durable_seq: int) -> None:
        """An acknowledgement comes after the outcomes of all that it covers."""
        if not isinstance(step, DocumentStep):
            return
        for seq, sent in _with_last_seq(step.sent):
            if seq <= durable_seq:
                told = self.told.outcomes.get((self._step, seq), [])
                wanted = [change.doc_id for change in sent.changes if isinstance(change, PutDocument)]
                assert [outcome.doc_id for outcome in told] == (wanted or [sent.doc_id]), (sent.doc_id, told)
                reasons = {outcome.error.reason for outcome in told if outcome.error is not None}
                assert reasons == ({ErrorReason.DOCUMENT_HASH_MISMATCH} if sent.refused else set()), told

    def _documents(self, step: DocumentStep) -> Iterator[DocumentUpload]:
        gate, seq = self._gate, 0
        for sent in step.sent:
            yield sent.upload(_paced(gate, seq, sent.content) if sent.alone else sent.content)
            seq += sent.parts

    def _rows(self, step: FactStep) -> Iterator[FactRecord | RelationRecord | FactFile]:
        gate, seq = self._gate, 0
        for sent in step.sent:
            if sent.alone and sent.records:
                gate.wait_for(seq)
            yield from sent.upload(_paced(gate, seq, sent.content) if sent.alone else sent.content)
            seq += sent.parts


def _paced(gate: _Gate, before: int, content: bytes) -> Iterator[bytes]:
    """Content whose parts go out one by one, each when all before it is acknowledged.

    One byte more than a part holds makes the client send the part.
    """
    start = 0
    while start < len(content):
        gate.wait_for(before)
        stop = start + PART_BYTES + (start == 0)
        yield content[start:stop]
        start, before = stop, before + 1


def _with_last_seq(sent: Iterable[SentDocument]) -> Iterator[tuple[int, SentDocument]]:
    seq = 0
    for each in sent:
        seq += each.parts
        yield seq, each
