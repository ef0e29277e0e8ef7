"""The numbers that Word puts before headings and items of lists: they are shown, and stand nowhere in the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Numbering", "W"]

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVELS = 9
_MAX_NUMBER = 100_000
_HAN = "〇一二三四五六七八九"


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    form: str
    text: str


@dataclass(slots=True)
class _List:
    """The levels of one definition, and how far it has counted on each."""

    levels: dict[int, _Level]
    counts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Counts as Word does: one count a definition, deeper levels begin anew below each number.

    Args:
        root: of the part `numbering.xml`; None: the file has none.
    """

    def __init__(self, root: Any) -> None:
        self._lists: dict[str, _List] = {}
        self._of_number: dict[str, str] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        for definition in () if root is None else root.iter(f"{W}abstractNum"):
            levels = {_whole(level.get(f"{W}ilvl")): _read_level(level) for level in definition.iter(f"{W}lvl")}
            self._lists[definition.get(f"{W}abstractNumId", "")] = _List(levels)
        for number in () if root is None else root.iter(f"{W}num"):
            ident, target = number.get(f"{W}numId", ""), number.find(f"{W}abstractNumId")
            if target is not None:
                self._of_number[ident] = target.get(f"{W}val", "")
                self._restarts[ident] = {
                    _whole(change.get(f"{W}ilvl")): _whole(start.get(f"{W}val"))
                    for change in number.iter(f"{W}lvlOverride")
                    if (start := change.find(f"{W}startOverride")) is not None
                }

    def next(self, number: str, depth: int) -> str:
        """What stands before the next paragraph of a list on a level from 0; empty for a bullet and for no list."""
        counted = self._lists.get(self._of_number.get(number, ""))
        if counted is None or not 0 <= depth < _LEVELS or depth not in counted.levels:
            return ""
        restart = self._restarts[number].pop(depth, None)  # it holds for the first paragraph of that list alone
        before = counted.counts.get(depth)
        level = counted.levels[depth]
        counted.counts[depth] = restart if restart is not None else level.start if before is None else before + 1
        for deeper in [key for key in counted.counts if key > depth]:
            del counted.counts[deeper]
        if level.form in ("bullet", "none"):
            return ""
        return re.sub(r"%([1-9])", lambda place: self._shown(counted, int(place[1]) - 1, depth), level.text).strip()

    def _shown(self, counted: _List, depth: int, of: int) -> str:
        level = counted.levels.get(depth)
        if level is None or depth > of:
            return ""
        count = min(counted.counts.get(depth, level.start), _MAX_NUMBER)
        return _FORMS.get(level.form, str)(count)


def _read_level(level: Any) -> _Level:
    def said(name: str, otherwise: str) -> str:
        found = level.find(f"{W}{name}")
        return otherwise if found is None else found.get(f"{W}val", otherwise)

    return _Level(_whole(said("start", "1")), said("numFmt", "decimal"), said("lvlText", "")[:100])


def _whole(text: str | None) -> int:
    return int(text) if text and re.fullmatch(r"[0-9]{1,6}", text) else 0


def roman(number: int) -> str:
    """A number in Roman numerals, those over 3,999 in figures.

    >>> roman(1994), roman(0)
    ('MCMXCIV', '0')
    """
    if not 0 < number < 4000:
        return str(number)
    signs = (
        (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
        (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    )  # fmt: skip
    shown = ""
    for value, sign in signs:
        shown += sign * (number // value)
        number %= value
    return shown


def letters(number: int) -> str:
    """As Word counts in letters: a to z, then aa, bb ...

    >>> letters(3), letters(28)
    ('C', 'BB')
    """
    return chr(ord("A") + (number - 1) % 26) * min((number - 1) // 26 + 1, 20) if number > 0 else str(number)


def han(number: int) -> str:
    """A number in Chinese and Japanese numerals, those over 9,999 in figures.

    >>> han(12), han(105), han(20)
    ('十二', '百五', '二十')
    """
    if not 0 < number < 10_000:
        return _HAN[0] if number == 0 else str(number)
    shown = ""
    for value, sign in ((1000, "千"), (100, "百"), (10, "十")):
        digit = number // value
        shown += (_HAN[digit] if digit > 1 else "") + sign if digit else ""
        number %= value
    return shown + (_HAN[number] if number else "")


def chinese(number: int) -> str:
    """The same as Chinese files have it, where one hundred is 一百 and a gap is told: 一百〇五.

    >>> chinese(12), chinese(105), chinese(110)
    ('十二', '一百〇五', '一百一十')
    """
    if not 0 < number < 10_000:
        return _HAN[0] if number == 0 else str(number)
    shown, gap, whole = "", False, number
    for value, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // value
        number %= value
        if digit:
            shown += (_HAN[0] if gap and shown else "") + _HAN[digit] + sign
        gap = digit == 0
    return shown.removeprefix("一") if 10 <= whole < 20 else shown


def _wide(number: int) -> str:
    return "".join(chr(ord(digit) + 0xFEE0) for digit in str(number))


def _circled(number: int) -> str:
    return chr(ord("①") + number - 1) if 1 <= number <= 20 else str(number)


def _digits(number: int) -> str:
    return "".join(_HAN[int(digit)] for digit in str(number))


_FORMS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02d}",
    "upperRoman": roman,
    "lowerRoman": lambda number: roman(number).lower(),
    "upperLetter": letters,
    "lowerLetter": lambda number: letters(number).lower(),
    "decimalFullWidth": _wide,
    "decimalFullWidth2": _wide,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "ideographDigital": _digits,
    "japaneseDigitalTenThousand": _digits,
    "japaneseCounting": han,
    "chineseCounting": chinese,
    "chineseCountingThousand": chinese,
    "taiwaneseCounting": chinese,
    "taiwaneseCountingThousand": chinese,
}
