"""A library that one process writes and others follow: what they read is what it reads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import FailedPrecondition, Unavailable, UnknownResource
from groundwire_server.evidence import Call, CallOptions, Label, Principal
from groundwire_server.glossary import Glossary
from groundwire_server.library import DataFolder, FollowedFolder, FollowedLibrary, Library, LibraryConfig, Snapshot
from groundwire_server.store import EdgeRecord, FactRecord, NewDocument, PurgePolicy, StoreWriter
from groundwire_server.store.conformance import START, TickingClock, make_document, make_edge
from groundwire_server.text import tokenize
from tests.library.test_machine import CLEARANCES, QUERY, LibraryMachine, doc_ids
from tests.support.eventually import eventually

SECRET = b"the secret of these tests"
READER = Principal("reader", Label.INTERNAL)
GLOSSARY = '[[metric]]\ncode = "REVENUE"\nlabel = "Revenue"\nsynonyms = { ja = ["売上"] }\n'


def listing(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Every file with what changes when it is written, but for the marks that SQLite keeps of its readers."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith("-shm")]
    stats = {str(path.relative_to(folder)): path.stat() for path in files}
    return {name: (found.st_ino, found.st_size, found.st_mtime_ns) for name, found in stats.items()}


class FollowedMachine(LibraryMachine):
    """All that `LibraryMachine` does to a library, with another that follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.follower: FollowedLibrary | None = None
        self.followed_embedded = False
        self.kept: list[tuple[Snapshot, dict[Label, object]]] = []

    def teardown(self) -> None:
        self._drop()
        super().teardown()

    def _drop(self) -> None:
        self.kept.clear()
        if self.follower is not None:
            self.follower.close()
            self.follower = None

    @contextmanager
    def _writing(self) -> Iterator[StoreWriter]:
        with self.library.writing() as writer:
            yield writer

    def _put(self, writer: StoreWriter, piece: NewDocument | FactRecord | EdgeRecord) -> None:
        """Without a model: the two libraries are compared with each other."""
        if isinstance(piece, NewDocument):
            writer.replace_document(piece)
        elif isinstance(piece, FactRecord):
            writer.put_facts([piece])
        else:
            writer.put_edges([piece])

    @rule(doc_id=st.one_of(doc_ids, st.just("group.csv")))
    def withdraw(self, doc_id: str) -> None:
        with suppress(UnknownResource), self.library.writing() as writer:
            writer.withdraw_document(doc_id)

    @rule(seconds=st.integers(0, 200), clearance=st.sampled_from(CLEARANCES))
    def read_the_past(self, seconds: int, clearance: Label) -> None:
        if self.follower is not None:
            known_at = START + timedelta(seconds=seconds, milliseconds=500)
            call = Call(Principal("p", clearance), CallOptions(known_at=known_at))
            past = [each.snapshot().candidates(call).tolist() for each in (self.library, self.follower)]
            assert past[0] == past[1]

    @rule()
    def filter(self) -> None:  # type: ignore[override]
        """Filters read the same columns."""

    @rule()
    def hold(self) -> None:
        """`keep` does, of the follower."""

    @rule()
    def follower_starts_anew(self) -> None:
        self._drop()

    @rule()
    def keep(self) -> None:
        if self.follower is not None and len(self.kept) < 3:
            snapshot = self.follower.snapshot()
            self.kept.append((snapshot, self._seen(snapshot)))

    @rule()
    def save(self) -> None:
        self.library.settle()

    @rule()
    def lose_the_indexes(self) -> None:
        """Deleted at any time; never written over in place, which no process that has mapped them could bear."""
        self.library.close()
        self.held.clear()
        shutil.rmtree(self.folder / "index")
        self.library = self._open()
        if self.embedded:
            self.library.use_embedder(self.embedder)

    @rule()
    def sweep(self) -> None:
        self.library.rebuild_words(lambda rows: None)

    @invariant()
    def held_snapshots_stay(self) -> None:
        """Those of the follower are looked at below."""

    @invariant()
    def the_newest_snapshot_is_the_model(self) -> None:
        """`LibraryMachine` sees to that; here the two libraries are compared with each other."""

    def _seen(self, snapshot: Snapshot) -> dict[Label, object]:
        """All that callers of each clearance can see."""
        seen: dict[Label, object] = {}
        for clearance in CLEARANCES:
            reader, call = snapshot.reader, Call(Principal("p", clearance))
            candidates = snapshot.candidates(call)
            rows = np.flatnonzero(candidates).tolist()
            hits = snapshot.lexical.search(QUERY, candidates)
            vectors = snapshot.vectors
            seen[clearance] = (
                snapshot.snapshot_id(call.principal),
                [(snapshot.tie_key(row), chunk) for row, chunk in zip(rows, snapshot.chunks(rows), strict=True)],
                [(snapshot.tie_key(row), score) for row, score in zip(hits.rows, hits.scores, strict=True)],
                [None if vectors is None else _bytes(vectors.vector(row)) for row in rows],
                [repr(fact) for fact in reader.facts(clearance)],
                [repr(edge) for edge in reader.edges(clearance, reader.nodes(clearance), outgoing=True)],
                reader.counts(clearance),
            )
        return seen

    @invariant()
    def the_follower_sees_the_same(self) -> None:
        before = listing(self.folder)
        if self.follower is None:
            self.follower = FollowedLibrary(self.folder, "lib", secret=SECRET)
            self.followed_embedded = False
        if self.embedded and not self.followed_embedded:
            self.follower.use_embedder(self.embedder)
            self.followed_embedded = True
        self.follower.follow()
        snapshot = self.follower.snapshot()
        assert self._seen(snapshot) == self._seen(self.library.snapshot())
        for kept, seen in self.kept:
            assert self._seen(kept) == seen
        after = listing(self.folder)
        own = ("lexical/", "relations", "columns")  # the thread behind the other's writes may be at work
        assert {name: after[name] for name in after if not any(part in name for part in own)} == {
            name: before[name] for name in before if not any(part in name for part in own)
        }


