"""Calls that ask for something that is not there, or in a way that cannot be read."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from groundwire.v1 import (
    admin_pb2,
    graph_pb2,
    ingest_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
    stream_pb2,
    tools_pb2,
)
from tests.bad_input.conftest import Tell
from tests.bad_input.table import Told, of_call
from tests.rpc.house import Documents, House, finish, snippets, start
from tests.rpc.serving import failure_of

Retrieve = narrative_pb2.NarrativeRetrieveRequest


def retrieve(here: House, query: str = "fox", **more: Any) -> list[Any]:
    return list(here.narrative.NarrativeRetrieve(Retrieve(query=query, **more)))


def came(frames: list[Any]) -> Told:
    summary = frames[-1].summary
    ending = stream_pb2.EndReason.Name(summary.end_reason)
    return Told("OK", "", f"{len(snippets(frames))} snippets, {ending}")


# ---- questions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", " \u3000\n"], ids=["empty", "blank"])
def test_a_query_without_words(here: House, told: Tell, query: str) -> None:
    told(of_call(failure_of(lambda: retrieve(here, query))))


@pytest.mark.parametrize("size", [8193, 1 << 20, 17 << 20], ids=["8193", "1_MiB", "17_MiB"])
def test_a_query_that_is_too_long(here: House, told: Tell, size: int) -> None:
    failure = failure_of(lambda: retrieve(here, "x" * size))
    told(of_call(failure), total=str(size + 4))


def test_a_question_as_long_as_may_be(here: House, told: Tell) -> None:
    question = ("日本の人口は約一億二千万人である。売上高は増えた。" * 400)[:8192]
    frames = list(here.router.Ask(router_pb2.AskRequest(question=question), timeout=10))
    assert frames[-1].HasField("summary")
    told(Told("OK", "", stream_pb2.EndReason.Name(frames[-1].summary.end_reason)))


@pytest.mark.parametrize("top_k", [-1, 201])
def test_top_k_out_of_bounds(here: House, told: Tell, top_k: int) -> None:
    told(of_call(failure_of(lambda: retrieve(here, top_k=top_k))))


def test_top_k_zero(here: House, told: Tell) -> None:
    told(came(retrieve(here, "report about rivers", top_k=0)))


@pytest.mark.parametrize(
    "fields",
    [
        {"tuning": {"fusion": "magic"}},
        {"tuning": {"reranker": "magic"}},
        {"tuning": {"reranker": "maxsim"}},
        {"tuning": {"rerank_depth": 5}},
        {"tuning": {"preset": "fast"}},
        {"options": {"language": "fr"}},
        {"options": {"reference_date": "30.6.2025"}},
        {"options": {"request_id": "naïve"}},
        {"options": {"valid_at": {"seconds": 1 << 40}}},
        {"options": {"token_budget": -1}},
        {"options": {"library_ids": [f"l{n}" for n in range(33)]}},
        {"mode": narrative_pb2.RETRIEVAL_MODE_HYBRID},
        {"query": "", "top_k": -1, "options": {"language": "fr"}, "tuning": {"fusion": "magic"}},
    ],
    ids=[
        "fusion",
        "reranker",
        "reranker_not_built",
        "rerank_depth",
        "preset",
        "language",
        "reference_date",
        "request_id",
        "valid_at",
        "token_budget",
        "33_libraries",
        "hybrid_without_embedder",
        "several_at_once",
    ],
)
def test_an_option_that_is_not_there(here: House, told: Tell, fields: dict[str, Any]) -> None:
    told(of_call(failure_of(lambda: retrieve(here, **{"query": "fox", **fields}))))


# ---- filters -------------------------------------------------------------------------------------------------------


def on(field: str, **test: Any) -> dict[str, Any]:
    return {"predicate": {"field": field, **test}}


TEXT, NUMBER = {"string_value": "a"}, {"int_value": 1}
DEEP: dict[str, Any] = {"predicate": {"field": "doc_id", "eq": TEXT}}
for _ in range(8):
    DEEP = {"negate": DEEP}
LARGE = {"any_of": {"filters": [on("doc_id", one_of={"values": [{"string_value": "x" * 20}] * 1000})] * 12}}


@pytest.mark.parametrize(
    "tree",
    [
        on("colour", eq=TEXT),
        on("doc_id", eq=NUMBER),
        on("doc_id"),
        on("", eq=TEXT),
        {},
        {"all_of": {}},
        on("doc_id", one_of={}),
        on("doc_id", one_of={"values": [TEXT] * 1001}),
        on("doc_id", between={"low": {"string_value": "b"}, "high": TEXT}),
        on("doc_id", between={"low": TEXT}),
        on("doc_id", gt={"double_value": float("nan")}),
        on("doc_id", eq={"decimal_value": "1e5"}),
        on("doc_id", eq={"period_value": "soon"}),
        on("doc_id", eq={"date_value": "2024-02-30"}),
        on("doc_id", eq={"string_list_value": {"values": ["a"]}}),
        DEEP,
        {"any_of": {"filters": [on("doc_id", eq=TEXT)] * 256}},
        LARGE,
        {"all_of": {"filters": [{}, on("colour", eq=TEXT), on("doc_id", eq=NUMBER), on("shade", eq={})]}},
    ],
    ids=[
        "unknown_field",
        "wrong_type",
        "no_test",
        "no_field",
        "no_node",
        "empty_list",
        "no_values",
        "1001_values",
        "reversed",
        "half_a_range",
        "nan",
        "exponent",
        "period",
        "day",
        "list_of_texts",
        "too_deep",
        "too_many_nodes",
        "too_large",
        "shape_and_names_at_once",
    ],
)
def test_a_filter(here: House, told: Tell, tree: dict[str, Any]) -> None:
    told(of_call(failure_of(lambda: retrieve(here, options={"filter": tree}))))


def test_a_filter_that_contradicts_itself(here: House, told: Tell) -> None:
    fox = {"string_value": "notes/fox.md"}
    both = {"all_of": {"filters": [on("doc_id", eq=fox), on("doc_id", ne=fox)]}}
    told(came(retrieve(here, options={"filter": both})))


def test_a_hint_that_leaves_nothing(here: House, told: Tell) -> None:
    frames = retrieve(here, options={"hint": on("doc_id", eq={"string_value": "nowhere.md"})}, top_k=1)
    (dropped,) = [
        each for each in frames[-1].summary.degradations if each.kind == stream_pb2.DEGRADATION_KIND_FILTER_DROPPED
    ]
    assert dropped.dropped_filter.predicate.field == "doc_id"
    seen = came(frames)
    told(Told(seen.answer, "FILTER_DROPPED", seen.message))


# ---- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda here: retrieve(here, options={"library_ids": ["finanse"]}),
        lambda here: here.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="finanse")),
        lambda here: here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="finanse")),
        lambda here: here.ingest.IngestDocuments(iter([start(Documents, "finanse"), finish(Documents, 0)])),
        lambda here: here.admin.ListDocuments(admin_pb2.ListDocumentsRequest()),
        lambda here: here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library={"library_id": "Über uns"})),
        lambda here: here.admin.GetDocument(admin_pb2.GetDocumentRequest(library_id="default", doc_id="nowhere.md")),
        lambda here: here.admin.GetDocument(
            admin_pb2.GetDocumentRequest(library_id="default", doc_id="notes/fox.md", revision=9)
        ),
        lambda here: here.ingest.WithdrawDocument(
            ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="nowhere.md")
        ),
        lambda here: here.admin.GetJob(admin_pb2.GetJobRequest(job_id="j-1")),
        lambda here: here.graph.GraphTrace(graph_pb2.GraphTraceRequest(neighborhood={"node_ids": ["entity:NOWHERE"]})),
        lambda here: here.graph.GraphTrace(
            graph_pb2.GraphTraceRequest(neighborhood={"node_ids": ["entity:JPN"], "relations": ["likes"]})
        ),
        lambda here: here.graph.GraphTrace(graph_pb2.GraphTraceRequest()),
        lambda here: here.metric.QueryMetric(metric_pb2.QueryMetricRequest()),
        lambda here: here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[{"metric": "population"}])),
        lambda here: here.metric.DescribeMetrics(metric_pb2.DescribeMetricsRequest(metric="happiness")),
        lambda here: here.tools.ListTools(tools_pb2.ListToolsRequest(language="fr")),
        lambda here: here.tools.VerifyCitation(tools_pb2.VerifyCitationRequest()),
        lambda here: here.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default", page_size=-1)),
        lambda here: here.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default", page_token="abc")),
        lambda here: here.admin.DeleteLibrary(admin_pb2.DeleteLibraryRequest(library_id="default")),
        lambda here: here.admin.StartReindex(admin_pb2.StartReindexRequest(library_id="default", parts=[0])),
        lambda here: here.admin.PurgeRevisions(admin_pb2.PurgeRevisionsRequest(library_id="default", keep_last=-1)),
        lambda here: here.admin.PurgeRevisions(
            admin_pb2.PurgeRevisionsRequest(library_id="default", doc_id="nowhere.md")
        ),
    ],
    ids=[
        "library_to_read",
        "library_to_list",
        "library_to_change",
        "library_to_write",
        "no_library",
        "library_id",
        "document",
        "revision",
        "document_to_withdraw",
        "job",
        "node",
        "relation",
        "no_operation",
        "no_query",
        "half_a_query",
        "metric",
        "language_of_tools",
        "no_citation",
        "page_size",
        "page_token",
        "no_confirmation",
        "no_part",
        "keep_last",
        "document_to_purge",
    ],
)
def test_a_name_that_is_not_there(here: House, told: Tell, call: Callable[[House], Any]) -> None:
    told(of_call(failure_of(lambda: call(here))))


def test_a_metric_that_nobody_has(here: House, told: Tell) -> None:
    query = {"metric": "populaton", "entity": "Japan", "period": "2020"}
    frames = list(here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[query])))
    (outcome,) = [each for frame in frames for each in frame.outcomes.outcomes]
    unknown = outcome.unrecognized_param
    near = ", ".join(unknown.suggestions)
    told(Told("OK", f"{unknown.param}: {unknown.raw}", f"unrecognized_param; suggestions: {near}"))


def test_two_libraries_with_other_settings(here: House, told: Tell) -> None:
    frames = retrieve(here, "fox den", options={"library_ids": ["default", "other"]}, top_k=5)
    assert {each.lineage.library_id for each in snippets(frames)} == {"default", "other"}
    told(came(frames))


@pytest.mark.parametrize("value", [{"int_value": 5}, {"bool_value": True}], ids=["of_one", "of_none"])
def test_an_attribute_that_two_libraries_type_otherwise(here: House, told: Tell, value: dict[str, Any]) -> None:
    options = {"library_ids": ["default", "other"], "filter": on("size", eq=value)}
    if "int_value" in value:
        frames = retrieve(here, "five pages fox", options=options)
        assert [each.lineage.doc_id for each in snippets(frames)] == ["sized.md"]
        told(came(frames))
    else:
        told(of_call(failure_of(lambda: retrieve(here, options=options))))


# ---- bytes ---------------------------------------------------------------------------------------------------------


def test_bytes_that_are_no_message(here: House, told: Tell) -> None:
    call = here.channel.unary_stream("/groundwire.v1.NarrativeService/NarrativeRetrieve")
    told(of_call(failure_of(lambda: call(b"\xff\xff\xff"))))


def test_a_text_that_is_no_utf8(here: House, told: Tell) -> None:
    call = here.channel.unary_stream("/groundwire.v1.NarrativeService/NarrativeRetrieve")
    told(of_call(failure_of(lambda: call(b"\x12\x03\xed\xa0\x80"))))  # query: a lone surrogate


def test_a_method_that_is_not_there(here: House, told: Tell) -> None:
    call: Any = here.channel.unary_unary("/groundwire.v1.NarrativeService/Dream")
    told(of_call(failure_of(lambda: call(b""))))


def test_a_deadline_that_is_over_at_once(here: House, told: Tell) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        list(here.narrative.NarrativeRetrieve(Retrieve(query="fox"), timeout=0.000001))
    assert isinstance(raised.value, grpc.Call)
    told(Told(raised.value.code().name, "", ""))


# ---- streams -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [Documents()],
        [Documents(part={"seq": 1})],
        [start(Documents, ingest_id="mine")],
        [start(Documents), Documents(part={"seq": 2, "head": {"doc_id": "a"}, "last_part": True})],
        [start(Documents), Documents(part={"seq": 1, "last_part": True})],
        [start(Documents), finish(Documents, 3)],
        [start(Documents), start(Documents)],
        [start(Documents), finish(Documents, 0), Documents(part={"seq": 1, "head": {"doc_id": "a"}})],
        [start(Documents), Documents(part={"seq": 1, "head": {"doc_id": "a"}, "content": b"x" * 262_145})],
    ],
    ids=[
        "no_frame",
        "empty_frame",
        "no_start",
        "id_no_uuid",
        "gap",
        "no_head",
        "part_lost",
        "two_starts",
        "part_after_finish",
        "part_too_large",
    ],
)
def test_an_ingest_that_is_out_of_order(here: House, told: Tell, frames: list[Any]) -> None:
    told(of_call(failure_of(lambda: here.ingest.IngestDocuments(iter(frames), timeout=20))))


def test_an_ingest_id_of_another_library(here: House, told: Tell) -> None:
    ingest_id = str(uuid.uuid4())
    list(here.ingest.IngestDocuments(iter([start(Documents, "second", ingest_id), finish(Documents, 0)])))
    frames = [start(Documents, "default", ingest_id), finish(Documents, 0)]
    told(of_call(failure_of(lambda: here.ingest.IngestDocuments(iter(frames)))), ingest_id=ingest_id)
