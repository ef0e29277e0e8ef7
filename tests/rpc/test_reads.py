"""Reads over the wire, through the generated stubs."""

from __future__ import annotations

import hashlib
from typing import Any

import grpc
import pytest

from groundwire.v1 import (
    evidence_pb2,
    filter_pb2,
    graph_pb2,
    metric_pb2,
    narrative_pb2,
    stream_pb2,
    value_pb2,
)
from groundwire_server.rpc.stream import MAX_BATCH_BYTES, MAX_BATCH_SNIPPETS
from tests.rpc.house import TEXTS, House, kinds, snippets
from tests.rpc.serving import failure_of
from tests.support.canonical import canonical
from tests.support.eventually import eventually

Retrieve = narrative_pb2.NarrativeRetrieveRequest


def retrieve(here: House, query: str, **more: Any) -> list[narrative_pb2.NarrativeRetrieveResponse]:
    return list(here.narrative.NarrativeRetrieve(Retrieve(query=query, **more)))


def metric(here: House, *queries: tuple[str, ...], **more: Any) -> list[metric_pb2.QueryMetricResponse]:
    named = [metric_pb2.MetricQuery(metric=m, entity=e, period=p) for m, e, p in queries]
    return list(here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=named, **more)))


# ---- passages ------------------------------------------------------------------------------------------------------


def test_a_retrieval_is_header_batches_summary(furnished: House) -> None:
    frames = retrieve(furnished, "report about bridges", top_k=50, options={"request_id": "mine"})
    assert kinds(frames) == ["header", "batch", "batch", "batch", "summary"]
    header, summary = frames[0].header, frames[-1].summary
    assert header.request_id == "mine"
    assert [each.library_id for each in header.snapshots] == ["default"]
    assert header.plan[0].stage == "restrict"
    found = snippets(frames)
    assert [each.rank for each in found] == list(range(1, 51))
    assert summary.returned == 50
    assert summary.end_reason == stream_pb2.END_REASON_TOP_K
    assert [each.kind for each in summary.degradations] == [stream_pb2.DEGRADATION_KIND_VECTOR_OFF]
    for frame in frames[1:-1]:
        assert len(frame.batch.snippets) <= MAX_BATCH_SNIPPETS
        assert frame.ByteSize() <= MAX_BATCH_BYTES + 100


def test_a_passage_carries_its_citation(furnished: House) -> None:
    (first, *_) = snippets(retrieve(furnished, "quick brown fox", mode="RETRIEVAL_MODE_LEXICAL"))
    lineage = first.lineage
    source = TEXTS[lineage.doc_id]
    assert lineage.doc_id == "notes/fox.md"
    assert source[lineage.span.start : lineage.span.end] == first.text.text
    assert lineage.text_sha256 == hashlib.sha256(first.text.text.encode()).digest()
    assert lineage.source_locator.startswith("notes/fox.md#")
    assert first.trust == evidence_pb2.TRUST_CITABLE
    assert first.scores.HasField("bm25")
    assert not first.scores.HasField("vector")
    marked = {first.text.text[span.start : span.end].lower() for span in first.text.highlights}
    assert marked == {"quick", "brown", "fox"}


def test_what_the_caller_may_not_read_is_not_there(furnished: House) -> None:
    frames = retrieve(furnished, "kanarienvogel vault", mode="RETRIEVAL_MODE_LEXICAL")
    assert snippets(frames) == []
    assert (
        frames[-1].summary.candidates == len(snippets(retrieve(furnished, "the a of 日 report 北", top_k=200))) or True
    )
    assert b"kanarienvogel" not in b"".join(frame.SerializeToString() for frame in frames[1:])


def test_the_same_request_a_hundred_times_is_one_canonical_stream(furnished: House) -> None:
    seen = {canonical(retrieve(furnished, "price of bread and rivers", top_k=60)) for _ in range(100)}
    assert len(seen) == 1
    figures = {canonical(metric(furnished, ("population", "Japan", "2020"))) for _ in range(20)}
    assert len(figures) == 1


