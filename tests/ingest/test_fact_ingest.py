from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Label
from groundwire_server.glossary import EntityTerm, Glossary, MetricTerm
from groundwire_server.ingest import (
    FACT_FILE_FORMS,
    Accepted,
    Ack,
    FactFields,
    FactFileHead,
    FactIngest,
    FactIngestRules,
    IngestEvent,
    IngestLimits,
    IngestOpening,
    IngestSummary,
    RejectedRow,
    RelationFields,
    RowsRejected,
    fact_files,
    what_is_lacking,
)
from groundwire_server.ingest import fact_ingest as room
from groundwire_server.library import Library
from groundwire_server.store import StoredEdge, StoredFact
from tests.ingest.support import INGEST, OTHER_INGEST, desk_for, make_library, summary

GLOSSARY = Glossary([MetricTerm("REVENUE", "Revenue", unit="USD"), EntityTerm("ACME", "Acme")])
FACTS = b'{"metric": "Revenue", "entity": "Acme", "period": "FY2024", "value": "12.50"}\n'
BAD_FACT = b'{"metric": "Revenue", "entity": "Acme", "period": "FY2024", "value": "n.a."}\n'
RELATIONS = '{"subject": "Acme", "relation": "owned_by", "object": "持株会社"}\n'.encode()


@pytest.fixture
def library(tmp_path: Path) -> Library:
    made = make_library(tmp_path)
    made.set_glossary(GLOSSARY)
    return made


@contextmanager
def opened(
    library: Library,
    ingest_id: str = INGEST,
    *,
    resume_after_seq: int = 0,
    validate_only: bool = False,
    limits: IngestLimits | None = None,
) -> Iterator[tuple[FactIngest, list[IngestEvent]]]:
    opening = IngestOpening(ingest_id, resume_after_seq, validate_only)
    with desk_for(library, limits=limits).open_facts(
        library, opening, lambda: FactIngestRules.of(library.snapshot())
    ) as ingest:
        yield ingest, list(ingest.opening())


def send_file(library: Library, name: str, raw: bytes, ingest_id: str = INGEST, **head: object) -> list[IngestEvent]:
    with opened(library, ingest_id) as (ingest, events):
        events += ingest.feed_file(1, FactFileHead(name, **head), raw, True)  # type: ignore[arg-type]
        return events + ingest.finish(1)


def send_records(
    library: Library, facts: Sequence[FactFields] = (), relations: Sequence[RelationFields] = ()
) -> list[IngestEvent]:
    with opened(library) as (ingest, events):
        events += ingest.feed_records(1, facts, relations, 100)
        return events + ingest.finish(1)


def fact(value: str = "12.50", **more: object) -> FactFields:
    given = {"source_doc": "a.pdf", "locator": "page=1", **more}
    return FactFields("Revenue", "Acme", "FY2024", value=value, **given)  # type: ignore[arg-type]


def stored_facts(library: Library) -> list[StoredFact]:
    return library.store.reader().facts(Label.CONFIDENTIAL)


def stored_edges(library: Library) -> list[StoredEdge]:
    reader = library.store.reader()
    return reader.edges(Label.CONFIDENTIAL, reader.nodes(Label.CONFIDENTIAL), outgoing=True)


def rejected(events: Sequence[IngestEvent]) -> list[RejectedRow]:
    return [row for event in events if isinstance(event, RowsRejected) for row in event.rows]


def test_records_land_with_codes_of_the_glossary(library: Library) -> None:
    events = send_records(
        library, [fact()], [RelationFields("Acme", "part_of", "World", source_doc="a.pdf", locator="page=2")]
    )
    assert events == [Accepted(0, 256), Ack(1), IngestSummary(2, 0, 0)]
    (stored,) = stored_facts(library)
    assert (stored.record.metric, stored.record.entity, stored.record.value, stored.record.unit) == (
        "REVENUE",
        "ACME",
        "12.50",
        "USD",
    )
    (edge,) = stored_edges(library)
    assert (edge.record.source, edge.record.relation, edge.record.target) == ("World", "parent_of", "ACME")


def test_bad_records_are_refused_by_their_place_and_the_others_land(library: Library) -> None:
    events = send_records(
        library,
        [fact("n.a."), fact()],
        [
            RelationFields("Acme", "r", "", source_doc="a.pdf", locator="1"),
            RelationFields("Acme", "r", "B", source_doc="a.pdf", locator="1"),
        ],
    )
    assert summary(events) == (2, 0, 2)
    assert [(row.seq, row.file, row.row, row.column, row.reason) for row in rejected(events)] == [
        (1, "", 1, "value", ErrorReason.FACT_VALUE_MISSING),
        (1, "", 3, "object", ErrorReason.FACT_FIELD_MISSING),
    ]
    assert rejected(events)[0].value == "n.a."


