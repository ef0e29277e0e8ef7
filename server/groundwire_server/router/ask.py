"""Ask: decide, look up by one or both branches, and answer with what was found (semantics 11).

Branches are looked up side by side and before the first frame leaves, so that an error of the call is an error and not
half a stream. The structured branch comes first. Figures are said by statements built from facts; passages answer by
their own sentences, or by those of a model that hold, which are sent while it writes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from groundwire_server.errors import (
    Cause,
    DeadlineExceeded,
    ErrorReason,
    FailedPrecondition,
    GroundwireError,
    InvalidRequest,
    UnknownResource,
)
from groundwire_server.evidence import (
    Call,
    CallCancelled,
    Degradation,
    DegradationKind,
    EndReason,
    ExplainLevel,
    Header,
    LibrarySnapshot,
    Outcomes,
    PlanStep,
    Summary,
    Trace,
    UnrecognizedParam,
)
from groundwire_server.narrative import (
    GATE_STEP,
    Failed,
    Reach,
    RetrievalParts,
    Unreachable,
    choose_libraries,
    run_all,
)
from groundwire_server.router.branches import BUDGETS, Branch, clarified_branch, narrative_branch, structured_branch
from groundwire_server.router.frames import (
    AnswerPart,
    AskFrame,
    Route,
    RouteDecision,
    SubCall,
    SubCallSummary,
)
from groundwire_server.router.request import AskRequest, check_ask
from groundwire_server.router.route import Routed, RouterLimits, decide_route
from groundwire_server.router.writer import AnswerModel
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["ask"]

_log = logging.getLogger(__name__)
_ROUTE_STEP = PlanStep("route", "rules")
# What can become of an answer while a model writes it.
_OF_THE_MODEL = {DegradationKind.MODEL_TEXT_DROPPED, DegradationKind.ANSWER_FALLBACK, DegradationKind.BUDGET_CUT}


def ask(
    request: AskRequest,
    call: Call,
    snapshots: Sequence[Snapshot],
    parts: RetrievalParts | None = None,
    unreachable: Sequence[Unreachable] = (),
    *,
    limits: RouterLimits | None = None,
    model: AnswerModel | None = None,
) -> Iterator[AskFrame]:
    """Decide and stream: header, decision, each branch from SubCall to SubCallSummary, summary.

    Args:
        model: what writes answers to questions for text; None: nothing does, and sources are quoted.
        snapshots: every library that the caller may read, each at one state.
        unreachable: libraries that the caller may read and that could not be opened.

    Raises:
        InvalidRequest: the request or a filter is wrong; every violation at once.
        UnknownResource: the call names a library that is not there.
        FailedPrecondition: NO_MODEL; what a branch needs and is not there; DEGRADATION_FORBIDDEN.
        Unavailable: no library answers.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    parts = parts or RetrievalParts()
    limits = limits or RouterLimits(retrieval=parts.limits)
    check_ask(request, limits, has_model=model is not None)
    chosen = choose_libraries(request.question, call, snapshots, unreachable)
    reach = Reach(call, chosen.snapshots, chosen.unreachable)
    states = reach.each(lambda snapshot: _state(snapshot, call))
    routed = decide_route(
        request.question, call, reach.snapshots, request.history, parts.gate, limits, request.force_route
    )
    decision = routed.decision
    call.cancel.check("route")
    gate = (GATE_STEP,) if parts.gate else ()
    if decision.refusal is not None:
        yield AskFrame(Header((), gate, call.reference_day))
        yield AskFrame(decision)
        yield AskFrame(Summary(EndReason.REFUSED, refusal=decision.refusal))
        return
    opened = _Branches(request, call, reach.snapshots, parts, reach.lost, limits, model)
    branches, degradations = opened.run(routed)
    ended: list[Branch] = []
    stream = _streamed(branches, ended)
    if call.options.forbid & _OF_THE_MODEL:
        stream = iter(list(stream))  # what the call forbids must be known before the first frame leaves
    yield AskFrame(
        Header(
            tuple(LibrarySnapshot(library_id, state) for library_id, state in states.items()),
            (*gate, _ROUTE_STEP),
            call.reference_day,
            filter_applied=call.options.filter,
            hint_applied=None if _dropped_hint(branches) else call.options.hint,
        )
    )
    yield AskFrame(replace(decision, clarification=None))
    if not branches and decision.clarification is not None:
        yield AskFrame(decision.clarification)
        yield AskFrame(Summary(EndReason.CLARIFICATION))
        return
    yield from stream
    yield AskFrame(_summary(ended, degradations, call))


