"""Route and Ask over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import evidence_pb2, router_pb2, stream_pb2
from tests.rpc.house import House, furnish, house, kinds, snippets
from tests.rpc.serving import failure_of
from tests.support.canonical import canonical


def ask(here: House, question: str, **more: Any) -> list[router_pb2.AskResponse]:
    return list(here.router.Ask(router_pb2.AskRequest(question=question, **more)))


def answer(frames: list[router_pb2.AskResponse]) -> str:
    return "".join(frame.answer.text for frame in frames if frame.WhichOneof("frame") == "answer")


def test_a_figure_is_answered_from_facts(furnished: House) -> None:
    frames = ask(furnished, "What was the population of Japan in 2020?", options={"request_id": "mine"})
    assert kinds(frames)[:2] == ["header", "route"]
    assert frames[0].header.request_id == "mine"
    assert frames[1].route.route == router_pb2.ROUTE_STRUCTURED
    parts = [frame.answer for frame in frames if frame.WhichOneof("frame") == "answer"]
    assert {part.origin for part in parts if part.cited_snippet_ids} == {router_pb2.ANSWER_ORIGIN_FACTS}
    assert "126261000" in answer(frames).replace(",", "")
    cited = {each for part in parts for each in part.cited_snippet_ids}
    assert cited == {each.snippet_id for each in snippets(frames) if each.WhichOneof("payload") == "fact"}
    assert frames[-1].summary.returned == len(snippets(frames))


def test_a_why_is_answered_by_quotation(furnished: House) -> None:
    frames = ask(furnished, "Where does a fox sleep?")
    assert frames[1].route.route == router_pb2.ROUTE_NARRATIVE
    passages = {each.snippet_id: each.text.text for each in snippets(frames)}
    parts = [frame.answer for frame in frames if frame.WhichOneof("frame") == "answer"]
    quoted = [part for part in parts if part.origin == router_pb2.ANSWER_ORIGIN_QUOTATION]
    assert quoted
    assert all(set(part.cited_snippet_ids) <= set(passages) for part in quoted)
    assert "den" in answer(frames)


def test_branches_are_numbered_and_ranks_run_over_all_of_them(furnished: House) -> None:
    frames = ask(furnished, "What was the population of Japan in 2020, and why is Tokyo the capital?")
    assert frames[1].route.route == router_pb2.ROUTE_COMPOSITE
    assert [frame.sub_call_index for frame in frames if frame.WhichOneof("frame") == "sub_call"] == [1, 2]
    found = snippets(frames)
    assert [each.rank for each in found] == list(range(1, len(found) + 1))
    ends = [frame.sub_call_summary for frame in frames if frame.WhichOneof("frame") == "sub_call_summary"]
    assert sum(end.returned for end in ends) == frames[-1].summary.returned == len(found)
    assert found[0].WhichOneof("payload") == "fact"


def test_the_same_question_gives_one_canonical_stream(furnished: House) -> None:
    question = "What was the population of Japan in 2020, and why is Tokyo the capital?"
    assert len({canonical(ask(furnished, question)) for _ in range(20)}) == 1


def test_a_missing_slot_is_asked_for(furnished: House) -> None:
    frames = ask(furnished, "What was the population of Japan?")
    assert "clarification" in kinds(frames)
    (asked,) = [frame.clarification for frame in frames if frame.WhichOneof("frame") == "clarification"]
    assert asked.missing_param == "period"
    assert frames[-1].summary.end_reason == stream_pb2.END_REASON_CLARIFICATION


def test_route_decides_and_retrieves_nothing(furnished: House) -> None:
    decided = furnished.router.Route(router_pb2.RouteRequest(question="What was the population of Japan in 2020?"))
    assert decided.route == router_pb2.ROUTE_STRUCTURED
    assert [(slot.name, slot.code) for slot in decided.slots if slot.code] == [
        ("metric", "POPULATION"),
        ("entity", "JPN"),
        ("period", "2020"),
    ]
    (query,) = decided.metric_queries
    assert query.period


def test_history_resolves_what_is_left_out(furnished: House) -> None:
    history = [
        router_pb2.Turn(role=router_pb2.TURN_ROLE_USER, text="What was the population of Japan in 2020?"),
        router_pb2.Turn(role=router_pb2.TURN_ROLE_ASSISTANT, text="It was 999."),
    ]
    frames = ask(furnished, "And in 2021?", history=history)
    figures = [each.fact.value for each in snippets(frames) if each.WhichOneof("payload") == "fact"]
    assert figures == ["125681593"]
    assert "999" not in answer(frames)


def test_the_gate_refuses_before_anything_is_touched(tmp_path: Path) -> None:
    with house(tmp_path / "data", gate__outside_names=("Umbrella",)) as here:
        furnish(here)
        frames = ask(here, "What does Umbrella sell?")
        assert kinds(frames) == ["header", "route", "summary"]
        assert frames[-1].summary.refusal.reason == stream_pb2.REFUSAL_REASON_OUT_OF_SCOPE
        decided = here.router.Route(router_pb2.RouteRequest(question="Revenue of Ｕｍｂｒｅｌｌａ in 2020?"))
        assert decided.refusal.reason == stream_pb2.REFUSAL_REASON_OUT_OF_SCOPE
        assert not decided.metric_queries


def test_without_writer_there_is_evidence_and_no_answer(furnished: House) -> None:
    frames = ask(furnished, "Where does a fox sleep?", writer=router_pb2.ANSWER_WRITER_NONE)
    assert snippets(frames)
    assert answer(frames) == ""


@pytest.mark.parametrize(
    ("request_", "want"),
    [
        ({}, [("question", "VALUE_REQUIRED")]),
        (
            {"question": "x", "force_route": 9, "writer": 9, "top_k": -1, "mode": 9, "history": [{"text": "hi"}]},
            [
                ("force_route", "UNKNOWN_NAME"),
                ("writer", "UNKNOWN_NAME"),
                ("history[0].role", "VALUE_REQUIRED"),
                ("mode", "UNKNOWN_NAME"),
                ("top_k", "VALUE_OUT_OF_RANGE"),
            ],
        ),
        ({"question": "x", "history": [{"role": 1, "text": "a"}] * 21}, [("history", "VALUE_OUT_OF_RANGE")]),
    ],
)
def test_bad_questions_are_refused_field_by_field(
    furnished: House, request_: dict[str, Any], want: list[tuple[str, str]]
) -> None:
    failure = failure_of(lambda: furnished.router.Ask(router_pb2.AskRequest(**request_)))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [(field, reason) for field, reason, _ in failure.violations] == want


def test_a_model_that_is_not_there_is_said(furnished: House) -> None:
    request = router_pb2.AskRequest(question="Why?", writer=router_pb2.ANSWER_WRITER_MODEL)
    failure = failure_of(lambda: furnished.router.Ask(request))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_MODEL")


def test_every_snippet_of_an_answer_is_what_it_says(furnished: House) -> None:
    for frame in ask(furnished, "What was the population of Japan in 2020, and why is Tokyo the capital?"):
        for each in frame.batch.snippets:
            assert each.trust == evidence_pb2.TRUST_CITABLE
            assert each.lineage.library_id == "default"
