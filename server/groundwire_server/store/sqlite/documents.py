"""Documents: one row a revision, its source text beside it, its chunks under it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Label, text_sha256
from groundwire_server.store.rows import (
    NewChunk,
    NewDocument,
    Replaced,
    RevisionDetail,
    RevisionSpan,
    StoredRevision,
)
from groundwire_server.store.sqlite.codec import (
    decode_attributes,
    decode_instant,
    decode_optional_instant,
    encode_attributes,
    encode_optional_instant,
    is_storable,
)
from groundwire_server.store.sqlite.digest import birth_event, hash_parts
from groundwire_server.store.sqlite.purge import purged_meanwhile
from groundwire_server.store.sqlite.transaction import VISIBLE, Transaction

__all__ = [
    "last_chunk_row",
    "last_revision",
    "number_column",
    "page_of_details",
    "page_of_documents",
    "page_of_spans",
    "prefix_end",
    "read_revisions",
    "read_source_places",
    "read_source_text",
    "recut_document",
    "replace_document",
    "retire_revision",
    "retired_spans",
]

_PAGE = 2000
_to_json = json.JSONEncoder(ensure_ascii=False).encode


def replace_document(transaction: Transaction, document: NewDocument, strictest: int) -> Replaced:
    """Store a document as its next revision, unless its active one has the same content.

    Who is told of it sees labels up to `strictest`; of a document beyond them is told as if no other were beyond them.

    Raises:
        DocumentRefused: ATTRIBUTE_TYPE_MISMATCH, an attribute of another family; CONTRADICTION, one that is given
            twice; VALUE_MALFORMED, text without a UTF-8 form.
    """
    _check(transaction, document, strictest)
    if document.label <= strictest:
        return _replace(transaction, document, strictest)
    seen = last_revision(transaction.connection, document.doc_id, strictest)
    _replace(transaction, document, strictest)
    return Replaced(document.doc_id, seen + 1, len(document.chunks), unchanged=False)


_LAST_REVISION = (
    "SELECT number_1, number_2, number_3, revision, chunks, content_sha256, died IS NULL FROM document_revision"
    " WHERE doc_id = ? ORDER BY revision DESC LIMIT 1"
)


def _replace(transaction: Transaction, document: NewDocument, strictest: int) -> Replaced:
    """The revision that is told is counted up to `strictest`."""
    attributes = encode_attributes(document.attributes)
    content = _content_sha256(document, attributes)
    gathered = transaction.gathered
    if document.doc_id in gathered:
        gathered.insert()
    last = gathered.connection.execute(_LAST_REVISION, (document.doc_id,)).fetchone()
    before, chunks, last_content, active = (last[:4], *last[4:]) if last is not None else ((0, 0, 0, 0), 0, b"", False)
    if active and last_content == content:
        return Replaced(document.doc_id, before[strictest - 1], chunks, unchanged=True)
    if active:
        retire_revision(transaction, document.doc_id)
    numbers = [number + (document.label <= label) for label, number in enumerate(before, 1)]
    transaction.attributes.fix(document.label, document.attributes)
    # Counted up to its own label, so that the event says nothing of revisions that a reader of it may not read.
    number = numbers[document.label - 1]
    event = birth_event("document", document.doc_id, number, int(document.label), content, document.raw_sha256)
    first_row = gathered.take_rows("chunk", len(document.chunks)) if document.chunks else 0
    revision_row = gathered.take_rows("document_revision", 1)
    revision = (
        revision_row,
        document.doc_id,
        *numbers,
        int(document.label),
        transaction.generation,
        first_row,
        len(document.chunks),
        encode_optional_instant(document.valid_as_of),
        event,
        content,
        document.raw_sha256,
        document.raw_bytes,
        len(document.text),
        document.title,
        document.media_type,
        document.chunker,
        attributes,
    )
    gathered.add(
        document.doc_id,
        revision,
        (revision_row, document.text),
        (revision_row, document.places) if document.places else None,
        _chunk_rows(document, revision_row, first_row),
        2 * len(document.text),
    )
    transaction.born(document.label, event)
    return Replaced(document.doc_id, numbers[strictest - 1], len(document.chunks), unchanged=False)


def recut_document(
    transaction: Transaction, doc_id: str, revision: int, chunker: str, chunks: Sequence[NewChunk]
) -> Replaced | None:
    """See `StoreWriter.recut_document`. What the active revision was stored with is not judged again."""
    row = transaction.connection.execute(
        "SELECT title, media_type, text, raw_sha256, raw_bytes, label, valid_as_of, attributes, places"
        " FROM document_revision JOIN source_text USING (revision_row) LEFT JOIN revision_places USING (revision_row)"
        " WHERE doc_id = ? AND revision = ? AND died IS NULL",
        (doc_id, revision),
    ).fetchone()
    if row is None:
        return None
    title, media_type, text, raw_sha256, raw_bytes, label, valid_as_of, attributes, places = row
    document = NewDocument(
        doc_id=doc_id,
        title=title,
        media_type=media_type,
        text=text,
        raw_sha256=raw_sha256,
        raw_bytes=raw_bytes,
        chunker=chunker,
        chunks=tuple(chunks),
        label=Label(label),
        valid_as_of=decode_optional_instant(valid_as_of),
        attributes=decode_attributes(attributes),
        places=places or b"",
    )
    _check_spans(document)
    return _replace(transaction, document, int(Label.RESTRICTED))


def last_revision(connection: sqlite3.Connection, doc_id: str, strictest: int) -> int:
    """The highest revision that a document ever had up to a label, counted up to it; 0 when it had none."""
    row = connection.execute(
        f"SELECT coalesce(max({number_column(strictest)}), 0) FROM document_revision WHERE doc_id = ? AND label <= ?",
        (doc_id, strictest),
    ).fetchone()
    return int(row[0])


def _check(transaction: Transaction, document: NewDocument, strictest: int) -> None:
    _check_spans(document)
    texts = [document.doc_id, document.title, document.media_type, document.text, document.chunker]
    for chunk in document.chunks:
        texts += [chunk.locator, chunk.header, chunk.heading, chunk.parent_id, chunk.parent_locator]
    fault = transaction.attributes.fault(document.label, document.attributes, strictest)
    if not is_storable("".join(texts)):
        fault = ErrorReason.VALUE_MALFORMED, "it holds half a surrogate pair, which has no UTF-8 form"
    if fault is not None:
        reason, why = fault
        raise DocumentRefused(reason, f"The document cannot be stored: {why}.")


def _check_spans(document: NewDocument) -> None:
    length = len(document.text)
    for chunk in document.chunks:
        if not 0 <= chunk.span.start <= chunk.span.end <= length:
            raise ValueError(f"chunk {chunk.span} lies outside of a text of {length} code points")


def _content_sha256(document: NewDocument, attributes: str) -> bytes:
    """Two documents have it in common exactly when a new revision would tell a reader nothing new."""
    return hash_parts(
        text_sha256(document.text),
        document.title,
        document.media_type,
        int(document.label),
        encode_optional_instant(document.valid_as_of),
        attributes,
        document.chunker,
        _to_json([_chunk_content(chunk) for chunk in document.chunks]),
    )


def _chunk_content(chunk: NewChunk) -> list[str | int | None]:
    parent = chunk.parent_span
    return [
        chunk.span.start,
        chunk.span.end,
        chunk.locator,
        chunk.header,
        chunk.heading,
        chunk.parent_id,
        None if parent is None else parent.start,
        None if parent is None else parent.end,
        chunk.parent_locator,
    ]


def _chunk_rows(document: NewDocument, revision_row: int, first_row: int) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for seq, chunk in enumerate(document.chunks):
        span, parent = chunk.span, chunk.parent_span
        text = document.text[span.start : span.end]
        indexed = f"{chunk.header}\n{text}" if chunk.header else text
        rows.append(
            (
                first_row + seq,
                revision_row,
                seq,
                span.start,
                span.end,
                None if parent is None else parent.start,
                None if parent is None else parent.end,
                text_sha256(indexed),
                chunk.locator,
                chunk.heading,
                chunk.parent_id,
                chunk.parent_locator,
                chunk.header,
                text,
            )
        )
    return rows


def retire_revision(transaction: Transaction, doc_id: str) -> int:
    """End the active revision. Returns its number, or 0 when none is active."""
    if doc_id in transaction.gathered:
        transaction.gathered.insert()
    connection = transaction.gathered.connection
    row = connection.execute(
        "SELECT revision_row, revision, label, event FROM document_revision"
        " WHERE doc_id = ? AND died IS NULL ORDER BY revision DESC LIMIT 1",
        (doc_id,),
    ).fetchone()
    if row is None:
        return 0
    revision_row, revision, label, event = row
    connection.execute(
        "UPDATE document_revision SET died = ? WHERE revision_row = ?", (transaction.generation, revision_row)
    )
    transaction.died(Label(label), event)
    return int(revision)


_REVISION = (
    "SELECT doc_id, {number}, title, media_type, raw_sha256, raw_bytes, text_chars, chunker, chunks, label,"
    " valid_as_of, attributes, born, CASE WHEN died <= :g THEN died END AS ended,"
    " (SELECT committed_at FROM generation WHERE generation = born),"
    " (SELECT committed_at FROM generation WHERE generation = died AND died <= :g)"
    " FROM document_revision"
)
_OF_DOCUMENT = f"{_REVISION} WHERE doc_id = :doc AND born <= :g AND label <= :label AND purged IS NULL"


def number_column(strictest: int) -> str:
    """The column of the number that revisions have for who reads up to a label."""
    return "revision" if strictest == Label.RESTRICTED else f"number_{strictest}"


def _revision(row: tuple[Any, ...]) -> StoredRevision:
    (doc_id, revision, title, media_type, raw_sha256, raw_bytes, text_chars, chunker, chunks) = row[:9]
    (label, valid_as_of, attributes, born, died, ingested_at, retired_at) = row[9:]
    return StoredRevision(
        doc_id=doc_id,
        revision=revision,
        title=title,
        media_type=media_type,
        raw_sha256=raw_sha256,
        raw_bytes=raw_bytes,
        text_chars=text_chars,
        chunker=chunker,
        chunks=chunks,
        label=Label(label),
        valid_as_of=decode_optional_instant(valid_as_of),
        attributes=decode_attributes(attributes),
        ingested_at=decode_instant(ingested_at),
        retired_at=decode_optional_instant(retired_at),
        born=born,
        died=died,
    )


def read_revisions(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    doc_id: str,
    *,
    revision: int | None = None,
    active: bool = False,
    before: int | None = None,
    limit: int = -1,
) -> list[StoredRevision]:
    """Revisions of a document up to a generation and a label, newest first.

    Args:
        revision: only the one with this number. active: only the one that is visible. before: only those below.
        limit: at most so many; negative: all.
    """
    number = number_column(strictest)
    conditions = [_OF_DOCUMENT.format(number=number)]
    conditions += [f"{number} = :revision"] * (revision is not None)
    conditions += [f"{number} < :before"] * (before is not None)
    conditions += [VISIBLE] * active
    rows = connection.execute(
        f"{' AND '.join(conditions)} ORDER BY document_revision.revision DESC LIMIT :limit",
        {
            "g": generation,
            "label": strictest,
            "doc": doc_id,
            "revision": revision,
            "before": before,
            "limit": limit,
        },
    )
    return [_revision(row) for row in rows.fetchall()]


def page_of_documents(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    prefix: str,
    after: str,
    limit: int,
    *,
    include_withdrawn: bool,
) -> list[StoredRevision]:
    """Active revisions up to a label by doc_id, or the last readable one of every document; negative limit: all.

    Each label has its own walk through the index, and the walks are merged as far as the page needs them.
    """
    end = prefix_end(prefix)
    start = "doc_id > :after" if after >= prefix else "doc_id >= :prefix"
    picked = start if end is None else f"{start} AND doc_id < :end"
    revision = _REVISION.format(number=number_column(strictest))
    labels = range(1, strictest + 1)
    if include_withdrawn:
        walks = [
            f"SELECT DISTINCT doc_id FROM document_revision WHERE label = {label} AND {picked} AND born <= :g"
            " AND purged IS NULL"
            for label in labels
        ]
        statement = (
            f"{revision} WHERE revision_row IN (SELECT (SELECT revision_row FROM document_revision AS held"
            " WHERE held.doc_id = listed.doc_id AND held.born <= :g AND held.label <= :label AND held.purged IS NULL"
            " ORDER BY held.revision DESC LIMIT 1)"
            f" FROM ({' UNION '.join(walks)} ORDER BY doc_id LIMIT :limit) AS listed) ORDER BY doc_id"
        )
    else:
        walks = [f"{revision} WHERE label = {label} AND {picked} AND {VISIBLE}" for label in labels]
        statement = f"{' UNION ALL '.join(walks)} ORDER BY doc_id LIMIT :limit"
    named = {"g": generation, "label": strictest, "prefix": prefix, "after": after, "end": end, "limit": limit}
    return [_revision(row) for row in connection.execute(statement, named).fetchall()]


def read_source_text(
    connection: sqlite3.Connection, generation: int, strictest: int, doc_id: str, revision: int
) -> str | None:
    """The whole text of a revision, or None where there is none to read. Raises Aborted for one that was purged."""
    row = connection.execute(
        "SELECT text, purged FROM document_revision LEFT JOIN source_text USING (revision_row)"
        f" WHERE doc_id = ? AND {number_column(strictest)} = ? AND born <= ? AND label <= ?",
        (doc_id, revision, generation, strictest),
    ).fetchone()
    if row is None:
        return None
    if row[1] is not None:
        raise purged_meanwhile()
    return str(row[0])


def read_source_places(
    connection: sqlite3.Connection, generation: int, strictest: int, doc_id: str, revision: int
) -> bytes:
    """Where the spans of a revision's text lie; empty where the text itself tells, or there is none to read."""
    row = connection.execute(
        "SELECT places FROM document_revision JOIN revision_places USING (revision_row)"
        f" WHERE doc_id = ? AND {number_column(strictest)} = ? AND born <= ? AND label <= ?",
        (doc_id, revision, generation, strictest),
    ).fetchone()
    return b"" if row is None else bytes(row[0])