def _state(snapshot: Snapshot, call: Call) -> str:
    """The id of a library's state; raises here, and not where all libraries are read, when it cannot be read."""
    snapshot.attribute_schema(call.principal)
    return snapshot.snapshot_id(call.principal)


class _Branches:
    """Runs the branches that a decision asks for."""

    def __init__(
        self,
        request: AskRequest,
        call: Call,
        snapshots: Sequence[Snapshot],
        parts: RetrievalParts,
        unreachable: Sequence[Unreachable],
        limits: RouterLimits,
        model: AnswerModel | None,
    ) -> None:
        self._request = request
        self._call = call
        self._snapshots = snapshots
        self._parts = parts
        self._unreachable = unreachable
        self._limits = limits
        self._model = model
        self._spent = 0
        self._language = call.options.language or detect_language(request.question)

    def run(self, routed: Routed) -> tuple[list[Branch], list[Degradation]]:
        """The branches in order, and what failed of them. None: a question has to be answered first.

        Raises:
            GroundwireError: the only branch failed, or all did; or an error that is about the call.
        """
        decision = routed.decision
        work: list[tuple[Route, Callable[[], Branch]]] = []
        if decision.route is not Route.NARRATIVE:
            if decision.clarification is None:
                work.append((Route.STRUCTURED, lambda: self._structured(decision)))
            elif decision.route is Route.STRUCTURED:
                return [], []
            else:
                asked = decision.clarification
                work.append((Route.STRUCTURED, lambda: clarified_branch(asked)))
        elif decision.clarification is not None:
            return [], []
        if decision.route is not Route.STRUCTURED:
            work.append((Route.NARRATIVE, lambda: self._narrative(routed)))
        return self._all(work)

    def _all(self, work: Sequence[tuple[Route, Callable[[], Branch]]]) -> tuple[list[Branch], list[Degradation]]:
        branches: list[Branch] = []
        failures: list[tuple[Route, Exception]] = []
        self._call.cancel.check("branches")
        for (route, _), outcome in zip(work, self._outcomes([run for _, run in work]), strict=True):
            if not isinstance(outcome, Failed):
                branches.append(outcome)
                continue
            error = outcome.error
            about_the_call = isinstance(error, CallCancelled | DeadlineExceeded | InvalidRequest | UnknownResource)
            if about_the_call or _is_forbidden(error) or len(work) == 1:
                raise error
            failures.append((route, error))
            branches.append(_failed(route, error))
        if len(failures) == len(work) and failures:
            raise failures[0][1]
        lost = [
            self._call.accept(Degradation(DegradationKind.BRANCH_FAILED, route.name.lower(), cause=_cause(error)))
            for route, error in failures
        ]
        return branches, lost

    def _outcomes(self, work: Sequence[Callable[[], Branch]]) -> list[Branch | Failed]:
        """Side by side; one after the other where they share a budget of tokens, figures first."""
        if not self._call.options.token_budget:
            return run_all(work)
        found: list[Branch | Failed] = []
        for each in work:
            (outcome,) = run_all([each])
            if isinstance(outcome, Branch) and outcome.summary is not None:
                self._spent += outcome.summary.prompt_tokens
            found.append(outcome)
        return found

    def _structured(self, decision: RouteDecision) -> Branch:
        lost = [
            Degradation(DegradationKind.LIBRARY_UNREACHABLE, "library", each.library_id, each.cause)
            for each in self._unreachable
        ]
        return structured_branch(
            decision.metric_queries,
            self._call,
            self._snapshots,
            self._parts,
            self._language,
            [self._call.accept(each) for each in lost],
            self._limits.max_metric_queries,
        )

    def _narrative(self, routed: Routed) -> Branch:
        assert routed.reading is not None
        return narrative_branch(
            self._request,
            routed.reading,
            self._call,
            self._snapshots,
            self._parts,
            self._language,
            self._unreachable,
            beside_figures=routed.decision.route is Route.COMPOSITE,
            model=self._model,
            spent=self._spent,
        )


