"""What any grader must do. A check is a function whose docstring is the sentence that it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from groundwire_server.conformance import Failure, expect, failures
from groundwire_server.errors import ErrorReason
from groundwire_server.llm import ModelFailed, ScriptedProvider, go_on
from groundwire_server.llm.scripted import Answer
from groundwire_server.query.checking import REFUSAL, expect_skipped, expect_stopped
from groundwire_server.query.grades.grader import COMPONENT, Grade, Grader, Ground
from groundwire_server.query.query_text import QueryText

__all__ = ["CHECKS", "Failure", "run_checks"]

_CASES = (
    (
        QueryText("Why were the mountain roads closed?", "en"),
        "The mountain roads were closed after heavy snow.",
        "What was it, and why were they the ones that it was for? The fees of the bank.",
    ),
    (
        QueryText("山区道路为什么封闭？", "zh"),
        "大雪之后，山区道路封闭了三天。",
        "这是为什么的问题，也是什么的问题。银行的手续费。",
    ),
    (
        QueryText("山間部の道路はなぜ閉鎖されたのか。", "ja"),
        "大雪のため、山間部の道路が閉鎖された。",
        "それはなぜされたのか、というのは銀行の手数料のことである。",
    ),
)
"""A question, a passage that answers it, and one that shares nothing with it but words without content."""

_GOOD, _BAD = '{"useful": [0]}', '{"useful": []}'


def run_checks(grader: Grader) -> list[Failure]:
    """Every check that a grader fails; an exception of it is a failure too."""
    return failures(CHECKS, grader)


def an_answer_is_enough(grader: Grader) -> None:
    """A passage that says what is asked for is enough, whatever stands beside it."""
    for question, answer, other in _CASES:
        expect(_grade(grader, [_GOOD], question, (answer,)).enough, "alone")
        expect(_grade(grader, [_GOOD], question, (other, answer)).enough, "beside another one")


def stop_words_and_common_characters_are_not(grader: Grader) -> None:
    """A passage that shares only words without content, or single characters, is not enough."""
    for question, _, other in _CASES:
        expect(not _grade(grader, [_BAD], question, (other,) * 5).enough, "weak")


def nothing_is_not_enough(grader: Grader) -> None:
    """Where nothing was found nobody is asked, and it is not enough."""
    for question, _, _ in _CASES:
        model = ScriptedProvider([_GOOD])
        found = grader.grade(_ground(question, ()), model, go_on)
        expect(not found.enough and found.degradation is None and model.asked == [], "nothing")


def every_failure_is_said(grader: Grader) -> None:
    """Where a model that is needed is missing, fails, refuses or talks, there is no verdict, and why is said."""
    question, answer, _ = _CASES[0]
    ground = _ground(question, (answer,))
    alone = grader.grade(ground, None, go_on)
    for reply in (ModelFailed("gone"), REFUSAL, "", "All of them!", "[0]", '{"useful": "0"}'):
        found = grader.grade(ground, ScriptedProvider([reply, reply]), go_on)
        if alone.degradation is None:
            expect(found == alone, "the model has no say")
        else:
            expect_skipped(found, f"{COMPONENT}:{grader.name}", ErrorReason.MODEL_FAILED)
    if alone.degradation is not None:
        expect_skipped(alone, f"{COMPONENT}:{grader.name}", ErrorReason.NO_MODEL)


def hostile_replies_count_for_nothing(grader: Grader) -> None:
    """Numbers of passages that there are not, and whatever else a model lists, make nothing useful."""
    question, _, other = _CASES[0]
    for listed in ("[-1, 1, 99999999999999999999]", '["0", 0.0, null, true, false, [0], {"passage": 0}]'):
        expect(not _grade(grader, [f'{{"useful": {listed}}}'], question, (other,)).enough, "weak")


def the_same_reply_makes_the_same_verdict(grader: Grader) -> None:
    """A verdict depends on the question, what was found and the reply alone."""
    for question, answer, _ in _CASES:
        expect(_grade(grader, [_GOOD], question, (answer,)) == _grade(grader, [_GOOD], question, (answer,)), "the same")


def a_stop_ends_it(grader: Grader) -> None:
    """What `stop` raises goes to the caller, and no model is asked."""
    question, answer, _ = _CASES[0]
    expect_stopped(lambda model, stop: grader.grade(_ground(question, (answer,)), model, stop), _GOOD)


CHECKS: tuple[Callable[[Grader], None], ...] = (
    an_answer_is_enough,
    stop_words_and_common_characters_are_not,
    nothing_is_not_enough,
    every_failure_is_said,
    hostile_replies_count_for_nothing,
    the_same_reply_makes_the_same_verdict,
    a_stop_ends_it,
)


def _ground(question: QueryText, passages: tuple[str, ...]) -> Ground:
    return Ground(question, (question.text,), passages, lambda _: 1.0)


def _grade(grader: Grader, answers: Iterable[Answer], question: QueryText, passages: tuple[str, ...]) -> Grade:
    return grader.grade(_ground(question, passages), ScriptedProvider(answers), go_on)
