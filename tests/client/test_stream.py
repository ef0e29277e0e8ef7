"""Streams over a socket: order, folding, cancellation, failure."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

import groundwire
from groundwire import MetricQuery, field
from groundwire.v1 import (
    admin_pb2,
    evidence_pb2,
    graph_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
    stream_pb2,
    tools_pb2,
)
from tests.client.both import Connect
from tests.client.serving import serving

Response = narrative_pb2.NarrativeRetrieveResponse


def _header() -> Response:
    plan = [stream_pb2.PlanStep(stage="lexical", backend="bm25")]
    return Response(header=stream_pb2.StreamHeader(request_id="r-1", plan=plan))


def _batch(*ranks: int) -> Response:
    snippets = [
        evidence_pb2.Snippet(
            snippet_id=f"id{rank}",
            rank=rank,
            trust=evidence_pb2.TRUST_CITABLE,
            lineage=evidence_pb2.Lineage(library_id="default", doc_id="a.md", revision=1),
            scores=evidence_pb2.Scores(bm25=0.0, bm25_rank=rank),
            text=evidence_pb2.TextPassage(text=f"passage {rank}"),
        )
        for rank in ranks
    ]
    return Response(batch=stream_pb2.SnippetBatch(snippets=snippets))


def _summary(**fields: Any) -> Response:
    return Response(summary=stream_pb2.StreamSummary(end_reason=stream_pb2.END_REASON_TOP_K, **fields))


def _retrieve(connect: Connect, *frames: Response) -> groundwire.Retrieval:
    with serving(NarrativeRetrieve=lambda request, context: iter(frames)) as address, connect(address) as client:
        return client.retrieve("why").collect()


def test_a_whole_stream_is_folded_in_rank_order(connect: Connect) -> None:
    whole = _retrieve(connect, _header(), _batch(1, 2), _batch(3), _summary(returned=3))
    assert whole.header.plan == (groundwire.PlanStep("lexical", "bm25"),)
    assert [snippet.rank for snippet in whole.snippets] == [1, 2, 3]
    first = whole.snippets[0]
    assert first.payload == groundwire.TextPassage("passage 1")
    assert first.citable
    assert first.scores == groundwire.Scores(bm25=0.0, bm25_rank=1)
    assert whole.summary.end_reason is groundwire.EndReason.TOP_K


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ([_header(), _batch(1)], "without its summary"),
        ([], "without its summary"),
        ([_batch(1), _summary()], "does not begin with its header"),
        ([_header(), _header(), _summary()], "second header"),
        ([_header(), _summary(), _batch(1)], "after the summary"),
        ([_header(), _batch(1, 3), _summary()], "rank 3 follows rank 1"),
    ],
)
def test_a_broken_stream_is_an_error(connect: Connect, frames: list[Response], message: str) -> None:
    with pytest.raises(groundwire.BrokenStream, match=message):
        _retrieve(connect, *frames)


def test_who_only_iterates_hears_of_a_broken_stream_too(connect: Connect) -> None:
    seen: list[groundwire.Frame] = []
    frames = [_header(), _batch(1)]
    with (
        serving(NarrativeRetrieve=lambda request, context: iter(frames)) as address,
        connect(address) as client,
        pytest.raises(groundwire.BrokenStream),
    ):
        seen.extend(client.retrieve("why"))
    assert [type(frame) for frame in seen] == [groundwire.StreamHeader, groundwire.SnippetBatch]


def test_frames_of_an_unknown_kind_and_snippets_of_an_unknown_payload_are_passed_over(connect: Connect) -> None:
    unknown = _batch(2)
    unknown.batch.snippets[0].ClearField("text")
    whole = _retrieve(connect, _header(), Response(), _batch(1), unknown, _batch(3), _summary())
    assert [snippet.rank for snippet in whole.snippets] == [1, 3]


def test_the_request_says_what_the_caller_said(connect: Connect) -> None:
    seen: list[narrative_pb2.NarrativeRetrieveRequest] = []

    def method(request: narrative_pb2.NarrativeRetrieveRequest, context: grpc.ServicerContext) -> Iterator[Response]:
        seen.append(request)
        return iter([_header(), _summary()])

    with serving(NarrativeRetrieve=method) as address, connect(address) as client:
        client.retrieve(
            "why",
            top_k=3,
            mode="lexical",
            libraries=["a", "b"],
            filter=field("year") >= 2020,
            forbid=["vector_off"],
            language="ja",
        ).collect()
    (request,) = seen
    assert (request.query, request.top_k, request.mode) == ("why", 3, narrative_pb2.RETRIEVAL_MODE_LEXICAL)
    assert list(request.options.library_ids) == ["a", "b"]
    assert request.options.filter.predicate.gte.int_value == 2020
    assert list(request.options.forbid) == [stream_pb2.DEGRADATION_KIND_VECTOR_OFF]
    assert request.options.language == "ja"


def test_unknown_options_are_refused_with_those_there_are(connect: Connect) -> None:
    with connect("127.0.0.1:1") as client, pytest.raises(TypeError, match=r"unknown option libary; valid: .*libraries"):
        client.retrieve("why", libary=["a"])  # type: ignore[call-arg]


def test_cancelling_ends_the_call_on_the_server_and_the_loop_here(connect: Connect) -> None:
    ended = threading.Event()

    def endless(request: Any, context: grpc.ServicerContext) -> Iterator[Response]:
        context.add_callback(ended.set)
        yield _header()
        rank = 0
        while context.is_active():
            rank += 1
            yield _batch(rank)

    with serving(NarrativeRetrieve=endless) as address, connect(address) as client:
        with client.retrieve("why") as stream:
            for frame in stream:
                if isinstance(frame, groundwire.SnippetBatch):
                    break
        assert ended.wait(10)
        assert list(stream) == []
        with pytest.raises(groundwire.GroundwireError, match="cancelled"):
            stream.collect()


def test_another_thread_may_cancel_a_stream_that_waits(connect: Connect) -> None:
    ended, heard = threading.Event(), threading.Event()

    def silent(request: Any, context: grpc.ServicerContext) -> Iterator[Response]:
        context.add_callback(ended.set)
        yield _header()
        ended.wait(20)

    with serving(NarrativeRetrieve=silent) as address, connect(address) as client:
        stream = client.retrieve("why")
        reading = threading.Thread(target=lambda: [heard.set() for _ in stream])
        reading.start()
        assert heard.wait(10)
        stream.cancel()
        reading.join(10)
        assert not reading.is_alive()
        assert ended.wait(10)


def test_a_stream_that_broke_ends_its_call_and_says_so_again(connect: Connect) -> None:
    ended = threading.Event()

    def wrong(request: Any, context: grpc.ServicerContext) -> Iterator[Response]:
        context.add_callback(ended.set)
        yield _header()
        yield _header()
        ended.wait(20)

    with serving(NarrativeRetrieve=wrong) as address, connect(address) as client:
        stream = client.retrieve("why")
        for _ in range(2):
            with pytest.raises(groundwire.BrokenStream, match="second header"):
                stream.collect()
        assert ended.wait(10)


def test_a_client_that_is_closed_says_so(connect: Connect) -> None:
    with connect("127.0.0.1:1") as client:
        client.close()
        with pytest.raises(ValueError, match="the client is closed"):
            client.server_info()
        with pytest.raises(ValueError, match="the client is closed"):
            client.retrieve("why")
        with pytest.raises(ValueError, match="the client is closed"):
            client.ingest_documents([]).collect()


def test_the_deadline_of_the_client_is_an_error_of_its_own(connect: Connect) -> None:
    release = threading.Event()

    def slow(request: Any, context: grpc.ServicerContext) -> Iterator[Response]:
        release.wait(20)
        yield _header()

    with serving(NarrativeRetrieve=slow) as address, connect(address, timeout=0.2) as client:
        with pytest.raises(groundwire.GroundwireError) as caught:
            client.retrieve("why").collect()
        release.set()
    assert caught.value.status == "DEADLINE_EXCEEDED"


def test_figures_are_found_by_their_outcome(connect: Connect) -> None:
    fact = evidence_pb2.Snippet(
        snippet_id="f1", rank=1, fact=evidence_pb2.MetricFact(metric="POP", value="125.10", unit="M")
    )
    outcomes = [
        metric_pb2.MetricOutcome(query_index=0, found=metric_pb2.MetricFound(snippet_ids=["f1"])),
        metric_pb2.MetricOutcome(query_index=1, not_found=metric_pb2.MetricNotFound(refusal="No figure.")),
        metric_pb2.MetricOutcome(
            query_index=2, unrecognized_param=metric_pb2.UnrecognizedParam(param="entity", raw="Japn")
        ),
    ]
    frames = [
        metric_pb2.QueryMetricResponse(header=stream_pb2.StreamHeader(request_id="q")),
        metric_pb2.QueryMetricResponse(outcomes=metric_pb2.MetricOutcomes(outcomes=outcomes)),
        metric_pb2.QueryMetricResponse(batch=stream_pb2.SnippetBatch(snippets=[fact])),
        metric_pb2.QueryMetricResponse(summary=stream_pb2.StreamSummary(returned=1)),
    ]
    with serving(QueryMetric=lambda request, context: iter(frames)) as address, connect(address) as client:
        figures = client.query_metric(MetricQuery("population", "Japan", "2023")).collect()
    kinds = [type(outcome.outcome) for outcome in figures.outcomes]
    assert kinds == [groundwire.MetricFound, groundwire.MetricNotFound, groundwire.UnrecognizedParam]
    (snippet,) = figures.of(figures.outcomes[0])
    assert isinstance(snippet.payload, groundwire.MetricFact)
    assert str(snippet.payload.amount) == "125.10"
    assert figures.of(figures.outcomes[1]) == ()


def test_an_answer_is_its_parts_and_what_they_cite(connect: Connect) -> None:
    def frame(branch: int = 0, **fields: Any) -> router_pb2.AskResponse:
        return router_pb2.AskResponse(sub_call_index=branch, **fields)

    snippets = _batch(1, 2).batch
    frames = [
        frame(header=stream_pb2.StreamHeader(request_id="a")),
        frame(route=router_pb2.RouteResponse(route=router_pb2.ROUTE_COMPOSITE, confidence=0.75)),
        frame(1, sub_call=router_pb2.SubCall(route=router_pb2.ROUTE_NARRATIVE)),
        frame(1, batch=snippets),
        frame(1, sub_call_summary=router_pb2.SubCallSummary(returned=2)),
        frame(answer=router_pb2.AnswerPart(text="One.", cited_snippet_ids=["id2"])),
        frame(answer=router_pb2.AnswerPart(text=" Two.", origin=router_pb2.ANSWER_ORIGIN_FIXED)),
        frame(summary=stream_pb2.StreamSummary(returned=2)),
    ]
    with serving(Ask=lambda request, context: iter(frames)) as address, connect(address) as client:
        answer = client.ask("what and why", history=[groundwire.Turn(groundwire.TurnRole.USER, "hello")]).collect()
    assert answer.text == "One. Two."
    assert [snippet.snippet_id for snippet in answer.cited] == ["id2"]
    assert answer.route is not None
    assert answer.route.route is groundwire.Route.COMPOSITE
    assert [branch.branch for branch in answer.branches] == [1]
    assert answer.branch_summaries[0].returned == 2


def test_relations_around_a_node(connect: Connect) -> None:
    edge = evidence_pb2.GraphEdge(edge_id="e", relation="parent_of", source={"node_id": "entity:A"})
    frames = [
        graph_pb2.GraphTraceResponse(header=stream_pb2.StreamHeader(request_id="g")),
        graph_pb2.GraphTraceResponse(
            batch=stream_pb2.SnippetBatch(snippets=[evidence_pb2.Snippet(snippet_id="s", rank=1, edge=edge)])
        ),
        graph_pb2.GraphTraceResponse(summary=stream_pb2.StreamSummary(returned=1)),
    ]
    seen: list[graph_pb2.GraphTraceRequest] = []

    def method(request: graph_pb2.GraphTraceRequest, context: grpc.ServicerContext) -> Any:
        seen.append(request)
        return iter(frames)

    with serving(GraphTrace=method) as address, connect(address) as client:
        trace = client.neighborhood(["entity:A"], relations=["parent_of"], direction="in").collect()
    assert isinstance(trace.snippets[0].payload, groundwire.GraphEdge)
    assert seen[0].neighborhood.direction == graph_pb2.DIRECTION_IN
    assert seen[0].WhichOneof("operation") == "neighborhood"


def test_a_snippet_is_verified_by_what_it_is(connect: Connect) -> None:
    seen: list[tools_pb2.VerifyCitationRequest] = []

    def method(request: tools_pb2.VerifyCitationRequest, context: grpc.ServicerContext) -> Any:
        seen.append(request)
        return tools_pb2.VerifyCitationResponse(verdict=tools_pb2.CITATION_VERDICT_SUPERSEDED, active={"revision": 2})

    passage = _retrieve(connect, _header(), _batch(1), _summary()).snippets[0]
    figure = groundwire.MetricFact("M", "E", "2024", "TOTAL", "1", "USD", fact_id="f")
    lineage = passage.lineage
    with serving(VerifyCitation=method) as address, connect(address) as client:
        verdict = client.verify(passage)
        client.verify(groundwire.Snippet("s", 1, lineage, groundwire.Trust.CITABLE, figure))
        client.verify(passage, "sage")
        client.verify(lineage)
        with pytest.raises(TypeError, match="context, not a citation"):
            client.verify(groundwire.Snippet("s", 1, lineage, groundwire.Trust.CONTEXT_ONLY, groundwire.PageHit(1)))
    assert verdict.verdict is groundwire.CitationVerdict.SUPERSEDED
    assert verdict.active is not None
    assert verdict.active.revision == 2
    assert [request.WhichOneof("claim") for request in seen] == ["quote", "fact", "quote", None]
    assert [request.quote for request in seen] == ["passage 1", "", "sage", ""]


def test_pages_of_libraries_are_read_to_the_end(connect: Connect) -> None:
    pages = {
        "": admin_pb2.ListLibrariesResponse(libraries=[{"library_id": "a"}], next_page_token="more"),
        "more": admin_pb2.ListLibrariesResponse(libraries=[{"library_id": "b", "embedding_coverage": 0.0}]),
    }
    with (
        serving(ListLibraries=lambda request, context: pages[request.page_token]) as address,
        connect(address) as client,
    ):
        libraries = client.list_libraries()
    assert [library.library_id for library in libraries] == ["a", "b"]
    assert [library.embedding_coverage for library in libraries] == [None, 0.0]


def test_health_speaks_the_standard_service(connect: Connect) -> None:
    def check(request: StringValue, context: grpc.ServicerContext) -> Int32Value:
        return Int32Value(value=1 if request.value == "" else 2)

    handler = grpc.unary_unary_rpc_method_handler(check, StringValue.FromString, Int32Value.SerializeToString)
    server = grpc.server(futures.ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": handler})])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with connect(f"127.0.0.1:{port}") as client:
        assert client.health() is groundwire.HealthStatus.SERVING
        assert client.health("groundwire.v1.MetricService") is groundwire.HealthStatus.NOT_SERVING
    server.stop(None).wait()
