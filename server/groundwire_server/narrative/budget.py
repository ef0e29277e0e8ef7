"""Budgets of a call: what is sent when its time or its tokens run out, and how the rest is named (semantics 5).

Evidence is cut from its end: what comes first in the stream counts most. An outcome stays only with all figures that it
names. The parent of a passage is counted where it is sent, which is once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from groundwire_server.evidence import (
    BudgetOver,
    CalculationOutcome,
    Call,
    Degradation,
    DegradationKind,
    DerivedFigure,
    EndReason,
    ExplainLevel,
    GraphCommunity,
    GraphEdge,
    GraphPath,
    Header,
    LossReason,
    MetricFact,
    MetricFound,
    MetricOutcome,
    Outcomes,
    PlanStep,
    Progress,
    Refusal,
    Snippet,
    Snippets,
    Summary,
    TextPassage,
    Trace,
    TraceEntry,
)

__all__ = ["TOKEN_COUNTER", "EvidenceFrame", "count_tokens", "prompt_text", "within_budgets"]

TOKEN_COUNTER = "pieces/1"
"""How tokens are counted, as the plan names it: six letters, three digits, or any other sign are one."""

_PIECE = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|\S")

EvidenceFrame = Header | Outcomes | Snippets | Progress | Summary


def count_tokens(text: str) -> int:
    """Tokens of a text, as most models would count it or more.

    >>> count_tokens("Revenue rose 1,250.75 in 2023."), count_tokens("増えた。")
    (12, 4)
    """
    return sum(1 for _ in _PIECE.finditer(text))


def prompt_text(snippet: Snippet) -> str:
    """What of a snippet a prompt is made of; empty where an earlier passage has brought it."""
    match snippet.payload:
        case TextPassage(text, prompt):
            return prompt or ("" if snippet.lineage.parent_locator else text)
        case MetricFact(statement=statement) | DerivedFigure(statement=statement):
            return statement
        case GraphEdge() as edge:
            return _edge_text(edge)
        case GraphPath(edges):
            return " ".join(_edge_text(edge) for edge in edges)
        case GraphCommunity(summary=summary):
            return summary


def within_budgets(
    run: Callable[[Call], Iterable[EvidenceFrame]], call: Call, *, spent: int = 0, sent: Collection[str] = ()
) -> Iterator[EvidenceFrame]:
    """The frames of a read, cut to the budgets of its call; as they come where it has none.

    Args:
        run: the read, with the call that it is to look at.
        spent: tokens that other reads of the call have taken. sent: ids of snippets that they sent; these cost nothing.

    Raises:
        FailedPrecondition: something is cut, and the call forbids that. Else as `run` does.
    """
    options = call.options
    if options.soft_budget is None and not options.token_budget:
        yield from run(call)
        return
    frames: list[EvidenceFrame] = []
    over = False
    try:
        frames += run(call.softly())
    except BudgetOver:
        over = True
    room = max(0, options.token_budget - spent) if options.token_budget else None
    yield from _cut(frames, call, room, over=over, sent=sent)


def _cut(
    frames: Sequence[EvidenceFrame], call: Call, room: int | None, *, over: bool, sent: Collection[str]
) -> Iterator[EvidenceFrame]:
    header = next((each for each in frames if isinstance(each, Header)), Header((), (), call.reference_day))
    if room is not None:
        step = PlanStep("budget", TOKEN_COUNTER, f"tokens={call.options.token_budget}")
        header = replace(header, plan=(*header.plan, step))
    purse = _Purse.of(frames, room, {*sent, *_paid(frames, call)})
    kept = [purse.kept(each) for each in frames if not isinstance(each, Header | Summary)]
    summary = next((each for each in frames if isinstance(each, Summary)), Summary(EndReason.EXHAUSTED))
    cuts = [Degradation(DegradationKind.BUDGET_CUT, "soft_budget")] if over else []
    cuts += [Degradation(DegradationKind.BUDGET_CUT, "token_budget")] if purse.full else []
    degradations = (*summary.degradations, *(call.accept(each) for each in cuts))
    if cuts:
        end = EndReason.TOKEN_BUDGET if purse.full else EndReason.SOFT_BUDGET
        summary = replace(summary, end_reason=end, refusal=None)
    if call.options.explain >= ExplainLevel.TRACE:
        summary = replace(summary, trace=Trace.joined((summary.trace, Trace.of(_without_room(frames, purse)))))
    yield header
    yield from (each for each in kept if each is not None)
    yield replace(summary, degradations=degradations, prompt_tokens=0 if room is None else purse.spent)


def _without_room(frames: Sequence[EvidenceFrame], purse: _Purse) -> list[TraceEntry]:
    """What was there and was not kept, with its place in the stream."""
    came = (one for frame in frames if isinstance(frame, Snippets) for one in frame.snippets)
    return [
        TraceEntry(
            "budget",
            LossReason.BUDGET,
            one.lineage.chunk_id,
            rank,
            one.scores.fused if one.scores is not None else None,
            one.lineage.library_id,
            one.snippet_id,
        )
        for rank, one in enumerate(came, start=1)
        if one.snippet_id not in purse.taken
    ]


def _paid(frames: Sequence[EvidenceFrame], call: Call) -> Iterator[str]:
    """Snippets for which a call has paid that sent the beginning of this stream."""
    if call.options.resume is None:
        return
    paid = call.options.resume.paid
    parts = [each for each in frames if isinstance(each, Outcomes)]
    for outcome in [each for part in parts for each in part.outcomes][: paid.outcomes]:
        yield from _names(outcome)
    for calculation in [each for part in parts for each in part.calculations][: paid.calculations]:
        yield from _names(calculation)
    snippets = [one.snippet_id for each in frames if isinstance(each, Snippets) for one in each.snippets]
    yield from snippets[: paid.snippets]


@dataclass(slots=True)
class _Purse:
    """What is kept of a stream, from its beginning. `full`: something had no room, and nothing is kept after it.

    there: snippets of the stream by id. named: ids that some outcome names. taken: those of outcomes that are kept.
    """

    room: int | None
    there: dict[str, Snippet]
    named: frozenset[str]
    spent: int = 0
    full: bool = False
    taken: set[str] = field(default_factory=set)
    _missing: bool = False

    @classmethod
    def of(cls, frames: Sequence[EvidenceFrame], room: int | None, sent: Collection[str]) -> _Purse:
        there = {one.snippet_id: one for each in frames if isinstance(each, Snippets) for one in each.snippets}
        named: set[str] = set()
        for each in frames:
            if isinstance(each, Outcomes):
                named.update(*map(_names, each.outcomes), *map(_names, each.calculations))
        return cls(room, there, frozenset(named), taken=set(sent))

    def kept(self, frame: EvidenceFrame) -> EvidenceFrame | None:
        """What is kept of a frame; None: nothing."""
        match frame:
            case Outcomes(outcomes, calculations):
                found = tuple(each for each in outcomes if self._take(_names(each)))
                calculated = tuple(each for each in calculations if self._take(_names(each)))
                return Outcomes(found, calculated) if found or calculated else None
            case Snippets(snippets):
                some = tuple(
                    each
                    for each in snippets
                    if each.snippet_id in self.taken
                    or (each.snippet_id not in self.named and self._take((each.snippet_id,)))
                )
                return Snippets(some) if some else None
            case _:
                return frame

    def _take(self, ids: Sequence[str]) -> bool:
        """Whether there is room for some snippets together, and for all before them."""
        if self.full or self._missing:
            return False
        fresh = [each for each in dict.fromkeys(ids) if each not in self.taken]
        if not all(each in self.there for each in fresh):
            self._missing = True  # the time was over before it was found
            return False
        if self.room is not None:
            cost = sum(count_tokens(prompt_text(self.there[each])) for each in fresh)
            if self.spent + cost > self.room:
                self.full = True
                return False
            self.spent += cost
        self.taken.update(fresh)
        return True


def _names(outcome: MetricOutcome | CalculationOutcome) -> tuple[str, ...]:
    if isinstance(outcome, CalculationOutcome):
        return () if isinstance(outcome.outcome, Refusal) else (outcome.outcome,)
    return outcome.outcome.snippet_ids if isinstance(outcome.outcome, MetricFound) else ()


def _edge_text(edge: GraphEdge) -> str:
    return f"{edge.source.label} {edge.relation} {edge.target.label}"
