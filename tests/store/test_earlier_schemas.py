"""Stores as each earlier version laid and filled them, opened today: they answer as one that was filled today."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from groundwire_server.citation import CitationVerdict, VerifyRequest, verify_citation
from groundwire_server.evidence import Call, Label, Lineage, Principal, Snippets, Span
from groundwire_server.library import Library
from groundwire_server.narrative import RetrievalMode, RetrieveRequest, retrieve
from groundwire_server.store import SqliteStore, StoreReader
from groundwire_server.store.conformance import TickingClock, make_document, visible_state
from groundwire_server.store.sqlite.schema import MIGRATIONS
from tests.store.schemas.history import MODEL, VECTOR, write_history

SCHEMAS = Path(__file__).parent / "schemas"
DUMPS = sorted(SCHEMAS.glob("schema-*.sql"))
CLEARANCES = (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)


def restored(dump: Path, path: Path) -> Path:
    """A store of an earlier version, as it lay on the disk."""
    connection = sqlite3.connect(path)
    connection.executescript(dump.read_text("utf-8"))
    connection.close()
    return path


def everything(reader: StoreReader, clearance: Label) -> dict[str, object]:
    """All that is read; not the digest, which has only to be the same from one day to the next."""
    state = visible_state(reader, clearance)
    del state["digest"]
    first, last = 1, reader.chunk_count()
    return {
        **state,
        "index texts": list(reader.index_texts(first, last)),
        "vectors": list(reader.embeddings(MODEL, first, last)),
        "left": list(reader.rows_without_embedding(MODEL)),
        "note": reader.meta("note"),
        "ingest": (reader.ingest("i-1"), reader.spooled("i-1")),
        "past": [
            [(chunk.doc_id, chunk.revision, chunk.text) for chunk in reader.iter_chunks(clearance=clearance, doc_id=d)]
            for d in ("notes.md", "paper.md", "gone.md")
        ],
    }


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_a_store_of_an_earlier_schema_answers_as_one_of_today(dump: Path, tmp_path: Path) -> None:
    write_history(tmp_path / "today.sqlite")
    old, today = SqliteStore(restored(dump, tmp_path / "old.sqlite")), SqliteStore(tmp_path / "today.sqlite")
    for generation in range(1, today.reader().generation + 1):
        for clearance in CLEARANCES:
            then = everything(old.reader(generation), clearance)
            assert then == everything(today.reader(generation), clearance)
    digests = [old.reader().content_digest(clearance) for clearance in CLEARANCES]
    assert old.execute_read("SELECT name FROM migration ORDER BY place") == [(name,) for name, _ in MIGRATIONS]
    old.close()
    again = SqliteStore(tmp_path / "old.sqlite", now=TickingClock())
    assert [again.reader().content_digest(clearance) for clearance in CLEARANCES] == digests
    for store in (again, today):
        with store.writer() as writer:
            assert writer.replace_document(make_document("notes.md", "third text\nsecond line")).unchanged
            assert writer.replace_document(make_document("notes.md", "fourth"), clearance=Label.INTERNAL).revision == 4
            assert writer.replace_document(make_document("gone.md", "old words")).revision == 2
    assert (
        everything(again.reader(), Label.CONFIDENTIAL)["revisions"]
        == (everything(today.reader(), Label.CONFIDENTIAL)["revisions"])
    )
    again.close()
    today.close()


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_citations_into_a_library_of_an_earlier_schema_hold(dump: Path, tmp_path: Path) -> None:
    restored(dump, tmp_path / "store.sqlite")
    library = Library(tmp_path, "default", secret=b"s", now=TickingClock())
    caller = Principal("reader", Label.INTERNAL)
    snapshot = library.snapshot()
    frames = retrieve(RetrieveRequest("third second", mode=RetrievalMode.LEXICAL), Call(caller), [snapshot])
    found = [snippet for frame in frames if isinstance(frame, Snippets) for snippet in frame.snippets]
    assert [snippet.lineage.span for snippet in found] == [Span(0, 10), Span(11, 22)]

    def verdict(lineage: Lineage, quote: str | None = None) -> CitationVerdict:
        return verify_citation(VerifyRequest(lineage, quote), caller, [snapshot]).verdict

    assert [verdict(snippet.lineage) for snippet in found] == [CitationVerdict.EXACT] * 2
    first = Lineage("default", doc_id="notes.md", revision=1, span=Span(0, 12))
    assert verdict(first, "first 😀 line") is CitationVerdict.SUPERSEDED
    hidden = Lineage("default", doc_id="paper.md", revision=1, span=Span(0, 11))
    assert verdict(hidden, "secret plan") is CitationVerdict.NOT_FOUND
    library.close()


def test_every_earlier_schema_has_its_dump() -> None:
    """Whoever adds a migration adds the dump of the schema before it."""
    assert [dump.stem for dump in DUMPS] == [f"schema-{step}" for step in range(1, len(MIGRATIONS) + 1)]
    for step, dump in enumerate(DUMPS, 1):
        assert [name in dump.read_text("utf-8") for name, _ in MIGRATIONS] == [
            place < step for place in range(len(MIGRATIONS))
        ]


def test_vectors_of_an_earlier_schema_are_kept(tmp_path: Path) -> None:
    store = SqliteStore(restored(DUMPS[0], tmp_path / "old.sqlite"))
    assert VECTOR in [vector for _, vector in store.reader().embeddings(MODEL, 1, store.reader().chunk_count())]
    store.close()
