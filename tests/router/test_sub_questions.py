"""Questions that are cut into several: what runs, what is said, what leaves, and that no guard is passed by."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import Cause, DeadlineExceeded, ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import (
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    Degradation,
    DegradationKind,
    EndReason,
    ExplainLevel,
    MetricFound,
    RefusalReason,
    Summary,
    UnrecognizedParam,
)
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.llm import ChatRequest, ModelFailed, ScriptedProvider, load_prompt
from groundwire_server.narrative import RetrievalParts, RetrievalTuning
from groundwire_server.query import DECOMPOSERS
from groundwire_server.router import (
    AnswerModel,
    AnswerOrigin,
    AnswerPart,
    AnswerWriter,
    AskFrame,
    AskRequest,
    Complexity,
    Route,
    RouterLimits,
    SubCall,
    SubCallSummary,
    Turn,
    TurnRole,
    ask,
)
from groundwire_server.security import SecurityGate, local_principal
from tests.router.test_ask import DAY, Answer
from tests.router.test_writer import number_of
from tests.router.world import DOCS, FACTS, GLOSSARY, make_world
from tests.support.hostile_text import hostile_text
from tests.support.libraries import make_library

BOTH = "What was the revenue of Acme in 2022, and who has led Acme since 2019?"
PARTS = ["What was the revenue of Acme in 2022?", "Who has led Acme since 2019?"]
SAME = {
    "en": (BOTH, PARTS),
    "zh": (
        "艾克米2022年的营业收入是多少？艾克米的营业收入为什么下降？",
        ["艾克米2022年的营业收入是多少？", "艾克米的营业收入为什么下降？"],
    ),
    "ja": (
        "アクメの2022年の売上高はいくらですか。アクメの売上高はなぜ減少したのですか。",
        ["アクメの2022年の売上高はいくらですか？", "アクメの売上高はなぜ減少したのですか？"],
    ),
}
SKIPPED = DegradationKind.TRANSFORM_SKIPPED


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_world(tmp_path_factory.mktemp("world")).snapshot()


def writes(*questions: str) -> ScriptedProvider:
    """A model that cuts every question into these, and answers nothing else."""
    return ScriptedProvider(lambda _: "\n".join(f"- {each}" for each in questions))


def run(
    snapshots: Snapshot | list[Snapshot],
    question: str = BOTH,
    *,
    by: str = "llm",
    model: ScriptedProvider | None = None,
    writer: ScriptedProvider | None = None,
    gate: SecurityGate | None = None,
    limits: RouterLimits | None = None,
    adaptive: bool | None = None,
    call: Call | None = None,
    request: dict[str, Any] | None = None,
    **options: Any,
) -> Answer:
    tuning = RetrievalTuning(decomposition=by, adaptive=adaptive)
    asked = AskRequest(question, tuning=tuning, **(request or {}))
    parts = RetrievalParts(model=model, gate=gate or SecurityGate())
    call = call or Call(local_principal(), CallOptions(reference_date=DAY, **options))
    libraries = [snapshots] if isinstance(snapshots, Snapshot) else snapshots
    written = AnswerModel(writer) if writer is not None else None
    return Answer(list(ask(asked, call, libraries, parts, limits=limits, model=written)))


def plan(answer: Answer) -> list[tuple[str, str, str]]:
    return [(step.stage, step.backend, step.detail) for step in answer.header.plan]


def lost(answer: Answer) -> list[tuple[DegradationKind, str]]:
    """What ran less well, the embedder aside, which is not there."""
    found = [(each.kind, each.component) for each in answer.summary.degradations]
    return [each for each in found if each != (DegradationKind.VECTOR_OFF, "embedder")]


def untimed(each: AskFrame) -> AskFrame:
    """A frame without what a clock says."""
    return replace(each, frame=replace(each.frame, timings=())) if isinstance(each.frame, Summary) else each


# ---- what runs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", SAME)
@pytest.mark.parametrize("by", DECOMPOSERS)
def test_plan_prompt_branches_and_degradations(snapshot: Snapshot, by: str, language: str) -> None:
    question, parts = SAME[language]
    model = writes(*parts)
    answer = run(snapshot, question, by=by, model=model, explain=ExplainLevel.PLAN)
    who = "scripted:script,decompose/1," if by == "llm" else ""
    assert plan(answer) == [("route", "rules", ""), ("decompose", by, f"{who}questions=2")]
    assert [call.route for call in answer.calls] == [Route.STRUCTURED, Route.NARRATIVE]
    said = [" ".join(call.sub_question.casefold().split()) for call in answer.calls]
    assert said == [part.casefold() for part in parts]
    assert lost(answer) == []
    assert answer.route.complexity is Complexity.MULTI
    assert answer.route.metric_queries == (answer.route.metric_queries[0],)
    assert next(timing.stage for timing in answer.summary.timings) == "decompose"
    (found,) = answer.outcomes
    assert isinstance(found, MetricFound)
    first, second = answer.text.split("\n", 1)
    assert "1250.75" in first
    assert answer.parts[0].origin is AnswerOrigin.FACTS
    assert {part.origin for part in answer.parts[1:]} == {AnswerOrigin.QUOTATION}
    assert second.startswith(("“", "「"))
    assert {each.made_by for each in answer.summary.variants if each.text == answer.calls[1].sub_question} == {
        "decompose"
    }
    if by == "llm":
        (asked,) = model.asked
        told = load_prompt("decompose", language).fill(question=json.dumps(question, ensure_ascii=False))
        assert asked.messages == told
        assert [(used.model, used.calls) for used in answer.summary.model_usage] == [("scripted:script", 1)]
    else:
        assert model.asked == []
        assert answer.summary.model_usage == ()


def test_a_question_of_both_kinds_has_branches_of_its_own(snapshot: Snapshot) -> None:
    why = "Why did the revenue of Acme Corp fall in 2023?"
    answer = run(snapshot, f"{why} Who has led Acme since 2019?", model=writes(why, PARTS[1]))
    told = [
        (each.branch, each.frame.route, each.frame.sub_question, each.frame.parent_index)
        for each in answer.frames
        if isinstance(each.frame, SubCall)
    ]
    assert told == [
        (1, Route.COMPOSITE, why, 0),
        (2, Route.STRUCTURED, "", 1),
        (3, Route.NARRATIVE, "", 1),
        (4, Route.NARRATIVE, PARTS[1], 0),
    ]
    ends = [each.branch for each in answer.frames if isinstance(each.frame, SubCallSummary)]
    assert ends == [2, 3, 1, 4]
    assert answer.text.index("1100") < answer.text.index("洪水") < answer.text.index("Jane Doe")
    assert answer.summary.end_reason is EndReason.EXHAUSTED


def test_answers_come_in_the_order_of_the_questions(snapshot: Snapshot) -> None:
    forth = run(snapshot, model=writes(*PARTS))
    back = run(snapshot, model=writes(*reversed(PARTS)))
    assert forth.text.index("1250.75") < forth.text.index("Jane")
    assert back.text.index("1250.75") > back.text.index("Jane")


def test_what_one_branch_sent_no_other_sends_again_and_may_cite(snapshot: Snapshot) -> None:
    """`check_order` holds that ids are sent once, before they are cited."""
    asked = "Who has led Acme since 2019? Who founded the Cloud division?"
    cut = ["Who has led Acme since 2019?", "Who founded the Cloud division?"]
    answer = run(snapshot, asked, model=writes(*cut))
    first, second = answer.ends
    assert first.returned > 0
    assert second.returned == 0
    assert "She founded the Cloud division." in answer.text
    assert len({one.snippet_id for one in answer.snippets}) == len(answer.snippets)
    budget = run(snapshot, asked, model=writes(*cut), token_budget=500)
    assert budget.text == answer.text
    alone = run(snapshot, "Who has led Acme since 2019?", by="none", token_budget=500)
    assert budget.summary.prompt_tokens == alone.summary.prompt_tokens


def test_a_later_question_may_lean_on_an_earlier_one(snapshot: Snapshot) -> None:
    cut = ["What was the revenue of Acme Corp in 2022?", "And in 2023?"]
    answer = run(snapshot, " ".join(cut), model=writes(*cut))
    assert [type(outcome) for outcome in answer.outcomes] == [MetricFound, MetricFound]
    assert answer.text.index("1250.75") < answer.text.index("1100")


def test_no_part_borrows_from_a_later_one(snapshot: Snapshot) -> None:
    cut = ["What was the revenue of Acme Corp?", "What was the population of Yorkland in 2020?"]
    answer = run(snapshot, " ".join(cut), model=writes(*cut))
    assert [asked.missing_param for asked in answer.asked] == ["period"]
    assert "1250.75" not in answer.text
    assert "5012345" in answer.text


def test_history_is_resolved_before_the_question_is_cut_and_does_not_leave(snapshot: Snapshot) -> None:
    said = "What was the revenue of Acme Corp in 2022? secret-word"
    history = (Turn(TurnRole.USER, said), Turn(TurnRole.ASSISTANT, "no"))
    cut = ["What was the revenue of Acme Corp in 2023?", "Why did the revenue of Acme Corp fall in 2023?"]
    model = writes(*cut)
    answer = run(snapshot, "And in 2023, and why?", model=model, request={"history": history})
    assert [call.sub_question for call in answer.calls] == [*cut, "", ""]
    sent = "\n".join(message.text for asked in model.asked for message in asked.messages)
    assert "Acme Corp" in sent
    assert "secret-word" not in sent


def test_a_forced_route_is_that_of_each(snapshot: Snapshot) -> None:
    answer = run(snapshot, model=writes(*PARTS), request={"force_route": Route.NARRATIVE})
    assert [call.route for call in answer.calls] == [Route.NARRATIVE] * 2
    assert answer.outcomes == []


def test_a_part_that_lacks_something_is_asked_back_and_the_others_answer(snapshot: Snapshot) -> None:
    answer = run(
        snapshot,
        "How high was the revenue of Acme Corp, and who has led Acme since 2019?",
        model=writes("How high was the revenue of Acme Corp?", "Who has led Acme since 2019?"),
    )
    (asked,) = answer.asked
    assert (asked.missing_param, [option.code for option in asked.options]) == ("period", ["2023", "2022"])
    assert "Jane Doe" in answer.text
    assert [end.end_reason for end in answer.ends] == [EndReason.CLARIFICATION, EndReason.EXHAUSTED]
    assert answer.summary.end_reason is EndReason.EXHAUSTED


# ---- when it is not cut ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["Who has led Acme since 2019?", "hello", "2022"])
def test_one_question_is_asked_as_ever(snapshot: Snapshot, question: str) -> None:
    plain = run(snapshot, question, by="none")
    for by in DECOMPOSERS:
        answer = run(snapshot, question, by=by, model=writes(question))
        assert answer.frames[1:-1] == plain.frames[1:-1]
        assert lost(answer) == lost(plain)


BAD: dict[str, Any] = {
    "failed": ModelFailed("gone"),
    "crashed": RuntimeError("boom with secrets"),
    "nothing": " \n",
    "refused": "```\n```",
    "outside": "Who has led Acme?\nHow is ＲIVAL\u200b Industries doing?\nWho has led Acme since 2019?",
    "another entity": "What was the revenue of Acme in 2022?\nWhat was the revenue of Yorkland in 2022?",
    "another metric": "What was the population of Acme in 2022?\nWho has led Acme since 2019?",
    "another period": "What was the revenue of Acme in 2023?\nWho has led Acme since 2019?",
    "another figure": "Was it over 4711 dollars?\nWho has led Acme since 2019?",
    "a greeting": "Hello!\nWho has led Acme since 2019?",
}


@pytest.mark.parametrize("fault", BAD)
def test_what_a_model_may_not_ask_leaves_the_question_whole_and_says_so(snapshot: Snapshot, fault: str) -> None:
    gate = SecurityGate(["Rival Industries"])
    plain = run(snapshot, by="none", gate=gate)
    answer = run(snapshot, model=ScriptedProvider([BAD[fault]]), gate=gate)
    assert answer.frames[1:-1] == plain.frames[1:-1]
    assert lost(answer) == [(SKIPPED, "decomposition:llm"), *lost(plain)]
    (skipped,) = (each for each in answer.summary.degradations if each.kind is SKIPPED)
    assert skipped.cause is not None
    assert skipped.cause.reason is ErrorReason.MODEL_FAILED
    assert "secret" not in skipped.cause.message
    assert "rival" not in str([*plan(answer), skipped]).casefold()
    with pytest.raises(FailedPrecondition) as caught:
        run(snapshot, model=ScriptedProvider([BAD[fault]]), gate=gate, forbid=frozenset({SKIPPED}))
    assert caught.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


def test_without_a_model_rules_cut_and_the_model_is_missed(snapshot: Snapshot) -> None:
    answer = run(snapshot)
    cause = Cause(ErrorReason.NO_MODEL, "The server has no language model.")
    assert answer.summary.degradations[0] == Degradation(SKIPPED, "decomposition:llm", cause=cause)
    assert "decompose" not in [stage for stage, _, _ in plan(answer)]
    assert len(run(snapshot, by="rules").calls) == 2


def test_too_many_questions_are_cut_and_that_is_said(snapshot: Snapshot) -> None:
    many = [f"What was the revenue of Acme in 202{year}?" for year in range(6)]
    answer = run(snapshot, " ".join(many), model=writes(*many))
    assert len(answer.calls) == 4
    assert plan(answer)[-1][2].endswith("questions=4,beyond=2")
    assert (DegradationKind.BUDGET_CUT, "decomposition:llm") in lost(answer)
    assert all(call.sub_question == "" for call in run(snapshot, " ".join(many), by="rules").calls)


def test_a_question_outside_is_refused_before_it_is_cut(snapshot: Snapshot) -> None:
    model = writes(*PARTS)
    answer = run(snapshot, f"{BOTH} And Rival Industries?", model=model, gate=SecurityGate(["Rival Industries"]))
    assert answer.summary.refusal is not None
    assert answer.summary.refusal.reason is RefusalReason.OUT_OF_SCOPE
    assert model.asked == []


def test_a_name_of_its_own_that_nobody_knows_has_its_outcome(snapshot: Snapshot) -> None:
    question = "What was the revenue of Xanadu in 2022, and who has led Acme since 2019?"
    answer = run(snapshot, question, by="rules")
    (outcome,) = answer.outcomes
    assert isinstance(outcome, UnrecognizedParam)
    assert "Jane Doe" in answer.text


# ---- adaptive --------------------------------------------------------------------------------------------------------


def test_adaptive_cuts_only_what_needs_several_steps(snapshot: Snapshot) -> None:
    model = writes(*PARTS)
    multi = run(snapshot, model=model, adaptive=True, by="")
    assert plan(multi)[1:] == [
        ("adaptive", "rules", "multi"),
        ("decompose", "llm", "scripted:script,decompose/1,questions=2"),
    ]
    before = len(model.asked)
    for question, kind in (("Who has led Acme since 2019?", "single"), ("Revenue of Acme in 2022?", "simple")):
        answer = run(snapshot, question, model=model, adaptive=True, by="")
        assert plan(answer)[1:] == [("adaptive", "rules", kind)]
        assert len(answer.calls) == 1
    assert len(model.asked) == before
    assert plan(run(snapshot, adaptive=True, by=""))[-1][:2] == ("decompose", "rules")  # there is no model


def test_adaptive_without_cutting_is_a_contradiction(snapshot: Snapshot) -> None:
    with pytest.raises(InvalidRequest) as caught:
        run(snapshot, by="none", adaptive=True)
    assert [(each.field, each.reason) for each in caught.value.violations] == [
        ("tuning.adaptive", ErrorReason.CONTRADICTION)
    ]


@pytest.mark.parametrize(
    ("said", "calls", "backend", "component"),
    [
        ('{"complexity": "multi"}', 2, "llm", ""),
        ('```json\n{"complexity": "Single"}\n```', 1, "llm", ""),
        ('{"complexity": "huge"}', 2, "rules", "adaptive:llm"),
        ("no", 2, "rules", "adaptive:llm"),
        (ModelFailed("gone"), 2, "rules", "adaptive:llm"),
        (ValueError("?"), 2, "rules", "adaptive:llm"),
    ],
)
def test_a_model_may_say_how_many_steps(
    snapshot: Snapshot, said: Any, calls: int, backend: str, component: str
) -> None:
    def script(request: ChatRequest) -> Any:
        return said if request.purpose == "complexity/1" else "\n".join(PARTS)

    model = ScriptedProvider(script)
    limits = RouterLimits(model=model, steps_by_model=True)
    answer = run(snapshot, model=model, limits=limits, adaptive=True)
    assert len(answer.calls) == calls
    assert plan(answer)[1][:2] == ("adaptive", backend)
    assert lost(answer) == ([(SKIPPED, component)] if component else [])
    assert model.asked[0].messages == load_prompt("complexity", "en").fill(question=json.dumps(BOTH))


# ---- libraries -------------------------------------------------------------------------------------------------------


def test_a_library_can_ask_for_it_and_a_call_has_the_last_word(tmp_path: Path) -> None:
    def made(name: str, **wishes: Any) -> Snapshot:
        config = LibraryConfig(**wishes)
        return make_library(
            tmp_path / name, DOCS[:2], library_id=name, facts=FACTS[:2], glossary=GLOSSARY, config=config
        ).snapshot()

    plain, rules, llm = made("a"), made("b", decomposition="rules"), made("c", decomposition="llm", adaptive=True)
    model = writes(*PARTS)
    assert "decompose" not in str(plan(run([plain], by="", model=model)))
    assert plan(run([plain, rules], by="", model=model))[-1][:2] == ("decompose", "rules")
    assert [step[:2] for step in plan(run([plain, rules, llm], by="", model=model))[-2:]] == [
        ("adaptive", "rules"),
        ("decompose", "llm"),
    ]
    assert "decompose" not in str(plan(run([llm], by="none", adaptive=False, model=model)))
    assert "decompose" not in str(plan(run([llm], by="none", model=model)))


# ---- guards, figures, hidden rows ------------------------------------------------------------------------------------


def test_no_figure_of_a_model_is_said_of_any_part(snapshot: Snapshot) -> None:
    """One part is answered by figures, so that a model writes none anywhere, true or not."""

    def script(request: ChatRequest) -> str:
        if request.purpose.startswith("answer"):
            at = f"[{number_of(request, 'Jane')}]"
            assert request.purpose == "answer_beside_figures/1"
            return f"Jane Doe has led Acme {at}. Revenue was 1250.75 {at}. Acme has 4711 stores {at}."
        return "\n".join(PARTS)

    model = ScriptedProvider(script)
    answer = run(snapshot, model=model, writer=model)
    assert [part.text.strip() for part in answer.parts if part.origin is AnswerOrigin.MODEL] == [
        "Jane Doe has led Acme."
    ]
    assert answer.text.count("1250.75") == 1
    (dropped,) = [each for each in answer.summary.degradations if each.kind is DegradationKind.MODEL_TEXT_DROPPED]
    assert dropped.dropped_sentences == 2
    assert [used.calls for used in answer.summary.model_usage] == [1, 1]


def test_each_part_that_is_text_alone_is_held_to_its_own_passages(snapshot: Snapshot) -> None:
    questions = ["Who has led Acme since 2019?", "Why did the revenue of Acme fall?"]

    def script(request: ChatRequest) -> str:
        if not request.purpose.startswith("answer"):
            return "\n".join(questions)
        if "led" in request.turns[-1].text.rsplit("\n", 1)[-1]:
            at = f"[{number_of(request, 'Jane')}]"
            return f"Jane Doe has led Acme since 2019 {at}. Jane Doe has led Acme since 2018 {at}. It is so."
        at = f"[{number_of(request, 'flood')}]"
        return f"The revenue of Acme fell because three stores were closed {at}. It fell by 12 percent {at}."

    model = ScriptedProvider(script)
    answer = run(snapshot, " ".join(questions), model=model, writer=model)
    assert answer.text == (
        "Jane Doe has led Acme since 2019.\nThe revenue of Acme fell because three stores were closed."
    )


@pytest.mark.parametrize("by", DECOMPOSERS)
def test_hidden_rows_change_nothing_and_never_leave(tmp_path: Path, by: str) -> None:
    told: list[list[AskFrame]] = []
    for hidden in (False, True):
        made = make_world(tmp_path / str(hidden), hidden=hidden).snapshot()
        question = "What was the revenue of Yorkland in 2023? Why will Acme be sold? Who has led Acme since 2019?"
        cut = ["What was the revenue of Yorkland in 2023?", "Why will Acme be sold?", "Who has led Acme since 2019?"]
        model = writes(*cut)
        answer = run(made, question, by=by, model=model, explain=ExplainLevel.TRACE)
        assert len(answer.calls) == 3
        sent = "\n".join(message.text for asked in model.asked for message in asked.messages)
        assert "CANARY" not in sent + answer.text
        assert "999" not in sent + answer.text
        told.append([untimed(each) for each in answer.frames])
    bare, furnished = told
    assert bare[1:] == furnished[1:]


def test_the_same_question_and_reply_give_the_same_stream(snapshot: Snapshot) -> None:
    first, second = (run(snapshot, model=writes(*PARTS)) for _ in range(2))
    assert list(map(untimed, first.frames)) == list(map(untimed, second.frames))


# ---- budgets and ends ------------------------------------------------------------------------------------------------


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_soft_budget_that_runs_out_while_a_model_cuts_leaves_the_question_whole(snapshot: Snapshot) -> None:
    clock = _Clock()

    class Slow(ScriptedProvider):
        def chat(self, request: ChatRequest, stop: Any = lambda: None) -> Any:
            clock.now += 100
            stop()
            raise AssertionError("it went on")

    call = Call(
        local_principal(),
        CallOptions(reference_date=DAY, soft_budget=timedelta(seconds=10)),
        clock=clock,
        began=0.0,
    )
    answer = run(snapshot, model=Slow([]), call=call)
    assert (DegradationKind.BUDGET_CUT, "decomposition:llm") in lost(answer)
    assert answer.summary.end_reason is EndReason.SOFT_BUDGET


def test_a_call_that_is_over_ends_while_a_model_cuts(snapshot: Snapshot) -> None:
    token = CancelToken()

    class Gone(ScriptedProvider):
        def chat(self, request: ChatRequest, stop: Any = lambda: None) -> Any:
            token.cancel()
            stop()
            raise AssertionError("it went on")

    with pytest.raises(CallCancelled):
        run(snapshot, model=Gone([]), call=Call(local_principal(), CallOptions(reference_date=DAY), token))
    late = Call(local_principal(), CallOptions(reference_date=DAY), CancelToken(deadline=0.0, clock=lambda: 1.0))
    with pytest.raises(DeadlineExceeded):
        run(snapshot, model=writes(*PARTS), call=late)


def test_a_token_budget_is_shared_in_the_order_of_the_questions(snapshot: Snapshot) -> None:
    whole = run(snapshot, model=writes(*PARTS), token_budget=10_000)
    tight = run(snapshot, model=writes(*PARTS), token_budget=30)
    assert tight.outcomes == whole.outcomes
    assert len(tight.snippets) < len(whole.snippets)
    assert tight.summary.prompt_tokens <= 30
    assert tight.summary.end_reason is EndReason.TOKEN_BUDGET


def test_nobody_writes_where_the_agent_does(snapshot: Snapshot) -> None:
    answer = run(snapshot, model=writes(*PARTS), request={"writer": AnswerWriter.NONE})
    assert [part.origin for part in answer.parts] == [AnswerOrigin.FACTS]
    assert all(isinstance(part, AnswerPart) for part in answer.parts)


@settings(max_examples=60)
@given(st.lists(hostile_text(), max_size=5), st.sampled_from([BOTH, *(each[0] for each in SAME.values())]))
def test_whatever_a_model_writes_the_stream_holds(snapshot: Snapshot, lines: list[str], question: str) -> None:
    """`Answer` holds the order of frames; what is said comes from facts and sources alone."""
    answer = run(snapshot, question, model=ScriptedProvider(["\n".join(lines)]))
    assert len(answer.calls) <= 12
    assert {part.origin for part in answer.parts} <= {AnswerOrigin.FACTS, AnswerOrigin.QUOTATION, AnswerOrigin.FIXED}
    stored = {fact.value for fact in FACTS}
    for outcome in answer.outcomes:
        if isinstance(outcome, MetricFound):
            assert any(value in answer.text for value in stored)