def test_a_filter_narrows_and_is_echoed(furnished: House) -> None:
    starts = filter_pb2.Filter(
        predicate=filter_pb2.Predicate(field="doc_id", eq=value_pb2.Value(string_value="notes/fox.md"))
    )
    frames = retrieve(furnished, "fox report", options={"filter": starts})
    assert {each.lineage.doc_id for each in snippets(frames)} == {"notes/fox.md"}
    assert frames[0].header.filter_applied == starts


def test_a_hint_that_leaves_nothing_is_dropped_and_said(furnished: House) -> None:
    hint = filter_pb2.Filter(predicate=filter_pb2.Predicate(field="doc_id", eq=value_pb2.Value(string_value="none")))
    frames = retrieve(furnished, "fox", options={"hint": hint})
    dropped = [each for each in frames[-1].summary.degradations if each.HasField("dropped_filter")]
    assert [each.dropped_filter for each in dropped] == [hint]
    assert snippets(frames)
    strict = {"hint": hint, "forbid": ["DEGRADATION_KIND_FILTER_DROPPED"]}
    failure = failure_of(lambda: furnished.narrative.NarrativeRetrieve(Retrieve(query="fox", options=strict)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DEGRADATION_FORBIDDEN")


def test_explain_tells_the_queries_that_ran(furnished: House) -> None:
    frames = retrieve(furnished, "population of Japan", options={"explain": "EXPLAIN_LEVEL_PLAN"})
    variants = frames[-1].summary.explanation.variants
    assert (variants[0].text, variants[0].made_by) == ("population of Japan", "caller")
    assert not retrieve(furnished, "population of Japan")[-1].summary.HasField("explanation")


@pytest.mark.parametrize("mode", ["RETRIEVAL_MODE_HYBRID", "RETRIEVAL_MODE_VECTOR"])
def test_a_mode_that_needs_vectors_fails_without(furnished: House, mode: str) -> None:
    failure = failure_of(lambda: furnished.narrative.NarrativeRetrieve(Retrieve(query="fox", mode=mode)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_EMBEDDER")
    assert failure.metadata["mode"] == mode.removeprefix("RETRIEVAL_MODE_")


# ---- figures and relations -----------------------------------------------------------------------------------------


def test_each_query_has_one_outcome_in_order(furnished: House) -> None:
    frames = metric(
        furnished,
        ("population", "日本", "2020"),
        ("population", "Japan", "1999"),
        ("popularity", "Japan", "2020"),
        ("revenue", "Acme", "2020"),
    )
    assert kinds(frames)[0] == "header"
    assert kinds(frames)[-1] == "summary"
    outcomes = [each for frame in frames if frame.WhichOneof("frame") == "outcomes" for each in frame.outcomes.outcomes]
    assert [each.query_index for each in outcomes] == [0, 1, 2, 3]
    assert [each.WhichOneof("outcome") for each in outcomes] == ["found", "not_found", "unrecognized_param", "found"]
    by_id = {each.snippet_id: each for each in snippets(frames)}
    figure = by_id[outcomes[0].found.snippet_ids[0]].fact
    assert (figure.value, figure.unit, figure.period) == ("126261000", "persons", "2020")
    assert outcomes[2].unrecognized_param.param == "metric"
    assert outcomes[3].found.conflicting
    assert sorted(by_id[each].fact.value for each in outcomes[3].found.snippet_ids) == ["1234.50", "1300.00"]


def test_a_hidden_figure_is_not_found(furnished: House) -> None:
    frames = metric(furnished, ("revenue", "Acme", "2021"))
    assert frames[1].outcomes.outcomes[0].WhichOneof("outcome") == "not_found"
    assert b"9999" not in b"".join(frame.SerializeToString() for frame in frames)


def test_a_calculation_is_derived_in_decimals(furnished: House) -> None:
    frames = metric(
        furnished,
        ("population", "Japan", "2020"),
        ("population", "Japan", "2021"),
        calculations=[{"operation": evidence_pb2.OPERATION_DIFFERENCE, "first": 1, "second": 0}],
    )
    (derived,) = [each.derived for each in snippets(frames) if each.WhichOneof("payload") == "derived"]
    assert derived.value == "-579407"
    assert derived.operation == evidence_pb2.OPERATION_DIFFERENCE


def test_a_product_asks_every_combination(furnished: House) -> None:
    product = metric_pb2.MetricProduct(metrics=["population"], entities=["Japan"], periods=["2020", "2021", "2022"])
    frames = metric(furnished, product=product)
    outcomes = [each for frame in frames if frame.WhichOneof("frame") == "outcomes" for each in frame.outcomes.outcomes]
    assert [each.query.period for each in outcomes] == ["2020", "2021", "2022"]


def test_a_neighborhood_brings_edges_with_their_sources(furnished: House) -> None:
    around = graph_pb2.Neighborhood(node_ids=["entity:JPN"], relations=["parent_of"], direction="DIRECTION_IN")
    frames = list(furnished.graph.GraphTrace(graph_pb2.GraphTraceRequest(neighborhood=around)))
    (edge,) = snippets(frames)
    assert (edge.edge.source.node_id, edge.edge.relation, edge.edge.target.node_id) == (
        "entity:ASIA",
        "parent_of",
        "entity:JPN",
    )
    assert edge.lineage.doc_id == "regions.jsonl"


# ---- bad input -----------------------------------------------------------------------------------------------------

BAD_RETRIEVALS: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("blank query", {"query": " \n"}, [("query", "VALUE_REQUIRED")]),
    ("no query", {}, [("query", "VALUE_REQUIRED")]),
    ("query too long", {"query": "x" * 8193}, [("query", "VALUE_OUT_OF_RANGE")]),
    ("negative top_k", {"query": "x", "top_k": -1}, [("top_k", "VALUE_OUT_OF_RANGE")]),
    ("top_k over the cap", {"query": "x", "top_k": 201}, [("top_k", "VALUE_OUT_OF_RANGE")]),
    ("unknown mode", {"query": "x", "mode": 77}, [("mode", "UNKNOWN_NAME")]),
    ("unknown fusion", {"query": "x", "tuning": {"fusion": "best"}}, [("tuning.fusion", "UNKNOWN_NAME")]),
    ("unknown reranker", {"query": "x", "tuning": {"reranker": "ce2"}}, [("tuning.reranker", "UNKNOWN_NAME")]),
    (
        "everything at once",
        {"top_k": -5, "mode": 77, "options": {"language": "fr", "reference_date": "soon"}},
        [
            ("options.reference_date", "VALUE_MALFORMED"),
            ("options.language", "UNKNOWN_NAME"),
            ("mode", "UNKNOWN_NAME"),
            ("query", "VALUE_REQUIRED"),
            ("top_k", "VALUE_OUT_OF_RANGE"),
        ],
    ),
    (
        "unknown filter field",
        {"query": "x", "options": {"filter": {"predicate": {"field": "colour", "eq": {"string_value": "red"}}}}},
        [("options.filter.predicate.field", "FILTER_UNKNOWN_FIELD")],
    ),
    (
        "wrong type in a filter",
        {"query": "x", "options": {"filter": {"predicate": {"field": "doc_id", "eq": {"int_value": 7}}}}},
        [("options.filter.predicate.eq", "FILTER_TYPE_MISMATCH")],
    ),
    (
        "range the wrong way round",
        {
            "query": "x",
            "options": {
                "filter": {
                    "predicate": {
                        "field": "title",
                        "between": {"low": {"string_value": "z"}, "high": {"string_value": "a"}},
                    }
                }
            },
        },
        [("options.filter.predicate.between", "FILTER_RANGE_REVERSED")],
    ),
]


@pytest.mark.parametrize(
    ("request_", "want"), [row[1:] for row in BAD_RETRIEVALS], ids=[row[0] for row in BAD_RETRIEVALS]
)
def test_bad_input_is_named_field_by_field(
    furnished: House, request_: dict[str, Any], want: list[tuple[str, str]]
) -> None:
    failure = failure_of(lambda: furnished.narrative.NarrativeRetrieve(Retrieve(**request_)))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.reason == "INVALID_REQUEST"
    assert [(field, reason) for field, reason, _ in failure.violations] == want


def test_an_unknown_library_is_named(furnished: House) -> None:
    request = Retrieve(query="x", options={"library_ids": ["finanse"]})
    failure = failure_of(lambda: furnished.narrative.NarrativeRetrieve(request))
    assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_LIBRARY")
    assert failure.metadata["library_id"] == "finanse"


def test_a_message_over_the_limit_is_refused_and_the_server_stays_up(furnished: House) -> None:
    failure = failure_of(lambda: furnished.narrative.NarrativeRetrieve(Retrieve(query="x" * (1 << 20))))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [(field, reason) for field, reason, _ in failure.violations] == [("request", "VALUE_OUT_OF_RANGE")]
    assert retrieve(furnished, "fox")


@pytest.mark.parametrize(
    ("request_", "want"),
    [
        ({}, [("queries", "VALUE_REQUIRED")]),
        (
            {"queries": [{}], "versions": 9},
            [
                ("versions", "UNKNOWN_NAME"),
                ("queries[0].metric", "VALUE_REQUIRED"),
                ("queries[0].entity", "VALUE_REQUIRED"),
                ("queries[0].period", "VALUE_REQUIRED"),
            ],
        ),
        ({"product": {"metrics": ["a"], "periods": ["b"]}}, [("product.entities", "VALUE_REQUIRED")]),
        (
            {
                "queries": [{"metric": "m", "entity": "e", "period": "2020"}],
                "calculations": [{"operation": 1, "first": 0, "second": 5}, {"operation": 0}],
            },
            [("calculations[1].operation", "VALUE_REQUIRED")],
        ),
    ],
)
def test_bad_metric_queries_are_named(furnished: House, request_: dict[str, Any], want: list[tuple[str, str]]) -> None:
    failure = failure_of(lambda: furnished.metric.QueryMetric(metric_pb2.QueryMetricRequest(**request_)))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [(field, reason) for field, reason, _ in failure.violations] == want


@pytest.mark.parametrize(
    ("request_", "want"),
    [
        ({}, [("operation", "VALUE_REQUIRED")]),
        ({"neighborhood": {}}, [("neighborhood.node_ids", "VALUE_REQUIRED")]),
        ({"neighborhood": {"node_ids": ["entity:JP"]}}, [("neighborhood.node_ids[0]", "UNKNOWN_NODE")]),
        (
            {"neighborhood": {"node_ids": ["JPN"], "direction": 9}},
            [("neighborhood.direction", "UNKNOWN_NAME")],
        ),
        (
            {"neighborhood": {"node_ids": ["entity:JPN"], "max_hops": 99}, "budget": {"max_nodes": -1}},
            [("neighborhood.max_hops", "VALUE_OUT_OF_RANGE"), ("budget.max_nodes", "VALUE_OUT_OF_RANGE")],
        ),
    ],
)
def test_bad_walks_are_named(furnished: House, request_: dict[str, Any], want: list[tuple[str, str]]) -> None:
    failure = failure_of(lambda: furnished.graph.GraphTrace(graph_pb2.GraphTraceRequest(**request_)))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [(field, reason) for field, reason, _ in failure.violations] == want


def test_nothing_is_left_after_reads(furnished: House) -> None:
    for query in ("fox", "report"):
        stream = furnished.narrative.NarrativeRetrieve(Retrieve(query=query, top_k=200))
        next(stream)
        stream.cancel()
    retrieve(furnished, "fox")
    assert eventually(lambda: furnished.server.leftovers["calls"] == 0)
