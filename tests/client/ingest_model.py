"""A server of the ingest protocol in memory, as plain as can be: what a client has to cope with, and the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groundwire.v1 import errors_pb2, ingest_pb2


@dataclass
class Stored:
    """What outlives connections: the parts that are durable, and what became of the documents.

    A file named "a+b" holds two documents, a and b, as one of JSON lines does.
    """

    durable: dict[int, ingest_pb2.DocumentPart] = field(default_factory=dict)
    documents: dict[str, bytes] = field(default_factory=dict)
    outcomes: list[ingest_pb2.DocumentOutcome] = field(default_factory=list)
    stored_twice: list[str] = field(default_factory=list)

    @property
    def durable_seq(self) -> int:
        return max(self.durable, default=0)


class Connection:
    """One connection: takes requests, gives responses in the order of the contract."""

    def __init__(self, stored: Stored, window: int = 3) -> None:
        self._stored = stored
        self._window = window
        self._open: tuple[str, bytes] | None = None
        self.in_flight_seen = 0

    def take(self, request: ingest_pb2.IngestDocumentsRequest) -> list[ingest_pb2.IngestDocumentsResponse]:
        response = ingest_pb2.IngestDocumentsResponse
        match request.WhichOneof("message"):
            case "start":
                accepted = ingest_pb2.IngestAccepted(
                    durable_seq=self._stored.durable_seq, max_in_flight_parts=self._window
                )
                again = [each for each in self._stored.outcomes if each.seq > request.start.resume_after_seq]
                return [response(accepted=accepted), *(response(outcome=each) for each in again)]
            case "part":
                return [*self._take_part(request.part), response(ack={"durable_seq": request.part.seq})]
            case "finish":
                assert request.finish.last_seq == self._stored.durable_seq, "finished before all was there"
                return [response(summary=ingest_pb2.IngestSummary(stored=len(self._stored.documents)))]
        raise AssertionError("a message of no kind")

    def _take_part(self, part: ingest_pb2.DocumentPart) -> list[Any]:
        assert part.seq == self._stored.durable_seq + 1, f"gap: {part.seq} after {self._stored.durable_seq}"
        self._stored.durable[part.seq] = part
        if not part.last_part:
            return []
        pieces: list[ingest_pb2.DocumentPart] = []
        for seq in range(part.seq, 0, -1):
            pieces.insert(0, self._stored.durable[seq])
            if pieces[0].HasField("head"):
                break
        doc_id = pieces[0].head.doc_id
        if doc_id in self._stored.documents:
            self._stored.stored_twice.append(doc_id)
        self._stored.documents[doc_id] = b"".join(piece.content for piece in pieces)
        outcomes = [ingest_pb2.DocumentOutcome(doc_id=name, seq=part.seq, revision=1) for name in doc_id.split("+")]
        if "refuse" in doc_id:
            outcomes[0].error.reason = errors_pb2.ERROR_REASON_DOCUMENT_BROKEN
        self._stored.outcomes += outcomes
        return [ingest_pb2.IngestDocumentsResponse(outcome=outcome) for outcome in outcomes]
