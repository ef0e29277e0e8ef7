"""Route: what kind of evidence a question needs (semantics 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import (
    Call,
    Degradation,
    Family,
    MetricQuery,
    PlanStep,
    RefusalReason,
    check_filter_in_each,
    make_refusal,
)
from groundwire_server.llm import ModelProvider, Usage, load_prompt, model_usage
from groundwire_server.metric import FACT_ATTRIBUTES
from groundwire_server.narrative import RetrievalLimits, check_question, refuse_outside_names, suggest_filter
from groundwire_server.router.clarify import clarify, clarify_everything
from groundwire_server.router.classifier import RouteClassifier
from groundwire_server.router.decide import Decision, Wanted, decide, wanted_of
from groundwire_server.router.frames import Clarification, Complexity, Route, RouteDecision, Turn
from groundwire_server.router.history import borrowed_slots, resolve
from groundwire_server.router.model_router import ModelRouter
from groundwire_server.router.reading import Reading, read_question
from groundwire_server.security import SecurityGate
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Routed", "RouterLimits", "check_conversation", "decide_route", "route"]

_NO_GATE = SecurityGate()
_NO_USAGE = Usage()
RULES_STEP = PlanStep("route", "rules")


@dataclass(frozen=True, slots=True)
class RouterLimits:
    """What a question may bring along and ask for, and who judges it where the rules are not sure.

    Attributes:
        classifier: who weighs its route; None: nobody, the rules hold.
        model: the language model; None: there is none.
        route_by_model: whether the model is asked for the route first, and the classifier only where it fails.
        steps_by_model: whether the model is asked how many steps a question needs that is to be cut only if it needs
            several.
    """

    retrieval: RetrievalLimits = field(default_factory=RetrievalLimits)
    max_history_turns: int = 20
    max_metric_queries: int = 1000
    classifier: RouteClassifier | None = None
    model: ModelProvider | None = None
    route_by_model: bool = False
    steps_by_model: bool = False


@dataclass(frozen=True, slots=True)
class Routed:
    """A decision, and the question as it was read, with the names that it borrows; None: it was refused.

    step: who decided. asks_nothing: it is a greeting or the like. usage: what a model was asked for it.
    """

    decision: RouteDecision
    reading: Reading | None
    step: PlanStep = RULES_STEP
    asks_nothing: bool = False
    degradations: tuple[Degradation, ...] = ()
    usage: Usage = _NO_USAGE


def route(
    question: str,
    call: Call,
    snapshots: Sequence[Snapshot],
    history: Sequence[Turn] = (),
    *,
    gate: SecurityGate = _NO_GATE,
    limits: RouterLimits | None = None,
) -> RouteDecision:
    """Decide, and retrieve nothing. The same question over the same libraries gets the same decision.

    Raises:
        InvalidRequest: the question is blank or too long, or the history is; every violation at once.
    """
    limits = limits or RouterLimits()
    faults = check_conversation(question, history, limits)
    if faults:
        raise InvalidRequest(faults)
    routed = decide_route(question, call, snapshots, history, gate, limits)
    used = routed.usage
    told = () if limits.model is None or used == _NO_USAGE else (model_usage(limits.model, used),)
    return replace(routed.decision, degradations=routed.degradations, model_usage=told)


def check_conversation(question: str, history: Sequence[Turn], limits: RouterLimits) -> list[Violation]:
    """What is wrong with a question and its history."""
    found = check_question("question", question, limits.retrieval)
    if len(history) > limits.max_history_turns:
        words = f"{len(history)} turns, at most {limits.max_history_turns}"
        found.append(Violation("history", ErrorReason.VALUE_OUT_OF_RANGE, words))
    for place, turn in enumerate(history):
        if len(turn.text) > limits.retrieval.max_query_chars:
            words = f"{len(turn.text)} code points, at most {limits.retrieval.max_query_chars}"
            found.append(Violation(f"history[{place}].text", ErrorReason.VALUE_OUT_OF_RANGE, words))
    return found


def decide_route(
    question: str,
    call: Call,
    snapshots: Sequence[Snapshot],
    history: Sequence[Turn],
    gate: SecurityGate,
    limits: RouterLimits,
    forced: Route | None = None,
) -> Routed:
    """The decision on a question that has been checked. `forced`: this route, with the slots that are there.

    Raises:
        InvalidRequest: the question names more figures than one call may ask for, or a filter is wrong.
    """
    language = call.options.language or detect_language(question)
    if refuse_outside_names(question, call, snapshots, gate) is not None:
        return _refused(language)
    faults = _filter_faults(call, snapshots)
    if faults:
        raise InvalidRequest(faults)
    reading = resolve(read_question(question, call, snapshots), history, call, snapshots)
    if reading.question != question and refuse_outside_names(reading.question, call, snapshots, gate) is not None:
        return _refused(language)
    by_model = ModelRouter(limits.model, call, limits.classifier) if limits.route_by_model and forced is None else None
    decision = decide(reading, by_model or limits.classifier)
    if decision.wanted.missing == "metric" and not decision.asks_nothing and limits.classifier is not None:
        asked_back = clarify(decision.wanted, call, snapshots, language, gate)
        if not asked_back.options:  # there are no figures to choose from
            decision = decide(reading)
    chosen = (
        decision
        if forced is None
        else replace(
            decision,
            route=forced,
            confidence=1.0,
            reason=f"asked for; {decision.reason}",
            wanted=wanted_of(reading) if forced is not Route.NARRATIVE else Wanted(),
            asks_nothing=False,
        )
    )
    return Routed(
        RouteDecision(
            route=chosen.route,
            confidence=chosen.confidence,
            reason=chosen.reason,
            complexity=chosen.complexity,
            slots=borrowed_slots(reading, question),
            metric_queries=() if chosen.wanted.missing else _queries(chosen.wanted, limits.max_metric_queries),
            filter_suggested=suggest_filter(reading.question, call, snapshots, gate),
            clarification=_clarification(chosen, call, snapshots, language, gate),
        ),
        reading,
        _step(decision, limits) if forced is None else PlanStep("route", "caller"),
        chosen.asks_nothing,
        () if by_model is None or by_model.lost is None else (by_model.lost,),
        _NO_USAGE if by_model is None else by_model.usage,
    )


def _step(decision: Decision, limits: RouterLimits) -> PlanStep:
    """Who decided: the rules where they were sure, else who weighed."""
    if not decision.weighed_by or limits.model is None or decision.weighed_by != "llm":
        return PlanStep("route", decision.weighed_by) if decision.weighed_by else RULES_STEP
    return PlanStep("route", "llm", f"{limits.model.name}:{limits.model.model},{load_prompt('route', 'en').purpose}")


def _filter_faults(call: Call, snapshots: Sequence[Snapshot]) -> list[Violation]:
    """What is wrong with the call's filters for passages and figures alike, whichever of them a branch will ask for."""
    if call.options.filter is None and call.options.hint is None:
        return []
    schemas: list[Mapping[str, Family]] = [FACT_ATTRIBUTES]
    schemas += [snapshot.attribute_schema(call.principal) for snapshot in snapshots]
    trees = (("options.filter", call.options.filter), ("options.hint", call.options.hint))
    return [fault for path, tree in trees if tree is not None for fault in check_filter_in_each(tree, schemas, path)]


def _refused(language: str) -> Routed:
    refusal = make_refusal(RefusalReason.OUT_OF_SCOPE, language)
    reason = "it names something that this service does not answer about"
    return Routed(RouteDecision(Route.NARRATIVE, 1.0, reason, Complexity.SIMPLE, refusal=refusal), None)


def _clarification(
    decision: Decision, call: Call, snapshots: Sequence[Snapshot], language: str, gate: SecurityGate
) -> Clarification | None:
    if decision.asks_nothing:
        return clarify_everything(call, snapshots, language, gate)
    return clarify(decision.wanted, call, snapshots, language, gate) if decision.wanted.missing else None


def _queries(wanted: Wanted, most: int) -> tuple[MetricQuery, ...]:
    if wanted.count > most:
        words = f"it names {wanted.count} figures, at most {most}"
        raise InvalidRequest.one("question", ErrorReason.VALUE_OUT_OF_RANGE, words)
    combined = product(wanted.metrics, wanted.entities, wanted.periods, wanted.channels or ("",))
    return tuple(MetricQuery(*names) for names in combined)
