"""What units count: money of any currency, percents, persons, shares."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from groundwire_server.ingest.measure_reading import unit_measure
from groundwire_server.ingest.unit_words import HEADS, PERCENT, SHARES, is_money, same_unit, split_per

__all__ = ["in_money", "kind_of_unit"]


@lru_cache(maxsize=4096)
def kind_of_unit(unit: str) -> str:
    """What a unit counts: "money", "money per unit", "percent", "persons" or "shares"; empty where that is not known.

    >>> [kind_of_unit(each) for each in ("JPY", "USD_M", "USD/shares", "%", "人", "shares", "t", "")]
    ['money', 'money', 'money per unit', 'percent', 'persons', 'shares', '', '']
    """
    top, bar, _ = split_per(unicodedata.normalize("NFKC", unit).strip().casefold())
    if bar:
        return "money per unit" if is_money(top) else ""
    if is_money(unit) or is_money(unit_measure(unit).unit):
        return "money"
    return next((kind for kind in (PERCENT.lower(), HEADS, SHARES) if same_unit(unit, kind)), "")


def in_money(unit: str, said: str) -> str:
    """A unit of money in another currency; any other unit as it is.

    >>> in_money("USD/shares", "CNY"), in_money("USD_M", "JPY"), in_money("USD", "US$"), in_money("persons", "JPY")
    ('CNY/shares', 'JPY', 'USD', 'persons')
    """
    top, bar, bottom = split_per(unicodedata.normalize("NFKC", unit).strip())
    own = unit_measure(unit).unit or top
    if not is_money(said) or not is_money(own) or same_unit(own, said):
        return unit
    return f"{said}/{bottom}" if bar else said
