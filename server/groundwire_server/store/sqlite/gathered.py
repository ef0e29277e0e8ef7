"""Rows of new documents of one transaction, inserted many at a time: a statement a row costs more than the row."""

from __future__ import annotations

import sqlite3

__all__ = ["GatheredRows"]

_MOST_CHARACTERS = 1 << 20

_REVISION = (
    "INSERT INTO document_revision (revision_row, doc_id, number_1, number_2, number_3, revision, label, born,"
    " first_row, chunks, valid_as_of, event, content_sha256, raw_sha256, raw_bytes, text_chars, title, media_type,"
    " chunker, attributes)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_TEXT = "INSERT INTO source_text (revision_row, text) VALUES (?, ?)"
_PLACES = "INSERT INTO revision_places (revision_row, places) VALUES (?, ?)"
_CHUNK = (
    "INSERT INTO chunk (chunk_row, revision_row, seq, span_start, span_end, parent_start, parent_end, index_sha256,"
    " locator, heading, parent_id, parent_locator, header, text)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

Row = tuple[object, ...]


class GatheredRows:
    """What documents add, in order. Whoever reads these tables or writes what names them has it inserted first.

    Attributes:
        connection: of the transaction.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._doc_ids: set[str] = set()
        self._revisions: list[Row] = []
        self._texts: list[Row] = []
        self._places: list[Row] = []
        self._chunks: list[Row] = []
        self._characters = 0
        self._next_rows: dict[str, int] = {}

    def __contains__(self, doc_id: str) -> bool:
        """Whether a revision of a document waits here."""
        return doc_id in self._doc_ids

    def take_rows(self, table: str, count: int) -> int:
        """The first of so many rows of a table that nobody has had."""
        if table not in self._next_rows:
            row = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
            self._next_rows[table] = 1 if row is None else row[0] + 1
        first = self._next_rows[table]
        self._next_rows[table] += count
        return first

    def add(
        self, doc_id: str, revision: Row, text: Row, places: Row | None, chunks: list[Row], characters: int
    ) -> None:
        """Take the rows of a document with so many characters; inserted are those of many small ones together."""
        self._doc_ids.add(doc_id)
        self._revisions.append(revision)
        self._texts.append(text)
        if places is not None:
            self._places.append(places)
        self._chunks += chunks
        self._characters += characters
        if self._characters > _MOST_CHARACTERS:
            self.insert()

    def insert(self) -> None:
        """Put into the tables what waits."""
        if not self._revisions:
            return
        self.connection.executemany(_REVISION, self._revisions)
        self.connection.executemany(_TEXT, self._texts)
        self.connection.executemany(_PLACES, self._places)
        self.connection.executemany(_CHUNK, self._chunks)
        for rows in (self._revisions, self._texts, self._places, self._chunks):
            rows.clear()
        self._doc_ids.clear()
        self._characters = 0
