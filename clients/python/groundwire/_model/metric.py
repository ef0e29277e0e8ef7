"""Asking for figures, and the three outcomes."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.figure import MetricKey, Operation
from groundwire._model.named import NamedEnum
from groundwire._model.stream import Refusal
from groundwire._model.value import Dimension

__all__ = [
    "Calculation",
    "CalculationOutcome",
    "DecidedName",
    "MetricFound",
    "MetricNotFound",
    "MetricOutcome",
    "MetricOutcomes",
    "MetricProduct",
    "MetricQuery",
    "UnrecognizedParam",
    "VersionPolicy",
]


class VersionPolicy(NamedEnum):
    """Which version of a restated figure."""

    UNSPECIFIED = 0
    LATEST = 1
    AS_REPORTED = 2
    ALL = 3


@dataclass(frozen=True, slots=True)
class MetricQuery:
    """One figure, named as people say it. No channel: the total."""

    metric: str
    entity: str
    period: str
    channel: str = ""
    dimensions: tuple[Dimension, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricProduct:
    """Every combination of the lists; the last list varies fastest. No channels: the total alone."""

    metrics: tuple[str, ...]
    entities: tuple[str, ...]
    periods: tuple[str, ...]
    channels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calculation:
    """DIFFERENCE, RATIO or GROWTH of two queries, by their place from 0."""

    operation: Operation
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class DecidedName:
    """A name that means several things, of which only the figures left one; `candidates`: codes that it means."""

    param: str
    raw: str
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricFound:
    """There are figures: `snippet_ids` names the snippets that hold them.

    decided: names of the query that mean several things and were decided by the figures.
    """

    key: MetricKey
    snippet_ids: tuple[str, ...] = ()
    conflicting: bool = False
    decided: tuple[DecidedName, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricNotFound:
    """Every name is known, and there is no figure."""

    key: MetricKey
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class UnrecognizedParam:
    """The first name that is not known, or means several things; `suggestions` are never applied by themselves."""

    param: str
    raw: str = ""
    suggestions: tuple[str, ...] = ()
    ambiguous: bool = False
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class MetricOutcome:
    """What became of one query. `outcome` is None only when this client does not know the kind."""

    query_index: int
    query: MetricQuery
    outcome: MetricFound | MetricNotFound | UnrecognizedParam | None


@dataclass(frozen=True, slots=True)
class CalculationOutcome:
    """What became of one calculation: the id of the snippet that holds the figure, or why there is none."""

    calculation_index: int
    outcome: str | Refusal | None


@dataclass(frozen=True, slots=True)
class MetricOutcomes:
    """Some outcomes in order, before the snippets that they name."""

    outcomes: tuple[MetricOutcome, ...]
    calculations: tuple[CalculationOutcome, ...] = ()
    after: bytes | None = None
    branch: int = 0
