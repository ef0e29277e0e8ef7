"""Periods in English, Chinese and Japanese, read from section 10 of the semantics and from nothing else.

A period is its first and its last day. One that begins and ends on the same day is an instant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from tests.oracle.calendar_of import FiscalYears, add_months

__all__ = ["Days", "Unread", "read_period"]


@dataclass(frozen=True, order=True)
class Days:
    """From the first day to the last, both within."""

    first: date
    last: date
    fiscal: str = field(default="", compare=False)  # it was named as a fiscal "Y", "H1", "H2", "Q1" ... "Q4"

    @property
    def length(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def instant(self) -> bool:
        return self.first == self.last


class Unread(ValueError):
    """No period; `readings` are the days that it could be, where there are several."""

    def __init__(self, readings: frozenset[date] = frozenset()) -> None:
        super().__init__("no period")
        self.readings = readings


def read_period(raw: str, *, reference: date, language: str, years: FiscalYears) -> Days:
    """The days that a text names.

    Raises:
        Unread: it names none, or more than one.
    """
    text = unicodedata.normalize("NFKC", re.sub("[\u200b-\u200d\u2060\ufeff\ufe00-\ufe0f]", "", raw)).casefold()
    text = re.sub(r"\s+", " ", text).strip()
    if re.search("[\u3040-\u30ff\u3400-\u9fff]", text):
        text = text.replace(" ", "")
    reader = _Reader(reference, language, years)
    try:
        for pattern, read in _FORMS:
            found = pattern.fullmatch(text)
            if found:
                return read(reader, {name: each for name, each in found.groupdict().items() if each is not None})
    except (ValueError, OverflowError) as error:
        if isinstance(error, Unread):
            raise
        raise Unread from None
    raise Unread


@dataclass(frozen=True)
class _Reader:
    reference: date
    language: str
    years: FiscalYears


# What a year is called. fy: it is fiscal; nendo: fiscal, and named by its start where nothing else is said.
_ERAS = {
    "令和": (date(2019, 5, 1), date(9999, 12, 31)),
    "平成": (date(1989, 1, 8), date(2019, 4, 30)),
    "昭和": (date(1926, 12, 25), date(1989, 1, 7)),
    "大正": (date(1912, 7, 30), date(1926, 12, 24)),
    "民國": (date(1912, 1, 1), date(9999, 12, 31)),
    "民国": (date(1912, 1, 1), date(9999, 12, 31)),
}
_Y4 = r"(?P<y4>[12]\d{3})"
_WESTERN_OR_ERA = r"(?:(?P<y>[12]\d{3}|\d{2})|(?:中華|中华)?(?P<era>令和|平成|昭和|大正|民國|民国)(?P<n>元|\d{1,3}))"
_FY = r"(?:fy ?'?(?P<fy>[12]\d{3}|\d{2})|fiscal(?: year)? (?P<fw>[12]\d{3}))"
_NENDO = _WESTERN_OR_ERA + r"(?P<kind>年度|財年|财年)"
_NEN = _WESTERN_OR_ERA + "年"
_DIGIT = {"一": 1, "二": 2, "三": 3, "四": 4, "1": 1, "2": 2, "3": 3, "4": 4}
_ORDINAL = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august"]
_MONTHS += ["september", "october", "november", "december"]
_MONTH = "(?P<mon>" + "|".join(f"{each}|{each[:3]}" for each in _MONTHS) + r")\.?"
_QUARTER_CJK = "(?:第?(?P<q>[1-4一二三四])(?:四半期|季度))"
_HALF_CJK = "(?P<half>上|下)(?:半期|半年|期)"


def _full_year(written: str) -> int:
    number = int(written)
    return number if len(written) == 4 else number + (2000 if number < 80 else 1900)


def _year(group: dict[str, str]) -> int:
    for name in ("y4", "y", "fy", "fw"):
        if name in group:
            return _full_year(group[name])
    first, last = _ERAS[group["era"]]
    year = first.year + (1 if group["n"] == "元" else int(group["n"])) - 1
    if group["n"] == "0" or year > last.year or int(group["n"] if group["n"] != "元" else 1) < 1:
        raise Unread
    return year


def _fiscal_begin(reader: _Reader, group: dict[str, str]) -> date:
    by_start = reader.years.by_start(nendo=group.get("kind") == "年度")
    return reader.years.begin(_year(group), by_start=by_start)


def _begin(reader: _Reader, group: dict[str, str]) -> date:
    return _fiscal_begin(reader, group) if _is_fiscal(group) else date(_year(group), 1, 1)


def _months(begin: date, skipped: int, taken: int) -> Days:
    return Days(add_months(begin, skipped), add_months(begin, skipped + taken) - timedelta(days=1))


def _is_fiscal(group: dict[str, str]) -> bool:
    return "fy" in group or "fw" in group or "kind" in group


def _whole_year(reader: _Reader, group: dict[str, str]) -> Days:
    return replace(_months(_begin(reader, group), 0, 12), fiscal="Y" if _is_fiscal(group) else "")


def _half(reader: _Reader, group: dict[str, str]) -> Days:
    half = {"上": 1, "下": 2, "first": 1, "second": 2}.get(group["half"]) or int(group["half"])
    days = _months(_begin(reader, group), 6 * (half - 1), 6)
    return replace(days, fiscal=f"H{half}" if _is_fiscal(group) else "")


def _quarter(reader: _Reader, group: dict[str, str]) -> Days:
    quarter = _ORDINAL[group["ord"]] if "ord" in group else _DIGIT[group["q"]]
    days = _months(_begin(reader, group), 3 * (quarter - 1), 3)
    return replace(days, fiscal=f"Q{quarter}" if _is_fiscal(group) else "")


def _month_number(group: dict[str, str]) -> int:
    if "mon" in group:
        return next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(group["mon"]))
    return int(group["m"])


def _month(reader: _Reader, group: dict[str, str]) -> Days:
    return _months(date(_year(group), _month_number(group), 1), 0, 1)


def _day(reader: _Reader, group: dict[str, str]) -> Days:
    day = date(_year(group), _month_number(group), int(group["d"]))
    if "era" in group and not _ERAS[group["era"]][0] <= day <= _ERAS[group["era"]][1]:
        raise Unread
    return Days(day, day)


def _slashed(reader: _Reader, group: dict[str, str]) -> Days:
    one, other, year = int(group["a"]), int(group["b"]), int(group["y4"])
    readings = set()
    for day, month in ((one, other), (other, one)):
        if 1 <= month <= 12:
            readings.add(date(year, month, day))
    if len(readings) != 1:
        raise Unread(frozenset(readings))
    (day_meant,) = readings
    return Days(day_meant, day_meant)


def _end(reader: _Reader, group: dict[str, str]) -> Days:
    day = _whole_year(reader, group).last
    return Days(day, day)


def _month_end(reader: _Reader, group: dict[str, str]) -> Days:
    day = _month(reader, group).last
    return Days(day, day)


def _interval(reader: _Reader, group: dict[str, str]) -> Days:
    days = Days(date.fromisoformat(group["a"]), date.fromisoformat(group["b"]))
    if days.last < days.first:
        raise Unread
    return days


def _years_back(back: int) -> Callable[[_Reader, dict[str, str]], Days]:
    return lambda reader, group: _months(date(reader.reference.year - back, 1, 1), 0, 12)


def _fiscal_back(back: int) -> Callable[[_Reader, dict[str, str]], Days]:
    def read(reader: _Reader, group: dict[str, str]) -> Days:
        here = reader.years.containing(reader.reference)
        return replace(_months(here.replace(year=here.year - back), 0, 12), fiscal="Y")

    return read


def _quarters_back(back: int) -> Callable[[_Reader, dict[str, str]], Days]:
    def read(reader: _Reader, group: dict[str, str]) -> Days:
        here = date(reader.reference.year, (reader.reference.month - 1) // 3 * 3 + 1, 1)
        return _months(add_months(here, -3 * back), 0, 3)

    return read


def _months_back(back: int) -> Callable[[_Reader, dict[str, str]], Days]:
    return lambda reader, group: _months(add_months(reader.reference.replace(day=1), -back), 0, 1)


def _days_back(back: int) -> Callable[[_Reader, dict[str, str]], Days]:
    def read(reader: _Reader, group: dict[str, str]) -> Days:
        day = reader.reference - timedelta(days=back)
        return Days(day, day)

    return read


def _zennen(reader: _Reader, group: dict[str, str]) -> Days:
    if reader.language not in ("ja", "zh"):
        raise Unread
    return _years_back(1 if reader.language == "ja" else 2)(reader, group)


_Form = tuple[re.Pattern[str], Callable[[_Reader, dict[str, str]], Days]]


def _form(pattern: str, read: Callable[[_Reader, dict[str, str]], Days]) -> _Form:
    return re.compile(pattern), read


_FORMS: list[_Form] = [
    _form(_Y4, _whole_year),
    _form(_NEN, _whole_year),
    _form(_FY, _whole_year),
    _form(_NENDO, _whole_year),
    # halves
    _form(_Y4 + "[ -]?h(?P<half>[12])", _half),
    _form("h(?P<half>[12]) " + _Y4, _half),
    _form("(?P<half>[12])h ?" + _Y4, _half),
    _form("(?:the )?(?P<half>first|second) half (?:of )?" + _Y4, _half),
    _form("(?:the )?(?P<half>first|second) half (?:of )?" + _FY, _half),
    _form(_FY + "[ -]?h(?P<half>[12])", _half),
    _form("h(?P<half>[12]) " + _FY, _half),
    _form(_NEN + _HALF_CJK, _half),
    _form(_NENDO + _HALF_CJK, _half),
    # quarters
    _form(_Y4 + "[ -]?q(?P<q>[1-4])", _quarter),
    _form("q(?P<q>[1-4]) " + _Y4, _quarter),
    _form("(?P<q>[1-4])q ?" + _Y4, _quarter),
    _form("(?:the )?(?P<ord>first|second|third|fourth|1st|2nd|3rd|4th) quarter (?:of )?" + _Y4, _quarter),
    _form("(?:the )?(?P<ord>first|second|third|fourth|1st|2nd|3rd|4th) quarter (?:of )?" + _FY, _quarter),
    _form(_FY + "[ -]?q(?P<q>[1-4])", _quarter),
    _form("q(?P<q>[1-4]) " + _FY, _quarter),
    _form(_NEN + _QUARTER_CJK, _quarter),
    _form(_NENDO + _QUARTER_CJK, _quarter),
    # months
    _form(_Y4 + r"[-/](?P<m>\d{1,2})", _month),
    _form(_NEN + r"(?P<m>\d{1,2})月", _month),
    _form(_MONTH + ",? " + _Y4, _month),
    # days
    _form(_Y4 + r"[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})", _day),
    _form(_Y4 + r"(?P<m>\d{2})(?P<d>\d{2})", _day),
    _form(_NEN + r"(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号號]", _day),
    _form(r"(?P<d>\d{1,2})(?:st|nd|rd|th)? " + _MONTH + ",? " + _Y4, _day),
    _form(_MONTH + r" (?P<d>\d{1,2})(?:st|nd|rd|th)?,? " + _Y4, _day),
    _form(r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/" + _Y4, _slashed),
    _form(_NEN + "末", _end),
    _form(_NENDO + "末", _end),
    _form("(?:the )?end of " + _Y4, _end),
    _form(_NEN + r"(?P<m>\d{1,2})月末", _month_end),
    _form(r"(?P<a>[12]\d{3}-\d{2}-\d{2})/(?P<b>[12]\d{3}-\d{2}-\d{2})", _interval),
    # words against a clock
    _form("this year|今年|本年", _years_back(0)),
    _form("last year|previous year|去年|昨年", _years_back(1)),
    _form("two years ago|一昨年|おととし", _years_back(2)),
    _form("前年", _zennen),
    _form("this fiscal year|今年度|本年度|本财年|本財年", _fiscal_back(0)),
    _form("last fiscal year|previous fiscal year|昨年度|前年度|去年度|上财年|上財年|上年度", _fiscal_back(1)),
    _form("this quarter|今四半期|本季度|这个季度|這個季度", _quarters_back(0)),
    _form("last quarter|previous quarter|前四半期|上季度|上个季度|上個季度", _quarters_back(1)),
    _form("this month|今月|本月|这个月|這個月", _months_back(0)),
    _form("last month|previous month|先月|上月|上个月|上個月", _months_back(1)),
    _form("today|今日|今天|本日", _days_back(0)),
    _form("yesterday|昨日|昨天", _days_back(1)),
]
