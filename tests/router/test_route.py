"""Which kind of evidence a question needs; what is recognised; what is asked back."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Call, CallOptions, MetricQuery, RefusalReason, slice_text
from groundwire_server.library import Snapshot
from groundwire_server.narrative import RetrievalLimits
from groundwire_server.router import (
    ClarificationOption,
    Complexity,
    Route,
    RouteDecision,
    RouterLimits,
    Turn,
    TurnRole,
    route,
)
from groundwire_server.security import SecurityGate, local_principal
from tests.router.world import make_world
from tests.support.hostile_text import hostile_text

CALL = Call(local_principal(), CallOptions(reference_date=date(2024, 6, 30)))
S, N, C = Route.STRUCTURED, Route.NARRATIVE, Route.COMPOSITE


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_world(tmp_path_factory.mktemp("world")).snapshot()


def decide(snapshot: Snapshot, question: str, *turns: str, gate: SecurityGate | None = None) -> RouteDecision:
    history = [Turn(TurnRole.USER, turn) for turn in turns]
    return route(question, CALL, [snapshot], history, gate=gate or SecurityGate())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # figures
        ("What was the revenue of Acme Corp in 2023?", S),
        ("Acme Corp: net sales 2023?", S),
        ("Give me the exact revenue of Acme Corp for Cloud in 2023.", S),
        ("2023年のアクメの売上高はいくらですか？", S),
        ("アクメの売上高（2023年）を教えてください。", S),
        ("艾克米2023年的营业收入是多少？", S),
        ("请给出2020年约克兰人口的准确数值。", S),
        ("How much revenue did Acme Corp have?", S),
        # text
        ("Why are stores closed?", N),
        ("Why did the revenue of Acme Corp fall?", N),
        ("アクメの売上高はなぜ減ったのですか", N),
        ("艾克米的营业收入为什么下降？", N),
        ("Who leads Acme Corp?", N),
        ("アクメの社長は誰ですか？", N),
        ("谁领导艾克米？", N),
        ("What is ROE?", N),
        ("売上高とは何ですか", N),
        ("什么是营业收入？", N),
        ("Summarize the review.", N),
        ("stores after the flood", N),
        # both
        ("Why did the revenue of Acme Corp fall in 2023?", C),
        ("What was the revenue of Acme Corp in 2023, and why did it fall?", C),
        ("What was the revenue of Acme Corp and why did it fall?", C),
        ("2023年のアクメの売上高はいくらで、なぜ減ったのですか？", C),
        ("艾克米2023年的营业收入是多少，为什么下降？", C),
        # no false friends
        ("Who are the heroes of the 5000 stores?", N),
        ("Is the Beijing annual fair in 2023 open?", N),
        ("Can you give us a hand?", N),
        ("ニューヨークはどんな街ですか", N),
        ("What was the capital of Yorkland in 1990?", N),
    ],
)
def test_the_route_of_a_question(snapshot: Snapshot, question: str, expected: Route) -> None:
    decision = decide(snapshot, question)
    assert decision.route is expected, decision.reason
    assert 0 < decision.confidence <= 1


def test_slots_stand_where_the_question_has_them(snapshot: Snapshot) -> None:
    question = "What was the net sales of Acme Corp for Cloud in 2023 and in 2022?"
    decision = decide(snapshot, question)
    assert [(slot.name, slot.raw, slot.code) for slot in decision.slots] == [
        ("cue", "What was", ""),
        ("metric", "net sales", "REVENUE"),
        ("entity", "Acme Corp", "ACME"),
        ("channel", "Cloud", "CLOUD"),
        ("period", "2023", "2023"),
        ("period", "2022", "2022"),
    ]
    assert all(slot.span is not None and slice_text(question, slot.span) == slot.raw for slot in decision.slots)
    assert decision.metric_queries == (
        MetricQuery("REVENUE", "ACME", "2023", "CLOUD"),
        MetricQuery("REVENUE", "ACME", "2022", "CLOUD"),
    )
    assert decision.complexity is Complexity.MULTI
    assert decision.reason == ("metric REVENUE, entity ACME, channel CLOUD, period 2023, period 2022; all parts named")


def test_queries_are_the_product_of_what_is_named(snapshot: Snapshot) -> None:
    decision = decide(snapshot, "Revenue and population of Acme Corp and Yorkland in 2020 and 2023?")
    assert len(decision.metric_queries) == 8
    assert decision.metric_queries[0] == MetricQuery("REVENUE", "ACME", "2020")
    assert decision.metric_queries[-1] == MetricQuery("POPULATION", "YORKLAND", "2023")
    with pytest.raises(InvalidRequest) as raised:
        route(
            "Revenue and population of Acme Corp and Yorkland in 2020?",
            CALL,
            [snapshot],
            limits=RouterLimits(max_metric_queries=3),
        )
    assert raised.value.violations[0].field == "question"


@pytest.mark.parametrize(
    ("question", "query"),
    [
        (
            "What was the national mood score of Yorkland in 2012?",
            MetricQuery("national mood score", "YORKLAND", "2012"),
        ),
        ("2011年のヨークの国民気分スコアはいくつですか？", MetricQuery("国民気分スコア", "YORKLAND", "2011")),
        ("2012年约克兰的刺猬密度是多少？", MetricQuery("刺猬密度", "YORKLAND", "2012")),
        ("population density of Yorkland in 2020", MetricQuery("population density", "YORKLAND", "2020")),
        ("一人当たり売上高、アクメ、2023年", MetricQuery("一人当たり売上高", "ACME", "2023")),
        ("ヨークの人口密度（2020年）は？", MetricQuery("人口密度", "YORKLAND", "2020")),
        ("Revenue per employee of Acme Corp in 2023?", MetricQuery("Revenue per employee", "ACME", "2023")),
        ("Revenue growth of Acme Corp in 2023?", MetricQuery("Revenue growth", "ACME", "2023")),
        ("What was the revenue of Wakanda in 1997?", MetricQuery("REVENUE", "Wakanda", "1997")),
        ("Umbrella Retail plc revenue 2018", MetricQuery("REVENUE", "Umbrella Retail plc", "2018")),
        ("架空商事株式会社の2019年の売上高はいくらですか？", MetricQuery("REVENUE", "架空商事株式会社", "2019")),
        ("虚构贸易有限公司2021年的营业收入是多少？", MetricQuery("REVENUE", "虚构贸易有限公司", "2021")),
        (
            "What was the revenue of Acme Corp for Lunar Segment in 2023?",
            MetricQuery("REVENUE", "ACME", "2023", "Lunar Segment"),
        ),
    ],
)
def test_an_unknown_name_is_asked_for_as_it_stands(snapshot: Snapshot, question: str, query: MetricQuery) -> None:
    decision = decide(snapshot, question)
    assert decision.route is S
    assert decision.metric_queries == (query,)


def test_a_missing_part_is_asked_for_with_what_there_is(snapshot: Snapshot) -> None:
    period = decide(snapshot, "What was the revenue of Acme Corp?").clarification
    assert period is not None
    assert (period.missing_param, period.question) == ("period", "For which period?")
    assert period.options == (ClarificationOption("2023", "2023"), ClarificationOption("2022", "2022"))
    entity = decide(snapshot, "2020年の人口はいくつですか？").clarification
    assert entity is not None
    assert entity.missing_param == "entity"
    assert entity.options == (ClarificationOption("ACME", "アクメ"), ClarificationOption("YORKLAND", "ヨーク"))
    hidden = decide(snapshot, "What was the revenue in 2023?").clarification
    assert hidden is not None
    assert [option.code for option in hidden.options] == ["ACME"]  # the figure of Yorkland is hidden
    for question in ("How high was the revenue?", "What was the revenue in 1999?"):  # Yorkland has other figures
        whose = decide(snapshot, question).clarification
        assert whose is not None
        assert [option.code for option in whose.options] == ["ACME"]
    quarter = decide(snapshot, "What was the revenue of Acme Corp in Q3?").clarification
    assert quarter is not None
    assert quarter.missing_param == "period"


@pytest.mark.parametrize("message", ["Hello!", "thanks 😀", "こんにちは", "谢谢！", "???", "。"])
def test_a_message_that_asks_nothing_is_asked_back(snapshot: Snapshot, message: str) -> None:
    decision = decide(snapshot, message)
    assert decision.clarification is not None
    assert {option.code for option in decision.clarification.options} == {"REVENUE", "POPULATION"}
    assert decision.metric_queries == ()


def test_history_resolves_what_a_question_leaves_open(snapshot: Snapshot) -> None:
    first = "What was the revenue of Acme Corp in 2023?"
    followed = decide(snapshot, "And in 2022?", first)
    assert followed.metric_queries == (MetricQuery("REVENUE", "ACME", "2022"),)
    assert [(slot.raw, slot.span is None) for slot in followed.slots] == [
        ("2022", False),
        ("revenue", True),
        ("Acme Corp", True),
    ]
    assert decide(snapshot, "Why?", first).route is C
    assert decide(snapshot, "What was its population in 2020?", first).metric_queries == (
        MetricQuery("POPULATION", "ACME", "2020"),
    )
    whole = "What was the population of Yorkland in 2020?"
    assert decide(snapshot, whole, first) == decide(snapshot, whole)
    stores = "Which stores were closed after the flood?"
    assert decide(snapshot, stores, first) == decide(snapshot, stores)
    assistant = route("And in 2022?", CALL, [snapshot], [Turn(TurnRole.ASSISTANT, first)])
    assert assistant.metric_queries == ()


def test_relative_periods_count_from_the_day_of_the_call(snapshot: Snapshot) -> None:
    assert decide(snapshot, "Revenue of Acme Corp last year?").metric_queries == (
        MetricQuery("REVENUE", "ACME", "2023"),
    )
    assert decide(snapshot, "昨年のアクメの売上高は？").metric_queries == (MetricQuery("REVENUE", "ACME", "2023"),)


def test_an_outside_name_is_refused_and_nothing_else_is_told(snapshot: Snapshot) -> None:
    gate = SecurityGate(["Initech"])
    decision = decide(snapshot, "What was the revenue of ＩＮＩＴＥＣＨ and Acme Corp in 2023?", gate=gate)
    assert decision.refusal is not None
    assert decision.refusal.reason is RefusalReason.OUT_OF_SCOPE
    assert (decision.slots, decision.metric_queries, decision.clarification) == ((), (), None)
    assert "nitech" not in repr(decision).casefold()
    assert decide(snapshot, "And in 2022?", "Revenue of Initech in 2023", gate=gate).refusal is None


def test_every_violation_is_named_at_once(snapshot: Snapshot) -> None:
    limits = RouterLimits(retrieval=RetrievalLimits(max_query_chars=5), max_history_turns=1)
    turns = [Turn(TurnRole.USER, "far too long"), Turn(TurnRole.USER, "")]
    with pytest.raises(InvalidRequest) as raised:
        route("  ", CALL, [snapshot], turns, limits=limits)
    assert [(fault.field, fault.reason) for fault in raised.value.violations] == [
        ("question", ErrorReason.VALUE_REQUIRED),
        ("history", ErrorReason.VALUE_OUT_OF_RANGE),
        ("history[0].text", ErrorReason.VALUE_OUT_OF_RANGE),
    ]


@given(question=hostile_text().filter(str.strip), turn=hostile_text())
def test_any_text_gets_one_decision_and_the_same_again(snapshot: Snapshot, question: str, turn: str) -> None:
    history = [Turn(TurnRole.USER, turn)]
    decision = route(question, CALL, [snapshot], history)
    assert decision == route(question, CALL, [snapshot], history)
    for slot in decision.slots:
        assert slot.span is None or slice_text(question, slot.span) == slot.raw
    if decision.clarification is not None:
        assert decision.metric_queries == ()


PARTS = {
    "metric": ["revenue", "売上高", "营业收入"],
    "entity": ["Acme Corp", "アクメ", "艾克米"],
    "period": ["2023", "2023年"],
}


@given(
    metric=st.sampled_from(PARTS["metric"]),
    entity=st.sampled_from(PARTS["entity"]),
    period=st.sampled_from(PARTS["period"]),
    order=st.permutations(["metric", "entity", "period"]),
)
def test_parts_alone_in_any_order_and_language_are_a_figure(
    snapshot: Snapshot, metric: str, entity: str, period: str, order: list[str]
) -> None:
    words = {"metric": metric, "entity": entity, "period": period}
    decision = decide(snapshot, ", ".join(words[part] for part in order))
    assert decision.route is S
    assert decision.metric_queries == (MetricQuery("REVENUE", "ACME", "2023"),)


def test_without_libraries_a_question_is_for_passages() -> None:
    assert route("What was the revenue of Acme Corp in 2023?", CALL, []).route is N