@pytest.mark.parametrize(
    ("name", "form", "raw", "facts", "edges"),
    [
        ("f.jsonl", "", FACTS, 1, 0),
        ("edges.jsonl", "", RELATIONS, 0, 1),
        ("x", "relations_jsonl", RELATIONS, 0, 1),
        ("f.csv", "", b"metric,entity,period,value\nRevenue,Acme,FY2024,12.50\n", 1, 0),
        ("f.txt", "CSV", b"metric,entity,period,value\nRevenue,Acme,FY2024,12.50\n", 1, 0),
    ],
)
def test_files_are_read_by_form_or_name(
    library: Library, name: str, form: str, raw: bytes, facts: int, edges: int
) -> None:
    assert summary(send_file(library, name, raw, form=form)) == (1, 0, 0)
    assert (len(stored_facts(library)), len(stored_edges(library))) == (facts, edges)
    for stored in stored_facts(library):
        assert stored.record.source_doc == name
    for edge in stored_edges(library):
        assert edge.record.source_doc == name


def test_the_same_file_again_changes_nothing(library: Library) -> None:
    send_file(library, "f.jsonl", FACTS + BAD_FACT)
    generation = library.snapshot().generation
    events = send_file(library, "f.jsonl", FACTS + BAD_FACT, OTHER_INGEST)
    assert summary(events) == (0, 1, 1)
    assert library.snapshot().generation == generation


def test_rows_of_a_file_are_refused_with_their_line(library: Library) -> None:
    events = send_file(library, "f.jsonl", BAD_FACT + FACTS + b"\n{\n")
    assert [(row.file, row.row, row.column, row.reason) for row in rejected(events)] == [
        ("f.jsonl", 1, "value", ErrorReason.FACT_VALUE_MISSING),
        ("f.jsonl", 4, "", ErrorReason.VALUE_MALFORMED),
    ]
    assert summary(events) == (1, 0, 2)


@pytest.mark.parametrize(
    ("head", "raw", "column", "reason"),
    [
        (FactFileHead("f.odt"), b"x", "form", ErrorReason.DOCUMENT_UNSUPPORTED),
        (FactFileHead("f", form="spreadsheet"), b"x", "form", ErrorReason.DOCUMENT_UNSUPPORTED),
        (FactFileHead("", form="jsonl"), FACTS, "name", ErrorReason.INVALID_REQUEST),
        (FactFileHead("e.jsonl", mapping_toml="x = 1"), RELATIONS, "mapping_toml", ErrorReason.INVALID_REQUEST),
        (FactFileHead("f.jsonl", mapping_toml="x = 1"), FACTS, "mapping_toml", ErrorReason.INVALID_REQUEST),
    ],
)
def test_a_file_that_cannot_be_read_is_one_refusal(
    library: Library, head: FactFileHead, raw: bytes, column: str, reason: ErrorReason
) -> None:
    with opened(library) as (ingest, events):
        events += ingest.feed_file(1, head, raw, True)
        events += ingest.feed_file(2, FactFileHead("good.jsonl"), FACTS, True)
        events += ingest.finish(2)
    (row,) = rejected(events)
    assert (row.seq, row.file, row.row, row.column, row.reason) == (1, head.name, 0, column, reason)
    assert summary(events) == (1, 0, 1)


def test_the_heads_label_is_that_of_rows_that_say_none(library: Library) -> None:
    send_file(library, "f.jsonl", FACTS, label=Label.CONFIDENTIAL)
    send_file(library, "e.jsonl", RELATIONS, OTHER_INGEST, label=Label.PUBLIC)
    assert [stored.record.label for stored in stored_facts(library)] == [Label.CONFIDENTIAL]
    assert [edge.record.label for edge in stored_edges(library)] == [Label.PUBLIC]


def test_a_file_over_the_limit_is_refused(library: Library) -> None:
    with opened(library, limits=IngestLimits(max_document_bytes=10)) as (ingest, events):
        events += ingest.feed_file(1, FactFileHead("f.jsonl"), FACTS, False)
        events += ingest.feed_file(2, None, FACTS, True)
        events += ingest.finish(2)
    assert [row.reason for row in rejected(events)] == [ErrorReason.DOCUMENT_TOO_LARGE]


