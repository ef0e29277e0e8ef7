"""Whether a figure of a model's sentence is a figure of a source, and if it is not, what it looks like instead."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal

from groundwire_server.evidence import Span
from groundwire_server.guard.measured import says_unit
from groundwire_server.guard.numbers import Number
from groundwire_server.guard.reading import Figure, Reading
from groundwire_server.guard.times import Moment
from groundwire_server.guard.units import MONEY
from groundwire_server.guard.verdict import FaultKind

__all__ = ["closest_fault", "fault_between"]

_STAFF = frozenset(["employee", "staff", "worker", "personnel", "従", "职", "職", "员", "員"])
_PEOPLE = frozenset(["people", "person", "individual", "men", "women", "citizen", "resident", "inhabitant"])
_ORDER = (
    FaultKind.FIGURE_NOT_IN_SOURCE,
    FaultKind.ROUNDED,
    FaultKind.CONVERTED,
    FaultKind.ENTITY,
    FaultKind.METRIC,
    FaultKind.PERIOD,
    FaultKind.RANGE,
    FaultKind.DIRECTION,
    FaultKind.HEDGE,
)
"""The further down, the nearer the source is to the sentence: the fault that is told is that of the nearest."""


def closest_fault(figure: Figure, own: Reading, readings: list[Reading]) -> FaultKind | None:
    """None where some sentence of the sources has the figure, with all that is said of it."""
    nearest = FaultKind.FIGURE_NOT_IN_SOURCE
    alike = [each for each in own.figures if _is_alike(each, figure)]
    for reading in readings:
        others = [each for each in reading.figures if _is_alike(each, figure)]
        if len(others) == len(alike) > 1:
            others = [others[alike.index(figure)]]  # said several times, here and there: each time as it is said there
        for other in others or reading.figures:
            fault = fault_between(figure, own, other, reading)
            if fault is None:
                return None
            if _ORDER.index(fault) > _ORDER.index(nearest):
                nearest = fault
    return nearest


def _is_alike(one: Figure, other: Figure) -> bool:
    return one.number.equals(other.number) and one.number.unit == other.number.unit


def fault_between(figure: Figure, own: Reading, other: Figure, source: Reading) -> FaultKind | None:
    """What of a figure differs from one of a source."""
    if not figure.number.equals(other.number):
        return _unlike(figure.number, other.number)
    if not _same_unit(figure.number, other.number, own, source):
        return FaultKind.CONVERTED
    if figure.per and figure.per != other.per and (other.per or not says_unit(source.folded.text, figure.per)):
        return FaultKind.CONVERTED
    if not _stands(figure.entities, other.entities, source.entities):
        return FaultKind.ENTITY
    if source.metrics and not _stands(figure.metrics, other.metrics, source.metrics):
        return FaultKind.METRIC
    if not _same_periods(figure, other, source):
        return FaultKind.PERIOD
    if not _same_ends(figure, other):
        return FaultKind.RANGE
    if not _same_way(figure, other, source):
        return FaultKind.DIRECTION
    return None if _same_hedges(figure, other) else FaultKind.HEDGE


def _unlike(figure: Number, other: Number) -> FaultKind:
    mine, theirs = abs(figure.value), abs(other.value)
    if mine == theirs:
        return FaultKind.ROUNDED
    for power in range(max(figure.low, -12), min(figure.high, 15) + 1):
        step = Decimal(1).scaleb(power)
        if any((theirs / step).quantize(Decimal(1), mode) * step == mine for mode in _MODES if theirs < step * 10**20):
            return FaultKind.ROUNDED
    if _digits(mine) == _digits(theirs):
        return FaultKind.CONVERTED
    return FaultKind.FIGURE_NOT_IN_SOURCE


_MODES = (ROUND_HALF_UP, ROUND_DOWN, ROUND_UP)


def _digits(value: Decimal) -> str:
    return str(value).replace(".", "").strip("0")


def _same_unit(figure: Number, other: Number, own: Reading, source: Reading) -> bool:
    if figure.unit or other.unit:
        if figure.unit == other.unit:
            return True
        if not figure.unit or not other.unit:
            return _same_counted(figure, other, own, source)
        return False
    if not figure.nouns or not other.nouns:
        return not figure.nouns or _said(figure.nouns, source) or _other_script(own, source)
    mine, theirs = _named(figure.nouns), _named(other.nouns)
    return bool(mine & theirs) or _other_script(own, source) or bool(mine & _PEOPLE)


def _same_counted(figure: Number, other: Number, own: Reading, source: Reading) -> bool:
    """One of the two has a unit. What counts people may stand for what they are; money and measures for nothing."""
    unit = figure.unit or other.unit
    nouns = figure.nouns or other.nouns
    if unit in MONEY or unit in _MEASURES:
        return False
    if unit == "head" and nouns and (_named(nouns) & (_STAFF | _PEOPLE) or not own.folded.text.isascii()):
        return True
    if _other_script(own, source):
        return True
    if figure.unit:
        return not nouns and figure.text.split()[-1].strip("0123456789,.") in source.folded.text
    return not nouns


_MEASURES = frozenset(
    [
        "%",
        "pp",
        "bps",
        "‰",
        "割",
        "成",
        "times",
        "km",
        "m",
        "cm",
        "mm",
        "mi",
        "ft",
        "in",
        "yd",
        "kg",
        "g",
        "lb",
        "t",
        "ha",
        "acre",
        "km2",
        "m2",
        "m3",
        "mi2",
        "l",
        "°c",
        "km/h",
        "mph",
        "w",
        "kw",
        "mw",
        "gw",
        "tw",
        "wh",
        "kwh",
        "mwh",
        "gwh",
        "twh",
        "mg",
        "µg",
        "ml",
        "ML",
        "barrel",
        "gallon",
        "hz",
        "mhz",
        "ghz",
        "kb",
        "mb",
        "gb",
        "tb",
        "hour",
        "minute",
        "second",
        "day",
        "week",
        "month",
        "year",
        "decade",
        "century",
        "age",
        "nth",
        "/2",
        "/3",
        "/4",
        "/5",
        "/6",
        "/7",
        "/8",
        "/9",
        "/10",
    ]
)


def _said(nouns: tuple[str, ...], source: Reading) -> bool:
    return any(noun in source.folded.text for noun in nouns)


def _named(nouns: tuple[str, ...]) -> frozenset[str]:
    named = frozenset(nouns)
    return named | _STAFF if named & _STAFF else named


def _other_script(own: Reading, source: Reading) -> bool:
    return _is_latin(own.folded.text) != _is_latin(source.folded.text)


def _is_latin(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return sum(character < "\u3000" for character in letters) * 2 >= len(letters)


def _stands(
    mine: frozenset[frozenset[str]], theirs: frozenset[frozenset[str]], all_of_them: frozenset[frozenset[str]]
) -> bool:
    """Whether each name that goes with the figure is one that goes with it in the source."""
    if not mine:
        return True
    near = theirs if len(all_of_them) > 1 else all_of_them
    return all(any(codes & other for other in near) for codes in mine)


def _same_periods(figure: Figure, other: Figure, source: Reading) -> bool:
    if not figure.periods:
        return True
    if other.prior:
        return False
    if len(other.periods) and len({moment.facets for moment in source.moments}) > 1:
        near = [
            moment
            for moment in (*source.moments, *source.further)
            if any(facets <= moment.facets for facets in other.periods)
        ]
    else:
        near = [*source.moments, *source.further]
    return all(any(Moment(Span(0, 0), facets).is_in(moment) for moment in near) for facets in figure.periods)


def _same_ends(figure: Figure, other: Figure) -> bool:
    """Both ends of a range; the ends of a change in their order."""
    if figure.partner is None:
        return other.partner is None or other.change
    if other.partner is None:
        return figure.change
    return figure.place == other.place and figure.partner.equals(other.partner) and figure.change == other.change


def _same_way(figure: Figure, other: Figure, source: Reading) -> bool:
    if figure.role and other.role and figure.role != other.role and (figure.change or other.change or figure.way):
        return False
    negative = other.number.value < 0
    if figure.number.value < 0:
        return negative or other.way < 0 or other.result < 0
    mine = 0 if figure.rate and figure.rate in source.folded.text else figure.way
    theirs = 0 if other.rate and source.ways else other.way  # which way the rate went is said by another word
    if mine and theirs and mine != theirs and not (negative and mine < 0):
        return False
    if mine and not theirs and figure.near_way and mine not in source.ways:
        return negative and mine < 0
    if not _is_amount(figure.number):
        return True
    if negative and not (figure.way < 0 or figure.result < 0):
        return False
    if other.result < 0 and figure.result >= 0 and figure.way >= 0:
        return False
    return not (figure.result < 0 and other.result >= 0 and not negative)


def _is_amount(number: Number) -> bool:
    return number.unit in MONEY or number.unit in ("%", "pp") or (not number.unit and not number.nouns)


def _same_hedges(figure: Figure, other: Figure) -> bool:
    mine, theirs = figure.hedges, other.hedges
    if ("least" in theirs and "least" not in mine) or ("most" in theirs and "most" not in mine):
        return False
    if "about" in theirs and not mine:
        return False
    return not (("least" in mine and "least" not in theirs) or ("most" in mine and "most" not in theirs))
