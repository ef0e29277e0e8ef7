"""Answers: every branch, every frame in its place, every sentence with what it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import (
    Cause,
    DeadlineExceeded,
    ErrorReason,
    FailedPrecondition,
    InvalidRequest,
    Unavailable,
    UnknownResource,
)
from groundwire_server.evidence import (
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    DegradationKind,
    EndReason,
    ExplainLevel,
    Header,
    MetricFact,
    MetricFound,
    MetricNotFound,
    Outcomes,
    RefusalReason,
    Snippet,
    Snippets,
    Summary,
    TextPassage,
    UnrecognizedParam,
)
from groundwire_server.library import Snapshot
from groundwire_server.narrative import RetrievalMode, RetrievalParts, RetrievalTuning, Unreachable
from groundwire_server.router import (
    AnswerOrigin,
    AnswerPart,
    AnswerWriter,
    AskFrame,
    AskRequest,
    Clarification,
    Route,
    RouteDecision,
    SubCall,
    SubCallSummary,
    Turn,
    TurnRole,
    ask,
)
from groundwire_server.security import SecurityGate, local_principal
from groundwire_server.store import StoredChunk
from tests.router.world import make_world
from tests.support.hostile_text import hostile_text

DAY = date(2024, 6, 30)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_world(tmp_path_factory.mktemp("world")).snapshot()


class Answer:
    """The frames of one answer, sorted out; their order is checked on the way."""

    def __init__(self, frames: Sequence[AskFrame]) -> None:
        self.frames = list(frames)
        check_order(self.frames)
        bodies = [each.frame for each in self.frames]
        header, route, summary = bodies[0], bodies[1], bodies[-1]
        assert isinstance(header, Header)
        assert isinstance(route, RouteDecision)
        assert isinstance(summary, Summary)
        self.header, self.route, self.summary = header, route, summary
        self.outcomes = [one.outcome for body in bodies if isinstance(body, Outcomes) for one in body.outcomes]
        self.snippets = [one for body in bodies if isinstance(body, Snippets) for one in body.snippets]
        self.parts = [body for body in bodies if isinstance(body, AnswerPart)]
        self.text = "".join(part.text for part in self.parts)
        self.ends = [body for body in bodies if isinstance(body, SubCallSummary)]
        self.calls = [body for body in bodies if isinstance(body, SubCall)]
        self.asked = [body for body in bodies if isinstance(body, Clarification)]


def check_order(frames: Sequence[AskFrame]) -> None:
    """header, route, branches one after another from 1, summary; a part is sent after what it cites.

    A branch may be open around others, and then has no frame of its own but its first and last.
    """
    assert isinstance(frames[0].frame, Header)
    assert isinstance(frames[1].frame, RouteDecision)
    assert isinstance(frames[-1].frame, Summary)
    open_branches, last, sent = list[int](), 0, set[str]()
    for each in frames[2:-1]:
        frame = each.frame
        if isinstance(frame, SubCall):
            assert frame.parent_index == (open_branches[-1] if open_branches else 0)
            assert each.branch == last + 1
            last = each.branch
            open_branches.append(last)
            continue
        assert each.branch == (open_branches[-1] if open_branches else 0)
        if isinstance(frame, Snippets):
            assert sent.isdisjoint(one.snippet_id for one in frame.snippets)
            sent.update(one.snippet_id for one in frame.snippets)
        if isinstance(frame, AnswerPart):
            assert set(frame.cited_snippet_ids) <= sent
            assert bool(frame.cited_snippet_ids) is (frame.origin is not AnswerOrigin.FIXED)
        if isinstance(frame, SubCallSummary):
            assert (frame.refusal is not None) is (frame.end_reason is EndReason.REFUSED)
            open_branches.pop()
        assert not isinstance(frame, Header | RouteDecision | Summary)
    assert open_branches == []
    summary = frames[-1].frame
    assert isinstance(summary, Summary)
    assert (summary.refusal is not None) is (summary.end_reason is EndReason.REFUSED)


def run(
    snapshots: Snapshot | Sequence[Snapshot],
    question: str | AskRequest,
    parts: RetrievalParts | None = None,
    unreachable: Sequence[Unreachable] = (),
    **options: object,
) -> Answer:
    request = AskRequest(question) if isinstance(question, str) else question
    call = Call(local_principal(), CallOptions(reference_date=DAY, **options))  # type: ignore[arg-type]
    libraries = [snapshots] if isinstance(snapshots, Snapshot) else snapshots
    return Answer(list(ask(request, call, libraries, parts, unreachable)))


# ---- structured ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("What was the revenue of Acme Corp in 2022?", "Revenue of Acme Corp for 2022: 1250.75 USD."),
        ("2022年のアクメの売上高はいくらですか？", "アクメの 2022 における売上高は 1250.75 USD です。"),
        ("艾克米2022年的营业收入是多少？", "艾克米在 2022 的营业收入为 1250.75 USD。"),
    ],
)
def test_a_figure_is_said_by_its_fact_in_the_language_of_the_question(
    snapshot: Snapshot, question: str, statement: str
) -> None:
    answer = run(snapshot, question)
    (found,) = answer.outcomes
    (snippet,) = answer.snippets
    (part,) = answer.parts
    assert isinstance(found, MetricFound)
    assert isinstance(snippet.payload, MetricFact)
    assert snippet.payload.value == "1250.75"
    assert part == AnswerPart(statement, (snippet.snippet_id,), AnswerOrigin.FACTS)
    assert [call.route for call in answer.calls] == [Route.STRUCTURED]
    assert answer.calls[0].plan
    assert answer.ends == [SubCallSummary(EndReason.EXHAUSTED, returned=1)]
    assert answer.summary.end_reason is EndReason.EXHAUSTED
    assert [step.stage for step in answer.header.plan] == ["route"]
    assert answer.header.reference_date == DAY


def test_no_figure_is_a_refusal_without_one(snapshot: Snapshot) -> None:
    for question in ("What was the revenue of Acme Corp in 1871?", "What was the revenue of Yorkland in 2023?"):
        answer = run(snapshot, question)
        assert isinstance(answer.outcomes[0], MetricNotFound)
        assert answer.snippets == []
        assert [part.origin for part in answer.parts] == [AnswerOrigin.FIXED]
        assert set(re.findall(r"\d+", answer.text)) <= {"1871", "2023"}
        assert answer.summary.end_reason is EndReason.REFUSED
        assert answer.summary.refusal is not None
        assert answer.summary.refusal.reason is RefusalReason.NOTHING_FOUND


@pytest.mark.parametrize(
    ("question", "param", "raw", "said"),
    [
        ("What was the national mood score of Yorkland in 2012?", "metric", "national mood score", "The metric"),
        ("What was the revenue of Wakanda in 1997?", "entity", "Wakanda", "The entity"),
        ("架空商事の2019年の売上高はいくらですか？", "entity", "架空商事", "質問にある対象"),
        ("艾克米2020年的刺猬密度是多少？", "metric", "刺猬密度", "问题中的指标"),
        ("What was the revenue of Acme Corp for Lunar Base in 2023?", "channel", "Lunar Base", "The part"),
    ],
)
def test_an_unknown_name_is_neither_guessed_nor_refused(
    snapshot: Snapshot, question: str, param: str, raw: str, said: str
) -> None:
    answer = run(snapshot, question)
    (outcome,) = answer.outcomes
    assert isinstance(outcome, UnrecognizedParam)
    assert (outcome.param, outcome.raw) == (param, raw)
    assert answer.snippets == []
    assert answer.text.startswith(said)
    assert not re.search(r"\d", answer.text)
    assert (answer.summary.end_reason, answer.summary.refusal) == (EndReason.EXHAUSTED, None)


def test_several_figures_are_said_one_a_line(snapshot: Snapshot) -> None:
    answer = run(snapshot, "Revenue of Acme Corp in 2022, 2023 and 1999?")
    assert answer.text.split("\n") == [
        "Revenue of Acme Corp for 2022: 1250.75 USD.",
        "Revenue of Acme Corp for 2023: 1100 USD.",
        "No figure is stored for this metric, entity and channel in 1999.",
    ]
    assert answer.summary.end_reason is EndReason.EXHAUSTED


def test_a_missing_part_is_asked_back(snapshot: Snapshot) -> None:
    answer = run(snapshot, "What was the revenue of Acme Corp?")
    (asked,) = answer.asked
    assert asked.missing_param == "period"
    assert (answer.outcomes, answer.parts, answer.calls) == ([], [], [])
    assert answer.route.clarification is None  # it comes as a frame of its own
    assert answer.summary.end_reason is EndReason.CLARIFICATION
    assert run(snapshot, "hello").summary.end_reason is EndReason.CLARIFICATION


# ---- narrative -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "sentence", "doc_id"),
    [
        (
            "Why were three stores closed?",
            "The revenue of Acme fell in 2023 because three stores were closed after a flood.",
            "en/review.md",
        ),
        (
            "アクメの三店舗はなぜ閉鎖されたのですか？",
            "アクメの売上高は洪水で三店舗が閉鎖されたため減少した。",
            "ja/kaiko.md",
        ),
        ("艾克米的三家门店为什么关闭？", "艾克米的营业收入因洪水导致三家门店关闭而下降。", "zh/huigu.md"),
        ("Who has led Acme since 2019?", "Jane Doe has led Acme since 2019.", "en/people.md"),
    ],
)
def test_passages_answer_by_their_own_sentences(snapshot: Snapshot, question: str, sentence: str, doc_id: str) -> None:
    answer = run(snapshot, question)
    assert answer.route.route is Route.NARRATIVE
    by_id = {one.snippet_id: one for one in answer.snippets}
    quoted = [part for part in answer.parts if sentence in part.text]
    assert quoted, answer.text
    (cited,) = quoted[0].cited_snippet_ids
    assert by_id[cited].lineage.doc_id == doc_id
    assert doc_id in quoted[0].text  # the source is named
    for part in answer.parts:
        assert_verbatim(part, by_id)
    assert answer.ends[0].returned == len(answer.snippets)


def assert_verbatim(part: AnswerPart, snippets: dict[str, Snippet]) -> None:
    """What stands between the marks is an exact part of the cited passage."""
    if part.origin is not AnswerOrigin.QUOTATION:
        return
    (cited,) = part.cited_snippet_ids
    payload = snippets[cited].payload
    assert isinstance(payload, TextPassage)
    marked = re.fullmatch(r"\n?(?:“(.*)”|「(.*)」)(?: \(.*\)|（.*）)", part.text, re.DOTALL)
    assert marked is not None
    assert (marked[1] or marked[2]) in payload.text


def test_nothing_about_the_question_is_a_refusal(snapshot: Snapshot, tmp_path: Path) -> None:
    answer = run(snapshot, "Why was the Eiffel tower painted?")
    assert [part.origin for part in answer.parts] == [AnswerOrigin.FIXED]
    assert answer.summary.end_reason is EndReason.REFUSED
    assert answer.summary.refusal is not None
    assert answer.summary.refusal.reason is RefusalReason.NOTHING_FOUND
    answer = run([], "なぜ閉鎖されたのですか")
    assert answer.summary.refusal is not None
    assert "見つかりません" in answer.summary.refusal.text


def test_the_agent_may_write_itself(snapshot: Snapshot) -> None:
    question = "Why were three stores of Acme closed?"
    answer = run(snapshot, AskRequest(question, writer=AnswerWriter.NONE))
    assert answer.snippets
    assert answer.parts == []
    assert answer.summary.end_reason is not EndReason.REFUSED
    figure = run(snapshot, AskRequest("Revenue of Acme Corp in 2022?", writer=AnswerWriter.NONE))
    assert [part.origin for part in figure.parts] == [AnswerOrigin.FACTS]
    same = run(snapshot, AskRequest(question, writer=AnswerWriter.EXTRACTIVE))
    assert same.parts == run(snapshot, question).parts


def test_top_k_mode_and_tuning_reach_the_retrieval(snapshot: Snapshot) -> None:
    request = AskRequest(
        "Why were three stores of Acme closed?",
        top_k=1,
        mode=RetrievalMode.LEXICAL,
        tuning=RetrievalTuning(glossary_variants=False),
    )
    answer = run(snapshot, request, explain=ExplainLevel.PLAN)
    assert len(answer.snippets) == 1
    assert [step.stage for step in answer.calls[0].plan] == ["restrict", "lexical", "fuse", "exit"]
    assert answer.summary.degradations == ()
    assert [variant.made_by for variant in answer.summary.variants] == ["caller"]
    assert answer.summary.end_reason is EndReason.TOP_K
    assert run(snapshot, request).summary.variants == ()


# ---- both ------------------------------------------------------------------------------------------------------------


def test_a_composite_answers_by_both_structured_first(snapshot: Snapshot) -> None:
    answer = run(snapshot, "What was the revenue of Acme Corp in 2023, and why were three stores closed?")
    assert answer.route.route is Route.COMPOSITE
    assert [call.route for call in answer.calls] == [Route.STRUCTURED, Route.NARRATIVE]
    origins = [part.origin for part in answer.parts]
    assert origins[0] is AnswerOrigin.FACTS
    assert set(origins[1:]) == {AnswerOrigin.QUOTATION}
    lines = answer.text.split("\n")
    assert lines[0] == "Revenue of Acme Corp for 2023: 1100 USD."
    assert "flood" in lines[1]
    assert len(lines) == len(answer.parts)


def test_a_composite_with_a_missing_part_answers_the_rest(snapshot: Snapshot) -> None:
    answer = run(snapshot, "What was the revenue of Acme Corp and why were three stores closed?")
    (asked,) = answer.asked
    assert asked.missing_param == "period"
    assert [end.end_reason for end in answer.ends] == [EndReason.CLARIFICATION, EndReason.EXHAUSTED]
    assert [part.origin for part in answer.parts] == [AnswerOrigin.QUOTATION] * len(answer.parts) != []
    assert answer.summary.end_reason is EndReason.EXHAUSTED


def test_a_route_can_be_forced(snapshot: Snapshot) -> None:
    question = "What was the revenue of Acme Corp in 2023?"
    narrative = run(snapshot, AskRequest(question, force_route=Route.NARRATIVE))
    assert [call.route for call in narrative.calls] == [Route.NARRATIVE]
    assert [slot.name for slot in narrative.route.slots] == ["cue", "metric", "entity", "period"]
    both = run(snapshot, AskRequest(question, force_route=Route.COMPOSITE))
    assert [call.route for call in both.calls] == [Route.STRUCTURED, Route.NARRATIVE]
    text = run(snapshot, AskRequest("Why were three stores closed?", force_route=Route.STRUCTURED))
    assert text.asked[0].missing_param == "metric"


def test_history_is_used_and_never_evidence(snapshot: Snapshot) -> None:
    turns = (
        Turn(TurnRole.USER, "What was the revenue of Acme Corp in 2022?"),
        Turn(TurnRole.ASSISTANT, "It was 987654321 USD, because of magic."),
    )
    answer = run(snapshot, AskRequest("And in 2023?", history=turns))
    assert answer.text == "Revenue of Acme Corp for 2023: 1100 USD."
    why = run(snapshot, AskRequest("Why did it fall?", history=turns))
    assert why.calls[-1].sub_question == "Why did it fall? (revenue, Acme Corp, 2022)"
    for each in (answer, why):
        assert "magic" not in each.text
        assert "987654321" not in repr(each.frames)


# ---- gate, labels, errors --------------------------------------------------------------------------------------------


def test_an_outside_name_ends_the_call_before_data(snapshot: Snapshot) -> None:
    parts = RetrievalParts(gate=SecurityGate(["Initech", "対抗電機"]))
    for question in ("What was the revenue of I\u200bnitech in 2023?", "対抗　電機はなぜ強いのですか"):
        answer = run(snapshot, question, parts)
        assert answer.summary.refusal is not None
        assert answer.summary.refusal.reason is RefusalReason.OUT_OF_SCOPE
        assert (answer.snippets, answer.calls, answer.header.snapshots) == ([], [], ())
    assert run(snapshot, "Revenue of Acme Corp in 2022?", parts).outcomes
    assert [step.stage for step in run(snapshot, "Why stores?", parts).header.plan] == ["gate", "route"]


QUESTIONS = [
    "What was the revenue of Acme Corp in 2023, and why will it be sold?",
    "Why will Acme be sold?",
    "What was the revenue of Yorkland in 2023?",
    "What was the revenue in 2023?",
    "アクメの売上高はなぜ減少したのですか？",
    "owner ill CANARY",
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("embedder", [None, HashEmbedder()])
def test_what_is_hidden_shows_in_no_frame(tmp_path: Path, question: str, embedder: HashEmbedder | None) -> None:
    full = make_world(tmp_path, library_id="full", embedder=embedder)
    bare = make_world(tmp_path, library_id="bare", embedder=embedder, hidden=False)
    parts = RetrievalParts(embedder=embedder)
    seen = [
        run(replace(library.snapshot(), library_id="default", _ids={}, _readable={}), question, parts)
        for library in (full, bare)
    ]
    assert [strip(frame) for frame in seen[0].frames] == [strip(frame) for frame in seen[1].frames]
    assert "ill" not in seen[0].text.split()
    assert "999" not in repr([strip(frame) for frame in seen[0].frames])  # a timing may well hold three nines


def strip(each: AskFrame) -> object:
    """A frame without times."""
    frame = each.frame
    if isinstance(frame, Summary):
        frame = replace(frame, timings=())
    if isinstance(frame, Snippets):
        frame = Snippets(tuple(replace(one, lineage=replace(one.lineage, ingested_at=None)) for one in frame.snippets))
    return replace(each, frame=frame)


def test_every_violation_is_named_at_once(snapshot: Snapshot) -> None:
    request = AskRequest(" ", top_k=500, tuning=RetrievalTuning(decomposition="none", adaptive=True, fusion="magic"))
    with pytest.raises(InvalidRequest) as raised:
        run(snapshot, request)
    assert [fault.field for fault in raised.value.violations] == [
        "question",
        "top_k",
        "tuning.fusion",
        "tuning.adaptive",
    ]


def test_a_model_that_is_not_there_cannot_write(snapshot: Snapshot) -> None:
    with pytest.raises(FailedPrecondition) as raised:
        run(snapshot, AskRequest("Why?", writer=AnswerWriter.MODEL))
    assert raised.value.reason is ErrorReason.NO_MODEL
    assert raised.value.details == {"field": "writer"}


def test_what_a_branch_needs_and_is_not_there_is_an_error(snapshot: Snapshot) -> None:
    with pytest.raises(FailedPrecondition) as raised:
        run(snapshot, AskRequest("Why were three stores closed?", mode=RetrievalMode.VECTOR))
    assert raised.value.reason is ErrorReason.NO_EMBEDDER
    with pytest.raises(UnknownResource):
        run(snapshot, "Why were three stores closed?", library_ids=("elsewhere",))
    with pytest.raises(FailedPrecondition) as raised:
        run(snapshot, "Why were three stores closed?", forbid=frozenset({DegradationKind.VECTOR_OFF}))
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


BOTH = "What was the revenue of Acme Corp in 2023, and why were three stores closed?"


def test_a_branch_that_fails_is_named_and_the_other_answers(snapshot: Snapshot) -> None:
    answer = run(snapshot, AskRequest(BOTH, mode=RetrievalMode.VECTOR))
    assert [end.error.reason if end.error else None for end in answer.ends] == [None, ErrorReason.NO_EMBEDDER]
    assert answer.text == "Revenue of Acme Corp for 2023: 1100 USD."
    (lost,) = [each for each in answer.summary.degradations if each.kind is DegradationKind.BRANCH_FAILED]
    assert lost.component == "narrative"
    with pytest.raises(FailedPrecondition) as raised:
        run(
            snapshot,
            AskRequest(BOTH, mode=RetrievalMode.VECTOR),
            forbid=frozenset({DegradationKind.BRANCH_FAILED}),
        )
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


class Unreadable(Snapshot):
    """A library whose chunks cannot be read any more."""

    def chunks(self, rows: Sequence[int]) -> list[StoredChunk]:
        raise OSError("secret of the disk")


def test_a_foreign_exception_stays_inside(snapshot: Snapshot) -> None:
    broken = Unreadable(**{name: getattr(snapshot, name) for name in snapshot.__dataclass_fields__})
    answer = run(broken, BOTH)
    assert answer.ends[1].error is not None
    assert answer.ends[1].error.reason is ErrorReason.INTERNAL
    assert "secret" not in repr(answer.frames)


def test_libraries_that_do_not_answer_are_named_once(snapshot: Snapshot) -> None:
    closed = [Unreachable("old", Cause(ErrorReason.STORE_VERSION, "Written by a newer version."))]
    answer = run(snapshot, BOTH, unreachable=closed)
    lost = [each for each in answer.summary.degradations if each.kind is DegradationKind.LIBRARY_UNREACHABLE]
    assert [each.library_id for each in lost] == ["old"]
    with pytest.raises(Unavailable):
        run([], BOTH, unreachable=closed)


def test_a_call_that_is_over_ends(snapshot: Snapshot) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(CallCancelled):
        list(ask(AskRequest(BOTH), Call(local_principal(), cancel=token), [snapshot]))
    late = Call(local_principal(), cancel=CancelToken(deadline=0.0))
    with pytest.raises(DeadlineExceeded):
        list(ask(AskRequest(BOTH), late, [snapshot]))


def test_equal_requests_give_equal_frames(snapshot: Snapshot) -> None:
    def frames() -> Iterator[object]:
        return (strip(each) for each in run(snapshot, BOTH).frames)

    first = list(frames())
    assert all(list(frames()) == first for _ in range(10))


PIECES = [
    "revenue",
    "Acme Corp",
    "2023",
    "why",
    "売上高",
    "なぜ",
    "アクメ",
    "营业收入",
    "为什么",
    "flood",
    "Yorkland",
    "?",
]
QUESTION = hostile_text(max_pieces=8) | st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=60)
@given(question=QUESTION.filter(str.strip), forced=st.sampled_from([None, *Route]))
def test_any_question_gets_a_whole_stream_with_honest_citations(
    snapshot: Snapshot, question: str, forced: Route | None
) -> None:
    answer = run(snapshot, AskRequest(question, force_route=forced))
    by_id = {one.snippet_id: one for one in answer.snippets}
    statements = {one.payload.statement for one in answer.snippets if isinstance(one.payload, MetricFact)}
    for part in answer.parts:
        assert_verbatim(part, by_id)
        if part.origin is AnswerOrigin.FACTS:
            assert part.text.removeprefix("\n") in statements
    assert "CANARY" not in repr(answer.snippets)