def prefix_end(prefix: str) -> str | None:
    """The first text in code-point order after all that start with the prefix; None when there is none.

    >>> prefix_end("reports/"), prefix_end("")
    ('reports0', None)
    """
    stem = prefix.rstrip("\U0010ffff")
    if not stem:
        return None
    following = ord(stem[-1]) + 1
    return stem[:-1] + chr(0xE000 if 0xD800 <= following < 0xE000 else following)


def last_chunk_row(connection: sqlite3.Connection, generation: int) -> int:
    """The highest chunk row that a generation has; 0 when it has none."""
    row = connection.execute(
        "SELECT first_row + chunks - 1 FROM document_revision WHERE chunks > 0 AND born <= ?"
        " ORDER BY first_row DESC LIMIT 1",
        (generation,),
    ).fetchone()
    return 0 if row is None else int(row[0])


_SPAN = (
    "SELECT first_row, chunks, doc_id, revision, label, valid_as_of, born, CASE WHEN died <= :g THEN died END,"
    " CASE label WHEN 1 THEN number_1 WHEN 2 THEN number_2 WHEN 3 THEN number_3 ELSE revision END"
    " FROM document_revision"
)


def _span(row: tuple[Any, ...]) -> RevisionSpan:
    first_row, chunks, doc_id, revision, label, valid_as_of, born, died, number = row
    valid = decode_optional_instant(valid_as_of)
    return RevisionSpan(first_row, chunks, doc_id, revision, Label(label), valid, born, died, number)


