"""What becomes of a metric query: found, not found, or unrecognised. Exactly one of the three, never a guess."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire_server.evidence.figure import MetricKey
from groundwire_server.evidence.stream import Refusal
from groundwire_server.evidence.value import Dimension

__all__ = [
    "CalculationOutcome",
    "DecidedName",
    "MetricFound",
    "MetricNotFound",
    "MetricOutcome",
    "MetricQuery",
    "UnrecognizedParam",
]


@dataclass(frozen=True, slots=True)
class MetricQuery:
    """One figure, named as the caller says it. An empty channel is TOTAL."""

    metric: str
    entity: str
    period: str
    channel: str = ""
    dimensions: tuple[Dimension, ...] = ()


@dataclass(frozen=True, slots=True)
class DecidedName:
    """A name that means several things, of which only the figures left one. `candidates`: some codes that it means."""

    param: str
    raw: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricFound:
    """There are figures: ids of the snippets that hold them, one a source or the one that a formula gives.

    decided: names that mean several things and were decided by the figures, so that nothing is picked in silence.
    """

    key: MetricKey
    snippet_ids: tuple[str, ...]
    conflicting: bool = False
    decided: tuple[DecidedName, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricNotFound:
    """Every name is known and there is no figure. The refusal's only digits are those of the period."""

    key: MetricKey
    refusal: str


@dataclass(frozen=True, slots=True)
class UnrecognizedParam:
    """The first of metric, entity, period, channel, dimensions that is not known or is ambiguous.

    `explanation`: fixed sentence on why `raw` cannot be read; empty: it is simply not known.
    """

    param: str
    raw: str
    suggestions: tuple[str, ...] = ()
    ambiguous: bool = False
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class MetricOutcome:
    """What became of the query at this place."""

    query_index: int
    query: MetricQuery
    outcome: MetricFound | MetricNotFound | UnrecognizedParam


@dataclass(frozen=True, slots=True)
class CalculationOutcome:
    """What became of the calculation at this place: the snippet that holds the derived figure, or why there is none."""

    calculation_index: int
    outcome: str | Refusal
