"""Questions cut by a model behind HTTP, and routes and steps that it weighs: what leaves, and what is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, errors_pb2, narrative_pb2, router_pb2, stream_pb2
from groundwire_server.query import DECOMPOSERS
from tests.llm.model_server import Act, ModelServer, model_server
from tests.rpc.house import HIDDEN_TEXT, TEXTS, House, furnish, house, snippets
from tests.rpc.serving import failure_of
from tests.rpc.test_model_answers import passages, serving
from tests.support.eventually import eventually

QUESTION = "Where does a fox sleep? What does a quick fox jump over?"
PARTS = ["Where does a fox sleep?", "What does a quick fox jump over?"]
SKIPPED = stream_pb2.DEGRADATION_KIND_TRANSFORM_SKIPPED
FALLBACK = stream_pb2.DEGRADATION_KIND_ROUTER_FALLBACK
BAD: dict[str, Act] = {
    "busy": Act("", status=429, headers={"retry-after": "600"}),
    "broken": Act(raw=b'{"choices": [{"message": {"content": "Where'),
    "gone": Act(close=True),
    "empty": Act(" \n"),
    "outside": Act("- Where does a fox sleep?\n- Where does ＲＩＶＡＬ Co sleep?"),
    "another figure": Act("- Where does a fox sleep?\n- Where do 4711 foxes sleep?"),
}


def is_writing(body: dict[str, Any]) -> bool:
    return bool(body.get("stream"))


def says(body: dict[str, Any]) -> Act:
    """A model that cuts, and answers each part from the passages that it was shown."""
    if not is_writing(body):
        return Act("\n".join(f"{number}. {part}" for number, part in enumerate(PARTS, start=1)))
    question = body["messages"][-1]["content"].rsplit("\n", 1)[-1]
    if "sleep" in question:
        number = next(each["number"] for each in passages(body) if "den" in each["text"])
        return Act(f"A fox sleeps in a den [{number}]. A fox sleeps in 4711 dens [{number}].")
    return Act("NONE")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server(script=says) as running:
        yield running


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[House]:
    with serving(tmp_path_factory.mktemp("cut"), model, gate__outside_names=["Rival Co"]) as running:
        yield running
        assert eventually(lambda: not any(running.server.leftovers.values()))


@pytest.fixture
def script(model: ModelServer) -> Iterator[Callable[[Any], None]]:
    """Sets what the model does in one test."""
    yield lambda said: setattr(model, "script", said)
    model.script = says


def ask(here: House, by: str, question: str = QUESTION, adaptive: bool | None = None, **more: Any) -> list[Any]:
    request = router_pb2.AskRequest(
        question=question, options=stream_pb2.CallOptions(**more.pop("options", {})), **more
    )
    request.tuning.decomposition = by
    if adaptive is not None:
        request.tuning.adaptive = adaptive
    return list(here.router.Ask(request))


def calls(frames: list[Any]) -> list[router_pb2.SubCall]:
    return [frame.sub_call for frame in frames if frame.WhichOneof("frame") == "sub_call"]


def text(frames: list[Any]) -> str:
    return "".join(frame.answer.text for frame in frames if frame.WhichOneof("frame") == "answer")


def lost(frames: list[Any], kind: int = SKIPPED) -> list[tuple[str, str]]:
    return [
        (each.component, errors_pb2.ErrorReason.Name(each.cause.reason).removeprefix("ERROR_REASON_"))
        for each in frames[-1].summary.degradations
        if each.kind == kind
    ]


@pytest.mark.parametrize("by", DECOMPOSERS)
def test_each_part_has_its_branch_and_the_question_alone_leaves(here: House, model: ModelServer, by: str) -> None:
    before = len(model.bodies)
    frames = ask(here, by)
    assert [call.sub_question for call in calls(frames)] == PARTS
    assert [(step.stage, step.backend) for step in frames[0].header.plan][-1] == ("decompose", by)
    assert "A fox sleeps in a den." in text(frames)
    assert "4711" not in text(frames)
    assert lost(frames) == []
    ids = [each.snippet_id for each in snippets(frames)]
    assert len(ids) == len(set(ids))
    cutting = [body for body in model.bodies[before:] if not is_writing(body)]
    assert len(cutting) == (by == "llm")
    sent = json.dumps(cutting, ensure_ascii=False)
    assert HIDDEN_TEXT not in model.text_sent()
    assert not any(each in sent for each in TEXTS.values())
    used = sum(usage.calls for usage in frames[-1].summary.model_usage)
    assert used == len(model.bodies) - before


@pytest.mark.parametrize("fault", BAD)
def test_a_model_that_fails_is_said_and_the_question_is_asked(
    here: House, script: Callable[[Any], None], fault: str
) -> None:
    script([BAD[fault]])
    plain = ask(here, "none", writer=router_pb2.ANSWER_WRITER_EXTRACTIVE)
    frames = ask(here, "llm", writer=router_pb2.ANSWER_WRITER_EXTRACTIVE)
    assert lost(frames) == [("decomposition:llm", "MODEL_FAILED")]
    assert text(frames) == text(plain)
    assert [call.sub_question for call in calls(frames)] == [""]
    failure = failure_of(lambda: ask(here, "llm", options={"forbid": [SKIPPED]}))
    assert (failure.reason, failure.metadata["kind"]) == ("DEGRADATION_FORBIDDEN", "TRANSFORM_SKIPPED")


def test_a_library_asks_for_it_and_is_shown_so(here: House) -> None:
    def save(**tuning: Any) -> admin_pb2.Library:
        library = admin_pb2.Library(library_id="default", tuning=narrative_pb2.RetrievalTuning(**tuning))
        return here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library)).library

    shown = save(decomposition="rules", adaptive=True)
    assert (shown.tuning.decomposition, shown.tuning.adaptive) == ("rules", True)
    assert len(calls(ask(here, ""))) == 2
    assert len(calls(ask(here, "", PARTS[0]))) == 1
    assert len(calls(ask(here, "none", adaptive=False))) == 1
    shown = save()
    assert (shown.tuning.decomposition, shown.tuning.adaptive) == ("none", False)
    assert len(calls(ask(here, ""))) == 1


def test_names_that_are_not_there_and_methods_that_do_not_cut(here: House) -> None:
    failure = failure_of(lambda: ask(here, "magic"))
    assert failure.violations[0][:2] == ("tuning.decomposition", "UNKNOWN_NAME")
    failure = failure_of(lambda: ask(here, "none", adaptive=True))
    assert failure.violations[0][:2] == ("tuning.adaptive", "CONTRADICTION")
    info = here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
    listed = [(each.name, each.active) for each in info.components if each.kind == "decomposition"]
    assert listed == [("llm", True), ("rules", True)]


def test_without_a_model_rules_cut(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("bare") / "data"
    with house(folder, retrieval__decomposition="rules", retrieval__route_classifier="llm") as bare:
        furnish(bare)
        assert len(calls(ask(bare, ""))) == 2
        assert lost(ask(bare, "llm")) == [("decomposition:llm", "NO_MODEL")]
        frames = ask(bare, "none", "How is business?")
        assert set(lost(frames, FALLBACK)) <= {("route:llm", "NO_MODEL")}
        info = bare.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
        listed = [(each.name, each.active) for each in info.components if each.kind == "decomposition"]
        assert listed == [("llm", False), ("rules", True)]


# ---- routes ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def weighed(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[House]:
    more = {"retrieval__route_classifier": "llm", "retrieval__adaptive": "llm"}
    with serving(tmp_path_factory.mktemp("weighed"), model, **more) as running:
        yield running
        assert eventually(lambda: not any(running.server.leftovers.values()))


def routed(here: House, question: str, **options: Any) -> router_pb2.RouteResponse:
    return here.router.Route(router_pb2.RouteRequest(question=question, options=stream_pb2.CallOptions(**options)))


UNSURE = "What was the interest expense?"


@pytest.mark.parametrize("route", ["structured", "narrative", "composite"])
def test_a_model_weighs_what_the_rules_are_not_sure_of(
    weighed: House, model: ModelServer, script: Callable[[Any], None], route: str
) -> None:
    script([Act(json.dumps({"route": route}))])
    before = len(model.bodies)
    decision = routed(weighed, UNSURE)
    assert router_pb2.Route.Name(decision.route) == f"ROUTE_{route.upper()}"
    assert "llm: " in decision.reason
    assert decision.confidence == 0.8
    assert not decision.degradations
    assert [(used.model, used.calls) for used in decision.model_usage] == [("openai:small", 1)]
    (body,) = model.bodies[before:]
    assert UNSURE in body["messages"][-1]["content"]


@pytest.mark.parametrize("said", [Act("maybe"), Act('{"route": "graph"}'), Act(status=500), Act(close=True)])
def test_a_route_that_a_model_does_not_give_is_decided_without_it(
    weighed: House, script: Callable[[Any], None], said: Act
) -> None:
    script([said])
    decision = routed(weighed, UNSURE)
    assert "learned: " in decision.reason
    (one,) = decision.degradations
    assert (one.kind, one.component, one.cause.reason) == (FALLBACK, "route:llm", errors_pb2.ERROR_REASON_MODEL_FAILED)
    assert failure_of(lambda: routed(weighed, UNSURE, forbid=[FALLBACK])).reason == "DEGRADATION_FORBIDDEN"
    asked = weighed.router.Ask(router_pb2.AskRequest(question=UNSURE, writer=router_pb2.ANSWER_WRITER_NONE))
    assert ("route:llm", "MODEL_FAILED") in lost(list(asked), FALLBACK)


def test_no_model_is_asked_where_the_rules_are_sure(weighed: House, model: ModelServer) -> None:
    before = len(model.bodies)
    assert "llm" not in routed(weighed, "Hello!").reason
    routed(weighed, "What was the revenue of Acme in 2023 and why did it fall?", library_ids=["default"])
    assert all("revenue" in body["messages"][-1]["content"] for body in model.bodies[before:])


def test_a_soft_budget_bounds_what_a_model_may_take(weighed: House, script: Callable[[Any], None]) -> None:
    script([Act('{"route": "structured"}')])
    decision = routed(weighed, UNSURE, soft_budget={"nanos": 1})
    (cut,) = decision.degradations
    assert (cut.kind, cut.component) == (stream_pb2.DEGRADATION_KIND_BUDGET_CUT, "route:llm")
    assert "learned: " in decision.reason


def test_a_model_says_how_many_steps(weighed: House, script: Callable[[Any], None]) -> None:
    def steps(body: dict[str, Any]) -> Act:
        told = body["messages"][0]["content"]
        if "complexity" in told:
            return Act(
                '{"complexity": "multi"}' if "jump" in body["messages"][-1]["content"] else '{"complexity": "single"}'
            )
        return Act('{"route": "narrative"}') if '"route"' in told else says(body)

    script(steps)
    for question, parts in ((QUESTION, PARTS), (PARTS[0], [""])):
        frames = ask(weighed, "", question)  # libraries that were made here have it
        assert ("adaptive", "llm") in [(step.stage, step.backend) for step in frames[0].header.plan]
        assert [call.sub_question for call in calls(frames)] == parts
