"""Documents, their chunks and their changes onto the wire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from google.protobuf.message import Message

from groundwire.v1 import admin_pb2
from groundwire_server.engine import DocumentReading, TextChange
from groundwire_server.evidence import ChunkId, Principal
from groundwire_server.rpc.encode_snippet import HiddenSnippet
from groundwire_server.rpc.encode_value import encode_span, encode_time, fill_attributes, wire_text
from groundwire_server.rpc.stream import MAX_BATCH_BYTES
from groundwire_server.store import StoredChunk, StoredRevision

__all__ = ["encode_changes", "encode_reading", "encode_revision"]

M = TypeVar("M", bound=Message)


def encode_revision(revision: StoredRevision, principal: Principal) -> admin_pb2.DocumentRevision:
    """What is known about a revision.

    Raises:
        HiddenSnippet: the principal may not read it; nothing of it stands in the error.
    """
    if not principal.may_read(revision.label):
        raise HiddenSnippet
    message = admin_pb2.DocumentRevision(
        doc_id=revision.doc_id,
        revision=revision.revision,
        active=revision.died is None,
        title=wire_text(revision.title),
        media_type=wire_text(revision.media_type),
        content_sha256=revision.raw_sha256,
        content_bytes=revision.raw_bytes,
        text_chars=revision.text_chars,
        chunks=revision.chunks,
        ingested_at=encode_time(revision.ingested_at),
    )
    if revision.valid_as_of is not None:
        message.valid_as_of.CopyFrom(encode_time(revision.valid_as_of))
    if revision.retired_at is not None:
        message.retired_at.CopyFrom(encode_time(revision.retired_at))
    fill_attributes(message.attributes, revision.attributes)
    return message


def encode_reading(
    reading: DocumentReading, principal: Principal, *, include_text: bool, include_chunks: bool
) -> Iterator[admin_pb2.GetDocumentResponse]:
    """The revision, then its text in stretches, then its chunks in batches."""
    yield admin_pb2.GetDocumentResponse(revision=encode_revision(reading.revision, principal))
    if include_text:
        for stretch in reading.stretches():
            yield admin_pb2.GetDocumentResponse(text=stretch)
    if include_chunks:
        chunks = (_chunk(chunk, embedded=embedded) for chunk, embedded in reading.chunks())
        for batch in _batches(chunks):
            yield admin_pb2.GetDocumentResponse(chunks=admin_pb2.DocumentChunks(chunks=batch))


def encode_changes(changes: Iterable[TextChange]) -> Iterator[admin_pb2.DiffRevisionsResponse]:
    """Changes in batches."""
    messages = (
        admin_pb2.TextChange(
            old_span=encode_span(each.old_span),
            new_span=encode_span(each.new_span),
            old_text=each.old_text,
            new_text=each.new_text,
        )
        for each in changes
    )
    for batch in _batches(messages):
        yield admin_pb2.DiffRevisionsResponse(changes=batch)


def _chunk(chunk: StoredChunk, *, embedded: bool) -> admin_pb2.DocumentChunk:
    return admin_pb2.DocumentChunk(
        chunk_id=str(ChunkId(chunk.doc_id, chunk.revision, chunk.seq)),
        span=encode_span(chunk.span),
        source_locator=wire_text(chunk.locator),
        heading=wire_text(chunk.heading),
        parent_id=wire_text(chunk.parent_id),
        embedded=embedded,
    )


def _batches(messages: Iterable[M]) -> Iterator[list[M]]:
    """As many as fit into what a batch aims at, at least one."""
    batch: list[M] = []
    size = 0
    for message in messages:
        size += message.ByteSize()
        if batch and size > MAX_BATCH_BYTES:
            yield batch
            batch, size = [], message.ByteSize()
        batch.append(message)
    if batch:
        yield batch