def _dropped_hint(branches: Sequence[Branch]) -> bool:
    found = [each for branch in branches if branch.summary is not None for each in branch.summary.degradations]
    return any(each.kind is DegradationKind.FILTER_DROPPED for each in found)


def _is_forbidden(error: Exception) -> bool:
    return isinstance(error, FailedPrecondition) and error.reason is ErrorReason.DEGRADATION_FORBIDDEN


def _failed(route: Route, error: Exception) -> Branch:
    return Branch((SubCall(route), SubCallSummary(EndReason.EXHAUSTED, error=_cause(error))), None)


def _cause(error: Exception) -> Cause:
    if isinstance(error, GroundwireError):
        return error.cause()
    _log.warning("a branch failed: %s", type(error).__name__)
    return Cause(ErrorReason.INTERNAL, "This part of the answer could not be looked up.")


def _streamed(branches: Sequence[Branch], ended: list[Branch]) -> Iterator[AskFrame]:
    """The frames of all branches; the answer of a later one begins on a line of its own.

    Args:
        ended: gets each branch as it ended.
    """
    said = False
    for number, branch in enumerate(branches, start=1):
        written = branch.writing.parts() if branch.writing is not None else ()
        lead = "\n" if said else ""
        for frame in chain(branch.frames[:-1], written):
            if isinstance(frame, AnswerPart):
                yield AskFrame(frame.behind(lead), number)
                said, lead = True, ""
            else:
                yield AskFrame(frame, number)
        ended.append(branch.written())
        yield AskFrame(ended[-1].end, number)


def _summary(branches: Sequence[Branch], degradations: Sequence[Degradation], call: Call) -> Summary:
    """What the branches come to: the end of the last that answered; a refusal when all that ended were refused."""
    summaries = [branch.summary for branch in branches if branch.summary is not None]
    ended = [branch for branch in branches if branch.end.error is None]
    refused = [branch.end for branch in ended if branch.end.end_reason is EndReason.REFUSED]
    asked = [branch.end for branch in ended if branch.end.end_reason is EndReason.CLARIFICATION]
    answered = [
        branch.end
        for branch in ended
        if branch.end.end_reason not in (EndReason.REFUSED, EndReason.CLARIFICATION) and not _names_unknown(branch)
    ]
    unknown = any(_names_unknown(branch) for branch in ended)
    end, refusal = EndReason.EXHAUSTED, None
    if answered:
        reasons = [*(branch.end.end_reason for branch in ended), *(summary.end_reason for summary in summaries)]
        end = next((each for each in reasons if each in BUDGETS), answered[-1].end_reason)
    elif asked:
        end = EndReason.CLARIFICATION
    elif refused and not unknown:
        end, refusal = EndReason.REFUSED, refused[0].refusal
    variants = [variant for summary in summaries for variant in summary.variants]
    return Summary(
        end,
        candidates=sum(summary.candidates for summary in summaries),
        degradations=tuple(
            dict.fromkeys((*(each for summary in summaries for each in summary.degradations), *degradations))
        ),
        timings=tuple(timing for summary in summaries for timing in summary.timings),
        refusal=refusal,
        model_usage=tuple(usage for summary in summaries for usage in summary.model_usage),
        prompt_tokens=sum(summary.prompt_tokens for summary in summaries),
        variants=tuple(variants) if call.options.explain >= ExplainLevel.PLAN else (),
        trace=Trace.joined(summary.trace for summary in summaries),
    )


def _names_unknown(branch: Branch) -> bool:
    """Whether all that a branch found out is that names are not known."""
    outcomes = [outcome for frame in branch.frames if isinstance(frame, Outcomes) for outcome in frame.outcomes]
    return bool(outcomes) and all(isinstance(outcome.outcome, UnrecognizedParam) for outcome in outcomes)