def _bytes(vector: np.ndarray | None) -> bytes | None:
    return None if vector is None else vector.tobytes()


TestFollowedMachine = FollowedMachine.TestCase
TestFollowedMachine.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Library, FollowedLibrary]]:
    library = Library(tmp_path / "lib", "lib", secret=SECRET, now=TickingClock())
    follower = FollowedLibrary(tmp_path / "lib", "lib", secret=SECRET)
    yield library, follower
    follower.close()
    library.close()


def put(library: Library, *documents: tuple[str, str]) -> None:
    with library.writing() as writer:
        for doc_id, text in documents:
            writer.replace_document(make_document(doc_id, text))


def found(library: Library, query: str) -> list[str]:
    snapshot = library.snapshot()
    hits = snapshot.lexical.search(tokenize(query), snapshot.candidates(Call(READER)))
    return [snapshot.tie_key(row)[0] for row in hits.rows.tolist()]


def test_words_are_mapped_once_they_are_saved(pair: tuple[Library, FollowedLibrary]) -> None:
    library, follower = pair
    put(library, *((f"{number:05}.md", f"report {number} 報告 bridges") for number in range(5000)))
    assert follower.follow()
    assert len(found(follower, "報告")) == 5000
    library.settle()
    assert follower.follow()
    mapped = follower.snapshot().lexical.segments
    assert sum(segment.size for segment in mapped) == 5000
    assert not any(segment.lengths.flags.owndata for segment in mapped)
    put(library, ("later.md", "桥 bridges"))
    assert follower.follow()
    assert follower.snapshot().lexical.segments[: len(mapped)] == mapped
    assert found(follower, "桥") == ["later.md"]
    library.settle()
    follower.follow()
    assert not follower.follow()


def test_many_small_writes_that_are_not_saved_stay_few_pieces(
    pair: tuple[Library, FollowedLibrary], monkeypatch: pytest.MonkeyPatch
) -> None:
    library, follower = pair
    monkeypatch.setattr("groundwire_server.lexical.folder.SegmentFolder.save", lambda self, pieces: list(pieces))
    for number in range(60):
        put(library, (f"{number}.md", f"note {number}"))
        assert follower.follow()
    assert len(follower.snapshot().lexical.segments) <= 17
    assert len(found(follower, "note")) == 60


