"""Whether sources disagree beyond what they vouch for (semantics 10)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal

from groundwire_server.metric.figures import Figure

__all__ = ["conflicting_figures", "disagree"]

# Exact for every value that is stored: the longest has some thousand digits on either side of the point.
_EXACT = Context(prec=8000)


def disagree(one: str, one_decimals: int | None, other: str, other_decimals: int | None) -> bool:
    """Whether two decimal texts can not both be true.

    A source that vouches for n places means a value less than half of the last of them away; one that says nothing
    vouches for each digit that it has written. Two such ranges that do not overlap disagree.

    >>> (
    ...     disagree("12.4", None, "12.41", None),
    ...     disagree("12408000", -6, "12000000", -6),
    ...     disagree("100", None, "101", None),
    ... )
    (False, False, True)
    """
    first, second = Decimal(one), Decimal(other)
    if first == second:
        return False
    distance = _EXACT.abs(_EXACT.subtract(first, second))
    return distance >= _EXACT.add(_half(first, one_decimals), _half(second, other_decimals))


def _half(value: Decimal, decimals: int | None) -> Decimal:
    """Half of the last place that is vouched for."""
    if decimals is None:
        exponent = value.as_tuple().exponent
        decimals = -exponent if isinstance(exponent, int) else 0
    return Decimal(5).scaleb(-decimals - 1, _EXACT)


def conflicting_figures(figures: Sequence[Figure]) -> set[tuple[str, str]]:
    """(library_id, fact_id) of every source whose latest value disagrees with that of another source of the same unit.

    Figures in other units are other figures, and earlier versions of one source are no conflict.
    """
    latest = _last_of_each(figures)
    found: set[tuple[str, str]] = set()
    for place, one in enumerate(latest):
        for other in latest[place + 1 :]:
            a, b = one.record, other.record
            if a.unit.casefold() == b.unit.casefold() and disagree(a.value, a.decimals, b.value, b.decimals):
                found |= {(one.library_id, one.fact.fact_id), (other.library_id, other.fact.fact_id)}
    return found


def _last_of_each(figures: Sequence[Figure]) -> list[Figure]:
    """The last of the given versions of each fact: where all are given that is the latest."""
    last: dict[tuple[str, str], Figure] = {}
    for figure in figures:
        last[figure.library_id, figure.fact.fact_id] = figure
    return list(last.values())
