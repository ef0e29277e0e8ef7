"""A question cut into questions of its own, each decided on as a question of a caller is (semantics 7).

What a model wrote is not trusted: a question of its is asked only when it passes the gate and names no figure, date,
period or controlled name that the caller's question does not name, and all of them together name each period and
controlled name that it does. Else none is asked: the caller's question is asked as it is, and that is said.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from groundwire_server.errors import Cause, DeadlineExceeded, ErrorReason, GroundwireError, InvalidRequest
from groundwire_server.evidence import (
    BudgetOver,
    Call,
    CallCancelled,
    Degradation,
    DegradationKind,
    PlanStep,
    StageTiming,
)
from groundwire_server.llm import Usage
from groundwire_server.narrative import RetrievalParts
from groundwire_server.query import DECOMPOSITION, Decomposed, QueryText, make_decomposer, whole
from groundwire_server.router.frames import Complexity, Route, RouteDecision, Turn, TurnRole
from groundwire_server.router.model_choice import Wish, choose_word
from groundwire_server.router.reading import Reading
from groundwire_server.router.request import AskRequest
from groundwire_server.router.route import Routed, RouterLimits, decide_route
from groundwire_server.text import detect_language, find_term, normalize

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Cut", "SubQuestion", "cut_question"]

_log = logging.getLogger(__name__)
_NONE = "none"
_NO_USAGE = Usage()
_STEPS = Wish(
    "complexity",
    "complexity",
    tuple(each.name.lower() for each in Complexity),
    "adaptive:llm",
    DegradationKind.TRANSFORM_SKIPPED,
)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """One of the questions that a question was cut into, decided on."""

    text: str
    routed: Routed

    @property
    def route(self) -> Route:
        """Its route."""
        return self.routed.decision.route


@dataclass(frozen=True, slots=True)
class Cut:
    """What became of a question. `questions`: two to four; empty: it is asked as it is."""

    questions: tuple[SubQuestion, ...] = ()
    plan: tuple[PlanStep, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    usage: Usage = _NO_USAGE

    def decided(self, decision: RouteDecision, most: int) -> RouteDecision:
        """The decision on the whole question, with what its parts will ask for; at most `most` queries."""
        if not self.questions:
            return decision
        queries = dict.fromkeys(query for each in self.questions for query in each.routed.decision.metric_queries)
        return replace(decision, complexity=Complexity.MULTI, metric_queries=tuple(queries)[:most])


def cut_question(
    request: AskRequest,
    routed: Routed,
    call: Call,
    snapshots: Sequence[Snapshot],
    parts: RetrievalParts,
    limits: RouterLimits,
) -> Cut:
    """Cut a question where the call or a library asks for that.

    Raises:
        FailedPrecondition: it could not be cut, and the call forbids that.
        CallCancelled, DeadlineExceeded: the call is over. A soft budget that runs out is no error: BUDGET_CUT.
    """
    name, adaptive = _wish(request, snapshots, has_model=parts.model is not None)
    if name == _NONE or routed.reading is None or routed.asks_nothing:
        return Cut()
    started = time.perf_counter()
    judged = _judge(routed, call, limits) if adaptive else Cut()
    if adaptive and judged.plan[0].detail != Complexity.MULTI.name.lower():
        return judged
    made = _apply(name, routed.reading, call, snapshots, parts)
    questions, strayed, used = _decide(made, request, routed.reading, call, snapshots, parts, limits)
    if made.purpose and questions and not (strayed or made.beyond):  # what is beyond is told as cut
        strayed = int(_loses(questions, routed.reading))
    left_out = made.outside + strayed
    lost = made.degradation
    if lost is None and left_out:
        cause = Cause(ErrorReason.MODEL_FAILED, "What the model wrote asks for something else.")
        questions, lost = (), whole(name, cause).degradation
    elif made.beyond:
        lost = Degradation(DegradationKind.BUDGET_CUT, f"{DECOMPOSITION}:{name}")
    elapsed = timedelta(seconds=time.perf_counter() - started)
    counts = {"questions": max(1, len(questions)), "outside": made.outside, "strayed": strayed, "beyond": made.beyond}
    told = ",".join(f"{what}={count}" for what, count in counts.items() if count)
    if made.purpose and parts.model is not None:
        told = f"{parts.model.name}:{parts.model.model},{made.purpose},{told}"
    ran = name != "llm" or bool(made.purpose)
    usage = judged.usage + made.usage + used
    return Cut(
        questions,
        (*judged.plan, *([PlanStep("decompose", name, told)] if ran else [])),
        (*judged.timings, *([StageTiming("decompose", elapsed, 1, max(1, len(questions)))] if ran else [])),
        tuple(
            dict.fromkeys(
                [
                    *judged.degradations,
                    *([call.accept(lost)] if lost is not None else []),
                    *(each for one in questions for each in one.routed.degradations),
                ]
            )
        ),
        usage,
    )


def _wish(request: AskRequest, snapshots: Sequence[Snapshot], *, has_model: bool) -> tuple[str, bool]:
    """By what to cut, and whether only what needs several steps: as the call says, else as one of the libraries does.

    To cut only what needs it asks for cutting: by the model where there is one, else by rules.
    """
    said, wished = request.tuning.decomposition, {snapshot.config.decomposition for snapshot in snapshots} - {_NONE}
    name = said or min(wished, default=_NONE)
    asked = request.tuning.adaptive
    adaptive = any(snapshot.config.adaptive for snapshot in snapshots) if asked is None else asked
    if adaptive and name == _NONE and not said:
        name = "llm" if has_model else "rules"
    return name, adaptive


def _judge(routed: Routed, call: Call, limits: RouterLimits) -> Cut:
    """How many steps a question needs: by its words, or as the model says where it is asked."""
    assert routed.reading is not None
    by_words = routed.decision.complexity.name.lower()
    if not limits.steps_by_model:
        return Cut(plan=(PlanStep("adaptive", "rules", by_words),))
    choice = choose_word(_STEPS, routed.reading.question, routed.reading.language, limits.model, call)
    if choice.lost is not None:
        lost = (call.accept(choice.lost),)
        return Cut(plan=(PlanStep("adaptive", "rules", by_words),), degradations=lost, usage=choice.usage)
    return Cut(plan=(PlanStep("adaptive", "llm", choice.word),), usage=choice.usage)


def _apply(name: str, reading: Reading, call: Call, snapshots: Sequence[Snapshot], parts: RetrievalParts) -> Decomposed:
    """What a decomposer makes of a question with what history resolves in it; whatever goes wrong, it is there."""
    bounded = call.softly(before_end=True).cancel
    asked = QueryText(reading.question, detect_language(reading.question))
    try:
        return make_decomposer(name).apply(
            asked, parts.model, _gate(snapshots, parts), lambda: bounded.check("decompose")
        )
    except BudgetOver:
        return Decomposed(degradation=Degradation(DegradationKind.BUDGET_CUT, f"{DECOMPOSITION}:{name}"))
    except (CallCancelled, DeadlineExceeded):
        raise
    except GroundwireError as error:
        return whole(name, error.cause())
    except Exception as error:  # noqa: BLE001 - whatever a model's client raises, the question is asked
        _log.warning("the decomposition %s failed: %s", name, type(error).__name__)
        return whole(name, Cause(ErrorReason.MODEL_FAILED, "The decomposition failed."))


def _gate(snapshots: Sequence[Snapshot], parts: RetrievalParts) -> Callable[[str], bool]:
    """Whether a text names nothing outside, as the question itself is judged."""

    def passes(text: str) -> bool:
        if not parts.gate:
            return True
        known = [mention.span for snapshot in snapshots for mention in snapshot.glossary.find_terms(text)]
        return parts.gate.find(text, known) is None

    return passes


def _decide(
    made: Decomposed,
    request: AskRequest,
    reading: Reading,
    call: Call,
    snapshots: Sequence[Snapshot],
    parts: RetrievalParts,
    limits: RouterLimits,
) -> tuple[tuple[SubQuestion, ...], int, Usage]:
    """The questions decided on, each with the turns before it; how many may not be asked; what the model was asked."""
    questions: list[SubQuestion] = []
    strayed = 0
    used = _NO_USAGE
    turns = list(request.history)
    for text in made.questions:
        call.cancel.check("decompose")
        try:
            routed = decide_route(text, call, snapshots, turns, parts.gate, limits, request.force_route)
        except InvalidRequest:  # it names more figures than one call may ask for
            strayed += 1
            continue
        used += routed.usage
        if routed.reading is None or routed.asks_nothing or _strays(routed.reading, reading):
            strayed += 1
            continue
        if made.purpose and _adds(routed.reading, reading, snapshots):
            strayed += 1
            continue
        questions.append(SubQuestion(text, routed))
        turns.append(Turn(TurnRole.USER, text))
    return tuple(questions), strayed, used


def _strays(part: Reading, question: Reading) -> bool:
    """Whether a question names a controlled name, period or number that the one it was cut from does not."""
    said = normalize(question.question)
    meanings = {(name.kind, name.axis, name.codes) for name in question.names}
    periods = {each.period.canonical for each in question.periods if each.period is not None}
    numbers = {*_DIGITS.findall(said), *(number for period in periods for number in _DIGITS.findall(period))}
    if any(
        (name.kind, name.axis, name.codes) not in meanings and not _stands(name.raw, question) for name in part.names
    ):
        return True
    for each in part.periods:
        canonical = None if each.period is None else each.period.canonical
        if canonical not in periods and not _stands(each.text, question):
            return True
    return not numbers.issuperset(_DIGITS.findall(normalize(part.question)))


def _stands(words: str, question: Reading) -> bool:
    """Whether words stand in a question between borders, and not as a part of a longer name."""
    longer = [name.span for name in question.names]
    return any(
        not any(span.start <= at.start and at.end <= span.end and span != at for span in longer)
        for at in find_term(question.question, words)
    )


def _adds(part: Reading, question: Reading, snapshots: Sequence[Snapshot]) -> bool:
    """Whether a question says a date, period or figure, in digits or words, that the one it was cut from does not.

    The number guard lets an answer repeat what its question says.
    """
    from groundwire_server.guard import adds_to  # loaded by the first question that a model cuts

    glossaries = [snapshot.glossary for snapshot in snapshots]
    return adds_to(part.question, question.question, question.language, glossaries)


def _loses(questions: Sequence[SubQuestion], whole_question: Reading) -> bool:
    """Whether some controlled name or period of a question stands in none of those that it was cut into."""
    parts = [each.routed.reading for each in questions if each.routed.reading is not None]
    meanings = {(name.kind, name.axis, name.codes) for part in parts for name in part.names}
    periods = {each.period.canonical for part in parts for each in part.periods if each.period is not None}

    def said(words: str) -> bool:
        return any(_stands(words, part) for part in parts)

    return any(
        (name.kind, name.axis, name.codes) not in meanings and not said(name.raw) for name in whole_question.names
    ) or any(
        (each.period is None or each.period.canonical not in periods) and not said(each.text)
        for each in whole_question.periods
    )
