"""Runs the branches that a question needs: its own, or those of each question that it was cut into.

All are looked up side by side, and one after the other where they share a budget of tokens. A branch that fails takes
no other one along.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    QueryVariant,
    Snippets,
)
from groundwire_server.narrative import Failed, RetrievalParts, Unreachable, run_all
from groundwire_server.router.branches import Branch, clarified_branch, narrative_branch, structured_branch
from groundwire_server.router.frames import Route, RouteDecision, SubCall, SubCallSummary
from groundwire_server.router.request import AskRequest
from groundwire_server.router.route import Routed, RouterLimits
from groundwire_server.router.sub_questions import SubQuestion
from groundwire_server.router.writer import AnswerModel
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["BranchRun", "Part"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Part:
    """The branches of one question. `opening`: the branch that they belong to; None: the call."""

    branches: tuple[Branch, ...]
    opening: SubCall | None = None


@dataclass(frozen=True, slots=True)
class _Work:
    """A branch to run, of which question: its place among several, from 1; 0: the whole question."""

    route: Route
    run: Callable[[], Branch]
    place: int = 0

    @property
    def component(self) -> str:
        name = self.route.name.lower()
        return f"{name}:{self.place}" if self.place else name


class BranchRun:
    """Runs the branches of one call."""

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
        self._sent: set[str] = set()
        self._language = call.options.language or detect_language(request.question)

    def whole(self, routed: Routed) -> tuple[list[Part], list[Degradation]]:
        """The branches of a question in order, and what failed of them. None: a question has to be answered first.

        Raises:
            GroundwireError: the only branch failed, or all did; or an error that is about the call.
        """
        decision = routed.decision
        if decision.clarification is not None and decision.route is not Route.COMPOSITE:
            return [], []
        branches, lost = self._all(self._work(self._request, routed, figures_allowed=True))
        return [Part(tuple(branches))], lost

    def each(self, questions: Sequence[SubQuestion], route: Route) -> tuple[list[Part], list[Degradation]]:
        """The branches of every question that a question was cut into, in its order; else as `whole`.

        A question with one branch is that branch. A model writes no figures when any of them is answered by figures, or
        the whole question would be.

        Args:
            route: of the whole question.
        """
        figures_allowed = {route, *(each.route for each in questions)} == {Route.NARRATIVE}
        work = [
            replace(one, place=place)
            for place, each in enumerate(questions, start=1)
            for one in self._work(replace(self._request, question=each.text), each.routed, figures_allowed)
        ]
        branches, lost = self._all(work)
        parts: list[Part] = []
        for place, each in enumerate(questions, start=1):
            own = tuple(_of_part(branch) for one, branch in zip(work, branches, strict=True) if one.place == place)
            if len(own) > 1:
                parts.append(Part(own, SubCall(Route.COMPOSITE, each.text)))
            else:
                parts.append(Part(tuple(_asking(branch, each.text) for branch in own)))
        return parts, lost

    def _work(self, request: AskRequest, routed: Routed, figures_allowed: bool) -> list[_Work]:
        decision = routed.decision
        work: list[_Work] = []
        if decision.route is not Route.NARRATIVE:
            asked = decision.clarification
            if asked is None:
                work.append(_Work(Route.STRUCTURED, lambda: self._structured(decision)))
            else:
                work.append(_Work(Route.STRUCTURED, lambda: clarified_branch(asked)))
        if decision.route is not Route.STRUCTURED:
            work.append(_Work(Route.NARRATIVE, lambda: self._narrative(request, routed, figures_allowed)))
        return work

    def _all(self, work: Sequence[_Work]) -> tuple[list[Branch], list[Degradation]]:
        branches: list[Branch] = []
        failures: list[tuple[_Work, Exception]] = []
        self._call.cancel.check("branches")
        for each, outcome in zip(work, self._outcomes([each.run for each in work]), strict=True):
            if not isinstance(outcome, Failed):
                branches.append(outcome)
                continue
            error = outcome.error
            about_the_call = isinstance(error, CallCancelled | DeadlineExceeded | InvalidRequest | UnknownResource)
            if about_the_call or _is_forbidden(error) or len(work) == 1:
                raise error
            failures.append((each, error))
            branches.append(_failed(each.route, error))
        if len(failures) == len(work) and failures:
            raise failures[0][1]
        lost = [
            self._call.accept(Degradation(DegradationKind.BRANCH_FAILED, each.component, cause=_cause(error)))
            for each, error in failures
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
                for frame in outcome.frames:
                    if isinstance(frame, Snippets):
                        self._sent.update(one.snippet_id for one in frame.snippets)
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
            spent=self._spent,
            sent=frozenset(self._sent),
        )

    def _narrative(self, request: AskRequest, routed: Routed, figures_allowed: bool) -> Branch:
        assert routed.reading is not None
        return narrative_branch(
            request,
            routed.reading,
            self._call,
            self._snapshots,
            self._parts,
            self._language,
            self._unreachable,
            beside_figures=routed.decision.route is Route.COMPOSITE,
            figures_allowed=figures_allowed,
            model=self._model,
            spent=self._spent,
            sent=frozenset(self._sent),
        )


def _of_part(branch: Branch) -> Branch:
    """A branch of a question that no caller wrote: what was searched was made by the decomposition."""
    if branch.summary is None:
        return branch
    variants = tuple(
        QueryVariant(each.text, "decompose") if each.made_by == "caller" else each for each in branch.summary.variants
    )
    return replace(branch, summary=replace(branch.summary, variants=variants))


def _asking(branch: Branch, question: str) -> Branch:
    """The only branch of a question, which tells it."""
    opening = branch.frames[0]
    assert isinstance(opening, SubCall)
    told = opening.sub_question or question
    return replace(branch, frames=(replace(opening, sub_question=told), *branch.frames[1:]))


def _is_forbidden(error: Exception) -> bool:
    return isinstance(error, FailedPrecondition) and error.reason is ErrorReason.DEGRADATION_FORBIDDEN


def _failed(route: Route, error: Exception) -> Branch:
    return Branch((SubCall(route), SubCallSummary(EndReason.EXHAUSTED, error=_cause(error))), None)


def _cause(error: Exception) -> Cause:
    if isinstance(error, GroundwireError):
        return error.cause()
    _log.warning("a branch failed: %s", type(error).__name__)
    return Cause(ErrorReason.INTERNAL, "This part of the answer could not be looked up.")
