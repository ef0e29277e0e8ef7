"""Years of an entity: where its fiscal year begins, and which calendar year names it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

__all__ = ["FiscalYears", "add_months"]


def add_months(day: date, months: int) -> date:
    """The same day of a later month, or its last day where it has no such day."""
    month = day.year * 12 + day.month - 1 + months
    first = date(month // 12, month % 12 + 1, 1)
    following = date((month + 1) // 12, (month + 1) % 12 + 1, 1)
    return min(first.replace(day=1) + timedelta(days=day.day - 1), following - timedelta(days=1))


@dataclass(frozen=True)
class FiscalYears:
    """How an entity counts its fiscal years."""

    month: int = 1
    day: int = 1
    named_by: str = ""  # "start", "end", or nothing said
    stated: bool = False  # whether somebody said when it begins

    def begin(self, named: int, *, by_start: bool) -> date:
        """The first day of the fiscal year that a calendar year names."""
        if (self.month, self.day) == (1, 1) or by_start:
            return date(named, self.month, self.day)
        return date(named - 1, self.month, self.day)

    def by_start(self, *, nendo: bool) -> bool:
        """Whether the year in which it begins names it; 年度 does so where nothing is said."""
        return self.named_by == "start" or (nendo and not self.named_by)

    def containing(self, day: date) -> date:
        """The first day of the fiscal year in which a day lies."""
        here = date(day.year, self.month, self.day)
        return here if here <= day else date(day.year - 1, self.month, self.day)
