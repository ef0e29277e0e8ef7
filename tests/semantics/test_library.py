"""Semantics 3, 5 and 6 at a library: filters over documents, revisions, and rows that may not be seen."""

import re
from collections.abc import Collection, Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.chunking import CHUNKERS
from groundwire_server.errors import DocumentRefused, InvalidRequest
from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    Attribute,
    ChunkId,
    Family,
    Filter,
    Label,
    Negate,
    Operator,
    Predicate,
    Value,
    check_filter,
)
from groundwire_server.glossary import parse_period
from groundwire_server.lexical import top
from groundwire_server.library import AMBIGUOUS, BUILT_IN_ATTRIBUTES, EMBEDDERS, LibraryConfig, check_library_id
from groundwire_server.narrative import FUSIONS
from groundwire_server.query import DECOMPOSERS, TRANSFORMS
from groundwire_server.relations.extractors import EXTRACTORS
from groundwire_server.store import NewChunk, SqliteStore
from tests.semantics.hostile import CHINESE, ENGLISH, JAPANESE, TEXTS, some
from tests.semantics.oracles import bm25, tokens_of
from tests.semantics.shelf import START, Clock, call, document, fact, make_library, principal, put, search, visible
from tests.semantics.test_filters import holds

QUERIES = ("net revenue", "売上高の理由", "营业收入", "family")
SEEN = [
    document("a.txt", ENGLISH),
    document("報告/売上.txt", JAPANESE, Label.PUBLIC),
    document("报告/收入.txt", CHINESE),
    document("hostile.txt", "\n".join(TEXTS[:-3])),
]


# Filters over documents


VALUES: dict[str, tuple[Value, ...]] = {
    "pages": (9, 10, 100),
    "price": (Decimal("9.50"), Decimal("10"), Decimal("-1")),
    "topic": ("9", "10", "Z", "a", "売上", "营收", "é", "e\u0301"),
    "final": (True, False),
    "day": (date(2024, 9, 30), date(2024, 10, 1), date(1999, 1, 1)),
    "period": tuple(
        parse_period(raw, reference=date(2025, 1, 1)) for raw in ("2023", "2024", "2024Q1", "FY2024", "2024-03")
    ),
    "tags": (("a",), ("a", "Z"), ("売上", "b")),
}
TAGS = ("a", "Z", "b", "売上", "no")
ORDERED = (Operator.GT, Operator.GTE, Operator.LT, Operator.LTE)


@st.composite
def predicates(draw: st.DrawFn) -> Filter:
    field = draw(st.sampled_from(sorted(VALUES)))
    pool = st.sampled_from(TAGS) if field == "tags" else st.sampled_from(VALUES[field])
    operator = draw(
        st.sampled_from([o for o in Operator if o is not Operator.BETWEEN and (field != "final" or o not in ORDERED)])
    )
    if operator is Operator.PRESENT:
        return Predicate(field, operator, (draw(st.booleans()),))
    if operator in (Operator.IN, Operator.NIN):
        return Predicate(field, operator, tuple(draw(st.lists(pool, min_size=1, max_size=3))))
    return Predicate(field, operator, (draw(pool),))


