"""`summary.next` brings more: pages put together are the long answer, whatever is written in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from groundwire.v1 import (
    admin_pb2,
    evidence_pb2,
    glossary_pb2,
    graph_pb2,
    ingest_pb2,
    metric_pb2,
    narrative_pb2,
    stream_pb2,
)
from tests.rpc.house import House, furnish, house, snippets, term
from tests.rpc.resuming import ask, piece_counts, requests, resumed
from tests.support.canonical import canonical_message

TOP_K = stream_pb2.END_REASON_TOP_K
EXHAUSTED = stream_pb2.END_REASON_EXHAUSTED
TOKENS = stream_pb2.END_REASON_TOKEN_BUDGET
DAY = stream_pb2.CallOptions(reference_date="2025-06-30")


def pages(here: House, request: Message, most: int = 100) -> Iterator[list[Any]]:
    """Streams until nothing is left."""
    following: Any = request
    for _ in range(most):
        frames = list(ask(here, following))
        yield frames
        token = frames[-1].summary.next.token
        if not token:
            return
        following = resumed(request, token)
    raise AssertionError("there is no end")


def plain(found: list[evidence_pb2.Snippet]) -> list[bytes]:
    return [canonical_message(each) for each in found]


def retrieval(top_k: int, query: str = "report about rivers", **more: Any) -> narrative_pb2.NarrativeRetrieveRequest:
    return narrative_pb2.NarrativeRetrieveRequest(options=DAY, query=query, top_k=top_k, **more)


@pytest.mark.parametrize("top_k", [1, 7, 20, 30])
@pytest.mark.parametrize("query", ["report about rivers", "日本の人口", "北京 收入", "fox report"])
def test_pages_are_the_long_answer(furnished: House, top_k: int, query: str) -> None:
    whole = plain(snippets(ask(furnished, retrieval(200, query))))
    told = list(pages(furnished, retrieval(top_k, query)))
    assert [one for frames in told for one in plain(snippets(frames))] == whole
    assert [frames[-1].summary.end_reason for frames in told[:-1]] == [TOP_K] * (len(told) - 1)
    assert told[-1][-1].summary.end_reason == EXHAUSTED
    assert [piece_counts(frames)[2] for frames in told] == [frames[-1].summary.returned for frames in told]


def test_a_page_is_of_the_state_of_the_first(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        furnish(here)
        whole = plain(snippets(ask(here, retrieval(200))))
        found: list[bytes] = []
        for number, frames in enumerate(pages(here, retrieval(15))):
            found += plain(snippets(frames))
            here.store({f"new/{number}.txt": "report about rivers", f"many/{number + 30:03}.txt": "Nothing."})
    assert found == whole


def test_a_page_that_breaks_goes_on(furnished: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire_server.rpc.stream.MAX_BATCH_SNIPPETS", 3)
    request = retrieval(10)
    first, second, *_ = pages(furnished, request)
    third = next(each for each in second if each.WhichOneof("frame") == "batch")
    again = list(ask(furnished, resumed(request, third.batch.after.token)))
    assert plain(snippets(again)) == plain(snippets(second))[3:]
    assert again[-1].summary.end_reason == TOP_K
    assert [each.rank for each in snippets(first) + snippets(second)] == list(range(1, 21))


def test_a_budget_of_tokens_is_new_for_each_page(furnished: House) -> None:
    bounded = retrieval(30)
    bounded.options.token_budget = 50
    told = list(pages(furnished, bounded))
    whole = plain(snippets(ask(furnished, retrieval(30))))
    found = [one for frames in told for one in plain(snippets(frames))]
    assert found[:30] == whole
    assert len(told) > 3
    assert all(0 < frames[-1].summary.prompt_tokens <= 50 for frames in told if snippets(frames))
    assert told[0][-1].summary.end_reason == TOKENS


def test_a_budget_that_holds_nothing_has_no_end_of_pages(furnished: House) -> None:
    bounded = retrieval(30)
    bounded.options.token_budget = 1
    (only,) = pages(furnished, bounded)
    assert only[-1].summary.end_reason == TOKENS
    assert not snippets(only)


def test_figures_beyond_a_budget_follow(furnished: House) -> None:
    queries = [
        metric_pb2.MetricQuery(metric=metric, entity=entity, period=period)
        for metric, entity in (("population", "Japan"), ("revenue", "Acme"), ("人口", "日本"))
        for period in ("2020", "2021")
    ]
    request = metric_pb2.QueryMetricRequest(options=DAY, queries=queries)
    whole = list(ask(furnished, request))
    bounded = metric_pb2.QueryMetricRequest(options=DAY, queries=queries)
    bounded.options.token_budget = 40
    told = list(pages(furnished, bounded))
    assert len(told) > 1
    assert plain([one for frames in told for one in snippets(frames)]) == plain(snippets(whole))
    outcomes = [each for frames in [*told] for frame in frames for each in frame.outcomes.outcomes]
    assert outcomes == [each for frame in whole for each in frame.outcomes.outcomes]


def test_time_that_ran_out_can_be_given_again(furnished: House) -> None:
    hasty = retrieval(30)
    hasty.options.soft_budget.nanos = 1
    cut = list(ask(furnished, hasty))
    assert cut[-1].summary.end_reason == stream_pb2.END_REASON_SOFT_BUDGET
    if cut[-1].summary.next.token:
        rest = list(ask(furnished, resumed(retrieval(30), cut[-1].summary.next.token)))
        assert plain(snippets(cut)) + plain(snippets(rest)) == plain(snippets(ask(furnished, retrieval(30))))


@pytest.fixture(scope="module")
def related(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Companies in a tree and in rings, each with a figure and a passage."""
    with house(tmp_path_factory.mktemp("related") / "data") as here:
        furnish(here)
        edges = [("TOP", f"C{number:02}") for number in range(24)]
        edges += [(f"C{number:02}", f"D{number:02}") for number in range(24)]
        edges += [(f"D{number:02}", "END") for number in range(24)]
        records = ingest_pb2.FactRecords(
            relations=[
                ingest_pb2.RelationRecord(
                    subject=above,
                    relation="parent_of",
                    object=below,
                    source_doc="r.jsonl",
                    locator=f"line={place}",
                )
                for place, (above, below) in enumerate(edges, 1)
            ],
            facts=[
                ingest_pb2.FactRecord(
                    metric="POPULATION",
                    entity=f"C{number:02}",
                    period="2020",
                    value=str(number + 1),
                    unit="persons",
                    source_doc="f.csv",
                    locator=f"row={number + 2}",
                )
                for number in range(24)
            ],
        )
        names = sorted({name for edge in edges for name in edge})
        terms = [term(glossary_pb2.TERM_KIND_ENTITY, name, name.lower()) for name in names]
        here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=terms))
        here.store_facts(records)
        yield here


