from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundwire_server.errors import ErrorReason, InvalidRequest, ResourceExhausted
from groundwire_server.evidence import Attribute, Label
from groundwire_server.ingest import (
    Accepted,
    Ack,
    DocumentHead,
    DocumentOutcome,
    DocumentRules,
    IngestDesk,
    IngestEvent,
    IngestLimits,
    IngestOpening,
    IngestSummary,
)
from groundwire_server.library import Library
from tests.ingest.support import (
    INGEST,
    OTHER_INGEST,
    acks,
    active,
    desk_for,
    make_library,
    opened,
    outcomes,
    send,
    summary,
    texts,
)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return make_library(tmp_path)


def test_documents_become_visible_and_are_acknowledged_after_their_outcomes(library: Library) -> None:
    events = send(library, ("a.txt", b"one"), ("b.md", b"# two\n"))
    assert events == [
        Accepted(0, 256),
        DocumentOutcome("a.txt", 1, 1, 1),
        DocumentOutcome("b.md", 2, 1, 1),
        Ack(2),
        IngestSummary(2, 0, 0),
    ]
    assert texts(library) == {"a.txt": "one", "b.md": "# two\n"}


def test_nothing_is_acknowledged_before_it_is_committed(library: Library) -> None:
    with opened(library) as (ingest, _):
        assert ingest.feed(1, DocumentHead("a.txt"), b"one", True) == []
        assert ingest.waiting
        assert texts(library) == {}
        assert ingest.flush() == [DocumentOutcome("a.txt", 1, 1, 1), Ack(1)]
        assert not ingest.waiting
        assert texts(library) == {"a.txt": "one"}
        assert ingest.flush() == []


def test_a_group_is_committed_when_it_is_full(library: Library) -> None:
    limits = IngestLimits(group_parts=3, group_bytes=10)
    with opened(library, limits=limits) as (ingest, _):
        assert acks(ingest.feed(1, DocumentHead("a.txt"), b"1", True)) == []
        assert acks(ingest.feed(2, DocumentHead("b.txt"), b"2", True)) == []
        assert acks(ingest.feed(3, DocumentHead("c.txt"), b"3", True)) == [3]
        assert acks(ingest.feed(4, DocumentHead("d.txt"), b"0123456789", True)) == [4]


def test_a_document_in_parts_is_visible_whole_or_not_at_all(library: Library) -> None:
    with opened(library) as (ingest, _):
        ingest.feed(1, DocumentHead("a.txt"), "売".encode()[:2], False)
        assert ingest.flush() == [Ack(1)]
        ingest.feed(2, None, "売".encode()[2:], False)
        assert ingest.flush() == [Ack(2)]
        assert texts(library) == {}
        assert ingest.feed(3, None, "上".encode(), True) == []
        assert ingest.flush() == [DocumentOutcome("a.txt", 3, 1, 1), Ack(3)]
    assert texts(library) == {"a.txt": "売上"}


def test_a_broken_connection_goes_on_where_it_was(library: Library) -> None:
    with opened(library) as (ingest, _):
        ingest.feed(1, DocumentHead("a.txt", label=Label.PUBLIC, attributes=(Attribute("n", 1),)), b"on", False)
        ingest.flush()
        ingest.feed(2, None, b"lost", False)
    with opened(library, resume_after_seq=1) as (ingest, events):
        assert events == [Accepted(1, 256)]
        ingest.feed(2, None, b"e", True)
        assert outcomes(ingest.finish(2)) == [DocumentOutcome("a.txt", 2, 1, 1)]
    (revision,) = active(library)
    assert (revision.label, revision.attributes, texts(library)) == (
        Label.PUBLIC,
        (Attribute("n", 1),),
        {"a.txt": "one"},
    )


def test_a_restart_of_the_server_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    with opened(library) as (ingest, _):
        ingest.feed(1, DocumentHead("a.txt"), b"one", True)
        ingest.feed(2, DocumentHead("b.txt"), b"tw", False)
        ingest.flush()
    library.close()
    library = make_library(tmp_path)
    with opened(library, resume_after_seq=0) as (ingest, events):
        assert events == [Accepted(2, 256), DocumentOutcome("a.txt", 1, 1, 1), Ack(2)]
        ingest.feed(3, None, b"o", True)
        assert summary(ingest.finish(3)) == (2, 0, 0)
    assert texts(library) == {"a.txt": "one", "b.txt": "two"}


