"""Ask: decide, look up by one or both branches, and answer with what was found (semantics 11).

Branches are looked up side by side and before the first frame leaves, so that an error of the call is an error and not
half a stream. The structured branch comes first. Figures are said by statements built from facts; passages answer by
their own sentences, or by those of a model that hold, which are sent while it writes. A question that is cut into
several has the branches of each, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from groundwire_server.evidence import (
    Call,
    Degradation,
    DegradationKind,
    EndReason,
    ExplainLevel,
    Filter,
    Header,
    LibrarySnapshot,
    ModelUsage,
    Outcomes,
    Refusal,
    Summary,
    Trace,
    UnrecognizedParam,
)
from groundwire_server.llm import Usage, model_usage
from groundwire_server.narrative import (
    GATE_STEP,
    Reach,
    RetrievalParts,
    Unreachable,
    choose_libraries,
    together,
    with_preset,
)
from groundwire_server.router.branch_run import BranchRun, Part
from groundwire_server.router.branches import BUDGETS, Branch, Sent
from groundwire_server.router.frames import AnswerPart, AskFrame, SubCall, SubCallSummary
from groundwire_server.router.request import AskRequest, check_ask
from groundwire_server.router.route import Routed, RouterLimits, decide_route
from groundwire_server.router.sub_questions import Cut, cut_question
from groundwire_server.router.writer import AnswerModel

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["ask"]

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
    request = replace(request, tuning=with_preset(request.tuning))
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
    cut = cut_question(request, routed, call, reach.snapshots, parts, limits)
    opened = BranchRun(request, call, reach.snapshots, parts, reach.lost, limits, model)
    answered, lost = opened.each(cut.questions, decision.route) if cut.questions else opened.whole(routed)
    branches = [branch for part in answered for branch in part.branches]
    ended: list[Branch] = []
    stream = _streamed(answered, ended)
    if call.options.forbid & _OF_THE_MODEL:
        stream = iter(list(stream))  # what the call forbids must be known before the first frame leaves
    yield AskFrame(
        Header(
            tuple(LibrarySnapshot(library_id, state) for library_id, state in states.items()),
            (*gate, routed.step, *cut.plan),
            call.reference_day,
            filter_applied=call.options.filter,
            hint_applied=_hint(branches, call),
        )
    )
    yield AskFrame(replace(cut.decided(decision, limits.max_metric_queries), clarification=None))
    before = _before(routed, cut, parts, limits)
    if not branches and decision.clarification is not None:
        yield AskFrame(decision.clarification)
        lost = [*routed.degradations, *cut.degradations]
        yield AskFrame(Summary(EndReason.CLARIFICATION, degradations=tuple(lost), model_usage=before))
        return
    yield from stream
    summary = _summary(ended, routed, cut, lost, call)
    yield AskFrame(replace(summary, model_usage=(*before, *summary.model_usage)))


def _before(routed: Routed, cut: Cut, parts: RetrievalParts, limits: RouterLimits) -> tuple[ModelUsage, ...]:
    """What a model was asked before any branch."""
    model, used = limits.model or parts.model, routed.usage + cut.usage
    return () if model is None or used == Usage() else (model_usage(model, used),)


def _state(snapshot: Snapshot, call: Call) -> str:
    """The id of a library's state; raises here, and not where all libraries are read, when it cannot be read."""
    snapshot.attribute_schema(call.principal)
    return snapshot.snapshot_id(call.principal)


def _hint(branches: Sequence[Branch], call: Call) -> Filter | None:
    """The hint in force: the call's unless a branch has dropped it, else those that were read out of questions."""
    if call.options.hint is None:
        return together([branch.hint for branch in branches])
    found = [each for branch in branches if branch.summary is not None for each in branch.summary.degradations]
    dropped = any(each.kind is DegradationKind.FILTER_DROPPED for each in found)
    return None if dropped else call.options.hint


def _streamed(parts: Sequence[Part], ended: list[Branch]) -> Iterator[AskFrame]:
    """The frames of all branches; the answer of a later one begins on a line of its own.

    Evidence that an earlier branch has sent is not sent again.

    Args:
        ended: gets each branch as it ended.
    """
    sent = Sent()
    said = False
    number = 0
    for part in parts:
        parent = 0
        if part.opening is not None:
            number += 1
            parent = number
            yield AskFrame(part.opening, parent)
        begun = len(ended)
        for found in part.branches:
            number += 1
            branch = sent.without(found)
            written = branch.writing.parts() if branch.writing is not None else ()
            lead = "\n" if said else ""
            for frame in chain(branch.frames[:-1], written):
                if isinstance(frame, AnswerPart):
                    yield AskFrame(frame.behind(lead), number)
                    said, lead = True, ""
                elif isinstance(frame, SubCall):
                    yield AskFrame(replace(frame, parent_index=parent), number)
                else:
                    yield AskFrame(frame, number)
            ended.append(branch.written())
            yield AskFrame(ended[-1].end, number)
        if part.opening is not None:
            reason, refusal = _end_of(ended[begun:])
            yield AskFrame(SubCallSummary(reason, refusal), parent)


def _summary(branches: Sequence[Branch], routed: Routed, cut: Cut, lost: Sequence[Degradation], call: Call) -> Summary:
    """What the branches come to, with what was done before them."""
    summaries = [branch.summary for branch in branches if branch.summary is not None]
    end, refusal = _end_of(branches)
    variants = [variant for summary in summaries for variant in summary.variants]
    return Summary(
        end,
        candidates=sum(summary.candidates for summary in summaries),
        degradations=tuple(
            dict.fromkeys(
                (
                    *routed.degradations,
                    *cut.degradations,
                    *(each for summary in summaries for each in summary.degradations),
                    *lost,
                )
            )
        ),
        timings=(*cut.timings, *(timing for summary in summaries for timing in summary.timings)),
        refusal=refusal,
        model_usage=tuple(usage for summary in summaries for usage in summary.model_usage),
        prompt_tokens=sum(summary.prompt_tokens for summary in summaries),
        variants=tuple(variants) if call.options.explain >= ExplainLevel.PLAN else (),
        trace=Trace.joined(summary.trace for summary in summaries),
    )


def _end_of(branches: Sequence[Branch]) -> tuple[EndReason, Refusal | None]:
    """The end of the last branch that answered; a refusal when all that ended were refused."""
    summaries = [branch.summary for branch in branches if branch.summary is not None]
    ended = [branch for branch in branches if branch.end.error is None]
    refused = [branch.end for branch in ended if branch.end.end_reason is EndReason.REFUSED]
    asked = [branch.end for branch in ended if branch.end.end_reason is EndReason.CLARIFICATION]
    answered = [
        branch.end
        for branch in ended
        if branch.end.end_reason not in (EndReason.REFUSED, EndReason.CLARIFICATION) and not _names_unknown(branch)
    ]
    if answered:
        reasons = [*(branch.end.end_reason for branch in ended), *(summary.end_reason for summary in summaries)]
        return next((each for each in reasons if each in BUDGETS), answered[-1].end_reason), None
    if asked:
        return EndReason.CLARIFICATION, None
    if refused and not any(_names_unknown(branch) for branch in ended):
        return EndReason.REFUSED, refused[0].refusal
    return EndReason.EXHAUSTED, None


def _names_unknown(branch: Branch) -> bool:
    """Whether all that a branch found out is that names are not known."""
    outcomes = [outcome for frame in branch.frames if isinstance(frame, Outcomes) for outcome in frame.outcomes]
    return bool(outcomes) and all(isinstance(outcome.outcome, UnrecognizedParam) for outcome in outcomes)
