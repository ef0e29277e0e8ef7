"""What Route decides and what Ask streams, before it is encoded (router.proto)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from groundwire_server.errors import Cause
from groundwire_server.evidence import (
    Degradation,
    EndReason,
    Filter,
    Header,
    MetricQuery,
    ModelUsage,
    Outcomes,
    PlanStep,
    Refusal,
    Snippets,
    Span,
    Summary,
)

__all__ = [
    "AnswerOrigin",
    "AnswerPart",
    "AnswerWriter",
    "AskFrame",
    "Clarification",
    "ClarificationOption",
    "Complexity",
    "Frame",
    "Route",
    "RouteDecision",
    "Slot",
    "SubCall",
    "SubCallSummary",
    "Turn",
    "TurnRole",
]


class Route(IntEnum):
    """Kind of evidence that a question needs; numbers are those of `groundwire.v1.Route`."""

    STRUCTURED = 1
    NARRATIVE = 2
    COMPOSITE = 3


class Complexity(IntEnum):
    """How many steps a question needs; numbers are those of `groundwire.v1.Complexity`."""

    SIMPLE = 1
    SINGLE = 2
    MULTI = 3


class TurnRole(IntEnum):
    """Who spoke; numbers are those of `groundwire.v1.TurnRole`."""

    USER = 1
    ASSISTANT = 2


class AnswerWriter(IntEnum):
    """Who writes the narrative part; numbers are those of `groundwire.v1.AnswerWriter`."""

    NONE = 1
    EXTRACTIVE = 2
    MODEL = 3


class AnswerOrigin(IntEnum):
    """Who wrote a part of an answer; numbers are those of `groundwire.v1.AnswerOrigin`."""

    FACTS = 1
    QUOTATION = 2
    MODEL = 3
    FIXED = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the conversation. It resolves references and is never evidence."""

    role: TurnRole
    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A recognised part of a question: "metric", "entity", "period", "channel", "cue", or the name of a dimension.

    code: controlled code or canonical period; empty for a cue and for a name that is not known or means several things.
    span: place within the question; None: taken from history.
    """

    name: str
    raw: str
    code: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class ClarificationOption:
    """A possible answer: code, and a name for people."""

    code: str
    label: str


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question back, instead of a guess. Options come best first, at most ten."""

    missing_param: str
    question: str
    options: tuple[ClarificationOption, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """What kind of evidence a question needs, and why.

    degradations, model_usage: of Route; in Ask they stand in the summary.
    """

    route: Route
    confidence: float
    reason: str
    complexity: Complexity
    slots: tuple[Slot, ...] = ()
    metric_queries: tuple[MetricQuery, ...] = ()
    filter_suggested: Filter | None = None
    clarification: Clarification | None = None
    refusal: Refusal | None = None
    degradations: tuple[Degradation, ...] = ()
    model_usage: tuple[ModelUsage, ...] = ()


@dataclass(frozen=True, slots=True)
class SubCall:
    """A branch begins."""

    route: Route
    sub_question: str = ""
    parent_index: int = 0
    plan: tuple[PlanStep, ...] = ()


@dataclass(frozen=True, slots=True)
class SubCallSummary:
    """A branch ends. `refusal` is set exactly when it was refused, `error` when it failed."""

    end_reason: EndReason
    refusal: Refusal | None = None
    error: Cause | None = None
    returned: int = 0


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """One or more whole sentences; all parts, joined in stream order, are the answer."""

    text: str
    cited_snippet_ids: tuple[str, ...]
    origin: AnswerOrigin
    unchecked_quantities: tuple[Span, ...] = ()

    def behind(self, lead: str) -> AnswerPart:
        """The same part with a blank or line break before it."""
        spans = tuple(Span(span.start + len(lead), span.end + len(lead)) for span in self.unchecked_quantities)
        return replace(self, text=f"{lead}{self.text}", unchecked_quantities=spans)


Frame = Header | RouteDecision | SubCall | Outcomes | Snippets | AnswerPart | Clarification | SubCallSummary | Summary


@dataclass(frozen=True, slots=True)
class AskFrame:
    """A frame of Ask and the branch that it belongs to, from 1; 0: the whole call."""

    frame: Frame
    branch: int = 0
