"""Whatever comes in is refused with a reason or answered; nothing that was stored can break an answer afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, glossary_pb2, graph_pb2, ingest_pb2, metric_pb2, narrative_pb2
from groundwire_server.errors import ErrorReason
from tests.rpc.house import (
    Documents,
    Facts,
    House,
    document_part,
    fact,
    finish,
    furnish,
    house,
    snippets,
    start,
    term,
)
from tests.rpc.serving import failure_of
from tests.support.eventually import eventually

FILE_PART = 200_000


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(Path(tmp_path_factory.mktemp("bad")) / "data") as running:
        furnish(running)
        yield running
        assert eventually(lambda: not any(running.server.leftovers.values()))
        assert not [line for line in running.log() if line["event"] == "fault"]


def rejected(frames: list[Any]) -> list[tuple[str, str]]:
    rows = [row for frame in frames for row in frame.rejected.rows]
    return [(row.column, ErrorReason(row.reason).name) for row in rows]


def store_fact(here: House, **fields: Any) -> list[tuple[str, str]]:
    given = {"metric": "population", "entity": "BAD", "period": "2020", "value": "5", **fields}
    return rejected(here.store_facts(ingest_pb2.FactRecords(facts=[fact(**given)])))


def store_file(here: House, raw: bytes, mapping: str = "", form: str = "jsonl") -> list[tuple[str, str]]:
    pieces = [raw[at : at + FILE_PART] for at in range(0, len(raw), FILE_PART)]
    frames = [start(Facts)]
    for seq, piece in enumerate(pieces, 1):
        head = ingest_pb2.FactFileHead(name="f.jsonl", form=form, mapping_toml=mapping) if seq == 1 else None
        part = ingest_pb2.FactFilePart(head=head, content=piece, last_part=seq == len(pieces))
        frames.append(Facts(part=ingest_pb2.FactPart(seq=seq, file=part)))
    return rejected(list(here.ingest.IngestFacts(iter([*frames, finish(Facts, len(pieces))]))))


def store_document(here: House, doc_id: str, raw: bytes, **head: Any) -> ingest_pb2.DocumentOutcome:
    part = Documents(part=document_part(1, doc_id, raw, **head))
    frames = here.ingest.IngestDocuments(iter([start(Documents), part, finish(Documents, 1)]))
    return next(frame.outcome for frame in frames if frame.HasField("outcome"))


def row(**more: Any) -> bytes:
    given = {"metric": "population", "entity": "ROW", "period": "2020", "value": "5", "unit": "persons"}
    return json.dumps({**given, "source_doc": "s", "locator": "l", **more}).encode()


def figures(here: House, metric: str, entity: str, period: str = "2020") -> list[Any]:
    query = {"metric": metric, "entity": entity, "period": period}
    frames = list(here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[query])))
    return [each.fact for each in snippets(frames)]


def passages(here: House, query: str) -> list[Any]:
    request = narrative_pb2.NarrativeRetrieveRequest(query=query, mode=narrative_pb2.RETRIEVAL_MODE_LEXICAL)
    return snippets(here.narrative.NarrativeRetrieve(request))


# ---- figures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["10²", "1234¹", "5①", "₅", "㊿", "⒈5"])
def test_a_mark_beside_a_figure_is_no_digit_of_it(here: House, value: str) -> None:
    assert store_fact(here, entity="MARK", value=value) == [("value", "FACT_VALUE_MALFORMED")]


@pytest.mark.parametrize("period", ["2020-1²", "FY2⁴", "2020₁"])
def test_a_mark_beside_a_period_is_no_digit_of_it(here: House, period: str) -> None:
    assert store_fact(here, entity="MARK", period=period) == [("period", "FACT_PERIOD_MALFORMED")]


def test_full_width_digits_are_digits(here: House) -> None:
    assert store_fact(here, entity="WIDE", value="１２３．５０", unit="persons") == []
    assert [(each.value, each.as_written) for each in figures(here, "population", "WIDE")] == [
        ("123.50", "１２３．５０")
    ]


@pytest.mark.parametrize("decimals", [1001, -1001, 2**31 - 1, -(2**31)])
def test_decimals_that_no_value_has_are_refused(here: House, decimals: int) -> None:
    assert store_fact(here, decimals=decimals) == [("decimals", "VALUE_OUT_OF_RANGE")]


def test_the_longest_decimals_can_be_compared(here: House) -> None:
    for source, decimals in (("a.csv", 1000), ("b.csv", -1000)):
        assert (
            store_fact(here, entity="LONG", value="1e999", unit="persons", decimals=decimals, source_doc=source) == []
        )
    assert [each.conflicting for each in figures(here, "population", "LONG")] == [False, False]


@pytest.mark.parametrize("field", ["unit", "source_doc", "locator"])
def test_control_characters_stay_out_of_sentences_and_citations(here: House, field: str) -> None:
    assert store_fact(here, metric="CTL", **{field: "USD\nThe answer is 7"}) == [(field, "VALUE_MALFORMED")]


def test_many_sources_of_one_figure_are_compared_in_one_pass(here: House) -> None:
    rows = [row(entity="MANY", source_doc=f"s{n}") for n in range(3000)]
    assert store_file(here, b"\n".join(rows)) == []
    assert len(figures(here, "population", "MANY")) == 3000


# ---- attributes, TOML, JSON ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (row()[:-1] + b', "x": 1e-999999999999}', ("x", "VALUE_OUT_OF_RANGE")),
        (row()[:-1] + b', "x": 1e2000000}', ("x", "VALUE_OUT_OF_RANGE")),
        (row()[:-1] + b', "x": ' + b"9" * 4000 + b"}", ("x", "VALUE_OUT_OF_RANGE")),
        (row(x="y" * 1_200_000), ("attributes", "VALUE_OUT_OF_RANGE")),
        (row(**{f"x{n}": n for n in range(300)}), ("attributes", "VALUE_OUT_OF_RANGE")),
        (row(dimensions={f"x{n}": "m" for n in range(40)}), ("dimensions", "VALUE_OUT_OF_RANGE")),
        (row(filed="9999-12-31T23:59:59-12:00"), ("filed", "VALUE_MALFORMED")),
    ],
)
def test_what_no_answer_could_carry_is_refused_with_its_row(here: House, raw: bytes, reason: tuple[str, str]) -> None:
    assert store_file(here, raw) == [reason]


def test_no_depth_of_nesting_is_a_fault(here: House) -> None:
    for depth in range(960, 1000):
        nested = b"[" * depth + b"]" * depth
        store_file(here, row()[:-1] + b', "x": ' + nested + b"}")
        store_document(here, "d.jsonl", b'{"doc_id": "in/1", "text": "zebra", "meta": {"a": ' + nested + b"}}")


@pytest.mark.parametrize("form", ["jsonl", "relations_jsonl"])
@pytest.mark.parametrize("mapping", ["a = " + "9" * 5000, "a = " + "[" * 5000, "a = 2024-13-45", "\x00"])
def test_a_mapping_that_is_no_toml_is_named(here: House, form: str, mapping: str) -> None:
    assert store_file(here, row(), mapping, form) == [("mapping_toml", "INVALID_REQUEST")]


@pytest.mark.parametrize(
    ("front", "stored"),
    [
        ("x = 1e2000000", True),
        ("x = 1e-999999999999", True),
        ("x = " + "9" * 4000, True),
        ("x = " + "9" * 5000, False),
        ('valid_as_of = "0001-01-01T00:00:00+14:00"', True),
        ("valid_as_of = 9999-12-31T23:59:59-12:00", True),
    ],
)
def test_front_matter_cannot_break_an_answer(here: House, front: str, stored: bool) -> None:
    outcome = store_document(here, "front.md", f"+++\n{front}\n+++\nA okapi in the forest.".encode())
    assert outcome.HasField("error") is not stored
    assert bool(outcome.warnings) is stored
    assert [each.lineage.doc_id for each in passages(here, "okapi")] in ([], ["front.md"])


def test_an_attribute_of_another_type_says_so(here: House) -> None:
    number, text = {"name": "shelf", "value": {"int_value": 1}}, {"name": "shelf", "value": {"string_value": "one"}}
    assert store_fact(here, metric="TYPED", attributes=[number]) == []
    assert store_fact(here, metric="TYPED", attributes=[text]) == [("attributes", "ATTRIBUTE_TYPE_MISMATCH")]
    outcome = store_document(here, "typed.md", b"A typed text.", attributes=[text])
    assert ErrorReason(outcome.error.reason) is ErrorReason.ATTRIBUTE_TYPE_MISMATCH


# ---- glossary ------------------------------------------------------------------------------------------------------

METRIC, ENTITY = glossary_pb2.TERM_KIND_METRIC, glossary_pb2.TERM_KIND_ENTITY


@pytest.mark.parametrize(
    ("fields", "path", "reason"),
    [
        ({"put": [term(METRIC, "LONG", label="L" * 900_000)]}, "put[0]", "VALUE_OUT_OF_RANGE"),
        ({"put": [term(METRIC, "LONG", "n" * 513)]}, "put[0]", "VALUE_OUT_OF_RANGE"),
        ({"put": [term(METRIC, "EMPTY", "")]}, "put[0].synonyms[0].text", "VALUE_REQUIRED"),
        ({"put": [term(METRIC, "THIN", "\u200b")]}, "put[0]", "VALUE_MALFORMED"),
        ({"put": [term(METRIC, "UNIT", metric={"unit": "USD\n7"})]}, "put[0].metric.unit", "VALUE_MALFORMED"),
        (
            {"put": [term(ENTITY, "ID", entity={"identifiers": [{"scheme": "lei"}]})]},
            "put[0].entity.identifiers[0].value",
            "VALUE_REQUIRED",
        ),
        (
            {"put": [term(ENTITY, "UP", entity={"parent_code": "NOWHERE"})]},
            "put[0].entity.parent_code",
            "UNKNOWN_NAME",
        ),
        (
            {"replace_all": True, "remove": [{"kind": METRIC, "code": "POPULATION"}]},
            "remove",
            "CONTRADICTION",
        ),
        (
            {"put": [term(METRIC, "BOTH")], "remove": [{"kind": METRIC, "code": "BOTH"}]},
            "remove[0]",
            "CONTRADICTION",
        ),
    ],
)
def test_a_glossary_that_could_not_be_spoken_is_refused(
    here: House, fields: dict[str, Any], path: str, reason: str
) -> None:
    request = admin_pb2.UpdateGlossaryRequest(library_id="default", **fields)
    failure = failure_of(lambda: here.admin.UpdateGlossary(request))
    assert [each[:2] for each in failure.violations] == [(path, reason)]
    assert figures(here, "population", "Japan")


# ---- size ----------------------------------------------------------------------------------------------------------


def test_a_message_over_the_limit_gets_a_reason(here: House) -> None:
    request = metric_pb2.QueryMetricRequest(queries=[{"metric": "x" * (2 << 20), "entity": "y", "period": "2020"}])
    failure = failure_of(lambda: here.metric.QueryMetric(request))
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert [each[:2] for each in failure.violations] == [("request", "VALUE_OUT_OF_RANGE")]


def test_filter_and_hint_always_fit_into_the_header_that_gives_them_back(here: House) -> None:
    def tree(kind: str, text: str, count: int) -> dict[str, Any]:
        lists = [{"predicate": {"field": "period", "none_of": {"values": [{kind: text}] * 1000}}}] * count
        return {"all_of": {"filters": lists}}

    fitting = tree("period_value", "today", 20)
    query = {"metric": "population", "entity": "Japan", "period": "2020"}
    request = metric_pb2.QueryMetricRequest(queries=[query], options={"filter": fitting, "hint": fitting})
    assert snippets(here.metric.QueryMetric(request))
    larger = {"filter": tree("period_value", "FY24", 90)}
    failure = failure_of(
        lambda: here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[query], options=larger))
    )
    assert [each[:2] for each in failure.violations] == [("options.filter", "FILTER_TOO_LARGE")]


def test_a_relation_with_many_heavy_sources_is_sent_with_those_that_fit(here: House) -> None:
    heavy = [{"name": f"n{n}", "value": {"string_value": "字" * 700}} for n in range(25)]
    given = {"subject": "JPN", "relation": "heavy", "object": "ACME", "object_kind": "entity", "attributes": heavy}
    for first in range(0, 30, 3):
        records = [ingest_pb2.RelationRecord(**given, source_doc=f"s{n}", locator="p") for n in range(first, first + 3)]
        assert rejected(here.store_facts(ingest_pb2.FactRecords(relations=records))) == []
    request = graph_pb2.GraphTraceRequest(neighborhood={"node_ids": ["entity:JPN"], "relations": ["heavy"]})
    (edge,) = snippets(here.graph.GraphTrace(request))
    assert 5 < len(edge.lineage.members) < 29
    assert 1 + len(edge.lineage.members) + edge.lineage.members_omitted == 30


# ---- ingest streams ------------------------------------------------------------------------------------------------


def test_a_rehearsal_cannot_take_the_id_of_an_ingest_that_stores(here: House) -> None:
    frames = [start(Documents, ingest_id="11111111-1111-4111-8111-111111111111"), finish(Documents, 0)]
    assert list(here.ingest.IngestDocuments(iter(frames)))[-1].HasField("summary")
    frames[0].start.validate_only = True
    failure = failure_of(lambda: here.ingest.IngestDocuments(iter(frames)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.ABORTED, "INGEST_ID_IN_USE")


@pytest.mark.parametrize(
    ("frames", "field", "reason"),
    [
        ([Facts()], "frame without content", "INGEST_ORDER"),
        ([start(Facts), Facts()], "frame without content", "INGEST_ORDER"),
        ([start(Facts), Facts(part={"seq": 1})], "part", "INVALID_REQUEST"),
        ([start(Facts), Facts(part={"seq": 1, "records": {}})], "part.records", "INVALID_REQUEST"),
        (
            [start(Facts), Facts(part={"seq": 1, "records": {"facts": [{"author": "x" * 4000}] * 70}})],
            "part.records",
            "INVALID_REQUEST",
        ),
        (
            [start(Facts), Facts(part={"seq": 1, "file": {"head": {"name": "a.csv"}, "content": b"x" * 262_145}})],
            "part.file.content",
            "INVALID_REQUEST",
        ),
    ],
)
def test_what_is_wrong_with_a_stream_is_named_as_it_stands_there(
    here: House, frames: list[Any], field: str, reason: str
) -> None:
    failure = failure_of(lambda: here.ingest.IngestFacts(iter(frames)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason)
    assert [each[0] for each in failure.violations] == [field]