def test_many_rows_are_left_for_a_moment_to_who_has_indexed_them(
    pair: tuple[Library, FollowedLibrary], monkeypatch: pytest.MonkeyPatch
) -> None:
    library, follower = pair
    with monkeypatch.context() as nothing_is_saved:
        nothing_is_saved.setattr(
            "groundwire_server.lexical.folder.SegmentFolder.save", lambda self, pieces: list(pieces)
        )
        put(library, *((f"{number}.md", f"note {number}") for number in range(300)))
        assert follower.follow(patient=True)
        assert follower.snapshot().rows == 0
        assert follower.catch_up()  # who must know it at once
        assert len(found(follower, "note")) == 300
        put(library, *((f"more{number}.md", f"note {number}") for number in range(300)))
        assert follower.follow(patient=True)
        assert len(found(follower, "note")) == 300
        nothing_is_saved.setattr("groundwire_server.library.followed._WORDS_SECONDS", 0.0)
        assert follower.follow(patient=True)
        assert len(found(follower, "note")) == 600
    put(library, *((f"last{number}.md", f"note {number}") for number in range(300)))
    library.settle()
    assert follower.follow(patient=True)
    assert len(found(follower, "note")) == 900
    assert not any(segment.lengths.flags.owndata for segment in follower.snapshot().lexical.segments[:1])


def test_settings_and_glossary_follow(pair: tuple[Library, FollowedLibrary]) -> None:
    library, follower = pair
    library.set_config(LibraryConfig(description="決算", k1=1.2))
    library.set_glossary(Glossary.from_toml(GLOSSARY))
    assert follower.follow()
    assert (follower.config.description, follower.config.k1) == ("決算", 1.2)
    assert follower.snapshot().glossary.content_hash == library.snapshot().glossary.content_hash


def test_a_purge_is_followed(pair: tuple[Library, FollowedLibrary]) -> None:
    library, follower = pair
    put(library, ("a.md", "first words"), ("b.md", "other"))
    put(library, ("a.md", "second words"))
    assert follower.follow()
    with library.writing() as writer:
        until = library.snapshot().generation
        counted = writer.purge(PurgePolicy(until), 100, clearance=Label.CONFIDENTIAL)
    assert sum(counted.values()) == 1
    library.sweep(lambda rows: None)
    assert follower.follow()
    for each in (library, follower):
        assert found(each, "words") == ["a.md"]
        assert found(each, "first") == []
    assert follower.snapshot().snapshot_id(READER) == library.snapshot().snapshot_id(READER)


def test_relations_follow(pair: tuple[Library, FollowedLibrary]) -> None:
    library, follower = pair
    with library.writing() as writer:
        writer.put_edges([make_edge("A", "B")])
    follower.follow()
    assert follower.snapshot().relations().edges == library.snapshot().relations().edges


def test_an_earlier_state_is_caught_up_with(pair: tuple[Library, FollowedLibrary]) -> None:
    library, follower = pair
    put(library, ("a.md", "one"))
    generation = library.snapshot().generation
    state = follower.at(generation)
    assert state is not None
    assert state.generation == generation
    assert follower.at(generation + 1) is None


def test_a_follower_writes_nothing(pair: tuple[Library, FollowedLibrary]) -> None:
    library, follower = pair
    put(library, ("a.md", "one"))
    library.settle()
    library.store.close()  # nobody writes from here on
    before = listing(follower.folder)
    follower.follow()
    follower.snapshot().relations()
    follower.settle()
    for write in (
        lambda: follower.set_config(LibraryConfig()),
        lambda: follower.set_glossary(Glossary()),
        lambda: follower.add_vectors([]),
        lambda: follower.sweep(lambda rows: None),
        lambda: follower.rebuild_indexes(),
        lambda: follower.writing().__enter__(),
        lambda: follower.store.writer().__enter__(),
        lambda: follower.store.sweep(),
    ):
        with pytest.raises(Unavailable, match="only reads"):
            write()
    follower.close()
    assert listing(follower.folder) == before


