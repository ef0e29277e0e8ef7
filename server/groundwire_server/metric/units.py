"""Which spellings of a unit mean one and the same (semantics 10)."""

from __future__ import annotations

__all__ = ["unit_key"]

_SYMBOL = 2
"""Letters of a unit that is written as a symbol, in which case tells one unit from another."""


def unit_key(unit: str) -> str:
    """What spellings of one unit have in common, for sums: case counts wherever it may tell mega from milli.

    >>> unit_key("USD_M") == unit_key("usd_m"), unit_key("MW") == unit_key("mW"), unit_key("MWh") == unit_key("mWh")
    (True, False, False)
    """
    letters = sum(each.isalpha() for each in unit)
    return unit.casefold() if letters > _SYMBOL and (unit.isupper() or unit.islower()) else unit
