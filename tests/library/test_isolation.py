"""A library with hidden rows answers, ranks, counts and names its snapshots as one without them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import DocumentRefused
from groundwire_server.evidence import Attribute, Call, CallOptions, Label, Operator, Predicate, Principal
from groundwire_server.lexical import top
from groundwire_server.library import Library, Snapshot
from groundwire_server.store import EdgeRecord, FactRecord, NewDocument
from groundwire_server.store.conformance import START, TickingClock, make_document, make_edge, make_fact, visible_state
from groundwire_server.text import tokenize

SECRET = b"one secret for both"
EMBEDDER = HashEmbedder()
READERS = [(Label.PUBLIC, Label.INTERNAL), (Label.PUBLIC, Label.RESTRICTED), (Label.INTERNAL, Label.CONFIDENTIAL)]

Piece = NewDocument | FactRecord | EdgeRecord | str
words = st.lists(st.sampled_from(["alpha", "beta", "売上", "gamma 5", "é"]), min_size=1, max_size=6).map(" ".join)
texts = st.lists(words, min_size=1, max_size=3).map("\n".join)
values = st.sampled_from(["1", "2.50", "-3"])


def _documents(prefix: str, label: Label, attribute: object) -> st.SearchStrategy[Piece]:
    ids = st.sampled_from([f"{prefix}{name}" for name in ("a", "b/1", "ü")])
    attributes = st.sampled_from([(), (Attribute("n", attribute),)])  # type: ignore[arg-type]
    return st.builds(make_document, ids, texts, label=st.just(label), attributes=attributes)


def _pieces(prefix: str, label: Label, attribute: object) -> st.SearchStrategy[list[Piece]]:
    """What is open and what is hidden never stand for the same thing: neither replaces the other."""
    place = st.just(f"{prefix}place")
    times = st.sampled_from([None, START, START + timedelta(days=1)])
    facts = st.builds(
        make_fact,
        values,
        label=st.just(label),
        locator=place,
        source_doc=place,
        source=st.just("shared"),
        filed_at=times,
    )
    edges = st.builds(make_edge, st.sampled_from("AB"), st.sampled_from("BC"), label=st.just(label), source_doc=place)
    withdrawals = st.sampled_from([f"{prefix}a", f"{prefix}place"])
    return st.lists(st.one_of(_documents(prefix, label, attribute), facts, edges, withdrawals), max_size=8)


def _write(library: Library, batches: Sequence[Sequence[Piece]]) -> None:
    known: set[str] = set()
    for batch in batches:
        with library.writing() as writer:
            for piece in batch:
                if isinstance(piece, NewDocument):
                    # A hidden document may be refused for an attribute whose family an open one has fixed.
                    with suppress(DocumentRefused):
                        writer.replace_document(piece)
                        known.add(piece.doc_id)
                elif isinstance(piece, FactRecord):
                    assert not writer.put_facts([piece]).refused
                    known.add(piece.source_doc)
                elif isinstance(piece, EdgeRecord):
                    assert not writer.put_edges([piece]).refused
                    known.add(piece.source_doc)
                elif piece in known:
                    writer.withdraw_document(piece)


def _embed(library: Library, limit: int, clearance: Label) -> None:
    """Vectors of the first few chunks that a reader may read, and of everything hidden."""
    todo = list(library.rows_without_embedding())
    labels = {chunk.chunk_row: chunk.label for chunk in library.store.reader().chunks([row for row, _ in todo])}
    readable = [row for row, _ in todo if labels[row] <= clearance][:limit]
    chosen = [(row, EMBEDDER.embed_passage(text)) for row, text in todo if row in readable or labels[row] > clearance]
    library.add_vectors(chosen)


def _answers(snapshot: Snapshot, clearance: Label) -> dict[str, object]:
    """What a reader can see of it, with rows named by what they hold."""
    principal = Principal("reader", clearance)
    calls = {
        "all": Call(principal),
        "filtered": Call(principal, CallOptions(filter=Predicate("n", Operator.GTE, (1,)))),
        "missing": Call(principal, CallOptions(filter=Predicate("n", Operator.PRESENT, (False,)))),
        "valid": Call(principal, CallOptions(valid_at=START)),
    }
    seen: dict[str, object] = {"id": snapshot.snapshot_id(principal), "schema": snapshot.attribute_schema(principal)}
    query = tokenize("alpha 売上 gamma alpha")
    for name, call in calls.items():
        candidates = snapshot.candidates(call)
        words_found = snapshot.lexical.search(query, candidates)
        assert snapshot.vectors is not None
        meant = snapshot.vectors.search(EMBEDDER.embed_query("alpha beta"), candidates, 5, snapshot.tie_key)
        rows = np.flatnonzero(candidates).tolist()
        seen[f"{name}: candidates"] = sorted(snapshot.tie_key(row) for row in rows)
        seen[f"{name}: texts"] = sorted((c.doc_id, c.seq, c.text, c.locator) for c in snapshot.chunks(rows))
        seen[f"{name}: coverage"] = snapshot.coverage(candidates)
        scores = {snapshot.tie_key(row): s for row, s in zip(words_found.rows, words_found.scores, strict=True)}
        seen[f"{name}: scores"] = scores
        seen[f"{name}: order"] = [snapshot.tie_key(row) for row in top(words_found, 4, snapshot.tie_key)]
        seen[f"{name}: nearest"] = [(snapshot.tie_key(r), s) for r, s in zip(meant.rows, meant.scores, strict=True)]
    return seen


@settings(max_examples=40)
@given(data=st.data(), reader=st.sampled_from(READERS), embedded=st.integers(0, 9))
def test_hidden_rows_change_nothing(data: st.DataObject, reader: tuple[Label, Label], embedded: int) -> None:
    clearance, hidden_label = reader
    shown = data.draw(_pieces("", clearance, 1), "open")
    hidden = data.draw(_pieces("hidden/", hidden_label, "another family"), "hidden")
    turns = data.draw(st.permutations([True] * len(shown) + [False] * len(hidden)), "turns")
    rest_shown, rest_hidden = iter(shown), iter(hidden)
    mixed = [next(rest_shown) if turn else next(rest_hidden) for turn in turns]
    cut = data.draw(st.integers(0, len(mixed)), "cut")
    with tempfile.TemporaryDirectory() as folder:
        bare = Library(Path(folder, "bare"), "same", secret=SECRET, now=TickingClock())
        full = Library(Path(folder, "full"), "same", secret=SECRET, now=TickingClock())
        _write(bare, [[piece] for piece in shown])
        _write(full, [mixed[:cut], mixed[cut:]])
        for library in (bare, full):
            library.use_embedder(EMBEDDER)
            _embed(library, embedded, clearance)
        wanted, got = _answers(bare.snapshot(), clearance), _answers(full.snapshot(), clearance)
        for name in wanted:
            assert got[name] == wanted[name], name
        store_wanted = visible_state(bare.snapshot().reader, clearance)
        store_got = visible_state(full.snapshot().reader, clearance)
        for name in store_wanted:
            assert store_got[name] == store_wanted[name], name
        bare.close()
        full.close()


@settings(max_examples=25)
@given(pieces=st.lists(_documents("", Label.INTERNAL, 1), max_size=6, unique_by=lambda d: d.doc_id), data=st.data())  # type: ignore[union-attr]
def test_order_batches_and_restarts_change_no_id(pieces: list[Piece], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(pieces))
    with tempfile.TemporaryDirectory() as folder:
        one = Library(Path(folder, "one"), "same", secret=SECRET, now=TickingClock())
        two = Library(Path(folder, "two"), "same", secret=SECRET, now=TickingClock(START + timedelta(days=400)))
        _write(one, [pieces])
        _write(two, [[piece] for piece in shuffled])
        two.close()
        two = Library(Path(folder, "two"), "same", secret=SECRET)
        for library in (one, two):
            library.use_embedder(EMBEDDER)
            _embed(library, 99, Label.INTERNAL)
        assert _answers(one.snapshot(), Label.INTERNAL) == _answers(two.snapshot(), Label.INTERNAL)
        one.close()
        two.close()


def test_a_secret_and_a_clearance_make_other_ids(tmp_path: Path) -> None:
    ids = set()
    for secret, library_id in ((b"a" * 32, "x"), (b"b" * 32, "x"), (b"a" * 32, "y")):
        library = Library(tmp_path / f"{secret.decode()}{library_id}", library_id, secret=secret)
        for clearance in (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL):
            ids.add(library.snapshot().snapshot_id(Principal("p", clearance)))
        library.close()
    assert len(ids) == 9
    assert all(len(snapshot_id) == 32 for snapshot_id in ids)