def test_outcomes_that_the_client_has_are_not_repeated(library: Library) -> None:
    send(library, ("a.txt", b"one"), ("b.txt", b"two"), ("c.txt", b""))
    for known in range(4):
        with opened(library, resume_after_seq=known) as (ingest, events):
            assert set(acks(events)) == {3}
            assert [outcome.seq for outcome in outcomes(events)] == list(range(known + 1, 4))
            assert summary(ingest.finish(3)) == (2, 0, 1)


def test_a_part_that_came_before_changes_nothing(library: Library) -> None:
    with opened(library) as (ingest, _):
        ingest.feed(1, DocumentHead("a.txt"), b"one", True)
        assert ingest.feed(1, DocumentHead("other.txt"), b"another", True) == []
        ingest.flush()
        assert ingest.feed(1, DocumentHead("other.txt"), b"another", True) == [Ack(1)]
        assert summary(ingest.finish(1)) == (1, 0, 0)
        assert ingest.feed(1, DocumentHead("other.txt"), b"another", True) == [Ack(1)]
        assert summary(ingest.finish(1)) == (1, 0, 0)
    assert texts(library) == {"a.txt": "one"}


def test_the_same_content_again_makes_no_revision(library: Library) -> None:
    send(library, ("a.txt", b"one"))
    generation = library.snapshot().generation
    events = send(library, ("a.txt", b"one"), ingest_id=OTHER_INGEST)
    assert outcomes(events) == [DocumentOutcome("a.txt", 1, 1, 1, unchanged=True)]
    assert summary(events) == (0, 1, 0)
    assert library.snapshot().generation == generation


def test_a_change_of_the_label_alone_makes_a_revision(library: Library) -> None:
    send(library, ("a.txt", b"one"))
    events = send(library, ("a.txt", b"one"), ingest_id=OTHER_INGEST, label=Label.CONFIDENTIAL)
    assert [(outcome.revision, outcome.unchanged) for outcome in outcomes(events)] == [(2, False)]


def test_a_refused_document_keeps_its_revision_and_the_others_go_on(library: Library) -> None:
    send(library, ("a.txt", b"one\n" * 300))
    events = send(
        library, ("a.txt", b""), ("b.odt", b"%PDF"), ("c.txt", b"three"), ("c.txt", b"\x00"), ingest_id=OTHER_INGEST
    )
    told = [(o.doc_id, o.revision, o.chunks, o.error and o.error.reason) for o in outcomes(events)]
    assert told == [
        ("a.txt", 1, 3, ErrorReason.DOCUMENT_NO_TEXT),
        ("b.odt", 0, 0, ErrorReason.DOCUMENT_UNSUPPORTED),
        ("c.txt", 1, 1, None),
        ("c.txt", 1, 1, ErrorReason.DOCUMENT_UNSUPPORTED),
    ]
    assert summary(events) == (1, 0, 3)
    assert sorted(texts(library)) == ["a.txt", "c.txt"]


def test_a_refusal_tells_nothing_of_a_document_beyond_the_callers_clearance(library: Library) -> None:
    send(library, ("secret.txt", b"hidden"), label=Label.RESTRICTED)
    (outcome,) = outcomes(send(library, ("secret.txt", b""), ingest_id=OTHER_INGEST))
    assert (outcome.revision, outcome.chunks) == (0, 0)


def test_an_attribute_of_another_family_refuses_that_document_alone(library: Library) -> None:
    send(library, ("a.md", b"---\nyear: 2024\n---\none"))
    events = send(
        library,
        ("b.md", b"---\nyear: next\n---\ntwo"),
        ("c.md", b"---\nyear: 2025\n---\nthree"),
        ingest_id=OTHER_INGEST,
    )
    assert [outcome.error is None for outcome in outcomes(events)] == [False, True]
    assert sorted(texts(library)) == ["a.md", "c.md"]


