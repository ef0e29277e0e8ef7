"""Vectors by the text that was embedded. A chunk never takes a vector from a text of a stricter label than its own:

otherwise the coverage of what somebody may read would tell that the same text stands somewhere hidden.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from groundwire_server.evidence import Label, text_sha256
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["page_of_embeddings", "page_without_embedding", "put_embeddings", "vector_of_text"]

_PAGE = 1024


def put_embeddings(
    connection: sqlite3.Connection, model: str, vectors: Iterable[tuple[int, bytes]]
) -> list[tuple[int, bytes]]:
    """Keep vectors of chunk rows; see `StoreWriter.put_embeddings`. Raises KeyError for a row that is not there."""
    connection.execute("INSERT OR IGNORE INTO embedding_model (name) VALUES (?)", (model,))
    (number,) = connection.execute("SELECT model FROM embedding_model WHERE name = ?", (model,)).fetchone()
    covered: dict[int, bytes] = {}
    for chunk_row, vector in vectors:
        found = connection.execute(
            "SELECT index_sha256, label, purged FROM chunk JOIN document_revision USING (revision_row)"
            " WHERE chunk_row = ?",
            (int(chunk_row),),
        ).fetchone()
        if found is None:
            raise KeyError(chunk_row)
        sha256, label, purged = found
        if label == Label.RESTRICTED or purged is not None:
            continue
        connection.execute(
            "INSERT OR IGNORE INTO embedding (model, index_sha256, label, vector) VALUES (?, ?, ?, ?)",
            (number, sha256, label, vector),
        )
        (kept,) = connection.execute(
            "SELECT vector FROM embedding WHERE model = ? AND index_sha256 = ? AND label <= ? ORDER BY label LIMIT 1",
            (number, sha256, label),
        ).fetchone()
        sharing = connection.execute(
            "SELECT chunk_row FROM chunk JOIN document_revision USING (revision_row)"
            " WHERE index_sha256 = ? AND label BETWEEN ? AND ?",
            (sha256, label, int(Label.CONFIDENTIAL)),
        )
        covered.update((row, kept) for (row,) in sharing)
    return sorted(covered.items())


def page_of_embeddings(
    connection: sqlite3.Connection, generation: int, model: str, first_row: int, last_row: int
) -> list[tuple[int, bytes | None]]:
    """One page of (chunk_row, vector or None)."""
    return connection.execute(
        "SELECT chunk_row, (SELECT vector FROM embedding AS e WHERE e.model ="
        " (SELECT model FROM embedding_model WHERE name = :model)"
        " AND e.index_sha256 = chunk.index_sha256 AND e.label <= r.label AND r.label < :restricted"
        " ORDER BY e.label LIMIT 1)"
        " FROM chunk JOIN document_revision AS r USING (revision_row)"
        f" WHERE chunk_row BETWEEN :first AND :last AND born <= :g ORDER BY chunk_row LIMIT {_PAGE}",
        {
            "g": generation,
            "model": model,
            "first": first_row,
            "last": last_row,
            "restricted": int(Label.RESTRICTED),
        },
    ).fetchall()


def vector_of_text(connection: sqlite3.Connection, model: str, text: str, clearance: Label) -> bytes | None:
    """The vector of an index text, embedded for a label up to a clearance; see `StoreReader.vectors_of_texts`."""
    found = connection.execute(
        "SELECT vector FROM embedding WHERE model = (SELECT model FROM embedding_model WHERE name = ?)"
        " AND index_sha256 = ? AND label <= ? ORDER BY label LIMIT 1",
        (model, text_sha256(text), int(clearance)),
    ).fetchone()
    return None if found is None else bytes(found[0])


def page_without_embedding(
    connection: sqlite3.Connection, generation: int, model: str, after_row: int
) -> list[tuple[int, str]]:
    """One page of (chunk_row, index text) of visible chunks that still need a vector."""
    rows = connection.execute(
        "SELECT chunk_row, header, text FROM chunk JOIN document_revision AS r USING (revision_row)"
        f" WHERE chunk_row > :after AND {VISIBLE} AND r.label < :restricted AND NOT EXISTS"
        " (SELECT 1 FROM embedding AS e WHERE e.model = (SELECT model FROM embedding_model WHERE name = :model)"
        " AND e.index_sha256 = chunk.index_sha256 AND e.label <= r.label)"
        f" ORDER BY chunk_row LIMIT {_PAGE}",
        {"g": generation, "model": model, "after": after_row, "restricted": int(Label.RESTRICTED)},
    )
    return [(row, f"{header}\n{text}" if header else text) for row, header, text in rows.fetchall()]
