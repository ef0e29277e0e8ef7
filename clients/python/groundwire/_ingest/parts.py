"""Documents, records and files, cut into the parts that travel."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from groundwire._model.upload import DocumentUpload, FactFile, FactRecord, RelationRecord
from groundwire._wire.mirror import fill
from groundwire.v1 import ingest_pb2

__all__ = ["PART_BYTES", "Cutter", "DocumentCutter", "FactCutter", "Part", "Upload", "cut"]

PART_BYTES = 256 * 1024
_MAX_RECORDS = 1000  # so that what is refused comes back soon, however small the records are

ItemT = TypeVar("ItemT", contravariant=True)
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


class Cutter(Protocol[ItemT]):
    """Cuts one item after the other into parts, which are numbered through."""

    def cut(self, item: ItemT) -> Iterator[Part]:
        """The parts of an item that are ready; content is read as they are asked for."""

    def rest(self) -> Iterator[Part]:
        """What still waits, once there are no more items."""


def cut(items: Iterable[ItemT], cutter: Cutter[ItemT]) -> Iterator[Part]:
    """The parts of all items."""
    for item in items:
        yield from cutter.cut(item)
    yield from cutter.rest()


class DocumentCutter:
    """The parts of documents, one document after the other."""

    def __init__(self, part_bytes: int = PART_BYTES) -> None:
        self._part_bytes = part_bytes
        self._seq = 0

    def cut(self, document: DocumentUpload) -> Iterator[Part]:
        """All parts of a document."""
        known = ingest_pb2.DocumentHead()
        fill(known, _with_hash(document))
        head: ingest_pb2.DocumentHead | None = known
        for content, last in _blocks(document.content, self._part_bytes):
            self._seq += 1
            piece = ingest_pb2.DocumentPart(seq=self._seq, head=head, content=content, last_part=last)
            head = None
            yield Part(self._seq, ingest_pb2.IngestDocumentsRequest(part=piece), complete=last)

    def rest(self) -> Iterator[Part]:
        """Nothing waits."""
        return iter(())


def _with_hash(document: DocumentUpload) -> DocumentUpload:
    if isinstance(document.content, bytes) and not document.content_sha256:
        return replace(document, content_sha256=hashlib.sha256(document.content).digest())
    return document


class FactCutter:
    """The parts of records and files, in the order given; neighbouring records travel together."""

    def __init__(self, part_bytes: int = PART_BYTES) -> None:
        self._part_bytes = part_bytes
        self._records = _Records(part_bytes)
        self._place = 0
        self._seq = 0

    def cut(self, item: FactRecord | RelationRecord | FactFile) -> Iterator[Part]:
        """All parts of a file; of a record what had to go to make room for it."""
        place = self._place
        self._place += 1
        if isinstance(item, FactFile):
            yield from self.rest()
            yield from self._cut_file(item)
            return
        record = ingest_pb2.FactRecord() if isinstance(item, FactRecord) else ingest_pb2.RelationRecord()
        fill(record, item)
        if not self._records.has_room(record.ByteSize()):
            yield from self.rest()
        self._records.add(place, record)

    def rest(self) -> Iterator[Part]:
        """The records that wait for company."""
        if self._records:
            self._seq += 1
            yield self._records.take(self._seq)

    def _cut_file(self, file: FactFile) -> Iterator[Part]:
        known = ingest_pb2.FactFileHead()
        fill(known, file)
        head: ingest_pb2.FactFileHead | None = known
        for content, last in _blocks(file.content, self._part_bytes):
            self._seq += 1
            piece = ingest_pb2.FactFilePart(head=head, content=content, last_part=last)
            head = None
            message = ingest_pb2.IngestFactsRequest(part=ingest_pb2.FactPart(seq=self._seq, file=piece))
            yield Part(self._seq, message, complete=last)


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
