"""Chunks as snippets and indexes need them, by row."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from groundwire_server.evidence import Label, Span, text_sha256
from groundwire_server.store.rows import ChunkMeta, StoredChunk
from groundwire_server.store.sqlite.codec import (
    decode_attributes,
    decode_instant,
    decode_optional_instant,
    decode_span,
)
from groundwire_server.store.sqlite.documents import number_column
from groundwire_server.store.sqlite.purge import purged_meanwhile
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["chunks_of_revision", "page_of_chunks", "page_of_index_texts", "page_of_metas", "read_chunks"]

_PAGE = 4096
_PAGE_OF_CHUNKS = 500
_PARAMETERS = 500

_COLUMNS = (
    "SELECT chunk_row, doc_id, {number}, seq, title, text, span_start, span_end, locator, header, heading, parent_id,"
    " parent_start, parent_end, parent_locator, label, valid_as_of, committed_at, attributes, purged"
    " FROM chunk JOIN document_revision USING (revision_row) JOIN generation ON generation = born"
)
_CHUNK = f"{_COLUMNS} WHERE born <= ? AND chunk_row IN ({{places}})"
_OF_REVISION = (
    f"{_COLUMNS} WHERE doc_id = :doc AND {{number}} = :revision AND born <= :g AND label <= :label"
    " AND chunk_row BETWEEN first_row + :seq AND first_row + chunks - 1 ORDER BY chunk_row LIMIT :limit"
)


def read_chunks(
    connection: sqlite3.Connection, generation: int, chunk_rows: Sequence[int], strictest: int
) -> list[StoredChunk]:
    """The chunks in the order asked, revisions counted up to a label.

    Raises KeyError for a row that the generation does not have, Aborted for one that was purged.
    """
    found: dict[int, StoredChunk] = {}
    for start in range(0, len(chunk_rows), _PARAMETERS):
        some = [int(row) for row in chunk_rows[start : start + _PARAMETERS]]
        statement = _CHUNK.format(number=number_column(strictest), places=",".join("?" * len(some)))
        for row in connection.execute(statement, (generation, *some)).fetchall():
            found[row[0]] = _chunk(row)
    return [found[int(row)] for row in chunk_rows]


def chunks_of_revision(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    doc_id: str,
    revision: int,
    first_seq: int,
    limit: int,
) -> list[StoredChunk]:
    """Chunks of one readable revision from a place on, at most `limit`; negative: all."""
    rows = connection.execute(
        _OF_REVISION.format(number=number_column(strictest)),
        {
            "g": generation,
            "label": strictest,
            "doc": doc_id,
            "revision": revision,
            "seq": first_seq,
            "limit": limit,
        },
    )
    return [_chunk(row) for row in rows.fetchall()]


def page_of_chunks(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    after_row: int,
    doc_id: str | None,
    include_inactive: bool,
) -> list[StoredChunk]:
    """One page of readable chunks above a row."""
    state = "born <= :g" if include_inactive else VISIBLE
    document = "" if doc_id is None else "AND doc_id = :doc"
    rows = connection.execute(
        f"{_COLUMNS.format(number=number_column(strictest))}"
        f" WHERE chunk_row > :after AND {state} AND label <= :label AND purged IS NULL {document}"
        f" ORDER BY chunk_row LIMIT {_PAGE_OF_CHUNKS}",
        {"g": generation, "label": strictest, "after": after_row, "doc": doc_id},
    )
    return [_chunk(row) for row in rows.fetchall()]


def _chunk(row: tuple[Any, ...]) -> StoredChunk:
    (chunk_row, doc_id, revision, seq, title, text, start, end, locator, header, heading, parent_id) = row[:12]
    (parent_start, parent_end, parent_locator, label, valid_as_of, ingested_at, attributes, purged) = row[12:]
    if purged is not None:
        raise purged_meanwhile()
    return StoredChunk(
        chunk_row=chunk_row,
        doc_id=doc_id,
        revision=revision,
        seq=seq,
        title=title,
        text=text,
        text_sha256=text_sha256(text),
        span=Span(start, end),
        locator=locator,
        header=header,
        heading=heading,
        parent_id=parent_id,
        parent_span=decode_span(parent_start, parent_end),
        parent_locator=parent_locator,
        label=Label(label),
        valid_as_of=decode_optional_instant(valid_as_of),
        ingested_at=decode_instant(ingested_at),
        attributes=decode_attributes(attributes),
    )


def page_of_metas(connection: sqlite3.Connection, generation: int, after_row: int) -> list[ChunkMeta]:
    """One page of metas above a row."""
    rows = connection.execute(
        "SELECT chunk_row, doc_id, revision, seq, label, valid_as_of, born, CASE WHEN died <= :g THEN died END"
        " FROM chunk JOIN document_revision USING (revision_row)"
        f" WHERE chunk_row > :after AND born <= :g ORDER BY chunk_row LIMIT {_PAGE}",
        {"g": generation, "after": after_row},
    )
    return [
        ChunkMeta(row, doc_id, revision, seq, Label(label), decode_optional_instant(valid_as_of), born, died)
        for row, doc_id, revision, seq, label, valid_as_of, born, died in rows.fetchall()
    ]


def page_of_index_texts(
    connection: sqlite3.Connection, generation: int, first_row: int, last_row: int
) -> list[tuple[int, str]]:
    """One page of the texts that are indexed and embedded."""
    rows = connection.execute(
        "SELECT chunk_row, header, text FROM chunk JOIN document_revision USING (revision_row)"
        f" WHERE chunk_row BETWEEN ? AND ? AND born <= ? ORDER BY chunk_row LIMIT {_PAGE}",
        (first_row, last_row, generation),
    )
    return [(row, f"{header}\n{text}" if header else text) for row, header, text in rows.fetchall()]
