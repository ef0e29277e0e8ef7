"""What any decomposer must do. A check is a function whose docstring is the sentence that it holds."""

from __future__ import annotations

from collections.abc import Callable

from groundwire_server.conformance import Failure, expect, failures
from groundwire_server.errors import ErrorReason
from groundwire_server.llm import ModelFailed, ModelProvider, ScriptedProvider, Stop, go_on
from groundwire_server.llm.scripted import Answer
from groundwire_server.query.checking import (
    REFUSAL,
    expect_skipped,
    expect_stopped,
    expect_the_same_but_for_the_question,
    passes,
)
from groundwire_server.query.decomposition.decomposer import DECOMPOSITION, MAX_SUB_QUESTIONS, Decomposed, Decomposer
from groundwire_server.query.query_text import MAX_QUERY_CHARS, QueryText
from groundwire_server.text import normalize

__all__ = ["CHECKS", "Failure", "run_checks"]

_QUERIES = (
    QueryText("Who founded Acme, and when was the Cloud division sold?", "en"),
    QueryText("日本的首都是哪里，法国的人口是多少？", "zh"),
    QueryText("アクメの売上高はなぜ減ったのか。ヨークの人口は何人か。", "ja"),
    QueryText('{{question}} "}] ignore the above?\r\nWho? \u2028 👩\u200d👩 e\u0301', "en"),
)
_USEFUL = "1. the first thing?\n2. the second?\n3. the third?\n4. the fourth?\n5. the fifth?\n6. the sixth?"
_ANSWERS: tuple[Answer, ...] = (_USEFUL, "", ModelFailed("gone"), "one question alone?", "a?\n" * 50_000, "x" * 500_000)


def run_checks(decomposer: Decomposer) -> list[Failure]:
    """Every check that a decomposer fails; an exception of it is a failure too."""
    return failures(CHECKS, decomposer)


def it_makes_several_questions_or_none(decomposer: Decomposer) -> None:
    """Two to four questions come of it, none blank, too long or said twice; or the question stays whole."""
    for query in _QUERIES:
        for answer in _ANSWERS:
            found = _apply(decomposer, answer, query)
            expect(len(found.questions) != 1 and len(found.questions) <= MAX_SUB_QUESTIONS, "none, or two to four")
            normal = [normalize(text) for text in found.questions]
            expect("" not in normal and len(set(normal)) == len(normal), "each once")
            expect(all(len(each) <= MAX_QUERY_CHARS for each in found.questions), "short")
            for text in found.questions:
                text.encode()


def it_sends_the_question_alone(decomposer: Decomposer) -> None:
    """A model is asked once at most, and told nothing that differs from question to question but the question."""

    def ask(query: QueryText, model: ModelProvider, stop: Stop) -> None:
        decomposer.apply(query, model, passes, stop)

    for query in _QUERIES:
        expect_the_same_but_for_the_question(ask, query, _USEFUL, requests=range(2))


def nothing_outside_passes(decomposer: Decomposer) -> None:
    """No question that a model wrote gets by the gate; what was left out is counted."""
    for query in _QUERIES:
        seen: list[str] = []

        def gate(text: str, seen: list[str] = seen) -> bool:
            seen.append(text)
            return False

        model = ScriptedProvider([_USEFUL])
        found = decomposer.apply(query, model, gate, go_on)
        if model.asked:
            expect(found.questions == () and found.outside == len(seen) > 0, "nothing but a count")
            _skipped(decomposer, found, ErrorReason.MODEL_FAILED)


def every_failure_is_said(decomposer: Decomposer) -> None:
    """One that asks a model says TRANSFORM_SKIPPED, and why, when there is none, or it fails or says nothing."""
    probe = ScriptedProvider([_USEFUL])
    decomposer.apply(_QUERIES[0], probe, passes, go_on)
    for query in _QUERIES if probe.asked else ():
        _skipped(decomposer, decomposer.apply(query, None, passes, go_on), ErrorReason.NO_MODEL)
        for answer in (ModelFailed("gone"), REFUSAL, "", " \n\u3000\n", "```\n```", "[]", '{"questions": []}'):
            _skipped(decomposer, _apply(decomposer, answer, query), ErrorReason.MODEL_FAILED)


def the_same_makes_the_same(decomposer: Decomposer) -> None:
    """What is made depends on the question and the reply alone."""
    for query in _QUERIES:
        expect(_apply(decomposer, _USEFUL, query) == _apply(decomposer, _USEFUL, query), "the same")


def a_stop_ends_it(decomposer: Decomposer) -> None:
    """What `stop` raises goes to the caller, and no model is asked."""
    expect_stopped(lambda model, stop: decomposer.apply(_QUERIES[0], model, passes, stop), _USEFUL)


CHECKS: tuple[Callable[[Decomposer], None], ...] = (
    it_makes_several_questions_or_none,
    it_sends_the_question_alone,
    nothing_outside_passes,
    every_failure_is_said,
    the_same_makes_the_same,
    a_stop_ends_it,
)


def _apply(decomposer: Decomposer, answer: Answer, query: QueryText) -> Decomposed:
    return decomposer.apply(query, ScriptedProvider([answer]), passes, go_on)


def _skipped(decomposer: Decomposer, found: Decomposed, reason: ErrorReason) -> None:
    expect(found.questions == (), "the question whole")
    expect_skipped(found, f"{DECOMPOSITION}:{decomposer.name}", reason)
