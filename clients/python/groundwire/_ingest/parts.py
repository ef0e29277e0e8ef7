"""Documents, records and files, cut into the parts that travel."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from groundwire._model.upload import DocumentUpload, FactFile, FactRecord, RelationRecord
from groundwire._wire.mirror import fill
from groundwire.v1 import ingest_pb2

__all__ = ["PART_BYTES", "Part", "Upload", "document_parts", "fact_parts"]

PART_BYTES = 256 * 1024
_MAX_RECORDS = 1000  # so that what is refused comes back soon, however small the records are

Upload = ingest_pb2.IngestDocumentsRequest | ingest_pb2.IngestFactsRequest


@dataclass(frozen=True, slots=True)
class Part:
    """One message with its number; None once it is never to be sent again.

    `complete`: a document, a file or some records end with it.
    `records` are the places, in what the caller gave, of the records in it: figures first, as the server counts rows.
    """

    seq: int
    message: Upload | None
    complete: bool
    records: tuple[int, ...] = ()


def document_parts(documents: Iterable[DocumentUpload], part_bytes: int = PART_BYTES) -> Iterator[Part]:
    """The parts of documents, one document after the other. Content is read as the parts are asked for."""
    seq = 0
    for document in documents:
        known = ingest_pb2.DocumentHead()
        fill(known, _with_hash(document))
        head: ingest_pb2.DocumentHead | None = known
        for content, last in _blocks(document.content, part_bytes):
            seq += 1
            piece = ingest_pb2.DocumentPart(seq=seq, head=head, content=content, last_part=last)
            head = None
            yield Part(seq, ingest_pb2.IngestDocumentsRequest(part=piece), complete=last)


def _with_hash(document: DocumentUpload) -> DocumentUpload:
    if isinstance(document.content, bytes) and not document.content_sha256:
        return replace(document, content_sha256=hashlib.sha256(document.content).digest())
    return document


def fact_parts(items: Iterable[FactRecord | RelationRecord | FactFile], part_bytes: int = PART_BYTES) -> Iterator[Part]:
    """The parts of records and files, in the order given; neighbouring records travel together."""
    seq = 0
    records = _Records(part_bytes)
    for place, item in enumerate(items):
        if isinstance(item, FactFile):
            if records:
                seq += 1
                yield records.take(seq)
            for part in _file_parts(item, seq, part_bytes):
                seq = part.seq
                yield part
            continue
        record = ingest_pb2.FactRecord() if isinstance(item, FactRecord) else ingest_pb2.RelationRecord()
        fill(record, item)
        if records and not records.has_room(record.ByteSize()):
            seq += 1
            yield records.take(seq)
        records.add(place, record)
    if records:
        seq += 1
        yield records.take(seq)


def _file_parts(file: FactFile, seq: int, part_bytes: int) -> Iterator[Part]:
    known = ingest_pb2.FactFileHead()
    fill(known, file)
    head: ingest_pb2.FactFileHead | None = known
    for content, last in _blocks(file.content, part_bytes):
        seq += 1
        piece = ingest_pb2.FactFilePart(head=head, content=content, last_part=last)
        head = None
        yield Part(seq, ingest_pb2.IngestFactsRequest(part=ingest_pb2.FactPart(seq=seq, file=piece)), complete=last)


class _Records:
    """Records that wait for company."""

    def __init__(self, part_bytes: int) -> None:
        self._part_bytes = part_bytes
        self._reset()

    def _reset(self) -> None:
        self._facts: list[tuple[int, ingest_pb2.FactRecord]] = []
        self._relations: list[tuple[int, ingest_pb2.RelationRecord]] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._facts) + len(self._relations)

    def has_room(self, size: int) -> bool:
        return self._bytes + size + _FRAMING <= self._part_bytes and len(self) < _MAX_RECORDS

    def add(self, place: int, record: ingest_pb2.FactRecord | ingest_pb2.RelationRecord) -> None:
        if isinstance(record, ingest_pb2.FactRecord):
            self._facts.append((place, record))
        else:
            self._relations.append((place, record))
        self._bytes += record.ByteSize() + _FRAMING

    def take(self, seq: int) -> Part:
        body = ingest_pb2.FactRecords(
            facts=[record for _, record in self._facts], relations=[record for _, record in self._relations]
        )
        places = tuple(place for place, _ in (*self._facts, *self._relations))
        self._reset()
        message = ingest_pb2.IngestFactsRequest(part=ingest_pb2.FactPart(seq=seq, records=body))
        return Part(seq, message, complete=True, records=places)


_FRAMING = 6  # tag and length of a record inside its list, at the most


def _blocks(content: bytes | Iterable[bytes], size: int) -> Iterator[tuple[bytes, bool]]:
    """Content in blocks of `size`, the last one marked; a single empty block when there is none."""
    buffer = bytearray()
    for piece in (content,) if isinstance(content, bytes) else content:
        buffer += piece
        while len(buffer) > size:
            yield bytes(buffer[:size]), False
            del buffer[:size]
    yield bytes(buffer), True
