"""A second reading of periods that shares nothing with the house: it writes periods instead of reading them.

Each writer has a form in some language and the days that it means, reckoned with nothing but a table of month lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
ENGLISH = ("January", "February", "March", "April", "May", "June")
ENGLISH += ("July", "August", "September", "October", "November", "December")
HAN = "〇一二三四五六七八九"

Days = tuple[tuple[int, int, int], tuple[int, int, int]]


@dataclass(frozen=True)
class Case:
    """Numbers to write: a year, a month, a day, a quarter, a half, and the month in which fiscal years begin."""

    year: int
    month: int
    day: int
    quarter: int
    half: int
    start: int


def length(year: int, month: int) -> int:
    """Days of a month."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else LENGTHS[month - 1]


def months(year: int, first: int, count: int) -> Days:
    """`count` months from month `first` of a year on, which may lie in the next one."""
    begin = year * 12 + first - 1
    end = begin + count - 1
    last = (end // 12, end % 12 + 1)
    return (begin // 12, begin % 12 + 1, 1), (*last, length(*last))


def fiscal(case: Case, label_by: str, first: int, count: int) -> Days:
    """Months of a fiscal year that its first or last day names."""
    year = case.year if label_by == "start" or case.start == 1 else case.year - 1
    return months(year, case.start + first, count)


def nendo(case: Case) -> str:
    """年度 is named by its start where the year does not begin in January."""
    return "end" if case.start == 1 else "start"


def day(case: Case) -> Days:
    """One day."""
    only = (case.year, case.month, case.day)
    return only, only


def han(number: int) -> str:
    """A number below a hundred in Han numerals."""
    tens, ones = divmod(number, 10)
    return ("" if tens < 2 else HAN[tens]) + ("十" if tens else "") + (HAN[ones] if ones or not tens else "")


def digits(year: int) -> str:
    """A year in Han digits."""
    return "".join(HAN[int(char)] for char in str(year))


Writer = tuple[Callable[[Case], str], Callable[[Case], Days]]

_QUARTER: Callable[[Case], Days] = lambda c: months(c.year, c.quarter * 3 - 2, 3)  # noqa: E731
_HALF: Callable[[Case], Days] = lambda c: months(c.year, c.half * 6 - 5, 6)  # noqa: E731
_MONTH: Callable[[Case], Days] = lambda c: months(c.year, c.month, 1)  # noqa: E731
_YEAR: Callable[[Case], Days] = lambda c: months(c.year, 1, 12)  # noqa: E731

ORDINALS = ("first", "second", "third", "fourth")

WRITERS: tuple[Writer, ...] = (
    (lambda c: f"{c.year}", _YEAR),
    (lambda c: f"{c.year}年", _YEAR),
    (lambda c: f"{digits(c.year)}年", _YEAR),
    (lambda c: f"CY{c.year}", _YEAR),
    (lambda c: f"民國{c.year - 1911}年", _YEAR),
    (lambda c: f"FY{c.year}", lambda c: fiscal(c, "end", 0, 12)),
    (lambda c: f"fiscal year {c.year}", lambda c: fiscal(c, "end", 0, 12)),
    (lambda c: f"{c.year}财年", lambda c: fiscal(c, "end", 0, 12)),
    (lambda c: f"{c.year}年度", lambda c: fiscal(c, nendo(c), 0, 12)),
    (lambda c: f"{c.year}Q{c.quarter}", _QUARTER),
    (lambda c: f"{c.quarter}Q {c.year}", _QUARTER),
    (lambda c: f"{ORDINALS[c.quarter - 1]} quarter of {c.year}", _QUARTER),
    (lambda c: f"{c.year}年第{c.quarter}四半期", _QUARTER),
    (lambda c: f"{c.year}年第{HAN[c.quarter]}季度", _QUARTER),
    (lambda c: f"FY{c.year}Q{c.quarter}", lambda c: fiscal(c, "end", c.quarter * 3 - 3, 3)),
    (lambda c: f"Q{c.quarter} of fiscal {c.year}", lambda c: fiscal(c, "end", c.quarter * 3 - 3, 3)),
    (lambda c: f"{c.year}年度第{c.quarter}四半期", lambda c: fiscal(c, nendo(c), c.quarter * 3 - 3, 3)),
    (lambda c: f"H{c.half} {c.year}", _HALF),
    (lambda c: f"{c.year}年{'上下'[c.half - 1]}半年", _HALF),
    (lambda c: f"{c.year}年度{'上下'[c.half - 1]}期", lambda c: fiscal(c, nendo(c), c.half * 6 - 6, 6)),
    (lambda c: f"{c.year}-{c.month:02d}", _MONTH),
    (lambda c: f"{c.month}/{c.year}", _MONTH),
    (lambda c: f"{ENGLISH[c.month - 1]} {c.year}", _MONTH),
    (lambda c: f"{ENGLISH[c.month - 1][:3]}-{c.year}", _MONTH),
    (lambda c: f"{c.year}年{c.month}月", _MONTH),
    (lambda c: f"{digits(c.year)}年{han(c.month)}月", _MONTH),
    (lambda c: f"{c.year}-{c.month:02d}-{c.day:02d}", day),
    (lambda c: f"{c.year}/{c.month}/{c.day}", day),
    (lambda c: f"{c.year}{c.month:02d}{c.day:02d}", day),
    (lambda c: f"{c.day} {ENGLISH[c.month - 1]} {c.year}", day),
    (lambda c: f"{ENGLISH[c.month - 1][:3]} {c.day}, {c.year}", day),
    (lambda c: f"as of {ENGLISH[c.month - 1]} {c.day}, {c.year}", day),
    (lambda c: f"{c.year}年{c.month}月{c.day}日", day),
    (lambda c: f"{digits(c.year)}年{han(c.month)}月{han(c.day)}日", day),
    (lambda c: f"截至{c.year}年{c.month}月{c.day}日", day),
    (lambda c: f"{c.year}年{c.month}月末", lambda c: (_MONTH(c)[1], _MONTH(c)[1])),
    (lambda c: f"end of {c.year}", lambda c: (_YEAR(c)[1], _YEAR(c)[1])),
    (lambda c: f"{c.year}年度末", lambda c: (fiscal(c, nendo(c), 0, 12)[1],) * 2),
    (
        lambda c: f"{c.year - 1}-{c.month:02d}-01/{c.year}-{c.month:02d}-{c.day:02d}",
        lambda c: ((c.year - 1, c.month, 1), day(c)[0]),
    ),
    (lambda c: f"{c.year}年1月から{c.month}月まで", lambda c: months(c.year, 1, c.month)),
    (
        lambda c: f"{c.year - 1}年{c.month}月1日至{c.year}年{c.month}月{c.day}日",
        lambda c: ((c.year - 1, c.month, 1), day(c)[0]),
    ),
)
