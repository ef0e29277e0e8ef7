"""What a phrase says of unit and scale, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["NO_MEASURE", "Measure", "Shares"]

Shares = Literal["same", "own", "unclear"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What a phrase says of the numbers below or beside it.

    power: of ten that they are counted in; None: not said. unit: empty: not said.
    shares: whether numbers of shares are counted so, too: "same", "own" (they stand as they are), or "unclear".
    vague: a sign of money that may be of several countries, which made unit empty.
    """

    power: int | None = None
    unit: str = ""
    shares: Shares = "same"
    vague: str = ""

    def __bool__(self) -> bool:
        return self.power is not None or bool(self.unit) or bool(self.vague)

    def over(self, wider: Measure) -> Measure:
        """This one, and of what it does not say what the wider one says."""
        return Measure(
            wider.power if self.power is None else self.power,
            self.unit or ("" if self.vague else wider.unit),
            self.shares if self.power is not None else wider.shares,
            self.vague or ("" if self.unit else wider.vague),
        )


NO_MEASURE = Measure()
