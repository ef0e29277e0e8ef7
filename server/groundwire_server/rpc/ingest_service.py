"""IngestService: documents and figures in, over bidirectional streams with durable acknowledgements.

What is told and when is the ingest's own (`groundwire_server.ingest`). Here are the frames, the reading ahead, one
thread at a time, and the end: however a call ends, the ingest is let go only after its last step is over.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar

from groundwire.v1 import ingest_pb2
from groundwire_server.engine import Engine
from groundwire_server.errors import ErrorReason, GroundwireError, InvalidRequest, Unavailable, Violation
from groundwire_server.evidence import Principal
from groundwire_server.ingest import (
    Accepted,
    Ack,
    DocumentIngest,
    FactIngest,
    IngestEvent,
    IngestOpening,
    IngestSummary,
)
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.decode_ingest import (
    decode_document_head,
    decode_fact_file_head,
    decode_facts,
    decode_opening,
    decode_relations,
)
from groundwire_server.rpc.encode_ingest import encode_document_event, encode_fact_event, encode_ingest_summary
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.inbox import Inbox
from groundwire_server.rpc.throttle import Window
from groundwire_server.rpc.work import WorkPool

__all__ = ["IngestService"]

# Parts that are read ahead of those being stored, and that are taken in one go.
_AHEAD = 32
_EMPTY = "frame without content"
# What follows `finish` is out of order. A client ends its side along with it; one that does not is not waited for long.
_END_SECONDS = 0.1

S = TypeVar("S", DocumentIngest, FactIngest)


@dataclass(frozen=True)
class _Kind(Generic[S]):
    """What differs between documents and figures. `embeds`: what comes in gets vectors."""

    open: Callable[[str, IngestOpening, Principal], S]
    feed: Callable[[S, Any], list[IngestEvent]]
    encode: Callable[[IngestEvent], Iterator[Any]]
    response: Callable[..., Any]
    embeds: bool


@dataclass
class _Session(Generic[S]):
    """An open ingest. `lock` is held by its one step that runs."""

    kind: _Kind[S]
    ingest: S
    library_id: str
    validate_only: bool
    lock: threading.Lock
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    def close(self) -> None:
        """Let it go, after the step that may still run."""
        with self.lock:
            self.ingest.close()


class IngestService:
    """The three methods of the service.

    Args:
        stopping: set when the server stops; streams then say so and end.
    """

    def __init__(self, engine: Engine, pool: WorkPool, stopping: asyncio.Event) -> None:
        self._engine = engine
        self._pool = pool
        self._stopping = stopping
        self._documents = _Kind(
            engine.open_documents, _feed_document, encode_document_event, ingest_pb2.IngestDocumentsResponse, True
        )
        self._facts = _Kind(engine.open_facts, _feed_facts, encode_fact_event, ingest_pb2.IngestFactsResponse, False)

    async def ingest_documents(self, requests: AsyncIterator[ingest_pb2.IngestDocumentsRequest], call: RpcCall) -> None:
        """Store documents."""
        await self._serve(requests, call, self._documents)

    async def ingest_facts(self, requests: AsyncIterator[ingest_pb2.IngestFactsRequest], call: RpcCall) -> None:
        """Store figures and relations."""
        await self._serve(requests, call, self._facts)

    async def withdraw_document(
        self, request: ingest_pb2.WithdrawDocumentRequest, call: RpcCall
    ) -> ingest_pb2.WithdrawDocumentResponse:
        """Take a document out of every answer."""
        findings = Findings()
        findings.required("library_id", request.library_id)
        findings.required("doc_id", request.doc_id)
        findings.settle()
        withdrawn = await self._pool.run(
            lambda: self._engine.withdraw(request.library_id, request.doc_id, call.principal)
        )
        return ingest_pb2.WithdrawDocumentResponse(revision=withdrawn.revision, withdrawn_now=withdrawn.withdrawn_now)

    async def _serve(self, requests: AsyncIterator[Any], call: RpcCall, kind: _Kind[S]) -> None:
        inbox = Inbox(requests, _AHEAD)
        try:
            session = await self._open(inbox, call, kind)
            try:
                await self._converse(session, inbox, call)
            finally:
                self._pool.finish(session.close)
        finally:
            await inbox.close()

    async def _open(self, inbox: Inbox[Any], call: RpcCall, kind: _Kind[S]) -> _Session[S]:
        first = await inbox.take(1)
        frame = first[0].WhichOneof("message") or _EMPTY if first else None
        if frame != "start":
            raise _disorder(frame, "start")
        start = first[0].start
        findings = Findings()
        opening = decode_opening(start, call.principal, findings, has_warnings=kind.embeds)
        findings.settle()

        def make() -> _Session[S]:
            ingest = kind.open(start.library_id, opening, call.principal)
            return _Session(kind, ingest, start.library_id, start.validate_only, threading.Lock())

        return await self._pool.open(make, _Session.close)

    async def _converse(self, session: _Session[S], inbox: Inbox[Any], call: RpcCall) -> None:
        events = await self._pool.run(lambda: list(session.ingest.opening()))
        window = Window(next(event.max_in_flight_parts for event in events if isinstance(event, Accepted)))
        await self._write(events, session, call)
        while True:
            requests = await self._next(inbox)
            if requests is None:
                await self._say_stopping(session, call)
            if requests and requests[-1].WhichOneof("message") == "finish":
                requests += await inbox.following(_END_SECONDS)
            began = time.monotonic()
            events, error = await self._pool.run(partial(_step, session, requests, inbox))
            if session.kind.embeds and not session.validate_only and any(isinstance(event, Ack) for event in events):
                self._engine.wake_embedding(session.library_id)
                self._engine.wake_relating(session.library_id)
            await self._write(events, session, call)
            if error is not None:
                raise error
            if any(isinstance(event, IngestSummary) for event in events):
                return
            if not requests:
                raise _disorder(None, "finish")
            size = window.after(time.monotonic() - began)
            if size is not None:
                throttle = ingest_pb2.Throttle(max_in_flight_parts=size)
                await call.write(session.kind.response(throttle=throttle))

    async def _next(self, inbox: Inbox[Any]) -> list[Any] | None:
        """The requests that wait, [] at the client's end; None when the server stops before one comes."""
        taking = asyncio.ensure_future(inbox.take(_AHEAD))
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait((taking, stopping), return_when=asyncio.FIRST_COMPLETED)
            return taking.result() if taking.done() else None
        finally:
            taking.cancel()
            stopping.cancel()

    async def _say_stopping(self, session: _Session[S], call: RpcCall) -> NoReturn:
        """Commit what was taken, say up to where, and end: the client goes on with the same id elsewhere."""
        events, error = await self._pool.run(lambda: _step(session, [], None))
        await self._write(events, session, call)
        if error is None:
            said = ingest_pb2.ShuttingDown(durable_seq=session.ingest.durable_seq)
            await call.write(session.kind.response(shutting_down=said))
        raise Unavailable(ErrorReason.NOT_SERVING, "The server is stopping.", details={"phase": "draining"})

    async def _write(self, events: Sequence[IngestEvent], session: _Session[S], call: RpcCall) -> None:
        for event in events:
            call.tell(event)
            if isinstance(event, IngestSummary):
                await call.write(await self._summary(event, session, call.principal))
                continue
            for message in session.kind.encode(event):
                await call.write(message)

    async def _summary(self, event: IngestSummary, session: _Session[S], principal: Principal) -> Any:
        snapshot_id = job_id = ""
        if not session.validate_only:
            snapshot_id = await self._pool.run(lambda: self._engine.snapshot_id(session.library_id, principal))
            if session.kind.embeds:
                job_id = await self._pool.run(
                    lambda: self._engine.embedding_job(session.library_id, principal, session.began)
                )
        summary = encode_ingest_summary(event, snapshot_id=snapshot_id, embedding_job_id=job_id)
        return session.kind.response(summary=summary)