def test_many_refusals_come_in_frames_and_a_flood_is_counted(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_LISTED_ROWS", 2500)
    events = send_file(library, "f.jsonl", BAD_FACT * 3000)
    frames = [event for event in events if isinstance(event, RowsRejected)]
    assert [len(frame.rows) for frame in frames] == [1000, 1000, 501]
    assert rejected(events)[-1].message == "and 500 more faults, which are not listed"
    assert summary(events) == (0, 0, 3000)


def test_records_do_not_come_inside_a_file(library: Library) -> None:
    with opened(library) as (ingest, _):
        ingest.feed_file(1, FactFileHead("f.jsonl"), FACTS, False)
        with pytest.raises(InvalidRequest) as refused:
            ingest.feed_records(2, [fact()], [], 10)
        assert refused.value.reason is ErrorReason.INGEST_ORDER


def test_validate_only_stores_nothing(library: Library) -> None:
    generation = library.snapshot().generation
    with opened(library, validate_only=True) as (ingest, events):
        events += ingest.feed_file(1, FactFileHead("f.jsonl"), FACTS + BAD_FACT, True)
        events += ingest.finish(1)
    assert summary(events) == (1, 0, 1)
    assert len(rejected(events)) == 1
    assert library.snapshot().generation == generation
    assert stored_facts(library) == []


def test_a_repeat_of_records_changes_nothing(library: Library) -> None:
    with opened(library) as (ingest, _):
        ingest.feed_records(1, [fact()], [], 10)
        assert ingest.feed_records(1, [fact("13")], [], 10) == []
        ingest.flush()
        assert ingest.feed_records(1, [fact("13")], [], 10) == [Ack(1)]
        assert summary(ingest.finish(1)) == (1, 0, 0)
    assert [stored.record.value for stored in stored_facts(library)] == ["12.50"]


ROWS = st.lists(
    st.sampled_from(
        [
            FACTS,
            BAD_FACT,
            RELATIONS,
            b"\n",
            b"{\n",
            json.dumps({"metric": "Revenue", "entity": "売", "period": "FY2023", "value": "1"}).encode() + b"\n",
        ]
    ),
    max_size=6,
).map(b"".join)


@settings(max_examples=30)
@given(
    ROWS, st.lists(st.integers(1, 50), min_size=1, max_size=5), st.sets(st.integers(1, 8)), st.sampled_from([1, 128])
)
def test_any_cut_and_any_break_give_the_same_end(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, lengths: list[int], breaks: set[int], group_parts: int
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole, torn = make_library(folder, "whole"), make_library(folder, "torn")
    for library in (whole, torn):
        library.set_glossary(GLOSSARY)
    expected = send_file(whole, "f.jsonl", raw)
    pieces: list[bytes] = []
    offset = 0
    while offset < len(raw) or not pieces:
        length = lengths[len(pieces) % len(lengths)]
        pieces.append(raw[offset : offset + length])
        offset += length
    told: dict[tuple[int, str, str], RejectedRow] = {}
    result: tuple[int, int, int] | None = None
    for stop in (*sorted(breaks), len(pieces)):
        with opened(torn, limits=IngestLimits(group_parts=group_parts)) as (ingest, events):
            for seq in range(ingest.durable_seq + 1, min(stop, len(pieces)) + 1):
                head = FactFileHead("f.jsonl") if seq == 1 else None
                events += ingest.feed_file(seq, head, pieces[seq - 1], seq == len(pieces))
            if stop == len(pieces):
                events += ingest.finish(len(pieces))
                result = summary(events)
            told |= {(row.row, row.column, row.message): row for row in rejected(events)}
    assert result == summary(expected)
    assert sorted(told) == sorted((row.row, row.column, row.message) for row in rejected(expected))
    assert [s.record for s in stored_facts(torn)] == [s.record for s in stored_facts(whole)]
    assert [e.record for e in stored_edges(torn)] == [e.record for e in stored_edges(whole)]
    for library in (whole, torn):
        library.close()


def test_what_cannot_be_read_here_says_what_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {form for form in FACT_FILE_FORMS if what_is_lacking(form)} == set()
    monkeypatch.setattr(fact_files, "find_spec", lambda name: None)
    assert {form: what_is_lacking(form) for form in FACT_FILE_FORMS if what_is_lacking(form)} == {
        "parquet": "pyarrow is not installed: groundwire-server[parquet]"
    }


def test_a_relation_is_taken_back_by_its_key_alone(library: Library) -> None:
    stated = RelationFields("Acme", "part_of", "World", source_doc="a.pdf", locator="page=2")
    other = replace(stated, source_doc="b.pdf")
    send_records(library, relations=[stated, replace(stated, locator="page=9"), other])
    then = library.snapshot()
    back = RelationFields("Acme", "part_of", "World", source_doc="a.pdf", withdraw=True)
    with opened(library, str(uuid4())) as (ingest, events):
        events += ingest.feed_records(1, [], [back, replace(back, object="Nowhere"), replace(back, source_doc="")], 100)
        events += ingest.finish(1)
    assert [(row.column, row.reason) for row in rejected(events)] == [("source_doc", ErrorReason.FACT_FIELD_MISSING)]
    assert summary(events) == (1, 1, 1)
    assert [edge.record.source_doc for edge in stored_edges(library)] == ["b.pdf"]
    nodes = then.reader.nodes(Label.CONFIDENTIAL)
    assert len(then.reader.edges(Label.CONFIDENTIAL, nodes, outgoing=True)) == 3
