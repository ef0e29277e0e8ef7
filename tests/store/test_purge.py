"""Revisions that were purged are gone, for every generation and from the disk; all else stays as it was."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.errors import Aborted, ErrorReason
from groundwire_server.evidence import Attribute, Label
from groundwire_server.store import PurgePolicy, SqliteStore
from groundwire_server.store.conformance import START, TickingClock, make_document, make_edge, visible_state
from tests.store.schemas.history import MODEL, VECTOR

ALL = Label.CONFIDENTIAL


def filled(path: Path, labels: dict[str, tuple[Label, ...]]) -> SqliteStore:
    """A document for each name, with a revision for each of its labels; the texts name both."""
    store = SqliteStore(path, now=TickingClock())
    for doc_id, each in labels.items():
        for number, label in enumerate(each, 1):
            with store.writer() as writer:
                document = make_document(
                    doc_id,
                    f"{doc_id} text{number} 𠮷\nsecond {doc_id} line{number}.",
                    label=label,
                    title=f"Title{number}of{doc_id}",
                    header=f"Header{number}of{doc_id}",
                    attributes=(Attribute("topic", f"topic{number}of{doc_id}"),),
                )
                writer.replace_document(document)
    return store


def purge(store: SqliteStore, clearance: Label = ALL, limit: int = 1000, **policy: Any) -> dict[Label, int]:
    wanted = PurgePolicy(store.reader().generation, **policy)
    planned = store.reader().purgeable(wanted, clearance=clearance)
    with store.writer() as writer:
        done = writer.purge(wanted, limit, clearance=clearance)
    assert sum(done.values()) == min(limit, sum(planned.values()))
    return done


def left(store: SqliteStore, doc_id: str, clearance: Label = ALL) -> list[int]:
    return [revision.revision for revision in store.reader().revisions(doc_id, clearance=clearance)]


@pytest.mark.parametrize(
    ("policy", "a", "b"),
    [
        ({}, [4], []),
        ({"keep_last": 1}, [4, 3], [2]),
        ({"keep_last": 3}, [4, 3, 2, 1], [2, 1]),
        ({"doc_id": "a"}, [4], [2, 1]),
        ({"doc_id": "nowhere"}, [4, 3, 2, 1], [2, 1]),
        ({"retired_before": START}, [4, 3, 2, 1], [2, 1]),
        ({"retired_before": START + timedelta(seconds=3, microseconds=1)}, [4, 3], [2, 1]),
        ({"retired_before": START + timedelta(seconds=3)}, [4, 3, 2], [2, 1]),
        ({"retired_before": START + timedelta(days=1), "keep_last": 2}, [4, 3, 2], [2, 1]),
    ],
)
def test_a_policy_says_what_goes_and_the_active_revision_never_does(
    tmp_path: Path, policy: dict[str, Any], a: list[int], b: list[int]
) -> None:
    store = filled(tmp_path / "s", {"a": (Label.INTERNAL,) * 4, "b": (Label.PUBLIC,) * 2})
    with store.writer() as writer:
        writer.withdraw_document("b")
    assert purge(store, **policy) is not None
    assert (left(store, "a"), left(store, "b")) == (a, b)
    assert left(store, "a")[0] == 4
    assert purge(store, **policy) == {}
    store.close()


def test_what_a_caller_may_not_read_stays_and_keeps_nothing(tmp_path: Path) -> None:
    labels = (Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED, Label.PUBLIC, Label.INTERNAL)
    store = filled(tmp_path / "s", {"a": labels})
    before = visible_state(store.reader(), Label.PUBLIC)
    with store.writer() as writer:
        policy = PurgePolicy(store.reader().generation, keep_last=1)
        assert writer.purge(policy, 10, clearance=Label.INTERNAL) == {Label.INTERNAL: 1}
    assert visible_state(store.reader(), Label.PUBLIC) == before
    assert [r.label for r in store.reader().revisions("a", clearance=None)] == list(labels[:0:-1])
    assert purge(store, ALL) == {Label.CONFIDENTIAL: 1, Label.PUBLIC: 1}
    assert [r.label for r in store.reader().revisions("a", clearance=None)] == [Label.INTERNAL, Label.RESTRICTED]
    store.close()


def test_no_generation_has_it_and_its_number_is_not_given_again(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", {"a": (Label.INTERNAL,) * 3})
    held = store.reader(2)
    (row, *_) = [chunk.chunk_row for chunk in held.iter_chunks(clearance=ALL)]
    purge(store)
    for reader in (held, *(store.reader(generation) for generation in range(1, 5))):
        assert reader.revision("a", 2, clearance=ALL) is None
        assert reader.source_places("a", 2, clearance=ALL) == b""
        assert not [chunk for chunk in reader.iter_chunks(clearance=ALL, include_inactive=True) if chunk.revision < 3]
    with pytest.raises(Aborted) as ended:
        held.chunks([row])
    assert ended.value.reason is ErrorReason.RESUME_SNAPSHOT_GONE
    for read in (lambda: held.source_text("a", 2, clearance=ALL), lambda: held.chunks_of("a", 2, clearance=ALL)):
        with pytest.raises(Aborted):
            read()
    assert held.counts(ALL)[:2] == (0, 0)
    with store.writer() as writer:
        writer.withdraw_document("a")
    purge(store)
    assert store.reader().documents(clearance=ALL, include_withdrawn=True) == []
    with store.writer() as writer:
        assert writer.replace_document(make_document("a"), clearance=ALL).revision == 4
    store.close()


def test_what_answers_now_stays_byte_for_byte_and_rows_stay_dense(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", dict.fromkeys(("a", "b", "日本"), (Label.INTERNAL,) * 3))

    def now() -> dict[str, object]:
        reader = store.reader()
        state = visible_state(reader, ALL)
        del state["digest"], state["revisions"], state["texts"]
        rows = [row for row, _ in reader.index_texts(1, reader.chunk_count())]
        return {**state, "rows": rows, "active": [reader.active_revision(d, clearance=ALL) for d in ("a", "b", "日本")]}

    before, digest = now(), store.reader().content_digest(ALL)
    assert purge(store, limit=4) == {Label.INTERNAL: 4}
    assert purge(store) == {Label.INTERNAL: 2}
    assert now() == before
    assert store.reader().content_digest(ALL) != digest
    assert [span.chunks for span in store.reader().revision_spans()] == [2] * 9
    texts = dict(store.reader().index_texts(1, store.reader().chunk_count()))
    assert sum(text == "" for text in texts.values()) == 12
    store.close()


def test_a_follower_hears_of_deaths_and_purges_together(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", {"a": (Label.INTERNAL,) * 3})
    purge(store, keep_last=1)
    seen = {span.revision: (span.born, span.died) for span in store.reader().retired_spans(1)}
    assert seen == {1: (1, 1), 2: (2, 3)}
    assert {span.revision for span in store.reader().retired_spans(3)} == {1}
    store.close()


def test_a_vector_goes_with_the_last_text_that_may_use_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s", now=TickingClock())
    for doc_id, text in (("a", "shared words"), ("a", "lost words"), ("a", "now"), ("b", "shared words")):
        with store.writer() as writer:
            writer.replace_document(make_document(doc_id, text))
            rows = [row for row, _ in store.reader().index_texts(1, 100)] + [store.reader().chunk_count() + 1]
            writer.put_embeddings(MODEL, [(rows[-1], VECTOR)])
    purge(store)
    assert store.execute_read("SELECT count(*) FROM embedding") == [(2,)]  # "shared words" of b, and "now"
    assert [vector for _, vector in store.reader().embeddings(MODEL, 1, 4)] == [None, None, VECTOR, VECTOR]
    with store.writer() as writer:
        assert writer.put_embeddings(MODEL, [(1, VECTOR)]) == []  # a worker that read the text before
    store.close()


def test_nothing_of_it_is_left_on_the_disk(tmp_path: Path) -> None:
    store = filled(tmp_path / "s", dict.fromkeys(("a", "b"), (Label.INTERNAL,) * 20))
    purge(store, keep_last=1)
    store.sweep()
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for number in range(1, 19):
        for words in (
            f"text{number} 𠮷",
            f"line{number}.",
            f"Title{number}of",
            f"Header{number}of",
            f"topic{number}of",
        ):
            assert words.encode() not in held
    for kept in (b"a text20", b"a text19", b"Title20ofb"):
        assert kept in held
    store.close()


def test_relations_that_were_found_in_what_is_gone_go_along(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", now=TickingClock())
    given = make_edge("GIVEN", source_doc="d", locator="d#row=1")

    def revise(number: int, *names: str) -> None:
        with store.writer() as writer:
            writer.replace_document(make_document("d", f"text {number}"))
            found = [make_edge(name, source_doc="d", extractor="llm", locator=f"d#span={name}") for name in names]
            writer.replace_edges("d", ("llm",), found)

    def rows() -> set[str]:
        return {name for (name,) in store.execute_read("SELECT source FROM edge")}

    with store.writer() as writer:
        writer.put_edges([given])
    revise(1, "ONE", "ONE_AND_TWO", "ALL")
    revise(2, "ONE_AND_TWO", "ALL")
    revise(3, "THREE", "ALL")
    with store.writer() as writer:  # of another document, and dead as well
        writer.replace_document(make_document("e", "text"))
        writer.replace_edges("e", ("llm",), [make_edge("ELSEWHERE", source_doc="e", extractor="llm")])
        writer.replace_document(make_document("e", "other text"))
        writer.replace_edges("e", ("llm",), [])
    assert rows() >= {"GIVEN", "ONE", "ONE_AND_TWO", "ALL", "THREE"}
    purge(store, doc_id="d", keep_last=1)
    assert rows() >= {"GIVEN", "ONE_AND_TWO", "ALL", "THREE"}
    assert "ONE" not in rows()
    purge(store, doc_id="d")
    assert "ONE_AND_TWO" not in rows()
    assert rows() >= {"GIVEN", "ALL", "THREE"}
    reader = store.reader()
    assert {kind_and_code[1] for kind_and_code in reader.nodes(ALL)} >= {"GIVEN", "ALL", "THREE"}
    with store.writer() as writer:
        writer.withdraw_document("d")
    purge(store, doc_id="d")
    assert rows() & {"GIVEN", "ALL", "THREE"} == {"GIVEN"}
    store.close()


def test_a_state_knows_whether_something_of_it_was_purged(tmp_path: Path) -> None:
    """Of what the reader may read, and had been written by then; what had ended before that counts too."""
    store = filled(tmp_path / "store.sqlite", {"a": (Label.PUBLIC,) * 3, "b": (Label.CONFIDENTIAL,) * 2})
    states = [store.reader(generation) for generation in range(store.reader().generation + 1)]
    assert not any(state.purged_since(ALL) for state in states)
    purge(store, doc_id="b")
    assert [state.purged_since(ALL) for state in states] == [False] * 4 + [True] * 2
    assert not any(state.purged_since(Label.INTERNAL) for state in states)
    purge(store, doc_id="a")
    assert [state.purged_since(Label.PUBLIC) for state in states] == [False] + [True] * 5
    assert not store.reader().purged_since(None)
    store.close()