def test_json_lines_give_one_outcome_a_line_and_are_stored_together(library: Library) -> None:
    lines = [json.dumps({"doc_id": f"d{number}", "title": "T", "text": "x" * number}) for number in range(4)]
    events = send(library, ("corpus.jsonl", "\n".join(lines).encode()), chunker="whole")
    assert [(o.doc_id, o.seq, o.error is None) for o in outcomes(events)] == [
        ("corpus.jsonl", 1, False),
        ("d1", 1, True),
        ("d2", 1, True),
        ("d3", 1, True),
    ]
    with opened(library) as (_, again):
        assert outcomes(again) == outcomes(events)


def test_a_document_over_the_limit_is_refused_without_being_kept(library: Library) -> None:
    limits = IngestLimits(max_document_bytes=10)
    head = DocumentHead("big.txt")
    with opened(library, limits=limits) as (ingest, _):
        ingest.feed(1, head, b"0123456789", False)
        ingest.feed(2, None, b"a", False)
        ingest.flush()
        for seq in range(3, 6):
            ingest.feed(seq, None, b"b" * 100, False)
        ingest.flush()
        assert len(library.store.reader().spooled(INGEST)) == 11
    with opened(library, resume_after_seq=5, limits=limits) as (ingest, _):
        ingest.feed(6, None, b"", True)
        ingest.feed(7, DocumentHead("small.txt"), b"0123456789", True)
        events = ingest.finish(7)
    assert [o.error and o.error.reason for o in outcomes(events)] == [ErrorReason.DOCUMENT_TOO_LARGE, None]


def test_validate_only_says_what_would_happen_and_stores_nothing(library: Library) -> None:
    send(library, ("a.txt", b"one"))
    before = library.snapshot()
    with opened(library, OTHER_INGEST, validate_only=True) as (ingest, events):
        assert events == [Accepted(0, 256)]
        ingest.feed(1, DocumentHead("a.txt"), b"one", True)
        ingest.feed(2, DocumentHead("b.txt"), b"two", True)
        ingest.feed(3, DocumentHead("c.txt"), b"", True)
        told = ingest.flush()
        assert [(o.revision, o.unchanged, o.error is None) for o in outcomes(told)] == [
            (1, True, True),
            (1, False, True),
            (0, False, False),
        ]
        assert acks(told) == [3]
        assert summary(ingest.finish(3)) == (1, 1, 1)
    assert library.snapshot() is before
    assert texts(library) == {"a.txt": "one"}
    assert library.store.reader().ingest(OTHER_INGEST) is None


def test_the_librarys_settings_hold_where_the_head_says_nothing(library: Library) -> None:
    rules = DocumentRules(Label.PUBLIC, "whole")
    with opened(library, rules=rules) as (ingest, _):
        ingest.feed(1, DocumentHead("a.txt"), b"one\n" * 300, True)
        ingest.feed(2, DocumentHead("b.txt", chunker="paragraph"), b"one\n" * 300, True)
        assert [o.chunks for o in outcomes(ingest.finish(2))] == [1, 3]
    assert {revision.label for revision in active(library)} == {Label.PUBLIC}


@pytest.mark.parametrize(
    ("parts", "reason", "details"),
    [
        ([(2, "a.txt", True)], ErrorReason.INGEST_SEQUENCE_GAP, {"expected_seq": "1", "seq": "2"}),
        ([(0, "a.txt", True)], ErrorReason.INGEST_SEQUENCE_GAP, {"expected_seq": "1", "seq": "0"}),
        ([(1, "a.txt", True), (3, "b.txt", True)], ErrorReason.INGEST_SEQUENCE_GAP, {"expected_seq": "2"}),
        ([(1, None, True)], ErrorReason.INGEST_ORDER, {"frame": "part", "expected": "part.head"}),
        ([(1, "a.txt", False), (2, "b.txt", True)], ErrorReason.INGEST_ORDER, {"frame": "part.head"}),
        ([(1, "a.txt", True), (2, None, True)], ErrorReason.INGEST_ORDER, {"expected": "part.head"}),
    ],
)
def test_parts_out_of_order_end_the_stream(
    library: Library, parts: list[tuple[int, str | None, bool]], reason: ErrorReason, details: dict[str, str]
) -> None:
    with opened(library) as (ingest, _):
        *good, (seq, doc_id, last) = parts
        for number, name, final in good:
            ingest.feed(number, (name and DocumentHead(name)) or None, b"x", final)
        with pytest.raises(InvalidRequest) as refused:
            ingest.feed(seq, DocumentHead(doc_id) if doc_id else None, b"x", last)
        assert refused.value.reason is reason
        assert details.items() <= refused.value.details.items()


