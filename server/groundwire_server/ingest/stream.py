"""The rules that both ingest streams share: order of parts, group commit, durable acknowledgements, resuming.

A part is *taken* when it comes in the right order, *durable* once a transaction that holds it is committed; only then
is it acknowledged, and its outcomes go out before that. What was taken and is not durable when a connection breaks is
dropped: the client sends it again. Several parts are committed together, so that many small documents cost one sync.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import TracebackType
from typing import ClassVar, Generic, Protocol, Self, TypeVar
from uuid import UUID, uuid5

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Label
from groundwire_server.ingest.events import Accepted, Ack, IngestEvent, IngestSummary
from groundwire_server.ingest.order import disorder, gap
from groundwire_server.ingest.upload import Upload
from groundwire_server.library import Snapshot
from groundwire_server.readers import ReadOptions, WarningKind
from groundwire_server.store.protocol import Store, StoreWriter

__all__ = ["IngestLimits", "IngestOpening", "IngestStream", "IngestTarget"]


class IngestTarget(Protocol):
    """The library that is written to."""

    @property
    def library_id(self) -> str: ...

    @property
    def store(self) -> Store: ...

    def snapshot(self) -> Snapshot:
        """The newest state."""
        ...

    def writing(self) -> AbstractContextManager[StoreWriter]:
        """One transaction, durable and visible on a clean exit, undone on an exception."""
        ...


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """Bounds of a stream.

    max_part_bytes: of one part; max_document_bytes: of a document or file as it comes.
    read: the other bounds of reading a document.
    max_in_flight_parts: that a client may send without an acknowledgement.
    group_parts, group_bytes: what is committed together at most.
    resume_window: how long an ingest is known after its last part.
    """

    max_part_bytes: int = 256 * 1024
    max_document_bytes: int = 64 * 1024 * 1024
    max_in_flight_parts: int = 256
    group_parts: int = 128
    group_bytes: int = 4 * 1024 * 1024
    resume_window: timedelta = timedelta(days=7)
    read: ReadOptions = field(default_factory=ReadOptions)

    def bound(self, options: ReadOptions) -> ReadOptions:
        """How documents are read within these bounds."""
        return replace(self.read, max_bytes=self.max_document_bytes, parse_period=options.parse_period)


@dataclass(frozen=True, slots=True)
class IngestOpening:
    """How a client opens an ingest, or opens it again.

    resume_after_seq: the highest part that was acknowledged to it; outcomes up to there it has.
    validate_only: report what would happen and store nothing.
    clearance: of the caller; outcomes tell nothing of documents beyond it.
    refuse_warnings: kinds of warning that refuse a document.
    owner: whose the id is; two callers with one id have an ingest each. Empty: the caller who is not asked who it is.
    """

    ingest_id: str
    resume_after_seq: int = 0
    validate_only: bool = False
    clearance: Label = Label.INTERNAL
    refuse_warnings: frozenset[WarningKind] = frozenset()
    owner: str = ""

    @property
    def key(self) -> str:
        """Under which the ingest is kept."""
        return str(uuid5(UUID(self.ingest_id), self.owner)) if self.owner else self.ingest_id


class _Undo(Exception):
    """Leaves a transaction without keeping anything of it."""


Outcome = TypeVar("Outcome")


class IngestStream(ABC, Generic[Outcome]):
    """One ingest on one connection, for one thread at a time.

    Raises, of all methods that take parts:
        InvalidRequest: INGEST_SEQUENCE_GAP, INGEST_ORDER, or a part over its size; the stream is over then.
        ResourceExhausted: the disk is full; nothing was half written, the client resumes later.
    """

    kind: ClassVar[str]

    def __init__(
        self, target: IngestTarget, opening: IngestOpening, limits: IngestLimits, release: Callable[[], None]
    ) -> None:
        self._target = target
        self._limits = limits
        self._release = release
        self._ingest_id = opening.key
        self._validate_only = opening.validate_only
        self._clearance = opening.clearance
        self._started = self._finished = False
        self._durable = self._taken = 0
        self._group_bytes = 0
        self._stored = self._unchanged = self._failed = 0
        self._upload: Upload | None = None
        self._again: list[IngestEvent] = []
        if not opening.validate_only:
            self._take_up(opening.resume_after_seq)

    def _take_up(self, resume_after_seq: int) -> None:
        """Go on where the store says that the ingest stands."""
        reader = self._target.store.reader()
        state = reader.ingest(self._ingest_id)
        self._durable = self._taken = state.durable_seq if state else 0
        if resume_after_seq > self._durable:
            why = f"only what came up to part {self._durable} is known here"
            raise gap("start.resume_after_seq", self._durable + 1, resume_after_seq, why)
        if state is None:
            return
        self._started, self._finished = True, state.finished
        if state.head:
            spooled = reader.spooled(self._ingest_id)
            self._upload = Upload(state.head, self._limits.max_document_bytes, spooled)
        for raw in state.outcomes:
            for outcome in self._decode(raw):
                self._count(outcome)
                if self._seq_of(outcome) > resume_after_seq:
                    self._again += self._events_of(outcome)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def durable_seq(self) -> int:
        """Every part up to here survives a crash."""
        return self._durable

    @property
    def waiting(self) -> bool:
        """Whether something was taken that is not committed yet."""
        return self._taken > self._durable

    def opening(self) -> Iterator[IngestEvent]:
        """Accepted, then again the outcomes of all parts behind `resume_after_seq`, then an Ack that covers them.

        A client takes its next `resume_after_seq` from acknowledgements and not from Accepted: so it misses no outcome
        when the connection breaks in between.
        """
        yield Accepted(self._durable, self._limits.max_in_flight_parts)
        again, self._again = self._again, []
        if again:
            yield from again
            yield Ack(self._durable)

    def flush(self) -> list[IngestEvent]:
        """Commit what was taken: its outcomes, then the acknowledgement. To be called whenever no part is waiting."""
        return self._commit(finish=False) if self.waiting else []

    def finish(self, last_seq: int) -> list[IngestEvent]:
        """Commit what was taken and close the ingest for good; the last event is the summary. May be repeated."""
        if last_seq != self._taken:
            raise gap("finish.last_seq", self._taken + 1, last_seq, f"the last part that came is {self._taken}")
        if self._upload is not None:
            raise disorder("finish", "part", "a document or file is not complete")
        events = [] if self._finished else self._commit(finish=True)
        return [*events, IngestSummary(self._stored, self._unchanged, self._failed)]

    def close(self) -> None:
        """Let the ingest go; another connection may open it."""
        self._release()

    def _is_new(self, seq: int, size: int, field: str) -> bool:
        """Whether a part was not taken before. Raises InvalidRequest when one is missing before it.

        Args:
            field: where its bytes stand.
        """
        if size > self._limits.max_part_bytes:
            raise InvalidRequest.one(
                field,
                ErrorReason.VALUE_OUT_OF_RANGE,
                f"{size} bytes, at most {self._limits.max_part_bytes} in a part",
            )
        if seq < 1:
            raise gap("part.seq", self._taken + 1, seq, "parts are numbered from 1")
        if seq > self._taken and self._finished:
            raise disorder("part", "finish", "the ingest is finished")
        if seq > self._taken + 1:
            raise gap("part.seq", self._taken + 1, seq, f"part {self._taken + 1} is missing")
        return seq > self._taken

    def _repeated(self) -> list[IngestEvent]:
        """What a part gets that came before: nothing changes; it is acknowledged when it is durable."""
        return [] if self.waiting else [Ack(self._durable)]

    def _add_to_upload(self, seq: int, head: bytes | None, content: bytes) -> Upload:
        """Take a part of a document or file. Raises InvalidRequest when a head is missing or one too many."""
        if self._upload is None:
            if head is None:
                raise disorder("part", "part.head", "the first part of a document or file needs a head")
            self._upload = Upload(head, self._limits.max_document_bytes)
        elif head is not None:
            raise disorder("part.head", "part.content", "the document or file before is not complete")
        self._upload.add(seq, content)
        return self._upload

    def _took(self, seq: int, size: int) -> list[IngestEvent]:
        """Count a part as taken; commit when enough is gathered."""
        self._taken = seq
        self._group_bytes += size
        full = self._taken - self._durable >= self._limits.group_parts or self._group_bytes >= self._limits.group_bytes
        return self.flush() if full else []

    def _commit(self, *, finish: bool) -> list[IngestEvent]:
        waiting = self.waiting
        self._finish_reading()
        with self._transaction() as writer:
            if not self._started and not self._validate_only:
                writer.start_ingest(self._ingest_id, self.kind)
            outcomes = self._write_gathered(writer)
            if not self._validate_only:
                for seq, head, content in self._upload.unspooled if self._upload else ():
                    writer.spool(self._ingest_id, seq, head, content)
                if finish:
                    writer.finish_ingest(self._ingest_id)
        self._started, self._finished = True, finish
        self._durable = self._taken
        self._group_bytes = 0
        if self._upload is not None:
            self._upload.unspooled.clear()
        self._forget_gathered()
        events: list[IngestEvent] = []
        for outcome in outcomes:
            self._count(outcome)
            events += self._events_of(outcome)
        return [*events, Ack(self._durable)] if waiting else events

    @contextmanager
    def _transaction(self) -> Iterator[StoreWriter]:
        """A transaction of the library; with validate_only nothing of it is kept."""
        try:
            with self._target.writing() as writer:
                yield writer
                if self._validate_only:
                    raise _Undo
        except _Undo:
            return

    def _finish_part(self, writer: StoreWriter, seq: int, outcome: bytes) -> None:
        if not self._validate_only:
            writer.finish_part(self._ingest_id, seq, outcome)

    def _count(self, outcome: Outcome) -> None:
        stored, unchanged, failed = self._counts_of(outcome)
        self._stored += stored
        self._unchanged += unchanged
        self._failed += failed

    def _finish_reading(self) -> None:
        """Wait for what is still being read, before the library is held for writing."""

    @abstractmethod
    def _write_gathered(self, writer: StoreWriter) -> list[Outcome]:
        """Store what is complete, in order, each with its outcome."""

    @abstractmethod
    def _forget_gathered(self) -> None:
        """What was gathered is durable."""

    @abstractmethod
    def _decode(self, raw: bytes) -> list[Outcome]:
        """Outcomes as the store keeps them."""

    @abstractmethod
    def _events_of(self, outcome: Outcome) -> list[IngestEvent]:
        """What the client is told."""

    @abstractmethod
    def _seq_of(self, outcome: Outcome) -> int:
        """The part with which it became final."""

    @abstractmethod
    def _counts_of(self, outcome: Outcome) -> tuple[int, int, int]:
        """How many were stored, unchanged and refused."""