def test_vectors_that_have_no_room_yet_are_waited_for(
    pair: tuple[Library, FollowedLibrary], monkeypatch: pytest.MonkeyPatch
) -> None:
    library, follower = pair
    embedder = HashEmbedder()
    for each in (library, follower):
        each.use_embedder(embedder)
    put(library, *((f"{number}.md", f"text {number}") for number in range(3)))
    library.add_vectors([(row, embedder.embed_passage(text)) for row, text in library.rows_without_embedding()])
    follower.follow()
    assert np.count_nonzero(_present(follower)) == 3
    with library.store.writer() as writer:  # committed, and the process dies before it makes room in its files
        writer.replace_document(make_document("new.md", "new"))
    follower.follow()
    assert (follower.snapshot().rows, int(np.count_nonzero(_present(follower)))) == (3, 3)
    monkeypatch.setattr("groundwire_server.library.followed._VECTORS_SECONDS", 0.0)
    follower.follow()
    assert (follower.snapshot().rows, int(np.count_nonzero(_present(follower)))) == (4, 0)
    monkeypatch.undo()
    library.use_embedder(embedder)  # it is back
    follower.follow()
    assert (follower.snapshot().rows, int(np.count_nonzero(_present(follower)))) == (4, 3)
    assert follower.snapshot().snapshot_id(READER) == library.snapshot().snapshot_id(READER)


def _present(library: Library) -> np.ndarray:
    vectors = library.snapshot().vectors
    assert vectors is not None
    return vectors.present


def test_another_model_has_no_vectors_here(pair: tuple[Library, FollowedLibrary]) -> None:
    library, follower = pair
    put(library, ("a.md", "one"))
    library.use_embedder(HashEmbedder())
    rows = list(library.rows_without_embedding())
    library.add_vectors([(row, HashEmbedder().embed_passage(text)) for row, text in rows])
    other = HashEmbedder(dim=32)
    follower.use_embedder(other)
    follower.follow()
    assert follower.snapshot().vectors is not None
    assert not _present(follower).any()


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[tuple[DataFolder, FollowedFolder]]:
    with DataFolder(tmp_path / "data") as folder:
        folder.create("default")
        follower = FollowedFolder(tmp_path / "data")
        yield folder, follower
        follower.close()


def test_a_folder_is_followed_by_itself(folders: tuple[DataFolder, FollowedFolder]) -> None:
    folder, follower = folders
    assert follower.secret == folder.secret
    library = follower.library("default")
    put(folder.library("default"), ("a.md", "one"))
    assert eventually(lambda: found(library, "one") == ["a.md"])


def test_libraries_come_and_go(folders: tuple[DataFolder, FollowedFolder]) -> None:
    folder, follower = folders
    put(folder.library("default"), ("a.md", "one"))
    folder.create("other")
    follower.follow()
    assert follower.list() == ["default", "other"]
    first = follower.library("default")
    folder.hide("default")
    folder.create("default")
    put(folder.library("default"), ("b.md", "two"))
    follower.follow()
    second = follower.library("default")
    assert second is not first
    assert found(second, "two") == ["b.md"]
    assert found(second, "one") == []
    folder.hide("default")
    follower.follow()
    with pytest.raises(UnknownResource):
        follower.library("default")


def test_a_library_that_was_replaced_is_not_read(tmp_path: Path) -> None:
    """Connections that are opened later meet another file at the path; they must not read rows of it."""
    first = Library(tmp_path / "lib", "lib", secret=SECRET)
    put(first, ("a.md", "the old one"))
    follower = FollowedLibrary(tmp_path / "lib", "lib", secret=SECRET)
    snapshot = follower.snapshot()
    first.close()
    (tmp_path / "lib").rename(tmp_path / "gone")
    second = Library(tmp_path / "lib", "lib", secret=SECRET)
    put(second, ("b.md", "secrets of another library"))
    pool = follower.store._pool
    pool.close()
    pool._closed = False  # as if all that were idle were in use
    with pytest.raises(Unavailable, match="not there any more"):
        snapshot.chunks([0])
    second.close()
    follower.close()


@pytest.mark.parametrize("write", ["create", "hide", "free"])
def test_a_followed_folder_makes_nothing(folders: tuple[DataFolder, FollowedFolder], write: str) -> None:
    _, follower = folders
    with pytest.raises(Unavailable, match="only reads"):
        getattr(follower, write)("default")
    with pytest.raises(Unavailable, match="only reads"):
        follower.server_file.set_libraries([])
    with pytest.raises(Unavailable, match="only reads"):
        follower.server_file.save_jobs([])
    assert follower.server_file.job_rows() == []


def test_no_folder_no_follower(tmp_path: Path) -> None:
    with pytest.raises((FailedPrecondition, Unavailable)):
        FollowedFolder(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []
