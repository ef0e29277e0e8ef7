"""Figures: stored ones as their source states them, and derived ones computed from them in decimal arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from groundwire_server.evidence.value import Dimension

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


class ReviewStatus(IntEnum):
    """Where a figure stands in review; numbers are those of `groundwire.v1.ReviewStatus`. PENDING is never visible."""

    AUTO_APPROVED = 1
    APPROVED = 2
    PENDING = 3


class Operation(IntEnum):
    """How a derived figure was computed; numbers are those of `groundwire.v1.Operation`."""

    ROLLUP = 1
    DIFFERENCE = 2
    RATIO = 3
    GROWTH = 4
    FORMULA = 5


@dataclass(frozen=True, slots=True)
class MetricKey:
    """The key of a figure in controlled codes; `period` in canonical form, `channel` "TOTAL" for the whole."""

    metric: str
    entity: str
    period: str
    channel: str = "TOTAL"
    dimensions: tuple[Dimension, ...] = ()


@dataclass(frozen=True, slots=True)
class FactVersion:
    """One of several figures that a source has given for the same key."""

    version: int
    latest_version: int
    filed_at: datetime | None = None
    author: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MetricFact:
    """A stored figure. `value` is exact decimal text with every stored digit; never rounded, scaled or converted."""

    key: MetricKey
    value: str
    unit: str
    statement: str
    fact_id: str
    review_status: ReviewStatus
    conflicting: bool = False
    decimals: int | None = None
    as_written: str = ""
    version: FactVersion | None = None


class MissingReason(IntEnum):
    """Why an operand is missing; numbers are those of `groundwire.v1.MissingReason`."""

    NOT_FOUND = 1
    CONFLICTING = 2


@dataclass(frozen=True, slots=True)
class MissingOperand:
    """An operand that a derived figure lacks."""

    key: MetricKey
    reason: MissingReason


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """A figure computed from stored figures. `expression` names the n-th operand #n; no model takes part.

    `partial`: some operand is missing, so this is the sum of what is there and not the whole. `unlike_days`: the period
    names other days for one operand than for another.
    """

    operation: Operation
    expression: str
    value: str
    unit: str
    rounded: bool
    statement: str
    key: MetricKey
    operand_ids: tuple[str, ...]
    partial: bool = False
    missing: tuple[MissingOperand, ...] = ()
    unlike_days: bool = False
