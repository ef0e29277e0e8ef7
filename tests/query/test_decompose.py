"""What cuts a question into several: what holds for each, what a model's reply becomes, and what rules cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.llm import Finish, Reply, ScriptedProvider, Usage, go_on, load_prompt
from groundwire_server.query import (
    DECOMPOSERS,
    MAX_QUERY_CHARS,
    MAX_SUB_QUESTIONS,
    Decomposed,
    QueryText,
    make_decomposer,
    split_questions,
)
from groundwire_server.query.decomposition.conformance import CHECKS, run_checks
from groundwire_server.security import SecurityGate
from groundwire_server.text import normalize
from tests.support.hostile_text import hostile_text

QUESTIONS = {
    "en": "Who leads the company that built the tower, and why?",
    "zh": "建造那座塔的公司由谁领导？",
    "ja": "その塔を建てた会社を率いるのは誰か。",
}


def apply(reply: str | Reply, gate: SecurityGate | None = None, language: str = "en") -> Decomposed:
    passes = (gate or SecurityGate()).passes
    return make_decomposer("llm").apply(
        QueryText(QUESTIONS[language], language), ScriptedProvider([reply]), passes, go_on
    )


@pytest.mark.parametrize("name", DECOMPOSERS)
def test_each_does_what_any_must(name: str) -> None:
    assert run_checks(make_decomposer(name)) == []


def test_the_checks_tell_a_broken_one() -> None:
    class Parrot:
        name = "parrot"

        def apply(self, query: QueryText, model: object, passes: object, stop: object) -> Decomposed:
            return Decomposed((query.text,))

    class Leaky:
        name = "leaky"

        def apply(self, query: QueryText, model: object, passes: object, stop: object) -> Decomposed:
            return Decomposed(("a" * (MAX_QUERY_CHARS + 1), "", query.text, query.text, query.text))

    for broken in (Parrot(), Leaky()):
        told = {failure.check for failure in run_checks(broken)}
        assert "it_makes_several_questions_or_none" in told
        assert "a_stop_ends_it" in told
        assert told <= {check.__name__ for check in CHECKS}


@pytest.mark.parametrize("language", QUESTIONS)
def test_the_prompt_holds_the_question_and_nothing_else_of_it(language: str) -> None:
    model = ScriptedProvider(["a?\nb?"])
    make_decomposer("llm").apply(QueryText(QUESTIONS[language], language), model, lambda _: True, go_on)
    (asked,) = model.asked
    quoted = json.dumps(QUESTIONS[language], ensure_ascii=False)
    assert asked.messages == load_prompt("decompose", language).fill(question=quoted)
    assert asked.purpose == "decompose/1"


def test_replies_are_read_leniently_and_bounded() -> None:
    assert apply("1. Which company built the tower?\n2) Who leads it?").questions == (
        "Which company built the tower?",
        "Who leads it?",
    )
    assert apply('```json\n["one?", "two?"]\n```').questions == ("one?", "two?")
    found = apply("\n".join(f"question {number}?" for number in range(7)))
    assert (len(found.questions), found.beyond) == (MAX_SUB_QUESTIONS, 3)
    cut = apply(Reply("one?\ntwo?\nthr", Finish.LENGTH, Usage()))
    assert cut.questions == ("one?", "two?")


@pytest.mark.parametrize("reply", [QUESTIONS["en"], "Who leads the firm behind the tower?", "- one?\n- ONE?"])
def test_one_question_is_nothing_to_cut_and_no_failure(reply: str) -> None:
    found = apply(reply)
    assert (found.questions, found.degradation, found.purpose) == ((), None, "decompose/1")


def test_what_names_outsiders_is_left_out() -> None:
    gate = SecurityGate(["Rival Industries"])
    found = apply("one?\nWho leads Ｒival\u200b Industries?\ntwo?", gate)
    assert (found.questions, found.outside, found.degradation) == (("one?", "two?"), 1, None)
    alone = apply("one?\nWho leads Rival Industries?", gate)
    assert alone.questions == ()
    assert alone.degradation is not None
    assert alone.degradation.cause is not None
    assert alone.degradation.cause.reason is ErrorReason.MODEL_FAILED


def test_another_name_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(InvalidRequest) as caught:
        make_decomposer("magic")
    assert "llm, rules" in str(caught.value.violations[0].description)


CUT: dict[str, list[tuple[str, list[str]]]] = {
    "en": [
        (
            "Who founded Acme, and when was the Cloud division sold?",
            ["Who founded Acme?", "when was the Cloud division sold?"],
        ),
        ("Why did revenue fall? Who leads Yorkland?", ["Why did revenue fall?", "Who leads Yorkland?"]),
        ("Who runs Acme? And what is Japan's area?", ["Who runs Acme?", "what is Japan's area?"]),
        ("What is X; what is Y?", ["What is X?", "what is Y?"]),
    ],
    "zh": [
        ("日本的首都是哪里，法国的人口是多少？", ["日本的首都是哪里？", "法国的人口是多少？"]),
        ("日本2020年的人口是多少？法国的首都在哪里？", ["日本2020年的人口是多少？", "法国的首都在哪里？"]),
        ("在2023年，公司收入是多少，另外，法国的首都在哪里？", ["在2023年，公司收入是多少？", "法国的首都在哪里？"]),
    ],
    "ja": [
        (
            "アクメの売上高はなぜ減ったのか。また、ヨークの人口は何人か。",
            ["アクメの売上高はなぜ減ったのか？", "ヨークの人口は何人か？"],
        ),
        (
            "日本の人口はいくらで、2021年、フランスの首都はどこですか？",
            ["日本の人口はいくらで？", "2021年、フランスの首都はどこですか？"],
        ),
    ],
}
WHOLE = {
    "en": [
        "Who founded Acme and where does it have stores?",
        "How much revenue did Acme have and how many employees?",
        "Which band released a song called Counterparts and had a drummer who was inducted?",
        "Which actor who played in Rome and who won an Oscar was born in 1950?",
        "Acme closed stores in 2023. Why?",
        "Hello. Who are you?",
        "Who runs Acme? Thanks!",
    ],
    "zh": ["公司为什么亏损，谁负责？", "在2023年，公司收入是多少？", "日本的首都是哪里，它的人口是多少？"],
    "ja": ["2023年、アクメは何をしたか", "アクメは誰が創業し、どこにあるか", "日本の首都はどこで、その人口は何人か"],
}


@pytest.mark.parametrize(("language", "text", "pieces"), [(lang, *each) for lang, all_ in CUT.items() for each in all_])
def test_questions_side_by_side_are_cut(language: str, text: str, pieces: list[str]) -> None:
    assert split_questions(text, language) == pieces


@pytest.mark.parametrize(("language", "text"), [(lang, each) for lang, all_ in WHOLE.items() for each in all_])
def test_what_leans_on_something_stays_with_it(language: str, text: str) -> None:
    assert split_questions(text, language) == [text]


@example("?\n?", "de")
@given(hostile_text(), st.sampled_from(["en", "zh", "ja", "de"]))
def test_pieces_say_what_was_said_in_its_order(text: str, language: str) -> None:
    """Nothing is added but marks, and nothing but marks and joining words is lost."""
    pieces = split_questions(text, language)
    assert pieces
    if len(pieces) == 1:
        assert pieces == [text.strip()]
        return
    at = 0
    for piece in pieces:
        words = "".join(normalize(piece.rstrip("?？")).split())
        assert words
        found = "".join(normalize(text).split()).find(words, at)
        assert found >= 0
        at = found + len(words)


@given(
    st.lists(
        st.sampled_from(["Who runs Acme", "why", " and ", ", and ", "? ", "it", "where is Rome", "。", "、"]),
        max_size=12,
    )
)
def test_cutting_is_done_again_alike(parts: list[str]) -> None:
    text = "".join(parts)
    assert split_questions(text, "en") == split_questions(text, "en")
    assert len(split_questions(text, "en")) <= max(1, len(parts))
