"""What is particular to SQLite: migrations, versions, full disks, read-only connections, damaged files."""

from __future__ import annotations

import resource
import signal
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_server.errors import (
    ErrorReason,
    FailedPrecondition,
    GroundwireError,
    InvalidRequest,
    ResourceExhausted,
    Unavailable,
)
from groundwire_server.evidence import Label
from groundwire_server.store import SqliteStore
from groundwire_server.store.conformance import TickingClock, make_document, make_fact
from groundwire_server.store.sqlite.schema import MIGRATIONS, Migration, apply_migrations


def _filled(path: Path) -> SqliteStore:
    store = SqliteStore(path, now=TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("a"))
    return store


def _add_column(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE chunk ADD COLUMN colour TEXT NOT NULL DEFAULT 'none'")


def _fail(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE half (done TEXT)")
    raise RuntimeError("stop")


LATER: tuple[tuple[str, Migration], ...] = (*MIGRATIONS, ("9001_colour", _add_column))


def test_a_later_migration_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    _filled(path).close()
    for _ in range(2):
        store = SqliteStore(path, migrations=LATER)
        assert [r.doc_id for r in store.reader().documents(clearance=None)] == ["a"]
        assert store.execute_read("SELECT DISTINCT colour FROM chunk") == [("none",)]
        assert store.execute_read("SELECT name FROM migration") == [(name,) for name, _ in LATER]
        store.close()


def test_revisions_of_a_store_of_the_first_release_are_counted_as_they_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    SqliteStore(path, migrations=MIGRATIONS[:1]).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("INSERT INTO generation VALUES (1, 0)")
    for doc_id, labels in (("a", (2, 3, 4, 1, 2)), ("b", (3, 2)), ("日本", (4,))):
        for revision, label in enumerate(labels, 1):
            last = revision == len(labels)
            connection.execute(
                "INSERT INTO document_revision (doc_id, revision, label, born, died, first_row, chunks, event,"
                " content_sha256, raw_sha256, raw_bytes, text_chars, title, media_type, chunker, attributes)"
                " VALUES (?, ?, ?, 1, ?, 0, 0, x'00', x'00', x'00', 0, 0, '', '', '', '[]')",
                (doc_id, revision, label, None if last else 1),
            )
    connection.close()
    store = SqliteStore(path, now=TickingClock())
    with store.writer() as writer:
        assert writer.replace_document(make_document("b"), clearance=Label.INTERNAL).revision == 2
    reader = store.reader()
    seen = {
        (doc_id, label): [r.revision for r in reader.revisions(doc_id, clearance=label)]
        for doc_id in ("a", "b", "日本")
        for label in (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL, None)
    }
    assert {key: max(numbers, default=0) for key, numbers in seen.items()} == {
        ("a", Label.PUBLIC): 1,
        ("a", Label.INTERNAL): 3,
        ("a", Label.CONFIDENTIAL): 4,
        ("a", None): 5,
        ("b", Label.PUBLIC): 0,
        ("b", Label.INTERNAL): 2,
        ("b", Label.CONFIDENTIAL): 3,
        ("b", None): 3,
        ("日本", Label.PUBLIC): 0,
        ("日本", Label.INTERNAL): 0,
        ("日本", Label.CONFIDENTIAL): 0,
        ("日本", None): 1,
    }
    assert all(numbers == list(range(len(numbers), 0, -1)) for numbers in seen.values())
    store.close()


def test_a_store_from_before_places_were_kept_keeps_them_from_now_on(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    SqliteStore(path, migrations=MIGRATIONS[:2]).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("INSERT INTO generation VALUES (1, 0)")
    connection.execute(
        "INSERT INTO document_revision (doc_id, revision, label, number_1, number_2, number_3, born, first_row, chunks,"
        " event, content_sha256, raw_sha256, raw_bytes, text_chars, title, media_type, chunker, attributes)"
        " VALUES ('old', 1, 2, 0, 1, 1, 1, 0, 0, x'00', x'00', x'00', 0, 3, '', 'text/plain', 'whole', '[]')"
    )
    connection.execute("INSERT INTO source_text VALUES (1, 'old')")
    connection.close()
    store = SqliteStore(path, now=TickingClock())
    assert store.reader().source_text("old", 1, clearance=Label.INTERNAL) == "old"
    assert store.reader().source_places("old", 1, clearance=Label.INTERNAL) == b""
    with store.writer() as writer:
        writer.replace_document(replace(make_document("new"), places=b"\x00packed"))
        writer.recut_document("old", 1, "paragraph(480,80)", ())
    with store.writer() as writer:
        writer.recut_document("new", 1, "paragraph(9,0)", ())
    places = [store.reader().source_places("new", revision, clearance=None) for revision in (1, 2, 3)]
    assert places == [b"\x00packed", b"\x00packed", b""]
    assert store.reader().source_places("old", 2, clearance=None) == b""
    store.close()


def test_a_failed_migration_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    _filled(path).close()
    with pytest.raises(RuntimeError):
        SqliteStore(path, migrations=(*LATER, ("9002_fail", _fail)))
    store = SqliteStore(path)
    assert store.execute_read("SELECT name FROM sqlite_master WHERE name = 'half'") == []
    assert store.reader().counts(Label.INTERNAL) == (1, 2, 0, 0)
    store.close()


def test_a_store_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    SqliteStore(path, migrations=LATER).close()
    before = path.read_bytes()
    with pytest.raises(FailedPrecondition) as refused:
        SqliteStore(path)
    assert refused.value.reason is ErrorReason.STORE_VERSION
    known = len(MIGRATIONS)
    assert refused.value.details == {"stored": str(known + 1), "known": str(known)}
    assert path.read_bytes() == before


def test_a_store_of_other_steps_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    apply_migrations(connection, (("0001_something_else", _add_nothing),))
    connection.close()
    with pytest.raises(FailedPrecondition) as refused:
        SqliteStore(path)
    assert refused.value.reason is ErrorReason.STORE_VERSION


def _add_nothing(connection: sqlite3.Connection) -> None:
    pass


def test_a_system_that_refuses_longer_files_leaves_nothing_half_written(tmp_path: Path) -> None:
    store = _filled(tmp_path / "store.sqlite")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
        with pytest.raises(ResourceExhausted) as full, store.writer() as writer:
            writer.replace_document(make_document("b", text="a line of text\n" * 20_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert full.value.reason is ErrorReason.STORAGE_FULL
    assert [each.doc_id for each in store.reader().documents(clearance=None)] == ["a"]
    with store.writer() as writer:
        writer.replace_document(make_document("c"))
    store.close()


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    store = _filled(tmp_path / "store.sqlite")
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages + 8}")
    before = store.reader()

    def fill() -> None:
        with store.writer() as writer:
            writer.replace_document(make_document("a", "changed"))
            writer.put_facts([make_fact()])
            for number in range(1000):
                writer.replace_document(make_document(f"big {number}", "x" * 20_000))

    with pytest.raises(ResourceExhausted) as full:
        fill()
    assert full.value.reason is ErrorReason.STORAGE_FULL
    after = store.reader()
    assert after.generation == before.generation
    assert after.counts(Label.INTERNAL) == (1, 2, 0, 0)
    assert after.content_digest(Label.INTERNAL) == before.content_digest(Label.INTERNAL)
    store._connection.execute("PRAGMA max_page_count = 1000000")
    with store.writer() as writer:
        assert writer.replace_document(make_document("a", "changed")).revision == 2
    assert store._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store.close()


def test_a_commit_is_on_the_disk_before_it_returns(tmp_path: Path) -> None:
    store = _filled(tmp_path / "store.sqlite")
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM chunk",
        "INSERT INTO meta VALUES ('a', 1, 'b')",
        "UPDATE fact SET value = '0'",
        "DROP TABLE chunk",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA query_only = OFF",
        "ATTACH 'other.sqlite' AS other",
        "BEGIN IMMEDIATE",
        "VACUUM",
        "REINDEX",
        "SELECT load_extension('x')",
        "SELECT 1; SELECT 2",
        "WITH gone AS (SELECT 1) DELETE FROM chunk",
        "no SQL at all",
        "",
        "SELECT ?",
        "SELECT x'00\x00",
    ],
)
def test_only_reads_are_executed(tmp_path: Path, statement: str) -> None:
    store = _filled(tmp_path / "store.sqlite")
    if statement:
        with pytest.raises(InvalidRequest) as refused:
            store.execute_read(statement)
        assert refused.value.violations[0].reason is ErrorReason.VALUE_MALFORMED
    else:
        assert store.execute_read(statement) == []
    assert store.execute_read("SELECT count(*) FROM chunk") == [(2,)]
    assert store.execute_read("SELECT doc_id FROM document_revision WHERE revision = ?", [1]) == [("a",)]
    store.close()


def test_a_damaged_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"This is no database. " * 100)
    with pytest.raises(GroundwireError) as refused:
        SqliteStore(path)
    assert refused.value.reason is ErrorReason.LIBRARIES_UNREACHABLE
    assert "database" not in refused.value.message


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(FailedPrecondition) as refused:
        SqliteStore(tmp_path)
    assert refused.value.reason is ErrorReason.NOT_SERVING


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = _filled(tmp_path / "store.sqlite")
    reader = store.reader()
    store.close()
    store.close()
    with pytest.raises(Unavailable):
        reader.documents(clearance=None)
    with pytest.raises(Unavailable), store.writer():
        pass
    with pytest.raises(Unavailable):
        store.reader()


def test_a_chunk_needs_its_revision(tmp_path: Path) -> None:
    store = _filled(tmp_path / "store.sqlite")

    def orphan() -> None:
        with store.writer():
            store._connection.execute("DELETE FROM source_text")
            store._connection.execute("DELETE FROM document_revision")

    with pytest.raises(sqlite3.IntegrityError):
        orphan()
    assert store.reader().counts(Label.INTERNAL) == (1, 2, 0, 0)
    assert store.reader().source_text("a", 1, clearance=None) is not None
    store.close()
