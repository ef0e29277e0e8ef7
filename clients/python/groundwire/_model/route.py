"""What kind of evidence a question needs, and the question back."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.filter import Filter
from groundwire._model.metric import MetricQuery
from groundwire._model.named import NamedEnum
from groundwire._model.stream import Degradation, ModelUsage, Refusal
from groundwire._model.value import Span

__all__ = ["Clarification", "ClarificationOption", "Complexity", "Route", "RouteDecision", "Slot", "Turn", "TurnRole"]


class Route(NamedEnum):
    """Kind of evidence that a question needs. UNSPECIFIED in a request: the server decides."""

    UNSPECIFIED = 0
    STRUCTURED = 1
    NARRATIVE = 2
    COMPOSITE = 3


class Complexity(NamedEnum):
    """How many steps a question needs."""

    UNSPECIFIED = 0
    SIMPLE = 1
    SINGLE = 2
    MULTI = 3


class TurnRole(NamedEnum):
    """Who spoke."""

    UNSPECIFIED = 0
    USER = 1
    ASSISTANT = 2


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier turn of the conversation. It resolves references and is never evidence."""

    role: TurnRole
    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of the question that was recognised; `span` is None when it was taken from history."""

    name: str
    raw: str
    code: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class ClarificationOption:
    """A possible answer to the question back."""

    code: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question back, instead of a guess."""

    missing_param: str
    question: str
    options: tuple[ClarificationOption, ...] = ()
    branch: int = 0


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """The decision, why, and what was recognised. `confidence` is between 0 and 1.

    degradations, model_usage: of `route`; those of `ask` stand in its summary.
    """

    route: Route
    confidence: float = 0.0
    reason: str = ""
    slots: tuple[Slot, ...] = ()
    metric_queries: tuple[MetricQuery, ...] = ()
    filter_suggested: Filter | None = None
    complexity: Complexity = Complexity.UNSPECIFIED
    clarification: Clarification | None = None
    refusal: Refusal | None = None
    degradations: tuple[Degradation, ...] = ()
    model_usage: tuple[ModelUsage, ...] = ()
