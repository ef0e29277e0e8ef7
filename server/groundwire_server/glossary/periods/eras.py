"""Era years. An era year names the calendar year; a day or year outside its era is refused (semantics 10)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

__all__ = ["ERAS", "ERA_LETTERS", "MINGUO", "Era"]


@dataclass(frozen=True, slots=True)
class Era:
    """An era: its year 1 is the calendar year `first.year`; `last` is its last day, `date.max` where it goes on."""

    name: str
    first: date
    last: date

    def year(self, number: int) -> int:
        """The calendar year of an era year. Raises ValueError when the era has no such year."""
        year = self.first.year + number - 1
        if number < 1 or year > self.last.year:
            raise ValueError(f"{self.name} has no year {number}")
        return year

    def holds(self, first: date, last: date) -> bool:
        """Whether any day of the span lies in the era."""
        return first <= self.last and self.first <= last


ERAS = {
    "明治": Era("明治", date(1868, 1, 25), date(1912, 7, 29)),
    "大正": Era("大正", date(1912, 7, 30), date(1926, 12, 24)),
    "昭和": Era("昭和", date(1926, 12, 25), date(1989, 1, 7)),
    "平成": Era("平成", date(1989, 1, 8), date(2019, 4, 30)),
    "令和": Era("令和", date(2019, 5, 1), date.max),
}
ERA_LETTERS = {"m": ERAS["明治"], "t": ERAS["大正"], "s": ERAS["昭和"], "h": ERAS["平成"], "r": ERAS["令和"]}
MINGUO = Era("民國", date(1912, 1, 1), date.max)