def rollup(most: int) -> graph_pb2.GraphTraceRequest:
    query = metric_pb2.MetricQuery(metric="POPULATION", entity="TOP", period="2020")
    return graph_pb2.GraphTraceRequest(
        options=DAY, rollup=graph_pb2.Rollup(query=query, max_operands=most, max_depth=1)
    )


def k_paths(most: int) -> graph_pb2.GraphTraceRequest:
    paths = graph_pb2.Paths(
        from_id="entity:TOP",
        to_id="entity:END",
        relations=["parent_of"],
        direction=graph_pb2.DIRECTION_OUT,
        choice=graph_pb2.PATH_CHOICE_K_SHORTEST,
        max_paths=most,
    )
    return graph_pb2.GraphTraceRequest(options=DAY, paths=paths)


@pytest.mark.parametrize("make", [rollup, k_paths])
@pytest.mark.parametrize("most", [1, 5, 9])
def test_walks_have_pages_too(related: House, make: Any, most: int) -> None:
    whole = snippets(ask(related, make(1000)))
    assert len(whole) >= 24
    told = list(pages(related, make(most)))
    assert plain([one for frames in told for one in snippets(frames)]) == plain(whole)


def test_communities_have_pages(related: House) -> None:
    def communities(most: int) -> graph_pb2.GraphTraceRequest:
        return graph_pb2.GraphTraceRequest(options=DAY, communities=graph_pb2.Communities(max_communities=most))

    whole = snippets(ask(related, communities(100)))
    assert len(whole) > 1
    told = list(pages(related, communities(1)))
    assert plain([one for frames in told for one in snippets(frames)]) == plain(whole)


def test_an_answer_is_whole_and_has_no_pages(furnished: House) -> None:
    for name, request in requests().items():
        if name.startswith("ask"):
            assert not list(ask(furnished, request))[-1].summary.HasField("next")
