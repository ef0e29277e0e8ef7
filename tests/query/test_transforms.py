"""The transforms by themselves: what holds for each, what a model's reply becomes, and what it was asked."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import QueryVariant
from groundwire_server.llm import Finish, Reply, ScriptedProvider, Usage, go_on, load_prompt
from groundwire_server.query import MAX_PASSAGE_CHARS, TRANSFORMS, QueryText, Transform, Transformed, make_transform
from groundwire_server.query.replies import read_passage, read_queries
from groundwire_server.query.transforms.conformance import CHECKS, run_checks
from groundwire_server.security import SecurityGate
from tests.support.hostile_text import hostile_text

QUESTIONS = {"en": "Why did Acme's revenue fall?", "zh": "公司收入为什么下降？", "ja": "売上はなぜ減ったか。"}


def apply(name: str, reply: str | Reply, gate: SecurityGate | None = None, language: str = "en") -> Transformed:
    passes = (gate or SecurityGate()).passes
    return make_transform(name).apply(
        QueryText(QUESTIONS[language], language), ScriptedProvider([reply]), passes, go_on
    )


@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_does_what_any_must(name: str) -> None:
    assert run_checks(make_transform(name)) == []


def test_the_checks_tell_a_broken_one() -> None:
    class Parrot:
        name = "parrot"

        def apply(self, query: QueryText, model: object, passes: object, stop: object) -> Transformed:
            return Transformed((QueryVariant(query.text, "parrot"), QueryVariant(query.text, "parrot")))

    broken: Transform = Parrot()
    assert {each.check for each in run_checks(broken)} == {check.__name__ for check in CHECKS} - {
        "what_is_made_is_bounded",
        "the_same_reply_makes_the_same_texts",
    }


@pytest.mark.parametrize(
    ("reply", "queries"),
    [
        ("one\ntwo", ["one", "two"]),
        ("Here are three queries:\n\n1. one\n2) two\n(3) three", ["one", "two", "three"]),
        ("以下是查询：\n1、收入下降的原因\n２ 年", ["收入下降的原因", "２ 年"]),
        ("・売上減少の理由\n① 減収の要因\n- 「業績の悪化」", ["売上減少の理由", "減収の要因", "業績の悪化"]),
        ("```text\n* one\n* two\n```\nI hope that helps!", ["one", "two"]),
        ('```json\n["one", "two"]\n```', ["one", "two"]),
        ('{"queries": [{"query": "one"}, {"query": "two\\ud800"}]}', ["one", "two"]),
        ("**one**\n“two”\n`three`", ["one", "two", "three"]),
        ("3.5 % growth\n2020 revenue\n-5 degrees", ["3.5 % growth", "2020 revenue", "-5 degrees"]),
        ("<think>\nmaybe\n- this\n</think>\none", ["one"]),
        ("What is the matter:", ["What is the matter:"]),
        ("[one] and {two}", ["[one] and {two}"]),
        ("\n \n", []),
    ],
)
def test_lists_are_read_in_any_dress(reply: str, queries: list[str]) -> None:
    assert read_queries(reply) == queries


def test_a_line_that_was_cut_is_left_out_and_a_passage_ends_with_a_sentence() -> None:
    assert read_queries("one\ntwo\nthr", whole=False) == ["one", "two"]
    assert read_passage("One. Two is longer.\nThree", 20) == "One. Two is longer."
    assert read_passage("売上は増えた。利益は減った。", 9) == "売上は増えた。"
    assert read_passage("x" * 50, 9) == "x" * 9
    assert read_passage('```\n{"passage": "It  rained."}\n```', 99) == "It rained."


@given(hostile_text(), st.integers(1, 60))
def test_whatever_a_model_says_is_read(text: str, limit: int) -> None:
    for query in read_queries(text):
        assert query == " ".join(query.split()) != ""
        query.encode()
    passage = read_passage(text, limit)
    assert len(passage) <= limit
    passage.encode()


def test_rag_fusion_takes_three_beside_the_question() -> None:
    found = apply("rag_fusion", "one\ntwo\nTWO\n" + "y" * 600 + "\nthree\nfour")
    assert found.variants == (
        QueryVariant(QUESTIONS["en"], "caller"),
        *(QueryVariant(text, "rag_fusion") for text in ("one", "two", "three")),
    )
    assert found.probes == ()


def test_step_back_takes_one_query_and_hyde_one_passage_that_is_none() -> None:
    assert [each.text for each in apply("step_back", "How is Acme doing?\nAnd else?").variants] == [
        QUESTIONS["en"],
        "How is Acme doing?",
    ]
    made = apply("hyde", "It fell.\n\nSnow closed the stores. " + "More was said. " * 200)
    assert made.variants == (QueryVariant(QUESTIONS["en"], "caller"),)
    (passage,) = made.probes
    assert passage.startswith("It fell. Snow closed the stores. More")
    assert passage.endswith("said.")
    assert MAX_PASSAGE_CHARS - 20 < len(passage) <= MAX_PASSAGE_CHARS


def test_outside_names_are_left_out_however_they_are_written() -> None:
    gate = SecurityGate(["Rival Industries", "对手公司"])
    found = apply("rag_fusion", "one\nis R\u200bｉval Industries better\n对 手 公 司 的 收入\ntwo", gate)
    assert [each.text for each in found.variants[1:]] == ["one", "two"]
    assert (found.outside, found.degradation) == (2, None)
    for name in ("hyde", "step_back"):
        gone = apply(name, "Rival Industries rose.", gate)
        assert (gone.probes, gone.outside) == ((), 1)
        assert gone.degradation is not None
        assert gone.degradation.cause is not None
        assert gone.degradation.cause.message == "All that the model wrote names something outside."


def test_a_reply_that_was_cut_still_serves() -> None:
    cut = Reply("one\ntwo\nthr", Finish.LENGTH, Usage())
    assert [each.text for each in apply("rag_fusion", cut).variants[1:]] == ["one", "two"]
    assert apply("hyde", cut).probes == ("one two thr",)


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_what_is_asked_is_the_prompt_with_the_question(name: str, language: str) -> None:
    model = ScriptedProvider(["x"])
    make_transform(name).apply(QueryText(QUESTIONS[language], language), model, lambda _: True, go_on)
    (asked,) = model.asked
    prompt = load_prompt(name, language)
    assert prompt.language == language
    assert asked.messages == prompt.fill(question=json.dumps(QUESTIONS[language], ensure_ascii=False))
    assert (asked.purpose, asked.schema) == (f"{name}/1", None)
    assert 0 < asked.max_tokens <= 1024


def test_a_name_that_none_has_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="'magic' is none of hyde, rag_fusion, step_back"):
        make_transform("magic")
