"""Writes of every kind, withdrawals, restarts and reads of the past, in any order, against a model."""

from __future__ import annotations

import copy
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import UnknownResource
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallOptions,
    Label,
    Operator,
    Predicate,
    Principal,
    ReviewStatus,
    matches,
)
from groundwire_server.library import Library, Snapshot
from groundwire_server.store import EdgeRecord, FactRecord, NewDocument, StoreWriter
from groundwire_server.store.conformance import START, TickingClock, make_document, make_edge, make_fact
from groundwire_server.text import tokenize
from tests.library.model import Model, State, bm25

SECRET = b"the secret of these tests"
CLEARANCES = (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED)
QUERY = tokenize("revenue grew 売上 alpha")

labels = st.sampled_from(list(Label))
doc_ids = st.sampled_from(["a.md", "b/ü.md", "報告 書", "report.pdf"])
texts = st.lists(
    st.sampled_from(["alpha", "revenue grew", "売上が増えた。", "alpha revenue\r", "👩‍👧"]), max_size=4
).map("\n".join)
documents = st.builds(
    make_document,
    doc_ids,
    texts,
    label=labels,
    attributes=st.lists(st.sampled_from([1, 2, 10]), max_size=1).map(lambda n: tuple(Attribute("n", v) for v in n)),
    valid_as_of=st.sampled_from([None, START, START + timedelta(days=9)]),
)
facts = st.builds(
    make_fact,
    st.sampled_from(["1", "2", "3"]),
    entity=st.sampled_from(["ACME", "B"]),
    filed_at=st.sampled_from([None, START, START + timedelta(days=2)]),
    label=labels,
    locator=st.sampled_from(["x", "y"]),
    review_status=st.sampled_from(ReviewStatus),
)
edges = st.builds(
    make_edge,
    st.sampled_from(["A", "B"]),
    st.sampled_from(["B", "C"]),
    label=labels,
    source_doc=st.sampled_from(["report.pdf", "group.csv"]),
)


def _call(clearance: Label, **options: object) -> Call:
    return Call(Principal("reader", clearance), CallOptions(**options))  # type: ignore[arg-type]


class LibraryMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = TickingClock()
        self.embedder = HashEmbedder()
        self.library = self._open()
        self.model = Model(State(START, {}, [], []))
        self.model.commit(START)
        self.held: list[tuple[Snapshot, State, dict[Label, str]]] = []
        self.embedded = False

    def _open(self) -> Library:
        return Library(self.folder, "lib", secret=SECRET, now=self.clock)

    def teardown(self) -> None:
        self.library.close()
        shutil.rmtree(self.folder)

    @contextmanager
    def _writing(self) -> Iterator[StoreWriter]:
        before = self.library.snapshot().generation
        with self.library.writing() as writer:
            yield writer
        after = self.library.snapshot().generation
        if after != before:
            self.model.commit(self.library.store.generations()[-1].committed_at)

    def _put(self, writer: StoreWriter, piece: NewDocument | FactRecord | EdgeRecord) -> None:
        if isinstance(piece, NewDocument):
            changed = self.model.put_document(piece)
            outcome = writer.replace_document(piece)
            assert outcome.unchanged is not changed
            assert outcome.revision == self.model.revisions[piece.doc_id]
        elif isinstance(piece, FactRecord):
            assert writer.put_facts([piece]).stored == self.model.put_fact(piece)
        else:
            assert writer.put_edges([piece]).stored == self.model.put_edge(piece)

    @rule(pieces=st.lists(st.one_of(documents, facts, edges), min_size=1, max_size=4))
    def write(self, pieces: list[NewDocument | FactRecord | EdgeRecord]) -> None:
        with self._writing() as writer:
            for piece in pieces:
                self._put(writer, piece)

    @rule(doc_id=st.one_of(doc_ids, st.just("group.csv")))
    def withdraw(self, doc_id: str) -> None:
        wanted = self.model.withdraw(doc_id)
        try:
            with self._writing() as writer:
                outcome = writer.withdraw_document(doc_id)
        except UnknownResource:
            assert wanted is None
        else:
            assert outcome.withdrawn_now is wanted
            assert outcome.revision == self.model.revisions[doc_id]

    @rule(pieces=st.lists(st.one_of(documents, facts, edges), min_size=1, max_size=3))
    def fail(self, pieces: list[NewDocument | FactRecord | EdgeRecord]) -> None:
        revisions, sources = self.model.revisions.copy(), set(self.model.known_sources)

        def write() -> None:
            with self.library.writing() as writer:
                for piece in pieces:
                    self._put(writer, piece)
                raise RuntimeError("undo this")

        with pytest.raises(RuntimeError):
            write()
        self.model.undo()
        self.model.revisions, self.model.known_sources = revisions, sources

    @rule()
    def restart(self) -> None:
        ids = self._ids(self.library.snapshot())
        self.library.close()
        self.held.clear()
        self.library = self._open()
        if self.embedded:
            self.library.use_embedder(self.embedder)
        assert self._ids(self.library.snapshot()) == ids

    @rule(damage=st.sampled_from(["remove", "cut", "spoil"]))
    def lose_the_indexes(self, damage: str) -> None:
        ids = self._ids(self.library.snapshot())
        self.library.close()
        self.held.clear()
        index = self.folder / "index"
        if damage == "remove":
            shutil.rmtree(index)
        else:
            for path in sorted(index.rglob("*")):
                if path.is_file():
                    content = path.read_bytes()
                    path.write_bytes(content[: len(content) // 2] if damage == "cut" else bytes(reversed(content)))
        self.library = self._open()
        if self.embedded:
            self.library.use_embedder(self.embedder)
        assert self._ids(self.library.snapshot()) == ids

    @rule()
    def rebuild(self) -> None:
        ids = self._ids(self.library.snapshot())
        self.library.rebuild_indexes()
        assert self._ids(self.library.snapshot()) == ids

    @rule(limit=st.integers(1, 3))
    def embed(self, limit: int) -> None:
        if not self.embedded:
            self.library.use_embedder(self.embedder)
            self.embedded = True
        todo = list(self.library.rows_without_embedding())
        self.library.add_vectors([(row, self.embedder.embed_passage(text)) for row, text in todo[:limit]])
        left = list(self.library.rows_without_embedding())
        assert len(left) <= max(0, len(todo) - limit)

    @rule()
    def hold(self) -> None:
        snapshot = self.library.snapshot()
        if len(self.held) < 3:
            self.held.append((snapshot, copy.copy(self.model.history[-1]), self._ids(snapshot)))

    @rule(seconds=st.integers(0, 200), clearance=st.sampled_from(CLEARANCES))
    def read_the_past(self, seconds: int, clearance: Label) -> None:
        moment = START + timedelta(seconds=seconds, milliseconds=500)
        snapshot = self.library.snapshot()
        call = _call(clearance, known_at=moment)
        assert self._keys(snapshot, call) == set(self.model.at(moment).chunks(clearance))

    @rule(clearance=st.sampled_from(CLEARANCES), low=st.sampled_from([1, 2, 3]), days=st.integers(-1, 10))
    def filter(self, clearance: Label, low: int, days: int) -> None:
        tree = Predicate("n", Operator.GTE, (low,))
        moment = START + timedelta(days=days)
        snapshot, state = self.library.snapshot(), self.model.history[-1]
        wanted = {
            key
            for key in state.chunks(clearance, moment)
            if matches(tree, state.attributes(key[0]))  # type: ignore[arg-type]
        }
        assert self._keys(snapshot, _call(clearance, filter=tree, valid_at=moment)) == wanted

    def _ids(self, snapshot: Snapshot) -> dict[Label, str]:
        return {clearance: snapshot.snapshot_id(Principal("p", clearance)) for clearance in CLEARANCES}

    def _keys(self, snapshot: Snapshot, call: Call) -> set[tuple[str, int, int]]:
        return {snapshot.tie_key(row) for row in np.flatnonzero(snapshot.candidates(call)).tolist()}

    def _compare(self, snapshot: Snapshot, state: State) -> None:
        for clearance in CLEARANCES:
            call = _call(clearance)
            wanted = state.chunks(clearance)
            rows = np.flatnonzero(snapshot.candidates(call)).tolist()
            chunks = {snapshot.tie_key(row): chunk for row, chunk in zip(rows, snapshot.chunks(rows), strict=True)}
            assert {key: chunk.text for key, chunk in chunks.items()} == wanted
            assert {(c.doc_id, c.revision, c.seq) for c in chunks.values()} == set(wanted)
            found = snapshot.lexical.search(QUERY, snapshot.candidates(call))
            scores = {snapshot.tie_key(row): score for row, score in zip(found.rows, found.scores, strict=True)}
            assert scores == bm25(QUERY, wanted)
            reader = snapshot.reader
            assert reader.counts(clearance) == state.counts(clearance)
            assert _sorted(f.record for f in reader.facts(clearance)) == _sorted(state.readable_facts(clearance))
            held = [e.record for e in reader.edges(clearance, reader.nodes(clearance), outgoing=True)]
            assert _sorted(held) == _sorted(state.readable_edges(clearance))

    @invariant()
    def the_newest_snapshot_is_the_model(self) -> None:
        self._compare(self.library.snapshot(), self.model.history[-1])

    @invariant()
    def held_snapshots_stay(self) -> None:
        for snapshot, state, ids in self.held:
            self._compare(snapshot, state)
            assert self._ids(snapshot) == ids

    @invariant()
    def vectors_are_those_of_their_texts(self) -> None:
        snapshot = self.library.snapshot()
        if snapshot.vectors is None:
            return
        for row in np.flatnonzero(snapshot.vectors.present).tolist():
            vector = snapshot.vectors.vector(row)
            (chunk,) = snapshot.chunks([row])
            assert chunk.label is not Label.RESTRICTED
            assert vector is not None
            assert np.array_equal(vector, self.embedder.embed_passage(chunk.text))


def _sorted(records: object) -> list[str]:
    return sorted(map(repr, records))  # type: ignore[call-overload]


TestLibraryMachine = LibraryMachine.TestCase
TestLibraryMachine.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
