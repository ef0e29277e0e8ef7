"""Whether sources disagree beyond what they vouch for (semantics 10)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Context, Decimal
from typing import TypeVar

from groundwire_server.metric.figures import Figure

__all__ = ["conflicting_figures", "conflicting_values", "disagree", "most_precise"]

_Source = TypeVar("_Source", bound=Hashable)
_Given = TypeVar("_Given")

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
    (low, high), (other_low, other_high) = _range(one, one_decimals), _range(other, other_decimals)
    return low >= other_high or other_low >= high


def _range(text: str, decimals: int | None) -> tuple[Decimal, Decimal]:
    """The ends, both exclusive, between which a source says that the value lies: half of its last place beside it."""
    value = Decimal(text)
    half = Decimal(5).scaleb(-_places(text, decimals) - 1, _EXACT)
    return _EXACT.subtract(value, half), _EXACT.add(value, half)


def _places(text: str, decimals: int | None) -> int:
    """Decimal places that a source vouches for: those that it says, else each digit that it has written."""
    if decimals is not None:
        return decimals
    exponent = Decimal(text).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def conflicting_figures(figures: Sequence[Figure]) -> set[tuple[str, str]]:
    """(library_id, fact_id) of every source whose latest value disagrees with that of another source of the same unit.

    Figures in other units are other figures, and earlier versions of one source are no conflict.
    """
    if len(figures) < 2:
        return set()
    return conflicting_values(
        ((each.library_id, each.fact.fact_id), each.record.value, each.record.unit, each.record.decimals)
        for each in _last_of_each(figures)
    )


def conflicting_values(stated: Iterable[tuple[_Source, str, str, int | None]]) -> set[_Source]:
    """The sources that disagree with another one.

    Args:
        stated: of each source its value, unit and decimals.
    """
    by_unit: dict[str, list[tuple[Decimal, Decimal, _Source]]] = {}
    for source, value, unit, decimals in stated:
        low, high = _range(value, decimals)
        by_unit.setdefault(unit.casefold(), []).append((low, high, source))
    found: set[_Source] = set()
    for ranges in by_unit.values():
        # A range that misses any other one misses the lowest upper end or the highest lower end.
        lowest, highest = min(high for _, high, _ in ranges), max(low for low, _, _ in ranges)
        found |= {source for low, high, source in ranges if low >= lowest or highest >= high}
    return found


def most_precise(given: Sequence[_Given], stated: Callable[[_Given], tuple[str, int | None]]) -> _Given:
    """Of sources that agree the one that says the most: whose last place counts the least, of several the first.

    Args:
        stated: value and decimals of one.
    """
    return max(given, key=lambda each: _places(*stated(each)))


def _last_of_each(figures: Sequence[Figure]) -> list[Figure]:
    """The last of the given versions of each fact: where all are given that is the latest."""
    last: dict[tuple[str, str], Figure] = {}
    for figure in figures:
        last[figure.library_id, figure.fact.fact_id] = figure
    return list(last.values())