def _step(
    session: _Session[S], requests: Sequence[Any], inbox: Inbox[Any] | None
) -> tuple[list[IngestEvent], GroundwireError | None]:
    """In a thread: take the parts; commit when nothing more waits. What became durable before an error is told too."""
    events: list[IngestEvent] = []
    request: Any
    with session.lock:
        try:
            for place, request in enumerate(requests, 1):
                frame = request.WhichOneof("message")
                if frame == "finish":
                    if place < len(requests):
                        raise _disorder(requests[place].WhichOneof("message") or _EMPTY, "end of the stream")
                    return [*events, *session.ingest.finish(request.finish.last_seq)], None
                if frame != "part":
                    raise _disorder(frame or _EMPTY, "part or finish")
                events += session.kind.feed(session.ingest, request.part)
            if inbox is None or inbox.empty:
                events += session.ingest.flush()
        except InvalidRequest as error:
            # This part cannot be taken; those before it were good and are kept.
            return [*events, *session.ingest.flush()], error
        except GroundwireError as error:
            return events, error
    return events, None


def _feed_document(ingest: DocumentIngest, part: ingest_pb2.DocumentPart) -> list[IngestEvent]:
    head = decode_document_head(part.head) if part.HasField("head") else None
    return ingest.feed(part.seq, head, part.content, part.last_part)


def _feed_facts(ingest: FactIngest, part: ingest_pb2.FactPart) -> list[IngestEvent]:
    match part.WhichOneof("body"):
        case "records":
            records = part.records
            if not records.facts and not records.relations:
                raise InvalidRequest.one("part.records", ErrorReason.VALUE_REQUIRED, "must hold a figure or a relation")
            facts, relations = decode_facts(records.facts), decode_relations(records.relations)
            return ingest.feed_records(part.seq, facts, relations, records.ByteSize())
        case "file":
            head = decode_fact_file_head(part.file.head) if part.file.HasField("head") else None
            return ingest.feed_file(part.seq, head, part.file.content, part.file.last_part)
        case _:
            raise InvalidRequest.one("part", ErrorReason.VALUE_REQUIRED, "exactly one of records and file must be set")


def _disorder(frame: str | None, expected: str) -> InvalidRequest:
    said = frame or "end of the stream"
    return InvalidRequest(
        [Violation(said, ErrorReason.CONTRADICTION, f"stands where {expected} was expected")],
        reason=ErrorReason.INGEST_ORDER,
        details={"frame": said, "expected": expected},
    )
