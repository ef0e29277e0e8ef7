"""Why a text names no period."""

from __future__ import annotations

from enum import Enum

__all__ = ["PeriodError", "PeriodFault"]


class PeriodFault(Enum):
    """Reasons, each refused and never guessed (semantics 10, Periods, settled)."""

    UNKNOWN = "unknown"
    """It cannot be read as a period."""
    AMBIGUOUS = "ambiguous"
    """It can be read in several ways: 03/04/2024, 2023/24."""
    NO_YEAR = "no_year"
    """It names no year: Q3, 上半期. The current year is never assumed."""
    OPEN = "open"
    """It has one end only: since 2020, 2020年以降."""
    ROLLING = "rolling"
    """It moves with the day of asking: year to date, last twelve months."""
    IMPOSSIBLE = "impossible"
    """There is no such day, quarter or year of an era: 2023-02-30, 昭和65年."""


_SENTENCES = {
    PeriodFault.UNKNOWN: "is not a period",
    PeriodFault.AMBIGUOUS: "can be read in several ways",
    PeriodFault.NO_YEAR: "names no year",
    PeriodFault.OPEN: "has no beginning or no end",
    PeriodFault.ROLLING: "is year-to-date or a rolling span, which is not answered",
    PeriodFault.IMPOSSIBLE: "does not exist in the calendar",
}


class PeriodError(ValueError):
    """A text that names no period.

    Attributes:
        raw: the text.
        fault: why.
        candidates: canonical forms that it could mean, for AMBIGUOUS; never applied.
    """

    def __init__(self, raw: str, fault: PeriodFault, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(f"{raw[:200]!r} {_SENTENCES[fault]}")
        self.raw = raw
        self.fault = fault
        self.candidates = candidates
