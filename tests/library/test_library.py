"""A library: snapshots, files that people edit, vectors, full disks, readers beside writers."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from groundwire_server.dense import HashEmbedder, VectorDirectory
from groundwire_server.errors import (
    Aborted,
    ErrorReason,
    FailedPrecondition,
    GlossaryConflict,
    InvalidRequest,
    ResourceExhausted,
    Unavailable,
)
from groundwire_server.evidence import Attribute, Call, CallOptions, Family, Label, Operator, Predicate, Principal
from groundwire_server.glossary import Glossary, MetricTerm
from groundwire_server.library import Library, LibraryConfig, Snapshot
from groundwire_server.library.indexes import LibraryIndexes
from groundwire_server.store.conformance import START, TickingClock, make_document, make_edge, make_fact
from groundwire_server.text import tokenize

SECRET = b"secret"
READER = Principal("reader", Label.INTERNAL)
CALL = Call(READER)

Open = Callable[..., Library]

GLOSSARY = '[[metric]]\ncode = "REVENUE"\nlabel = "Revenue"\nsynonyms = { en = ["turnover"] }\n'
SHARED = GLOSSARY + '[[metric]]\ncode = "ASSETS"\nlabel = "Asset turnover"\nsynonyms = { en = ["turnover"] }\n'


@pytest.fixture
def open_library(tmp_path: Path) -> Iterator[Open]:
    opened: list[Library] = []

    def make(**options: object) -> Library:
        for library in opened:
            library.close()
        opened.append(Library(tmp_path / "lib", "lib", secret=SECRET, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield make
    for library in opened:
        library.close()


def _put(library: Library, *documents: tuple[str, str]) -> None:
    with library.writing() as writer:
        for doc_id, text in documents:
            writer.replace_document(make_document(doc_id, text))


def _texts(snapshot: Snapshot, call: Call = CALL) -> list[str]:
    rows = np.flatnonzero(snapshot.candidates(call)).tolist()
    return [chunk.text for chunk in snapshot.chunks(rows)]


def _found(snapshot: Snapshot, query: str) -> dict[tuple[str, int, int], float]:
    scores = snapshot.lexical.search(tokenize(query), snapshot.candidates(CALL))
    return {snapshot.tie_key(row): score for row, score in zip(scores.rows, scores.scores, strict=True)}


def test_a_write_is_in_the_next_snapshot_and_not_in_this_one(open_library: Open) -> None:
    library = open_library()
    empty = library.snapshot()
    _put(library, ("a", "one\ntwo"))
    first = library.snapshot()
    _put(library, ("a", "three"), ("b", "four"))
    assert _texts(empty) == []
    assert _texts(first) == ["one", "two"]
    assert _texts(library.snapshot()) == ["three", "four"]
    assert _found(first, "one four") == {("a", 1, 0): pytest.approx(0.6931, abs=1e-3)}
    assert set(_found(library.snapshot(), "one four")) == {("b", 1, 0)}
    assert [first.chunk_row(row) for row in range(first.rows)] == [1, 2]


def test_nothing_new_is_the_same_snapshot(open_library: Open) -> None:
    library = open_library()
    _put(library, ("a", "one"))
    before = library.snapshot()
    _put(library, ("a", "one"))
    with library.writing() as writer:
        writer.start_ingest("i", "documents")
    assert library.snapshot() is before


def test_candidates_are_read_only_and_cached(open_library: Open) -> None:
    library = open_library()
    _put(library, ("a", "one"))
    mask = library.snapshot().candidates(CALL)
    assert library.snapshot().candidates(CALL) is mask
    with pytest.raises(ValueError, match="read-only"):
        mask[0] = False


def test_time_axes_and_filters_narrow(open_library: Open) -> None:
    clock = TickingClock()
    library = open_library(now=clock)
    with library.writing() as writer:
        writer.replace_document(make_document("old", "old", valid_as_of=START, attributes=(Attribute("n", 1),)))
        writer.replace_document(make_document("any", "any", attributes=(Attribute("n", 2),)))
    clock.moment = START + timedelta(days=10)
    with library.writing() as writer:
        writer.replace_document(make_document("new", "new", valid_as_of=START + timedelta(days=9)))
        writer.withdraw_document("any")
    snapshot = library.snapshot()

    def read(**options: object) -> list[str]:
        return _texts(snapshot, Call(READER, CallOptions(**options)))  # type: ignore[arg-type]

    assert read() == ["old", "new"]
    assert read(known_at=START) == []
    assert read(known_at=START + timedelta(days=1)) == ["old", "any"]
    assert read(known_at=START + timedelta(days=999)) == ["old", "new"]
    assert read(valid_at=START + timedelta(days=1)) == ["old"]
    assert read(valid_at=START - timedelta(days=1), known_at=START + timedelta(days=1)) == ["any"]
    assert read(filter=Predicate("n", Operator.PRESENT, (False,))) == ["new"]
    hint = Predicate("doc_id", Operator.EQ, ("old",))
    assert _texts(snapshot, Call(READER, CallOptions(hint=hint))) == ["old", "new"]
    rows = np.flatnonzero(snapshot.candidates(CALL, hint)).tolist()
    assert [chunk.doc_id for chunk in snapshot.chunks(rows)] == ["old"]
    assert snapshot.reader_at(START + timedelta(days=1)).counts(Label.INTERNAL)[0] == 2
    assert snapshot.reader_at(None) is snapshot.reader
    assert snapshot.attribute_schema(READER)["n"] is Family.NUMBER
    assert list(snapshot.attribute_schema(READER)) == [
        "doc_id",
        "ingested_at",
        "media_type",
        "n",
        "title",
        "valid_as_of",
    ]


def test_settings_are_kept_and_written_down(open_library: Open, tmp_path: Path) -> None:
    library = open_library(config=LibraryConfig(description="Reports"))
    assert library.config.description == "Reports"
    assert LibraryConfig.from_toml((tmp_path / "lib/library.toml").read_text()) == library.config
    before = library.snapshot()
    library.set_config(LibraryConfig(description="More reports", k1=1.2))
    assert before.config.k1 == 1.5
    assert library.snapshot().config.k1 == 1.2
    assert library.snapshot().snapshot_id(READER) != before.snapshot_id(READER)
    library = open_library(config=LibraryConfig(description="ignored"))
    assert library.config == LibraryConfig(description="More reports", k1=1.2)
    with pytest.raises(InvalidRequest):
        library.set_config(LibraryConfig(b=7))
    assert library.config.b == 0.75


def test_what_people_write_into_the_files_is_taken_over(open_library: Open, tmp_path: Path) -> None:
    library = open_library()
    _put(library, ("a", "one"))
    first = library.snapshot().snapshot_id(READER)
    (tmp_path / "lib/library.toml").write_text("k1 = 2\n")
    (tmp_path / "lib/glossary.toml").write_text(GLOSSARY)
    library = open_library()
    assert library.config.k1 == 2
    assert list(library.snapshot().glossary.metrics) == ["REVENUE"]
    second = library.snapshot().snapshot_id(READER)
    assert second != first
    generation = library.snapshot().generation
    library = open_library()
    assert library.snapshot().generation == generation
    assert library.snapshot().snapshot_id(READER) == second
    (tmp_path / "lib/glossary.toml").unlink()
    library = open_library()
    assert list(library.snapshot().glossary.metrics) == ["REVENUE"]
    assert (tmp_path / "lib/glossary.toml").read_text() == GLOSSARY


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("library.toml", b"k1 = 'x'\n"),
        ("library.toml", b"\xff\xfe"),
        ("library.toml", b"no toml"),
        ("glossary.toml", b"[[metric]]\n"),
        ("glossary.toml", b"\xff"),
        ("glossary.toml", SHARED.encode()),
    ],
)
def test_files_that_do_not_hold_are_refused_and_change_nothing(
    open_library: Open, tmp_path: Path, file: str, content: bytes
) -> None:
    library = open_library()
    library.set_glossary(Glossary.from_toml(GLOSSARY))
    kept = (tmp_path / "lib" / file).read_bytes()
    (tmp_path / "lib" / file).write_bytes(content)
    with pytest.raises((InvalidRequest, GlossaryConflict)):
        open_library()
    (tmp_path / "lib" / file).write_bytes(kept)
    library = open_library()
    assert list(library.snapshot().glossary.metrics) == ["REVENUE"]
    assert library.config == LibraryConfig()


def test_a_glossary_that_is_edited_holds_without_opening_anew(open_library: Open, tmp_path: Path) -> None:
    library, file = open_library(), tmp_path / "lib/glossary.toml"
    library.set_glossary(Glossary.from_toml(GLOSSARY))
    before = library.snapshot()
    assert not library.adopt_glossary()
    edited = GLOSSARY + '\n[[metric]]\ncode = "COST"\n'
    file.write_text(edited)
    _put(library, ("a", "one"))  # a write leaves what a person has written
    assert file.read_text() == edited
    assert not library.adopt_glossary(settled=False)  # whoever writes may not be done
    assert library.adopt_glossary(settled=False)
    assert list(library.snapshot().glossary.metrics) == ["COST", "REVENUE"]
    assert library.snapshot().snapshot_id(READER) != before.snapshot_id(READER)
    assert list(before.glossary.metrics) == ["REVENUE"]
    assert not library.adopt_glossary()
    assert file.read_text() == edited


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"[[metric]]\n", "metric[0].code: a text is needed (line 1)"),
        (b"[[metric]\n", "no TOML at line 1"),
        (b"\xff", "glossary.toml: is no UTF-8 text"),
        (SHARED.encode(), "is a name of"),
        (b'[[metric]]\ncode = "A"\nderivation = "A +"\n', "metric[0].derivation: 'A +' is no formula"),
    ],
)
def test_an_edited_glossary_that_does_not_hold_changes_nothing_and_is_told(
    open_library: Open, tmp_path: Path, content: bytes, fault: str
) -> None:
    library, file = open_library(), tmp_path / "lib/glossary.toml"
    library.set_glossary(Glossary.from_toml(GLOSSARY))
    before = library.snapshot()
    file.write_bytes(content)
    assert not library.adopt_glossary()
    assert fault in library.glossary_fault
    assert library.snapshot() is before
    with pytest.raises(Aborted, match="was edited and does not hold"):
        library.set_glossary(Glossary())
    assert file.read_bytes() == content
    file.write_text(GLOSSARY + "# mended\n")
    assert library.adopt_glossary()
    assert library.glossary_fault == ""
    file.unlink()
    assert not library.adopt_glossary()
    library.set_glossary(Glossary())
    assert file.read_text() == ""


def test_an_edit_is_taken_in_before_what_comes_over_the_wire(open_library: Open, tmp_path: Path) -> None:
    library, file = open_library(), tmp_path / "lib/glossary.toml"
    file.write_text(GLOSSARY)
    library.change_glossary(lambda state: Glossary([*state.glossary.terms, MetricTerm("COST")]))
    assert list(library.snapshot().glossary.metrics) == ["COST", "REVENUE"]
    assert file.read_text() == library.snapshot().glossary.to_toml()


def test_a_file_that_a_crash_left_behind_is_brought_up_to_the_store(open_library: Open, tmp_path: Path) -> None:
    library = open_library()
    library.set_config(LibraryConfig(k1=1.1))
    before = (tmp_path / "lib/library.toml").read_bytes()
    library.set_config(LibraryConfig(k1=1.2))
    library.close()
    (tmp_path / "lib/library.toml").write_bytes(before)  # as if the process had died between commit and file
    library = open_library()
    assert library.config.k1 == 1.2
    assert LibraryConfig.from_toml((tmp_path / "lib/library.toml").read_text()).k1 == 1.2


def test_a_shared_synonym_needs_a_library_that_reports_it(open_library: Open) -> None:
    library = open_library()
    shared = Glossary.from_toml(SHARED, ambiguous="report")
    with pytest.raises(GlossaryConflict):
        library.set_glossary(shared)
    assert len(library.snapshot().glossary) == 0
    library.set_config(LibraryConfig(ambiguous="report"))
    library.set_glossary(shared)
    assert len(library.snapshot().glossary) == 2
    with pytest.raises(GlossaryConflict):
        library.set_config(LibraryConfig(ambiguous="refuse"))
    assert library.config.ambiguous == "report"
    assert len(open_library().snapshot().glossary) == 2


def test_vectors_come_with_the_embedder_and_stay(open_library: Open) -> None:
    library, embedder = open_library(), HashEmbedder()
    _put(library, ("a", "one\ntwo"), ("b", "one"))
    lexical = library.snapshot()
    assert lexical.vectors is None
    assert lexical.coverage(lexical.candidates(CALL)) == 0.0
    assert list(library.rows_without_embedding()) == []
    with pytest.raises(FailedPrecondition) as refused:
        library.add_vectors([(1, embedder.embed_passage("one"))])
    assert refused.value.reason is ErrorReason.NO_EMBEDDER
    library.use_embedder(embedder)
    none = library.snapshot()
    assert list(library.rows_without_embedding()) == [(1, "one"), (2, "two"), (3, "one")]
    library.add_vectors([(1, embedder.embed_passage("one"))])
    some = library.snapshot()
    assert some.coverage(some.candidates(CALL)) == pytest.approx(2 / 3)
    library.add_vectors([(2, embedder.embed_passage("two"))])
    whole = library.snapshot()
    assert whole.coverage(whole.candidates(CALL)) == 1.0
    assert len({s.snapshot_id(READER) for s in (lexical, none, some, whole)}) == 4
    assert some.vectors is not None
    assert some.vectors.present.tolist() == [True, False, True]
    _put(library, ("b", "two\none"))  # texts that were embedded before
    assert list(library.rows_without_embedding()) == []
    snapshot_id = library.snapshot().snapshot_id(READER)
    library = open_library()
    library.use_embedder(embedder)
    assert library.snapshot().snapshot_id(READER) == snapshot_id
    empty = library.snapshot().candidates(Call(READER, CallOptions(known_at=START - timedelta(days=999))))
    assert library.snapshot().coverage(empty) == 1.0


def test_vectors_of_another_embedder_are_not_mixed_unless_it_replaces_them(open_library: Open) -> None:
    one, other = HashEmbedder(), HashEmbedder(dim=32)
    assert one.version != other.version
    library = open_library()
    _put(library, ("a", "one"))
    library.use_embedder(other)  # nothing is embedded yet
    library.use_embedder(one)
    library.add_vectors([(1, one.embed_passage("one"))])
    assert library.snapshot().foreign_model(Label.INTERNAL) is None
    library.use_embedder(other)
    snapshot = library.snapshot()
    assert snapshot.foreign_model(Label.INTERNAL) == one.version
    assert snapshot.coverage(snapshot.candidates(CALL)) == 0.0
    library.use_embedder(other, replace=True)
    assert library.snapshot().foreign_model(Label.CONFIDENTIAL) is None
    assert list(library.rows_without_embedding()) == [(1, "one")]
    library.add_vectors([(1, other.embed_passage("one"))])
    library = open_library()
    library.use_embedder(one)
    assert library.snapshot().foreign_model(Label.INTERNAL) == other.version
    library.use_embedder(other)
    snapshot = library.snapshot()
    assert snapshot.foreign_model(Label.INTERNAL) is None
    assert snapshot.coverage(snapshot.candidates(CALL)) == 1.0
    library.use_embedder(one, replace=True)  # its vectors are still in the store
    assert library.snapshot().coverage(snapshot.candidates(CALL)) == 1.0
    library.use_embedder(None)
    assert library.snapshot().vectors is None
    assert library.snapshot().foreign_model(Label.INTERNAL) is None


def test_a_full_disk_stores_nothing_and_reading_goes_on(open_library: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    library = open_library()
    _put(library, ("a", "one"))
    before = library.snapshot()
    connection = library.store._connection  # type: ignore[attr-defined]
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 4}")
    with pytest.raises(ResourceExhausted) as full:
        _put(library, *((f"d{number}", "x" * 10_000) for number in range(50)))
    assert full.value.reason is ErrorReason.STORAGE_FULL
    assert library.snapshot() is before
    assert _texts(library.snapshot()) == ["one"]
    connection.execute("PRAGMA max_page_count = 1000000")
    _put(library, ("b", "two"))
    assert _texts(library.snapshot()) == ["one", "two"]


def _disk_is_full(*args: object, **options: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("part", ["follow", "set_vectors"])
def test_what_a_full_disk_kept_from_the_index_comes_with_the_next_write(
    open_library: Open, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    library, embedder = open_library(), HashEmbedder()
    library.use_embedder(embedder)
    _put(library, ("a", "one"))
    with monkeypatch.context() as patch:
        patch.setattr(LibraryIndexes, part, _disk_is_full)
        writes: dict[str, Callable[[], None]] = {
            "follow": lambda: _put(library, ("b", "two")),
            "set_vectors": lambda: library.add_vectors([(1, embedder.embed_passage("one"))]),
        }
        with pytest.raises(ResourceExhausted):
            writes[part]()
    assert _texts(library.snapshot()) == ["one"]
    _put(library, ("c", "three"))
    snapshot = library.snapshot()
    assert _texts(snapshot) == (["one", "two", "three"] if part == "follow" else ["one", "three"])
    assert set(_found(snapshot, "three one")) == {("a", 1, 0), ("c", 1, 0)}


def test_vectors_that_could_not_be_written_are_taken_from_the_store_later(
    open_library: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, embedder = open_library(), HashEmbedder()
    library.use_embedder(embedder)
    _put(library, ("a", "one\ntwo"))
    with monkeypatch.context() as patch:
        patch.setattr(VectorDirectory, "put", _disk_is_full)
        with pytest.raises(ResourceExhausted):
            library.add_vectors([(row, embedder.embed_passage(text)) for row, text in library.rows_without_embedding()])
    assert library.snapshot().coverage(library.snapshot().candidates(CALL)) == 0.0
    _put(library, ("b", "three"))
    snapshot = library.snapshot()
    assert snapshot.coverage(snapshot.candidates(CALL)) == pytest.approx(2 / 3)


def test_a_commit_that_the_process_did_not_live_to_index(open_library: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    library = open_library()
    _put(library, ("a", "one"))
    with library.store.writer() as writer:  # the store has it, and nobody indexed it
        writer.replace_document(make_document("b", "two"))
        writer.withdraw_document("a")
    assert _texts(library.snapshot()) == ["one"]
    library = open_library()
    assert _texts(library.snapshot()) == ["two"]
    assert set(_found(library.snapshot(), "one two")) == {("b", 1, 0)}


def test_readers_beside_a_writer_see_whole_states(open_library: Open) -> None:
    library = open_library()
    numbers = 40
    _put(library, *((f"d{name}", "version 0") for name in range(3)))
    stop = threading.Event()
    faults: list[object] = []

    def read() -> None:
        while not stop.is_set():
            snapshot = library.snapshot()
            texts = _texts(snapshot)
            if len(texts) != 3 or len(set(texts)) != 1:
                faults.append(texts)
            if [c.text for c in snapshot.chunks(np.flatnonzero(snapshot.candidates(CALL)).tolist())] != texts:
                faults.append("the same snapshot gave something else")
            facts = snapshot.reader.facts(Label.INTERNAL)
            if facts and facts[-1].record.value != texts[0].removeprefix("version "):
                faults.append((facts[-1].record.value, texts))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, numbers):
        with library.writing() as writer:
            for name in range(3):
                writer.replace_document(make_document(f"d{name}", f"version {number}"))
            writer.put_facts([make_fact(str(number))])
            writer.put_edges([make_edge()])
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert _texts(library.snapshot()) == [f"version {numbers - 1}"] * 3


def test_writers_come_one_at_a_time(open_library: Open) -> None:
    library = open_library()

    def write(name: str) -> None:
        for number in range(8):
            _put(library, (f"{name}/{number}", f"{name} {number}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    snapshot = library.snapshot()
    assert sorted(_texts(snapshot)) == sorted(f"{name} {n}" for name in "abc" for n in range(8))
    assert len(_found(snapshot, "a b c")) == 24


def test_a_closed_library_says_so(open_library: Open) -> None:
    library = open_library()
    library.close()
    library.close()
    with pytest.raises(Unavailable), library.writing():
        pass
    with pytest.raises(Unavailable):
        library.set_config(LibraryConfig())
