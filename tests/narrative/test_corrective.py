"""The corrective loop: what is judged, what is done about it, what is said, what leaves, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import Cause, ErrorReason, FailedPrecondition
from groundwire_server.evidence import (
    Attribute,
    BudgetOver,
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    EndReason,
    Header,
    Label,
    Operator,
    Predicate,
    QueryVariant,
    RefusalReason,
    Snippets,
    Summary,
)
from groundwire_server.glossary import EntityTerm, Glossary, Synonym
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.llm import ModelFailed, ScriptedProvider, load_prompt
from groundwire_server.narrative import (
    RetrievalMode,
    RetrievalParts,
    RetrievalTuning,
    RetrieveRequest,
    retrieve,
    within_budgets,
)
from groundwire_server.security import SecurityGate, local_principal
from tests.narrative.retrieved import Retrieved, docs, planned_call, retrieved
from tests.support.libraries import START, Doc, make_library

TITLED = "Winter report"
SNOW, FEE = (Attribute("topic", "snow"),), (Attribute("topic", "fees"),)
DOCS = [
    Doc(
        "snow.md", "Heavy snow closed the mountain roads in January.", TITLED, attributes=(Attribute("topic", "snow"),)
    ),
    Doc(
        "fees.md",
        "What is it that the bank asks for? It is the fee of the year.",
        attributes=(Attribute("topic", "fees"),),
    ),
    Doc("costs.md", "Wages and energy made everything dearer.", attributes=(Attribute("topic", "fees"),)),
    Doc("ja.md", "大雪のため、山間部の道路が閉鎖された。", attributes=(Attribute("topic", "snow"),)),
    Doc("zh.md", "大雪之后，山区道路封闭了三天。", attributes=(Attribute("topic", "snow"),)),
    Doc("board.md", "Kanarienvogel: the merger with Umbrella is planned.", label=Label.CONFIDENTIAL),
    Doc("vault.md", "Kanarienvogel: the merger with Tyrell is planned.", label=Label.RESTRICTED),
]
QUESTION = "Why were the mountain roads closed?"
UNANSWERED = "Who designed the lighthouse of Alexandria, and what was it for?"
TOLD = "Who designed the lighthouse of Alexandria"
SKIPPED = DegradationKind.TRANSFORM_SKIPPED
DROPPED = DegradationKind.FILTER_DROPPED
FEES = Predicate("topic", Operator.EQ, ("fees",))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("plain"), DOCS).snapshot()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("embedded"), DOCS, embedder=HashEmbedder()).snapshot()


def run(
    snapshots: Snapshot | Sequence[Snapshot],
    query: str = QUESTION,
    parts: RetrievalParts | None = None,
    call: Call | None = None,
    *,
    corrective: bool | None = True,
    judge: str = "",
    mode: RetrievalMode = RetrievalMode.AUTO,
    **tuning: Any,
) -> Retrieved:
    request = RetrieveRequest(
        query, mode=mode, tuning=RetrievalTuning(corrective=corrective, corrective_judge=judge, **tuning)
    )
    return retrieved(request, call or planned_call(), snapshots, parts)


def stages(header: Header) -> list[str]:
    return [f"{step.stage} {step.backend}" for step in header.plan]


def judged(header: Header) -> list[str]:
    return [step.detail.partition(",")[0] for step in header.plan if step.stage == "grade"]


def refused(summary: Summary) -> RefusalReason | None:
    assert (summary.end_reason is EndReason.REFUSED) == (summary.refusal is not None)
    return None if summary.refusal is None else summary.refusal.reason


@pytest.mark.parametrize("query", [QUESTION, "山間部の道路はなぜ閉鎖されたのか。", "山区道路为什么封闭？"])
def test_what_is_enough_is_sent_as_it_is(snapshot: Snapshot, query: str) -> None:
    header, found, summary = run(snapshot, query)
    bare = run(snapshot, query, corrective=False)
    assert found == bare[1] != []
    assert refused(summary) is None
    assert summary.end_reason is bare[2].end_reason
    assert [step for step in header.plan if step.stage != "grade"] == list(bare[0].plan)
    assert stages(header)[-2:] == ["grade words", "exit snippets"]
    assert judged(header) == ["enough"]


@pytest.mark.parametrize(
    ("query", "language"),
    [
        (UNANSWERED, "en"),
        ("アレクサンドリアの大灯台を設計したのは誰か。何のためのものか。", "ja"),
        ("亚历山大灯塔是谁设计的？为什么设计？", "zh"),
    ],
)
def test_what_is_weak_is_searched_again_and_refused(snapshot: Snapshot, query: str, language: str) -> None:
    """Words without content find something, and that is no answer."""
    header, found, summary = run(snapshot, query)
    assert found == []
    assert refused(summary) in (RefusalReason.WEAK_CONTEXT, RefusalReason.NOTHING_FOUND)
    assert summary.refusal is not None
    spoken = {"en": "What was found", "ja": "見つか", "zh": "找到"}
    assert spoken[language] in summary.refusal.text
    assert judged(header) == ["weak", "weak"]
    assert [each.stage for each in summary.timings] == [step.stage for step in header.plan]


def test_the_plan_of_a_refusal(snapshot: Snapshot) -> None:
    header, _, summary = run(snapshot, UNANSWERED)
    assert stages(header) == [
        "restrict columns",
        "lexical bm25",
        "fuse rrf",
        "grade words",
        "rewrite keywords",
        "restrict columns",
        "lexical bm25",
        "fuse rrf",
        "merge rrf",
        "grade words",
        "exit snippets",
    ]
    assert refused(summary) is RefusalReason.WEAK_CONTEXT
    assert summary.variants == (
        QueryVariant(UNANSWERED, "caller"),
        QueryVariant("designed lighthouse Alexandria", "corrective"),
    )
    assert summary.candidates == 5
    assert [each.kind for each in summary.degradations] == [DegradationKind.VECTOR_OFF]


def test_nothing_found_is_no_empty_answer(snapshot: Snapshot) -> None:
    header, found, summary = run(snapshot, "xyzzy")
    assert (found, refused(summary)) == ([], RefusalReason.NOTHING_FOUND)
    assert judged(header) == ["weak"]  # there is no other text to search with
    assert refused(run(snapshot, "xyzzy", corrective=False)[2]) is None


def test_a_hint_is_dropped_in_the_second_round(snapshot: Snapshot) -> None:
    header, found, summary = run(snapshot, call=planned_call(hint=FEES))
    assert docs(found)[0] == "snow.md"
    assert judged(header) == ["weak", "weak", "enough"]
    assert header.hint_applied is None
    assert Degradation(DROPPED, "hint", dropped_filter=FEES) in summary.degradations
    assert [step.detail for step in header.plan if step.stage == "restrict"] == [
        "readable,hint",
        "readable,hint",
        "readable",
    ]


@pytest.mark.parametrize(
    "options", [{"on_empty": EmptyFilterPolicy.NEVER_WIDEN}, {"forbid": frozenset({DROPPED})}], ids=["never", "forbid"]
)
def test_it_widens_only_where_that_is_allowed(snapshot: Snapshot, options: dict[str, Any]) -> None:
    header, found, summary = run(snapshot, call=planned_call(hint=FEES, **options))
    assert (found, refused(summary)) == ([], RefusalReason.WEAK_CONTEXT)
    assert (judged(header), header.hint_applied) == (["weak", "weak"], FEES)
    assert DROPPED not in {each.kind for each in summary.degradations}


def test_the_hard_filter_is_never_dropped(snapshot: Snapshot) -> None:
    _, found, summary = run(snapshot, call=planned_call(filter=FEES))
    assert (found, refused(summary)) == ([], RefusalReason.WEAK_CONTEXT)


def test_a_hint_that_was_read_out_of_the_question_is_dropped_too(tmp_path: Path) -> None:
    glossary = Glossary((EntityTerm("fees", label="Fees", synonyms=(Synonym("winter", "en"),)), EntityTerm("snow")))
    library = make_library(tmp_path, DOCS[:5], glossary=glossary).snapshot()
    header, found, summary = run(
        library, "Why were the mountain roads closed in winter?", filter_extractor="glossary", glossary_variants=False
    )
    assert judged(header) == ["weak", "weak", "enough"]
    assert docs(found)[0] == "snow.md"
    assert [each.kind for each in summary.degradations].count(DROPPED) == 1


def test_a_transform_is_asked_once_for_all_rounds(snapshot: Snapshot) -> None:
    model = ScriptedProvider(["lighthouse\nharbour\nAlexandria"])
    header, _, summary = run(snapshot, UNANSWERED, RetrievalParts(model=model), query_transform="rag_fusion")
    assert len(model.asked) == 1
    assert [step.detail for step in header.plan if step.stage == "merge"] == [
        "k=60,w=1,lists=4",
        "k=60,w=1,lists=5",
    ]
    (used,) = summary.model_usage
    assert used.calls == 1


@pytest.mark.parametrize("mode", RetrievalMode)
def test_in_every_mode(embedded: Snapshot, mode: RetrievalMode) -> None:
    parts = RetrievalParts(embedder=HashEmbedder())
    assert refused(run(embedded, QUESTION, parts, mode=mode)[2]) is None
    assert refused(run(embedded, UNANSWERED, parts, mode=mode)[2]) is not None


def says(useful: Sequence[list[int]], rewritten: str = "") -> ScriptedProvider:
    """A model whose verdicts come in order, and who rewrites so."""
    verdicts = iter(useful)
    return ScriptedProvider(
        lambda asked: json.dumps({"useful": next(verdicts)}) if asked.purpose == "grade/1" else rewritten
    )


def test_a_model_judges_and_rewrites(snapshot: Snapshot) -> None:
    model = says([[], [0]], "heavy snow on roads")
    header, found, summary = run(snapshot, "Which bank?", RetrievalParts(model=model), judge="llm")
    assert refused(summary) is None
    assert "snow.md" in docs(found)
    told = [(step.stage, step.backend, step.detail) for step in header.plan if step.stage in ("grade", "rewrite")]
    assert told == [
        ("grade", "llm", "weak,grade/1,useful=0"),
        ("rewrite", "corrective", "corrective/1"),
        ("grade", "llm", "enough,grade/1,useful=1"),
    ]
    assert summary.variants[-1] == QueryVariant("heavy snow on roads", "corrective")
    assert [asked.purpose for asked in model.asked] == ["grade/1", "corrective/1", "grade/1"]
    (used,) = summary.model_usage
    assert used.calls == 3
    question = json.dumps("Which bank?")
    first = [{"passage": 0, "text": DOCS[1].text}]
    assert model.asked[0].messages == load_prompt("grade", "en").fill(question=question, passages=json.dumps(first))
    assert model.asked[1].messages == load_prompt("corrective", "en").fill(question=question)
    assert f'"{TITLED}\\n{DOCS[0].text}"' in model.asked[2].messages[-1].text


def test_a_model_that_finds_nothing_useful_refuses(snapshot: Snapshot) -> None:
    model = says([[], []], "roads")
    _, found, summary = run(snapshot, QUESTION, RetrievalParts(model=model), judge="llm")
    assert (found, refused(summary)) == ([], RefusalReason.WEAK_CONTEXT)


FAILURES: list[tuple[str, Any, ErrorReason, str]] = [
    ("no_model", None, ErrorReason.NO_MODEL, "The server has no language model."),
    ("failed", ModelFailed("host: 503"), ErrorReason.MODEL_FAILED, "host: 503"),
    ("talk", "", ErrorReason.MODEL_FAILED, "The model did not answer with what was asked for."),
    ("broken", ValueError("secret"), ErrorReason.MODEL_FAILED, "The grading failed."),
]


@pytest.mark.parametrize(("case", "answer", "reason", "message"), FAILURES, ids=[each[0] for each in FAILURES])
@pytest.mark.parametrize("query", [QUESTION, UNANSWERED])
def test_where_the_model_fails_words_judge_and_that_is_said(
    snapshot: Snapshot, query: str, case: str, answer: Any, reason: ErrorReason, message: str
) -> None:
    parts = RetrievalParts(model=None if answer is None else ScriptedProvider(lambda _: answer))
    header, found, summary = run(snapshot, query, parts, judge="llm")
    by_words = run(snapshot, query, judge="words")
    assert (found, refused(summary)) == (by_words[1], refused(by_words[2]))
    lost = [each for each in summary.degradations if each.kind is SKIPPED]
    assert Degradation(SKIPPED, "grade:llm", "", Cause(reason, message)) in lost
    assert {each.component for each in lost} <= {"grade:llm", "query_transform:corrective"}
    assert len(lost) == (1 if query == QUESTION else 2)
    assert {step.backend for step in header.plan if step.stage == "grade"} == {"words"}
    with pytest.raises(FailedPrecondition) as raised:
        run(snapshot, query, parts, planned_call(forbid=frozenset({SKIPPED})), judge="llm")
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


def test_a_rewrite_that_names_something_outside_is_not_searched(snapshot: Snapshot) -> None:
    model = says([[], []], "the roads of R\u200bｉval Industries")
    parts = RetrievalParts(model=model, gate=SecurityGate(["Rival Industries"]))
    _, _, summary = run(snapshot, QUESTION, parts, judge="llm")
    assert summary.variants[1:] == (QueryVariant("mountain roads closed", "corrective"),)
    assert "query_transform:corrective" in {each.component for each in summary.degradations}


@pytest.mark.parametrize("clearance", [Label.INTERNAL, Label.CONFIDENTIAL])
@pytest.mark.parametrize("allowed", [Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED])
def test_a_model_sees_nothing_above_its_clearance_or_the_callers(
    snapshot: Snapshot, clearance: Label, allowed: Label
) -> None:
    query = "Is a merger with Umbrella planned after the snow?"
    model = says([[0]] * 3, "merger")
    header, _, summary = run(
        snapshot, query, RetrievalParts(model=model, model_clearance=allowed), planned_call(clearance), judge="llm"
    )
    sent = "".join(message.text for asked in model.asked for message in asked.messages)
    assert ("Kanarienvogel" in sent) == (min(clearance, allowed) >= Label.CONFIDENTIAL)
    assert "Tyrell" not in sent
    if allowed is Label.PUBLIC:
        why = "None of the passages may be shown to the language model."
        assert Cause(ErrorReason.MODEL_FAILED, why) in {each.cause for each in summary.degradations}
        assert {step.backend for step in header.plan if step.stage == "grade"} == {"words"}
        assert "snow" not in sent.replace(json.dumps(query), "")


def test_a_library_has_its_own_and_a_call_has_the_last_word(tmp_path: Path) -> None:
    def library(name: str, **config: Any) -> Snapshot:
        return make_library(tmp_path, DOCS, library_id=name, config=LibraryConfig(**config)).snapshot()

    off, words = library("off"), library("words", corrective=True)
    llm = library("llm", corrective=True, corrective_judge="llm")
    judge_alone = library("judge", corrective_judge="llm")

    def judges(*snapshots: Snapshot, corrective: bool | None = None, judge: str = "") -> set[str]:
        parts = RetrievalParts(model=says([[0]] * 9))
        header = run(snapshots, QUESTION, parts, corrective=corrective, judge=judge)[0]
        return {step.backend for step in header.plan if step.stage == "grade"}

    assert judges(off) == judges(judge_alone) == judges(llm, corrective=False) == set()
    assert judges(words) == judges(off, words) == judges(off, corrective=True) == {"words"}
    assert judges(llm) == judges(words, llm) == judges(judge_alone, corrective=True) == {"llm"}
    assert judges(llm, judge="words") == {"words"}
    assert judges(words, judge="llm") == {"llm"}


def test_how_much_is_asked_for_changes_no_verdict(snapshot: Snapshot) -> None:
    for query in (QUESTION, UNANSWERED):
        verdicts = set()
        for top_k in (1, 3, 50):
            request = RetrieveRequest(query, top_k, tuning=RetrievalTuning(corrective=True))
            frames = list(retrieve(request, planned_call(), [snapshot]))
            assert isinstance(frames[0], Header)
            verdicts.add(tuple(judged(frames[0])))
        assert len(verdicts) == 1


def test_hidden_rows_change_nothing(tmp_path: Path) -> None:
    """Neither verdict, nor share, nor prompt, nor plan."""
    hidden = [
        Doc("h1.md", "The lighthouse of Alexandria was designed by Sostratus.", label=Label.CONFIDENTIAL),
        Doc("h2.md", "mountain roads closed " * 20, label=Label.RESTRICTED),
    ]
    worlds = [make_library(tmp_path / name, [*DOCS[:5], *more]).snapshot() for name, more in (("a", []), ("b", hidden))]
    for query in (QUESTION, UNANSWERED, "What is Sostratus?"):
        for judge in ("words", "llm"):
            told: list[Any] = []
            for world in worlds:
                model = says([[], []], "lighthouse")
                header, found, summary = run(world, query, RetrievalParts(model=model), judge=judge)
                prompts = [message.text for asked in model.asked for message in asked.messages]
                plan = [(step.stage, step.backend, step.detail) for step in header.plan]
                told.append((plan, docs(found), summary.refusal, summary.degradations, summary.candidates, prompts))
            assert told[0] == told[1]


def test_the_end_of_a_call_ends_it(snapshot: Snapshot) -> None:
    token = CancelToken()

    def script(_: object) -> str:
        token.cancel()
        return "Sure!"

    call = Call(local_principal(), CallOptions(), cancel=token, now=lambda: START)
    with pytest.raises(CallCancelled):
        run(snapshot, parts=RetrievalParts(model=ScriptedProvider(script)), call=call, judge="llm")


def test_the_same_question_gets_the_same_stream(snapshot: Snapshot) -> None:
    for query in (QUESTION, UNANSWERED):
        first, second = (run(snapshot, query) for _ in range(2))
        assert (first[0], first[1], first[2].degradations) == (second[0], second[1], second[2].degradations)


def test_what_a_model_was_asked_before_the_soft_budget_was_over_is_told(snapshot: Snapshot) -> None:
    model = ScriptedProvider(["roads in the mountains", BudgetOver("grade")])
    tuning = RetrievalTuning(query_transform="step_back", corrective=True, corrective_judge="llm")
    call = planned_call()
    bounded = replace(call, options=replace(call.options, soft_budget=timedelta(hours=1)))
    parts = RetrievalParts(model=model)

    def search(bounded: Call) -> Iterator[Header | Snippets | Summary]:
        return retrieve(RetrieveRequest(QUESTION, tuning=tuning), bounded, [snapshot], parts)

    *_, summary = within_budgets(search, bounded)
    assert isinstance(summary, Summary)
    assert summary.end_reason is EndReason.SOFT_BUDGET
    assert [each.component for each in summary.degradations] == ["soft_budget"]
    assert [(used.model, used.calls) for used in summary.model_usage] == [(f"{model.name}:{model.model}", 1)]
