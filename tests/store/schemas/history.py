"""What the stores of `tests/store/schemas` hold. It runs under the code of each of their versions and under today's.

A dump is made by the code that wrote that schema, in a clone of its last commit:

    PYTHONPATH=CLONE/server:CLONE/clients/python python tests/store/schemas/history.py schema-N.sql

The commits: 7e446f8 (schema 1), 62e2303 (schema 2), 9bf1af1 (schema 3), a391ae9 (schema 4), 0d9bc8a (schema 5), 46c893f
(schema 6), the one that brought schema-7.sql (schema 7).
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from groundwire_server.evidence import Label, ReviewStatus
from groundwire_server.store import SqliteStore
from groundwire_server.store.conformance import (
    TickingClock,
    every_attribute,
    make_document,
    make_edge,
    make_fact,
)

__all__ = ["MODEL", "VECTOR", "write_history"]

MODEL = "model-1"
VECTOR = b"\x00\x00\x80\x3f" * 2


def write_history(path: Path) -> None:
    """Revisions of every label, one that is withdrawn, figures, relations, vectors, an ingest that is not done."""
    store = SqliteStore(path, now=TickingClock())
    for document in (
        make_document("notes.md", "first 😀 line\nsecond line", attributes=every_attribute()),
        make_document("paper.md", "secret plan\nsecond secret", label=Label.CONFIDENTIAL),
        make_document("gone.md", "old words"),
        make_document("notes.md", "first 😀 line\n第二行です", header="Notes · 2024", label=Label.PUBLIC),
        make_document("notes.md", "hidden for a while", label=Label.CONFIDENTIAL),
        make_document("notes.md", "third text\nsecond line"),
    ):
        with store.writer() as writer:
            writer.replace_document(document)
    with store.writer() as writer:
        filed = datetime(2025, 2, 1, tzinfo=UTC)
        draft = {"review_status": ReviewStatus.PENDING, "source_doc": "draft.csv", "locator": "draft.csv#row=1"}
        lost = make_fact("7", entity="ACME_JP", source_doc="gone.md", locator="gone.md#row=1")
        writer.put_facts([make_fact("10"), make_fact("11", filed_at=filed), lost, make_fact("3", **draft)])
        writer.put_edges([make_edge(), make_edge("ACME_JP", "KYOTO", source_doc="gone.md", locator="gone.md#row=2")])
        writer.set_meta("note", "kept")
    with store.writer() as writer:
        rows = [row for row, _ in store.reader().rows_without_embedding(MODEL)]
        writer.put_embeddings(MODEL, [(row, VECTOR) for row in rows])
    with store.writer() as writer:
        writer.withdraw_document("gone.md")
    with store.writer() as writer:
        writer.start_ingest("i-1", "documents")
        writer.spool("i-1", 1, b"head", b"some bytes")
    store.close()


def _dump(out: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        write_history(path)
        connection = sqlite3.connect(path)
        out.write_text("\n".join(connection.iterdump()) + "\n", encoding="utf-8")
        connection.close()


if __name__ == "__main__":
    _dump(Path(sys.argv[1]))