def _span_start(connection: sqlite3.Connection, after_row: int) -> int:
    """First row of the first revision that has rows above `after_row`, or just below it."""
    row = connection.execute(
        "SELECT first_row, first_row + chunks FROM document_revision WHERE first_row <= ? AND chunks > 0"
        " ORDER BY first_row DESC LIMIT 1",
        (after_row,),
    ).fetchone()
    return int(row[0]) - 1 if row is not None and row[1] > after_row + 1 else after_row


def page_of_spans(connection: sqlite3.Connection, generation: int, after_row: int) -> list[RevisionSpan]:
    """One page of spans above a row; the next page starts at the last row of this one."""
    rows = connection.execute(
        f"{_SPAN} WHERE first_row > :after AND born <= :g ORDER BY first_row LIMIT {_PAGE}",
        {"g": generation, "after": _span_start(connection, after_row)},
    )
    return [_span(row) for row in rows.fetchall()]


def retired_spans(connection: sqlite3.Connection, generation: int, after_generation: int) -> list[RevisionSpan]:
    """Spans that died, or were purged, after one generation and up to another."""
    rows = connection.execute(
        f"{_SPAN} WHERE (died > :after AND died <= :g OR purged > :after AND purged <= :g) AND chunks > 0"
        " ORDER BY first_row",
        {"g": generation, "after": after_generation},
    )
    return [_span(row) for row in rows.fetchall()]


def page_of_details(
    connection: sqlite3.Connection, generation: int, after_row: int
) -> list[tuple[RevisionDetail, int]]:
    """One page of details above a row, each with its number of chunks."""
    rows = connection.execute(
        "SELECT first_row, doc_id, title, media_type, valid_as_of, attributes,"
        " (SELECT committed_at FROM generation WHERE generation = born), chunks"
        f" FROM document_revision WHERE first_row > :after AND born <= :g ORDER BY first_row LIMIT {_PAGE}",
        {"g": generation, "after": _span_start(connection, after_row)},
    )
    return [
        (
            RevisionDetail(
                first_row,
                doc_id,
                title,
                media_type,
                decode_optional_instant(valid_as_of),
                decode_instant(ingested_at),
                decode_attributes(attributes),
            ),
            chunks,
        )
        for first_row, doc_id, title, media_type, valid_as_of, attributes, ingested_at, chunks in rows.fetchall()
    ]
