"""The trace over the wire: in every method that streams evidence, within the frame, under the caller's rights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groundwire import Client, ExplainLevel, LossReason
from groundwire.v1 import graph_pb2, ingest_pb2, metric_pb2, narrative_pb2, router_pb2, stream_pb2
from groundwire_server.rpc.stream import MAX_FRAME_BYTES
from tests.rpc.house import HIDDEN_TEXT, House, house, snippets


def trace(**more: Any) -> stream_pb2.CallOptions:
    return stream_pb2.CallOptions(explain=stream_pb2.EXPLAIN_LEVEL_TRACE, **more)


def retrieve(here: House, query: str, **more: Any) -> list[narrative_pb2.NarrativeRetrieveResponse]:
    given = {"options": trace(), "mode": "RETRIEVAL_MODE_LEXICAL", **more}
    return list(here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query=query, **given)))


def test_every_candidate_is_sent_or_told_of(furnished: House) -> None:
    frames = retrieve(furnished, "quick brown fox", top_k=1)
    summary = frames[-1].summary
    told = summary.explanation.trace
    assert [each.text for each in summary.explanation.variants] == ["quick brown fox"]
    assert len(told) + summary.returned + summary.explanation.trace_omitted == summary.candidates
    assert {each.reason for each in told} == {stream_pb2.LOSS_REASON_NO_MATCH}
    assert not any(each.HasField("score") or each.rank for each in told)
    assert not any("secret" in each.chunk_id for each in told)
    assert {each.library_id for each in told} == {"default"}


def test_a_loss_has_the_rank_and_score_that_it_came_with(furnished: House) -> None:
    several = retrieve(furnished, "rivers bread", top_k=20)
    few = retrieve(furnished, "rivers bread", top_k=5)
    lost = [each for each in few[-1].summary.explanation.trace if each.reason != stream_pb2.LOSS_REASON_NO_MATCH]
    assert [(each.stage, each.rank) for each in lost[:3]] == [("lexical", 7), ("lexical", 8), ("lexical", 9)]
    assert (lost[-1].stage, lost[-1].reason, lost[-1].rank) == ("exit", stream_pb2.LOSS_REASON_TOP_K, 6)
    assert lost[-1].chunk_id == snippets(several)[5].lineage.chunk_id
    by_id = {each.lineage.chunk_id: each.scores for each in snippets(several)}
    for each in lost[:10]:
        assert each.score == by_id[each.chunk_id].bm25


def test_less_is_told_where_less_is_asked_for(furnished: House) -> None:
    for level, told in (("EXPLAIN_LEVEL_NONE", None), ("EXPLAIN_LEVEL_PLAN", 1)):
        (summary,) = [each.summary for each in retrieve(furnished, "fox", top_k=1, options={"explain": level})[-1:]]
        assert summary.HasField("explanation") is (told is not None)
        assert not summary.explanation.trace
        assert not summary.explanation.trace_omitted


def test_the_passages_of_an_answer(furnished: House) -> None:
    request = router_pb2.AskRequest(
        question="Why rivers, bridges and bread?", top_k=1, force_route=router_pb2.ROUTE_NARRATIVE, options=trace()
    )
    summary = list(furnished.router.Ask(request))[-1].summary
    told = summary.explanation.trace
    assert told
    assert len(told) + summary.returned + summary.explanation.trace_omitted == summary.candidates


def test_figures_and_relations_without_room(furnished: House) -> None:
    asked = [metric_pb2.MetricQuery(metric="population", entity="Japan", period=year) for year in ("2020", "2021")]
    request = metric_pb2.QueryMetricRequest(queries=asked, options=trace(token_budget=20))
    summary = list(furnished.metric.QueryMetric(request))[-1].summary
    whole = snippets(list(furnished.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=asked, options=trace()))))
    told = summary.explanation.trace
    assert [(each.stage, each.reason, each.rank, each.snippet_id, each.chunk_id) for each in told] == [
        ("budget", stream_pb2.LOSS_REASON_BUDGET, 2, whole[1].snippet_id, "")
    ]
    around = graph_pb2.GraphTraceRequest(
        neighborhood=graph_pb2.Neighborhood(node_ids=["entity:ASIA"]),
        options=trace(token_budget=1),
    )
    (lost,) = list(furnished.graph.GraphTrace(around))[-1].summary.explanation.trace
    assert (lost.stage, lost.rank, lost.library_id) == ("budget", 1, "default")
    assert lost.snippet_id
    assert not lost.HasField("score")


def test_what_was_too_weak_to_be_sent(furnished: House) -> None:
    tuning = narrative_pb2.RetrievalTuning(corrective=True)
    summary = retrieve(furnished, "tariffs of Mongolian camel rivers", tuning=tuning)[-1].summary
    assert summary.end_reason == stream_pb2.END_REASON_REFUSED
    told = summary.explanation.trace
    assert len(told) == summary.candidates
    weak = [each for each in told if each.reason == stream_pb2.LOSS_REASON_WEAK]
    assert [each.rank for each in weak] == list(range(1, len(weak) + 1))
    assert {each.stage for each in weak} == {"grade"}


def test_hidden_passages_change_no_trace(tmp_path: Path) -> None:
    traces = []
    for name, hidden in (("alone", 0), ("beside", 30)):
        with house(tmp_path / name) as here:
            here.store({f"a/{n}.md": f"fox number {n} " * (1 + n % 3) for n in range(8)})
            if hidden:
                here.store(
                    {f"a/{n}x.md": f"{HIDDEN_TEXT} {n}" for n in range(hidden)}, label=ingest_pb2.LABEL_CONFIDENTIAL
                )
                here.store(
                    {f"b/{n}x.md": f"{HIDDEN_TEXT} {n}" for n in range(hidden)}, label=ingest_pb2.LABEL_RESTRICTED
                )
            here.store({"c.md": "holidays"})
            frames = [
                *retrieve(here, "fox", top_k=2),
                *retrieve(here, "fox", top_k=4, options=trace(token_budget=12)),
            ]
            explained = [frame.summary.explanation for frame in frames if frame.WhichOneof("frame") == "summary"]
            traces.append([each.SerializeToString(deterministic=True) for each in explained])
    assert traces[0] == traces[1]


def test_the_longest_names_still_fit_into_a_frame(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({f"{n:04}{'%' * 508}": f"fox {n}" for n in range(1_020)})
        frames = retrieve(here, "fox", top_k=1)
        summary = frames[-1].summary
        assert frames[-1].ByteSize() < MAX_FRAME_BYTES
        told = summary.explanation.trace
        assert 200 < len(told) < 1_000
        assert len(told) + 1 + summary.explanation.trace_omitted == summary.candidates == 1_020
        assert [each.rank for each in told][-1] == 2  # the nearest of all is kept
        assert [each.rank for each in told][:3] == [3, 4, 5]


def test_the_client_gives_it_as_values(furnished: House) -> None:
    with Client(furnished.server.address) as client:
        answer = client.retrieve("rivers", top_k=1, mode="LEXICAL", explain=ExplainLevel.TRACE).collect()
    assert answer.summary.explanation is not None
    last = answer.summary.explanation.trace[-1]
    assert (last.stage, last.reason, last.rank) == ("exit", LossReason.TOP_K, 2)
    assert last.score is not None
    assert answer.summary.explanation.trace[0].score is None or answer.summary.explanation.trace[0].score > 0


@pytest.mark.parametrize("query", ["日本の人口", "香港的收入", "fox\u2028\U0001f98a e\u0301"])
def test_in_other_languages(furnished: House, query: str) -> None:
    summary = retrieve(furnished, query, top_k=1)[-1].summary
    told = summary.explanation.trace
    assert len({each.chunk_id for each in told}) == len(told) == summary.candidates - summary.returned