def test_a_part_over_its_size_names_its_field(library: Library) -> None:
    with opened(library) as (ingest, _), pytest.raises(InvalidRequest) as refused:
        ingest.feed(1, DocumentHead("a.txt"), b"x" * (256 * 1024 + 1), True)
    assert refused.value.violations[0].field == "part.content"


def test_finish_notices_a_lost_part_and_an_unfinished_document(library: Library) -> None:
    with opened(library) as (ingest, _):
        ingest.feed(1, DocumentHead("a.txt"), b"x", False)
        with pytest.raises(InvalidRequest) as refused:
            ingest.finish(2)
        assert refused.value.reason is ErrorReason.INGEST_SEQUENCE_GAP
        with pytest.raises(InvalidRequest, match="not complete") as refused:
            ingest.finish(1)
        assert refused.value.reason is ErrorReason.INGEST_ORDER


def test_nothing_new_comes_after_the_finish(library: Library) -> None:
    send(library, ("a.txt", b"one"))
    with opened(library) as (ingest, _):
        with pytest.raises(InvalidRequest, match="finished") as refused:
            ingest.feed(2, DocumentHead("b.txt"), b"two", True)
        assert refused.value.reason is ErrorReason.INGEST_ORDER


def test_a_client_that_knows_more_than_the_server_is_told(library: Library) -> None:
    with pytest.raises(InvalidRequest) as refused, opened(library, resume_after_seq=7):
        pass
    assert refused.value.reason is ErrorReason.INGEST_SEQUENCE_GAP
    assert refused.value.details == {"expected_seq": "1", "seq": "7"}


def test_an_empty_ingest_ends_with_an_empty_summary(library: Library) -> None:
    assert send(library) == [Accepted(0, 256), IngestSummary(0, 0, 0)]
    assert send(library) == [Accepted(0, 256), IngestSummary(0, 0, 0)]


def test_a_full_disk_loses_nothing_that_was_acknowledged(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(library) as (ingest, _):
        ingest.feed(1, DocumentHead("a.txt"), b"one", True)
        ingest.flush()
        ingest.feed(2, DocumentHead("b.txt"), b"two", True)
        with monkeypatch.context() as patched:
            patched.setattr(library, "writing", _full_disk)
            with pytest.raises(ResourceExhausted):
                ingest.flush()
    with opened(library, resume_after_seq=1) as (ingest, events):
        assert acks(events) == [1]
        ingest.feed(2, DocumentHead("b.txt"), b"two", True)
        assert summary(ingest.finish(2)) == (2, 0, 0)


def _full_disk() -> None:
    raise ResourceExhausted(ErrorReason.STORAGE_FULL, "The disk is full.")


def test_two_ingests_side_by_side(library: Library) -> None:
    desk: IngestDesk = desk_for(library)
    rules = DocumentRules
    with (
        desk.open_documents(library, IngestOpening(INGEST), rules) as one,
        desk.open_documents(library, IngestOpening(OTHER_INGEST), rules) as two,
    ):
        events: list[IngestEvent] = []
        for seq in range(1, 4):
            one.feed(seq, DocumentHead(f"one/{seq}.txt"), b"a", True)
            two.feed(seq, DocumentHead(f"two/{seq}.txt"), b"b", True)
            events += one.flush() + two.flush()
        assert summary(one.finish(3)) == summary(two.finish(3)) == (3, 0, 0)
    assert len(texts(library)) == 6