def _grow(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(several.map(AllOf), several.map(AnyOf), inner.map(Negate))


rows_of_attributes = st.lists(
    st.fixed_dictionaries({}, optional={name: st.sampled_from(pool) for name, pool in VALUES.items()}),
    min_size=1,
    max_size=8,
)


@some
@given(rows_of_attributes, st.lists(st.recursive(predicates(), _grow, max_leaves=5), min_size=4, max_size=30))
def test_the_filter_of_a_library_agrees_with_plain_loops(table: list[dict[str, Value]], trees: list[Filter]) -> None:
    everything = [{name: pool[0] for name, pool in VALUES.items()}, *table]
    with TemporaryDirectory() as folder, closing(make_library(Path(folder))) as library:
        put(
            library,
            *(
                document(f"d{n:02}", f"one\ntext {n}", attributes=[Attribute(*pair) for pair in sorted(row.items())])
                for n, row in enumerate(everything)
            ),
        )
        snapshot = library.snapshot()
        plain = visible(snapshot, call())
        assert plain == [(f"d{n:02}", 1, 0) for n in range(len(everything))]
        for tree in trees:
            kept = visible(snapshot, call(only=tree))
            assert kept == [plain[n] for n, row in enumerate(everything) if holds(tree, row)]
            extra = np.flatnonzero(snapshot.candidates(call(), tree))
            assert [snapshot.tie_key(int(row)) for row in extra] == kept


def test_the_schema_of_a_library_is_what_its_documents_have(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, document("d", "text", attributes=[Attribute(name, pool[0]) for name, pool in VALUES.items()]))
        schema = library.snapshot().attribute_schema(principal())
        assert {name: schema[name] for name in VALUES} == {
            "pages": Family.NUMBER,
            "price": Family.NUMBER,
            "topic": Family.TEXT,
            "final": Family.TRUTH,
            "day": Family.DAY,
            "period": Family.PERIOD,
            "tags": Family.TEXTS,
        }
        assert set(BUILT_IN_ATTRIBUTES) <= set(schema)
        assert check_filter(Predicate("nosuch", Operator.EQ, ("x",)), schema)


def test_built_in_attributes_may_be_filtered(tmp_path: Path) -> None:
    with closing(make_library(tmp_path, clock := Clock())) as library:
        put(library, document("a.txt", "one", valid_as_of=datetime(2024, 1, 1, tzinfo=UTC)))
        clock.go_on()
        put(library, document("報告.txt", "two", title="売上高"))
        snapshot = library.snapshot()
        for predicate, expected in (
            (Predicate("doc_id", Operator.EQ, ("報告.txt",)), ["報告.txt"]),
            (Predicate("doc_id", Operator.LT, ("b",)), ["a.txt"]),
            (Predicate("title", Operator.EQ, ("売上高",)), ["報告.txt"]),
            (Predicate("media_type", Operator.EQ, ("text/plain",)), ["a.txt", "報告.txt"]),
            (Predicate("ingested_at", Operator.GT, (START,)), ["報告.txt"]),
            (Predicate("valid_as_of", Operator.PRESENT, (True,)), ["a.txt"]),
            (Predicate("valid_as_of", Operator.NE, (START,)), ["a.txt"]),
        ):
            assert [doc_id for doc_id, _, _ in visible(snapshot, call(only=predicate))] == expected


def test_a_filter_narrows_the_statistics_too(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        kinds = ["x", "x", "y", "y", "y"]
        texts = ["revenue rose", "cost", "revenue", "revenue revenue", "売上"]
        put(library, *(document(f"d{n}", texts[n], attributes=[Attribute("kind", kinds[n])]) for n in range(5)))
        only = Predicate("kind", Operator.EQ, ("x",))
        expected = bm25(["revenue"], [tokens_of(text) for text in texts[:2]])
        assert search(library.snapshot(), "revenue", call(only=only)) == {("d0", 1, 0): expected[0]}


# Hidden rows


def with_hidden(folder: Path, hidden: list[tuple[int, Label, str]]) -> dict[str, object]:
    """All that an INTERNAL caller can measure of a library that holds hidden documents at these places."""
    order = list(SEEN)
    for n, (place, label, text) in enumerate(hidden):
        secret = document(f"secret{n}", text, label, attributes=[Attribute("secret_name", "x"), Attribute("topic", 5)])
        order.insert(place % (len(order) + 1), secret)
    with closing(make_library(folder)) as library:
        put(library, *order)
        snapshot = library.snapshot()
        reader = snapshot.reader
        return {
            "scores": [search(snapshot, query, call()) for query in QUERIES],
            "candidates": sorted(visible(snapshot, call())),
            "schema": snapshot.attribute_schema(principal()),
            "counts": reader.counts(Label.INTERNAL),
            "documents": [each.doc_id for each in reader.documents(clearance=Label.INTERNAL)],
            "digest": reader.content_digest(Label.INTERNAL),
            "snapshot_id": snapshot.snapshot_id(principal()),
            "relations": reader.relations(Label.INTERNAL),
            "one": reader.active_revision("secret0", clearance=Label.INTERNAL),
            "revisions": reader.revisions("secret0", clearance=Label.INTERNAL),
            "text": reader.source_text("secret0", 1, clearance=Label.INTERNAL),
        }


@cache
def plain_view() -> dict[str, object]:
    """The same of a library without hidden documents."""
    with TemporaryDirectory() as folder:
        plain = with_hidden(Path(folder), [])
    assert plain["scores"] != [{}] * len(QUERIES)
    return plain


@some
@given(
    st.lists(
        st.tuples(
            st.integers(0, 9),
            st.sampled_from([Label.CONFIDENTIAL, Label.RESTRICTED]),
            st.sampled_from([ENGLISH, JAPANESE, "net net revenue", "売上高 " * 30, "family"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_library_with_hidden_rows_looks_like_one_without(hidden: list[tuple[int, Label, str]]) -> None:
    with TemporaryDirectory() as folder:
        assert with_hidden(Path(folder), hidden) == plain_view()


def test_a_write_that_may_not_be_seen_leaves_the_snapshot_id(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, *SEEN)
        ids = {label: library.snapshot().snapshot_id(principal(label)) for label in Label}
        put(library, document("secret", JAPANESE, Label.CONFIDENTIAL))
        after = library.snapshot()
        assert after.snapshot_id(principal(Label.INTERNAL)) == ids[Label.INTERNAL]
        assert after.snapshot_id(principal(Label.PUBLIC)) == ids[Label.PUBLIC]
        assert after.snapshot_id(principal(Label.CONFIDENTIAL)) != ids[Label.CONFIDENTIAL]
        put(library, document("more secret", JAPANESE, Label.RESTRICTED))
        for label in Label:
            assert library.snapshot().snapshot_id(principal(label)) == after.snapshot_id(principal(label))


@pytest.mark.parametrize("clearance", list(Label))
def test_a_caller_reads_up_to_the_clearance_and_restricted_never(tmp_path: Path, clearance: Label) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, *(document(label.name, f"revenue 売上 {label.name}", label) for label in Label))
        snapshot = library.snapshot()
        expected = {label.name for label in Label if label <= clearance and label is not Label.RESTRICTED}
        assert {doc_id for doc_id, _, _ in visible(snapshot, call(clearance))} == expected
        assert {doc_id for doc_id, _, _ in search(snapshot, "revenue 売上", call(clearance))} == expected
        assert {each.doc_id for each in snapshot.reader.documents(clearance=clearance)} == expected
        for label in Label:
            found = snapshot.reader.active_revision(label.name, clearance=clearance)
            assert (found is not None) is (label.name in expected)


def test_an_attribute_of_a_hidden_document_is_unknown_and_fixes_nothing(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        put(
            library,
            document("secret", "text", Label.CONFIDENTIAL, [Attribute("codename", "x"), Attribute("pages", "nine")]),
        )
        put(library, document("open", "text", attributes=[Attribute("pages", 9)]))
        schema = library.snapshot().attribute_schema(principal())
        assert "codename" not in schema
        assert schema["pages"] is Family.NUMBER
        assert "codename" in library.snapshot().attribute_schema(principal(Label.CONFIDENTIAL))


# Revisions


def test_a_replacement_is_version_max_plus_one_and_the_old_one_is_inactive(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        for n in range(1, 4):
            put(library, document("a", f"text {n}\n売上 {n}"))
            assert visible(library.snapshot(), call()) == [("a", n, 0)]
        with library.writing() as writer:
            writer.withdraw_document("a")
        assert visible(library.snapshot(), call()) == []
        put(library, document("a", "text 3\n売上 3"))
        assert visible(library.snapshot(), call()) == [("a", 4, 0)]
        revisions = library.snapshot().reader.revisions("a", clearance=None)
        assert [each.revision for each in revisions] == [4, 3, 2, 1]


def test_equal_content_makes_no_new_revision(tmp_path: Path) -> None:
    with closing(make_library(tmp_path, clock := Clock())) as library:
        put(library, *SEEN)
        before = library.snapshot()
        clock.go_on()
        with library.writing() as writer:
            assert all(writer.replace_document(each).unchanged for each in SEEN)
        after = library.snapshot()
        assert after.generation == before.generation
        assert after.snapshot_id(principal()) == before.snapshot_id(principal())
        assert visible(after, call()) == visible(before, call())


@pytest.mark.parametrize(
    "changed",
    [
        document("a", "text", Label.PUBLIC),
        document("a", "text", Label.RESTRICTED),
        document("a", "text "),
        document("a", "text", title="another"),
        document("a", "text", media_type="text/markdown"),
        document("a", "text", valid_as_of=START),
        document("a", "text", attributes=[Attribute("topic", "x")]),
        document("a", "text", chunker="whole"),
    ],
    ids=["public", "restricted", "text", "title", "media type", "valid_as_of", "attributes", "chunker"],
)
def test_a_change_of_content_or_label_makes_a_new_revision(tmp_path: Path, changed: object) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, document("a", "text"))
        put(library, changed)  # type: ignore[arg-type]
        assert [each.revision for each in library.snapshot().reader.revisions("a", clearance=None)] == [2, 1]


def test_composed_and_decomposed_texts_are_two_contents(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, document("a", "é"))
        put(library, document("a", "e\u0301"))
        assert visible(library.snapshot(), call()) == [("a", 2, 0)]


def test_a_document_without_chunks_is_no_longer_found(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, document("a", ENGLISH), document("b", ENGLISH))
        put(library, document("a", ENGLISH, chunks=()))
        assert [doc_id for doc_id, _, _ in visible(library.snapshot(), call())] == ["b"]
        assert set(search(library.snapshot(), "revenue", call())) == {("b", 1, 0)}


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    def state() -> object:
        snapshot = library.snapshot()
        return (
            snapshot.generation,
            visible(snapshot, call()),
            snapshot.snapshot_id(principal()),
            snapshot.reader.content_digest(Label.RESTRICTED),
            [search(snapshot, query, call()) for query in QUERIES],
        )

    def fail_half_way() -> None:
        with library.writing() as writer:
            writer.replace_document(document("a.txt", "other"))
            writer.replace_document(document("new", "売上"))
            writer.withdraw_document("hostile.txt")
            writer.put_facts([fact("1")])
            raise ZeroDivisionError

    with closing(make_library(tmp_path)) as library:
        put(library, *SEEN)
        before = state()
        with pytest.raises(ZeroDivisionError):
            fail_half_way()
        assert state() == before
    with closing(make_library(tmp_path)) as library:
        assert state() == before
        put(library, document("a.txt", "other"))
        assert ("a.txt", 2, 0) in visible(library.snapshot(), call())


def test_an_attribute_of_another_type_is_an_error_of_that_document_alone(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, document("a", "text", attributes=[Attribute("pages", 9)]))
        with library.writing() as writer:
            with pytest.raises(DocumentRefused):
                writer.replace_document(document("b", "text", attributes=[Attribute("pages", "nine")]))
            writer.replace_document(document("c", "text", attributes=[Attribute("pages", 10)]))
        assert [doc_id for doc_id, _, _ in visible(library.snapshot(), call())] == ["a", "c"]


def test_known_at_reads_the_revision_that_was_active_then(tmp_path: Path) -> None:
    with closing(make_library(tmp_path, clock := Clock())) as library:
        times = []
        for n in range(1, 4):
            put(library, document("a", f"text {n} 売上"))
            times.append(clock.go_on())
        with library.writing() as writer:
            writer.withdraw_document("a")
        withdrawn = clock.go_on()
        snapshot = library.snapshot()
        for n, time in enumerate(times, 1):
            assert visible(snapshot, call(known_at=time)) == [("a", n, 0)]
            assert set(search(snapshot, "売上", call(known_at=time))) == {("a", n, 0)}
        assert visible(snapshot, call(known_at=withdrawn)) == []
        assert visible(snapshot, call(known_at=datetime(2000, 1, 1, tzinfo=UTC))) == []
        assert visible(snapshot, call()) == []


def test_a_label_change_is_known_only_from_then_on(tmp_path: Path) -> None:
    with closing(make_library(tmp_path, clock := Clock())) as library:
        put(library, document("a", "text"))
        before = clock.go_on()
        put(library, document("a", "text", Label.CONFIDENTIAL))
        snapshot = library.snapshot()
        assert visible(snapshot, call()) == []
        assert visible(snapshot, call(Label.CONFIDENTIAL)) == [("a", 2, 0)]
        assert visible(snapshot, call(Label.CONFIDENTIAL, known_at=before)) == [("a", 1, 0)]


def test_valid_at_keeps_what_was_valid_by_then(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        days = [datetime(2024, month, 1, tzinfo=UTC) for month in (1, 2, 3)]
        put(library, *(document(f"d{n}", f"text {n}", valid_as_of=day) for n, day in enumerate(days)))
        for n, day in enumerate(days):
            kept = [doc_id for doc_id, _, _ in visible(library.snapshot(), call(valid_at=day))]
            assert kept == [f"d{each}" for each in range(n + 1)]


def test_a_snapshot_that_is_held_does_not_change(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, *SEEN)
        held = library.snapshot()
        before = (visible(held, call()), [search(held, query, call()) for query in QUERIES])
        put(library, document("a.txt", "other"), document("b.txt", ENGLISH))
        assert (visible(held, call()), [search(held, query, call()) for query in QUERIES]) == before


def test_old_revisions_are_never_purged_implicitly(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        for n in range(30):
            put(library, document("a", f"text {n} 売上"))
        reader = library.snapshot().reader
        for n in range(30):
            assert reader.source_text("a", n + 1, clearance=None) == f"text {n} 売上"


def test_insertion_order_changes_neither_scores_nor_ids(tmp_path: Path) -> None:
    seen = []
    for name, order in (("one", SEEN), ("two", SEEN[::-1]), ("three", [SEEN[2], SEEN[0], SEEN[3], SEEN[1]])):
        with closing(make_library(tmp_path / name)) as library:
            for each in order:
                put(library, each)
            snapshot = library.snapshot()
            scores = [search(snapshot, query, call()) for query in QUERIES]
            seen.append((scores, snapshot.snapshot_id(principal())))
    assert seen[0] == seen[1] == seen[2]


def test_a_library_opened_again_and_one_with_rebuilt_indexes_answer_the_same(tmp_path: Path) -> None:
    def state() -> object:
        snapshot = library.snapshot()
        return (
            visible(snapshot, call()),
            [search(snapshot, query, call()) for query in QUERIES],
            snapshot.snapshot_id(principal()),
        )

    with closing(make_library(tmp_path)) as library:
        put(library, *SEEN)
        put(library, document("a.txt", ENGLISH + JAPANESE))
        before = state()
        library.rebuild_indexes()
        assert state() == before
    with closing(make_library(tmp_path)) as library:
        assert state() == before


def test_equal_scores_are_ordered_by_numbers_and_never_by_the_string(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        for n in range(11):
            put(library, document("b", f"{n}"))
        text = "\n".join(["売上" + "x" * 470] * 12)
        put(library, document("b", text), document("B", text), document("a/b", text), document("漢", text))
        snapshot = library.snapshot()
        scores = snapshot.lexical.search(["売上"], snapshot.candidates(call()))
        best = [snapshot.tie_key(row) for row in top(scores, 100, snapshot.tie_key)]
        assert len(set(scores.scores.tolist())) == 1
        assert best == [(name, 12 if name == "b" else 1, seq) for name in ("B", "a/b", "b", "漢") for seq in range(12)]


def test_documents_are_listed_in_code_point_order_and_a_prefix_is_taken_as_it_is(tmp_path: Path) -> None:
    names = ["B", "a", "a%b", "a_b", "aXb", "ab/c", "e\u0301", "é", "か", "漢", "\uffff", "😀"]
    with closing(make_library(tmp_path)) as library:
        put(library, *(document(name, "text") for name in reversed(names)))
        reader = library.snapshot().reader

        def listed(prefix: str = "", after: str = "", limit: int | None = None) -> list[str]:
            return [each.doc_id for each in reader.documents(prefix, after, limit, clearance=Label.INTERNAL)]

        assert listed() == sorted(names, key=lambda name: [ord(c) for c in name])
        for prefix in ("", "a", "a_", "a%", "A", "é", "e", "漢", "😀", "\uffff", "%"):
            assert listed(prefix) == [name for name in listed() if name.startswith(prefix)]
        assert listed(after="ab/c") == listed()[listed().index("ab/c") + 1 :]
        assert listed("a", "a", 2) == [name for name in listed("a") if name > "a"][:2]


def test_two_writes_at_one_moment_are_both_known_at_it(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        put(library, document("a", "text 1"))
        put(library, document("a", "text 2"))
        assert visible(library.snapshot(), call(known_at=START)) == [("a", 2, 0)]


# Chunks in the store


def test_a_stored_chunk_is_a_slice_of_the_stored_text(tmp_path: Path) -> None:
    text = "\r\n".join([*TEXTS[:-3], JAPANESE * 30, CHINESE * 30])
    with closing(make_library(tmp_path)) as library:
        put(library, document("a", text))
        snapshot = library.snapshot()
        assert snapshot.reader.source_text("a", 1, clearance=Label.INTERNAL) == text
        chunks = snapshot.chunks(range(snapshot.rows))
        assert len(chunks) > 5
        for seq, chunk in enumerate(chunks):
            assert text[chunk.span.start : chunk.span.end] == chunk.text
            assert (chunk.doc_id, chunk.revision, chunk.seq) == ("a", 1, seq)


def test_chunk_ids_are_unique_over_revisions(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        for n in range(3):
            put(library, document("a@1", f"text {n}"), document("a", f"text {n}"))
        snapshot = library.snapshot()
        chunks = snapshot.chunks(range(snapshot.rows))
        assert len({str(ChunkId(chunk.doc_id, chunk.revision, chunk.seq)) for chunk in chunks}) == len(chunks) == 6


def test_a_contextual_header_is_indexed_and_never_in_the_text(tmp_path: Path) -> None:
    plain = document("a", "text one")
    header = "年次報告 · ACME · FY2024 · 売上高"
    headed = document("a", "text one", chunks=(NewChunk(plain.chunks[0].span, plain.chunks[0].locator, header),))
    with closing(make_library(tmp_path)) as library:
        put(library, headed)
        snapshot = library.snapshot()
        (chunk,) = snapshot.chunks([0])
        assert (chunk.text, chunk.locator, chunk.span) == ("text one", plain.chunks[0].locator, plain.chunks[0].span)
        expected = bm25(tokens_of("売上高"), [tokens_of(f"{header}\ntext one")])
        assert search(snapshot, "売上高", call()) == {("a", 1, 0): expected[0]}


# Vectors in the store


def test_a_restricted_chunk_is_never_given_out_for_embedding_and_has_no_vector(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store:
        with store.writer() as writer:
            for label in Label:
                writer.replace_document(document(label.name, f"text {label.name}", label))
        texts = [text for _, text in store.reader().rows_without_embedding("model")]
        assert texts == [f"text {label.name}" for label in Label if label is not Label.RESTRICTED]
        rows = [meta.chunk_row for meta in store.reader().chunk_metas()]
        with store.writer() as writer:
            writer.put_embeddings("model", [(row, b"\0" * 8) for row in rows])
        kept = [vector is not None for _, vector in store.reader().embeddings("model", rows[0], rows[-1])]
        assert kept == [True, True, True, False]
        assert not any(vector for _, vector in store.reader().embeddings("other", rows[0], rows[-1]))


def test_a_chunk_takes_no_vector_from_a_stricter_text(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store:
        with store.writer() as writer:
            writer.replace_document(document("secret", "equal text", Label.CONFIDENTIAL))
            writer.replace_document(document("open", "equal text", Label.INTERNAL))
        secret, plain = [meta.chunk_row for meta in store.reader().chunk_metas()]
        with store.writer() as writer:
            assert [row for row, _ in writer.put_embeddings("model", [(secret, b"\0" * 8)])] == [secret]
        assert [row for row, _ in store.reader().rows_without_embedding("model")] == [plain]
        with store.writer() as writer:
            writer.put_embeddings("model", [(plain, b"\0" * 8)])
        assert list(store.reader().rows_without_embedding("model")) == []


# Settings


def test_the_settings_of_a_library_and_their_defaults() -> None:
    config = LibraryConfig()
    assert (config.k1, config.b, config.vector_depth) == (1.5, 0.75, 200)
    assert (config.chunker, config.chunk_chars, config.overlap_chars) == ("paragraph", 480, 80)
    assert (config.ambiguous, config.default_label) == ("refuse", Label.INTERNAL)
    assert LibraryConfig.from_toml(config.to_toml()) == config
    assert LibraryConfig.from_toml("") == config


def test_settings_that_do_not_hold_are_all_told_at_once() -> None:
    with pytest.raises(InvalidRequest) as caught:
        LibraryConfig.from_toml('chunker = "x"\nembedder = "y"\nk1 = -1.0\nb = 2.0\nchunk_chars = 0\nnosuch = 1\n')
    fields = " ".join(violation.field for violation in caught.value.violations)
    for name in ("chunker", "embedder", "k1", "b", "chunk_chars", "nosuch"):
        assert name in fields
    told = " ".join(violation.description for violation in caught.value.violations)
    for valid in ("paragraph", "whole", "onnx", "none"):
        assert valid in told


@pytest.mark.parametrize(
    ("setting", "valid"),
    [
        ("chunker", CHUNKERS),
        ("embedder", EMBEDDERS),
        ("fusion", FUSIONS),
        ("query_transform", sorted(("none", *TRANSFORMS))),
        ("decomposition", sorted(("none", *DECOMPOSERS))),
        ("relation_extractor", EXTRACTORS),
        ("ambiguous", AMBIGUOUS),
    ],
)
def test_an_unknown_choice_is_an_error_that_lists_the_valid_ones(setting: str, valid: Collection[str]) -> None:
    for unknown in ("nosuch", "", "売上"):
        with pytest.raises(InvalidRequest) as caught:
            LibraryConfig.from_toml(f'{setting} = "{unknown}"')
        (violation,) = caught.value.violations
        assert setting in violation.field
        assert set(re.findall(r"\w+", violation.description.partition("none of")[2])) == set(valid)
    for name in valid:
        LibraryConfig.from_toml(f'{setting} = "{name}"')


@pytest.mark.parametrize("said", ["public", "PUBLIC", " Public ", "ＰＵＢＬＩＣ", "\u3000ｐｕｂｌｉｃ"])
def test_the_default_label_is_parsed_like_any_label_and_an_unknown_one_is_an_error(said: str) -> None:
    assert LibraryConfig.from_toml(f'default_label = "{said}"').default_label is Label.PUBLIC
    with pytest.raises(InvalidRequest) as caught:
        LibraryConfig.from_toml(f'default_label = "not {said}"')
    assert "CONFIDENTIAL" in caught.value.violations[0].description


def test_k1_and_b_of_a_library_are_kept(tmp_path: Path) -> None:
    with closing(make_library(tmp_path)) as library:
        library.set_config(LibraryConfig(embedder="none", k1=0.9, b=0.4))
    with closing(make_library(tmp_path)) as library:
        assert (library.config.k1, library.config.b) == (0.9, 0.4)


# Names of libraries


@pytest.mark.parametrize("library_id", ["default", "a", "0", "a-b_c", "9" * 63])
def test_ids_that_a_library_may_have(library_id: str) -> None:
    assert check_library_id(library_id) == library_id


@pytest.mark.parametrize(
    "library_id",
    ["", "A", "-a", "_a", "a" * 64, "a b", "a.b", "a/b", "..", "é", "漢", "１", "٣", "a\n", "a\x00", "a\u200b"],
)
def test_ids_that_no_library_may_have(library_id: str) -> None:
    with pytest.raises(InvalidRequest):
        check_library_id(library_id)


# Reading the store itself


WRITES = [
    "DELETE FROM {table}",
    "delete from {table} where 1=0",
    "/* SELECT */ DROP TABLE {table}",
    "-- SELECT\nDROP TABLE {table}",
    "WITH x AS (SELECT 1) DELETE FROM {table}",
    "SELECT 1; DROP TABLE {table}",
    "CREATE TABLE made (a)",
    "CREATE TEMP TABLE made (a)",
    "CREATE TABLE made AS SELECT 1",
    "ALTER TABLE {table} RENAME TO other",
    "VACUUM",
    "VACUUM INTO '{file}'",
    "ATTACH '{file}' AS other",
    "PRAGMA user_version = 99",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA writable_schema = 1",
    "BEGIN",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "SAVEPOINT a",
    "REINDEX",
    "ANALYZE",
    "EXPLAIN DELETE FROM {table}",
    "SELECT 1\x00; DROP TABLE {table}",
    "INSERT INTO {table} DEFAULT VALUES RETURNING *",
    "UPDATE {table} SET rowid = rowid RETURNING 1",
    "SELECT load_extension('{file}')",
    "DETACH main",
    "nonsense",
    "SELECT",
    "SELECT * FROM nosuch",
]


@pytest.fixture(scope="module")
def store() -> Iterator[SqliteStore]:
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "store.sqlite")) as opened:
        with opened.writer() as writer:
            writer.replace_document(document("a", "text"))
        yield opened


@pytest.mark.parametrize("statement", WRITES)
def test_execute_read_refuses_anything_but_a_read(store: SqliteStore, tmp_path: Path, statement: str) -> None:
    def state() -> list[object]:
        return [store.execute_read(f'SELECT count(*), total(rowid) FROM "{name}"') for name in tables]

    listed = store.execute_read(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%'"
    )
    tables = sorted(str(name) for (name,) in listed)
    before = state()
    for table in tables[:2]:
        with pytest.raises(InvalidRequest):
            store.execute_read(statement.format(table=table, file=tmp_path / "other.sqlite"))
    assert state() == before
    assert not (tmp_path / "other.sqlite").exists()
    with store.writer() as writer:  # and it can still be written
        writer.replace_document(document("b", statement or "blank"))


def test_execute_read_reads_with_parameters(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store:
        assert store.execute_read("SELECT ?, ?", ("売上'; DROP", 5)) == [("売上'; DROP", 5)]
        assert store.execute_read("WITH x(n) AS (SELECT 1 UNION ALL SELECT 2) SELECT n FROM x") == [(1,), (2,)]
        with pytest.raises(InvalidRequest):
            store.execute_read("SELECT ?", ())
