"""Days and times of a spreadsheet as people see them: the date codes of its number formats."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from functools import lru_cache

__all__ = ["format_date", "is_date", "moment_of"]

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_.|\*.|\[\$(?P<system>-F[48]00)\]|\[\$[^\]]*\]'
    r"|\[(?P<elapsed>h+|m+|s+)\]|\[[^\]]*\]"
    r"|(?P<general>General)|(?P<half>AM/PM|A/P|上午/下午|午前/午後)|(?P<code>y+|m+|d+|h+|s+|e+|g+|aaaa?|b{1,4})|\.(?P<fraction>0+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAYS_JAPANESE = "月火水木金土日"
# First day, sign of three lengths; the years of an era count from 1.
_ERAS = (
    (date(2019, 5, 1), ("R", "令", "令和")),
    (date(1989, 1, 8), ("H", "平", "平成")),
    (date(1926, 12, 25), ("S", "昭", "昭和")),
    (date(1912, 7, 30), ("T", "大", "大正")),
    (date(1868, 1, 25), ("M", "明", "明治")),
)
_LAST_DAY = 2_958_465  # 9999-12-31

Token = tuple[str, str]


@lru_cache(maxsize=1024)
def is_date(section: str) -> bool:
    """Whether a section of a number format shows a day or a time.

    >>> is_date("yyyy-mm-dd"), is_date('0.0" days"'), is_date("[h]:mm"), is_date("General")
    (True, False, True, False)
    """
    tokens = _tokens(section)
    dated = any(kind in ("code", "elapsed", "half", "system") for kind, _ in tokens)
    return dated and not any(kind == "general" or (kind == "other" and text in "0#?") for kind, text in tokens)


def format_date(serial: float, section: str, *, since_1904: bool = False) -> str:
    """A day, counted as spreadsheets do, under a section of a format; empty where there is no such day.

    >>> (
    ...     format_date(45473.75, "d mmm yyyy h:mm AM/PM"),
    ...     format_date(1.5, "[h]:mm"),
    ...     format_date(45473, "[$-411]ggge.m.d"),
    ... )
    ('30 Jun 2024 6:00 PM', '36:00', '令和6.6.30')
    """
    tokens = _tokens(section)
    places = max((len(text) for kind, text in tokens if kind == "fraction"), default=0)
    moment = _moment(serial, places, since_1904=since_1904)
    if moment is None:
        return ""
    half = any(kind == "half" for kind, _ in tokens)
    shown = []
    for place, (kind, text) in enumerate(tokens):
        match kind:
            case "quoted" | "escaped" | "other":
                shown.append(text)
            case "system":
                shown.append(f"{moment:%H:%M:%S}" if text.upper() == "-F400" else f"{moment:%Y-%m-%d}")
            case "elapsed":
                seconds = round(serial * 86_400)
                unit = {"h": 3600, "m": 60, "s": 1}[text[0].lower()]
                shown.append(f"{seconds // unit:0{len(text)}d}")
            case "fraction":
                shown.append(f".{moment.microsecond:06d}"[: 1 + len(text)])
            case "half":
                shown.append(_half(text, moment))
            case _:
                minutes = text[0] in "mM" and len(text) <= 2 and _is_minutes(tokens, place)
                shown.append(_minutes(text, moment) if minutes else _code(text.lower(), moment, half=half))
    if any(kind == "system" for kind, _ in tokens):  # what stands beside it is for programs that do not know it
        return next(said for said, (kind, _) in zip(shown, tokens, strict=True) if kind == "system")
    return "".join(shown)


@lru_cache(maxsize=1024)
def _tokens(section: str) -> tuple[Token, ...]:
    return tuple((match.lastgroup, match[match.lastgroup]) for match in _TOKEN.finditer(section) if match.lastgroup)


def moment_of(serial: float, *, since_1904: bool = False) -> datetime | None:
    """The day and time, to the second, of a number that a spreadsheet shows as such; None where there is none.

    >>> moment_of(45473.75), moment_of(-1)
    (datetime.datetime(2024, 6, 30, 18, 0), None)
    """
    return _moment(serial, 0, since_1904=since_1904)


def _moment(serial: float, places: int, *, since_1904: bool) -> datetime | None:
    if not 0 <= serial < _LAST_DAY + 1:
        return None
    # 1900 has a 29 February there, day 60; the days before it count from one day later.
    first = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30 if serial >= 60 else 31)
    step = 10 ** min(places, 6)
    try:
        return first + timedelta(days=int(serial), seconds=round((serial % 1) * 86_400 * step) / step)
    except OverflowError:
        return None


def _is_minutes(tokens: tuple[Token, ...], place: int) -> bool:
    """m stands for minutes behind hours and before seconds."""
    before = next((text for kind, text in reversed(tokens[:place]) if kind in ("code", "elapsed")), "")
    behind = next((text for kind, text in tokens[place + 1 :] if kind in ("code", "elapsed")), "")
    return before[:1].lower() == "h" or behind[:1].lower() == "s"


def _minutes(text: str, moment: datetime) -> str:
    return f"{moment.minute:0{len(text)}d}"


def _half(text: str, moment: datetime) -> str:
    first, _, second = text.partition("/")
    return second if moment.hour >= 12 else first


def _code(code: str, moment: datetime, *, half: bool) -> str:
    length = len(code)
    match code[0]:
        case "y" | "b":
            return f"{moment.year % 100:02d}" if length <= 2 else f"{moment.year:04d}"
        case "m":
            name = _MONTHS[moment.month - 1]
            return {3: name[:3], 5: name[0]}.get(length, name) if length > 2 else f"{moment.month:0{length}d}"
        case "d":
            name = _DAYS[moment.weekday()]
            return (name[:3] if length == 3 else name) if length > 2 else f"{moment.day:0{length}d}"
        case "a":
            return _DAYS_JAPANESE[moment.weekday()] + ("曜日" if length > 3 else "")
        case "h":
            hour = (moment.hour % 12 or 12) if half else moment.hour
            return f"{hour:0{min(length, 2)}d}"
        case "s":
            return f"{moment.second:0{min(length, 2)}d}"
        case "g":
            return _era(moment)[0][min(length, 3) - 1]
        case _:
            return f"{_era(moment)[1]:0{min(length, 2)}d}"


def _era(moment: datetime) -> tuple[tuple[str, str, str], int]:
    for first, signs in _ERAS:
        if moment.date() >= first:
            return signs, moment.year - first.year + 1
    return ("", "", ""), moment.year
