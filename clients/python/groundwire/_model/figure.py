"""Figures: stored ones as their source states them, and derived ones computed from them in decimal arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from groundwire._model.named import NamedEnum
from groundwire._model.value import Dimension

__all__ = [
    "DerivedFigure",
    "FactVersion",
    "MetricFact",
    "MetricKey",
    "MissingOperand",
    "MissingReason",
    "Operation",
    "ReviewStatus",
]


class ReviewStatus(NamedEnum):
    """Where a figure stands in review."""

    UNSPECIFIED = 0
    AUTO_APPROVED = 1
    APPROVED = 2
    PENDING = 3


class Operation(NamedEnum):
    """How a derived figure was computed."""

    UNSPECIFIED = 0
    ROLLUP = 1
    DIFFERENCE = 2
    RATIO = 3
    GROWTH = 4
    FORMULA = 5


class MissingReason(NamedEnum):
    """Why an operand is missing."""

    UNSPECIFIED = 0
    NOT_FOUND = 1
    CONFLICTING = 2


@dataclass(frozen=True, slots=True)
class MetricKey:
    """The key of a figure in controlled codes; `period` in canonical form."""

    metric: str
    entity: str = ""
    period: str = ""
    channel: str = ""
    dimensions: tuple[Dimension, ...] = ()


@dataclass(frozen=True, slots=True)
class FactVersion:
    """One of several figures that a source has given for the same key; 1 is as first reported."""

    version: int
    latest_version: int = 0
    filed_at: datetime | None = None
    author: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MetricFact:
    """A stored figure. `value` is exact decimal text with every stored digit; `statement` says it in a sentence.

    `decimals` is how far the source vouches for the value (-6: to the million; None: every digit). `conflicting`:
    another visible source disagrees, and all of them are in the stream.
    """

    metric: str
    entity: str
    period: str
    channel: str
    value: str
    unit: str
    statement: str = ""
    fact_id: str = ""
    review_status: ReviewStatus = ReviewStatus.UNSPECIFIED
    conflicting: bool = False
    decimals: int | None = None
    as_written: str = ""
    dimensions: tuple[Dimension, ...] = ()
    version: FactVersion | None = None

    @property
    def key(self) -> MetricKey:
        """What the figure is of."""
        return MetricKey(self.metric, self.entity, self.period, self.channel, self.dimensions)

    @property
    def amount(self) -> Decimal:
        """The value, to calculate with."""
        return Decimal(self.value)


@dataclass(frozen=True, slots=True)
class MissingOperand:
    """An operand that a derived figure lacks."""

    key: MetricKey
    reason: MissingReason


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """A figure computed from stored figures. `expression` names the n-th of `operand_ids` #n; no model took part."""

    operation: Operation
    expression: str
    value: str
    unit: str
    key: MetricKey
    rounded: bool = False
    statement: str = ""
    operand_ids: tuple[str, ...] = ()
    operands_omitted: int = 0
    partial: bool = False
    missing: tuple[MissingOperand, ...] = ()
    missing_omitted: int = 0
    unlike_days: bool = False

    @property
    def amount(self) -> Decimal:
        """The value, to calculate with."""
        return Decimal(self.value)
