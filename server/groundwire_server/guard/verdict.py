"""What the guard says of one sentence of a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from groundwire_server.evidence import Span

__all__ = ["Fault", "FaultKind", "Verdict"]


class FaultKind(Enum):
    """Why a sentence does not pass (semantics 11)."""

    FIGURE_NOT_ALLOWED = "figure_not_allowed"  # beside structured answers a model's prose carries no figure
    FIGURE_NOT_IN_SOURCE = "figure_not_in_source"
    ROUNDED = "rounded"  # a cited figure with other digits, or with more or fewer decimals
    CONVERTED = "converted"  # the digits of a cited figure with another unit, currency or scale
    DIRECTION = "direction"  # rose for fell, profit for loss
    PERIOD = "period"  # a date or period that does not stand there, or not beside this figure
    ENTITY = "entity"  # a name of the glossary that does not stand beside this figure
    METRIC = "metric"  # the source says this figure of another metric of the glossary
    RANGE = "range"  # one end of a range, or a range that the source does not have
    HEDGE = "hedge"  # about, at least, under: lost, or another one
    QUANTITY_WORD = "quantity_word"  # doubled, halved, hundreds of: the cited text has no such word or ratio
    QUOTATION = "quotation"  # marked as a quotation, and no exact part of a cited text
    UNKNOWN_CITATION = "unknown_citation"
    NO_CITATION = "no_citation"
    UNSUPPORTED = "unsupported"  # the cited texts speak of something else


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, where in the sentence, and the text there."""

    kind: FaultKind
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a sentence may be sent.

    unchecked_quantities: words such as many and most, which say how much without a figure; nothing holds them.
    used: places, in the sequence that was given, of the cited snippets that the sentence has something of.
    """

    passed: bool
    faults: tuple[Fault, ...] = ()
    unchecked_quantities: tuple[Span, ...] = ()
    used: tuple[int, ...] = ()
