"""What the conformance suites of this room share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from groundwire_server.conformance import expect
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import DegradationKind
from groundwire_server.llm import Finish, ModelProvider, Reply, ScriptedProvider, Stop, Usage, go_on
from groundwire_server.llm.scripted import Answer
from groundwire_server.query.asking import StepResult
from groundwire_server.query.query_text import QueryText

__all__ = ["REFUSAL", "expect_skipped", "expect_stopped", "expect_the_same_but_for_the_question", "passes"]

REFUSAL = Reply("I cannot do that.", Finish.REFUSED, Usage())


def passes(_: str) -> bool:
    """A gate that nothing is outside of."""
    return True


def expect_skipped(
    result: StepResult,
    component: str,
    reason: ErrorReason,
    kind: DegradationKind = DegradationKind.TRANSFORM_SKIPPED,
) -> None:
    """That a step says it was left out, and why. Raises AssertionError otherwise."""
    lost = result.degradation
    expect(lost is not None and lost.kind is kind, kind.name)
    assert lost is not None
    expect(lost.component == component, "who was skipped")
    expect(lost.cause is not None and lost.cause.reason is reason, f"the cause {reason.name}")


def expect_stopped(run: Callable[[ModelProvider, Stop], object], answer: Answer) -> None:
    """That what `stop` raises comes through, and no model is asked. Raises AssertionError otherwise."""

    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    model = ScriptedProvider([answer])
    try:
        run(model, stop)
    except Stopped:
        expect(model.asked == [], "no request")
        return
    raise AssertionError("it went on")


def expect_the_same_but_for_the_question(
    run: Callable[[QueryText, ModelProvider, Stop], object], query: QueryText, answer: Answer, requests: range
) -> None:
    """That a model is told the same of two questions, but for themselves. Raises AssertionError otherwise.

    Args:
        requests: how many may be made.
    """
    told = []
    for question in (query, replace(query, text="x")):
        model = ScriptedProvider([answer])
        run(question, model, go_on)
        expect(len(model.asked) in requests, "no other number of requests")
        told.append("\n".join(message.text for asked in model.asked for message in asked.messages))
    start, _, end = told[1].rpartition('"x"')
    expect(told[0].startswith(start) and told[0].endswith(end), "the same around the question")
