"""Dates and periods in a text, by their parts: no figures, but each must stand in the cited text or the question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from groundwire_server.evidence import Span
from groundwire_server.guard.folded import Folded
from groundwire_server.guard.spelled import han_value
from groundwire_server.guard.units import UNIT

__all__ = ["Moment", "read_times", "years_before"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ],
        1,
    )
    for name in names.split()
}
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=lambda name: (-len(name), name))) + r")(?![a-z])\.?"
_ORDINAL_WORDS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_NTH = "(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th)"
_YEAR = r"(?<!\d)(?<!\d[,.])(?P<year>1\d{3}|20\d{2}|21\d{2})(?!\d|,\d{3}|\.\d)"
_FISCAL = r"(?:fiscal|fy|financial)"
_HAN = "〇零一二三四五六七八九十"
_N = rf"(?:\d+|[{_HAN}廿百]+)"
_ERAS = {
    "明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018, "民國": 1911, "民国": 1911, "中華民國": 1911,
}  # fmt: skip
_ERA = "|".join(sorted(_ERAS, key=len, reverse=True))
_CENTURY_WORDS = {
    word: place
    for place, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        1,
    )
} | {"twenty-first": 21}

_ENGLISH = [
    re.compile(rf"(?<![a-z])(?P<month>{_MONTH})\s*(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\d:]|\.\d)(?:,?\s*{_YEAR})?"),
    re.compile(rf"(?<![\d.,])(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})(?:,?\s*{_YEAR})?"),
    re.compile(rf"(?<![a-z])(?P<month>{_MONTH}),?\s+(?:of\s+)?{_YEAR}"),
    re.compile(
        r"(?<![\d.,/-])(?P<year>1\d{3}|20\d{2})(?P<sep>[-/.])(?P<month>0?[1-9]|"
        r"1[0-2])(?P=sep)(?P<day>[0-3]?\d)(?![\d./-])"
    ),
    re.compile(rf"(?<![a-z0-9])q(?P<quarter>[1-4])[\s,/-]*(?:of\s+)?(?P<fiscal>{_FISCAL}\s*(?:year)?\s*)?{_YEAR}"),
    re.compile(rf"(?P<fiscal>{_FISCAL}\s*)?{_YEAR}[\s-]?q(?P<quarter>[1-4])(?![a-z0-9])"),
    re.compile(rf"(?P<fiscal>{_FISCAL}\s*)?{_YEAR}[\s-]?h(?P<half>[12])(?![a-z0-9])"),
    re.compile(rf"(?<![a-z0-9])h(?P<half>[12])[\s-]*(?:of\s+)?(?P<fiscal>{_FISCAL}\s*(?:year)?\s*)?{_YEAR}"),
    re.compile(
        rf"(?<![a-z]){_NTH}[\s-](?:(?P<fiscal1>fiscal|"
        rf"financial)\s+)?quarter(?:\s+(?:of\s+)?(?P<fiscal>{_FISCAL}\s*(?:year)?\s*)?{_YEAR})?"
    ),
    re.compile(rf"(?<![a-z]){_NTH}[\s-]half(?:\s+(?:of\s+)?(?P<fiscal>{_FISCAL}\s*(?:year)?\s*)?{_YEAR})(?P<ishalf>)"),
    re.compile(rf"(?<![a-z0-9])(?P<fiscal>{_FISCAL}\s*(?:years?)?\s*)(?P<year>\d{{4}}|\d{{2}})(?![\d,.]\d|\d)"),
    re.compile(rf"{_YEAR}\s+(?P<fiscal>fiscal|financial)(?:\s+year)?"),
    re.compile(r"(?<![a-z0-9])q(?P<quarter>[1-4])(?![a-z0-9])"),
    re.compile(r"(?<!\d)(?<!\d[,.])(?P<decade>(?:1\d|20)?\d0)['’]?s(?![a-z])"),
    re.compile(
        r"(?<!\d)(?<!\d[,.])(?P<century>\d{1,2})(?:st|nd|rd|th)[\s-]centur(?:y|ies)(?:\s+(?P<bc>b\.?c\.?(?:e\.?)?))?"
    ),
    re.compile(
        rf"(?<![a-z-])(?P<centuryword>{'|'.join(sorted(_CENTURY_WORDS, key=len, reverse=True))})[\s-]centur(?:y|ies)"
    ),
    re.compile(r"(?<!\d)(?<!\d[,.])(?P<bcyear>\d{1,4})\s*(?P<bc>b\.?c\.?(?:e\.?)?)(?![a-z])"),
    re.compile(
        r"(?<!\d)(?<!\d[,.])(?P<adyear>\d{1,4})\s*(?:a\.?d\.?|c\.e\.?|ce)(?![a-z])|"
        r"(?<![a-z])a\.?d\.?\s*(?P<adyear2>\d{1,4})(?![\d,])"
    ),
    re.compile(
        r"(?<!\d)(?<!\d[,.:])(?P<clock>[0-2]?\d:[0-5]\d(?::[0-5]\d)?)(?![\d:])(?:\s*(?P<noon>[ap])\.?m\.?(?![a-z]))?"
    ),
    re.compile(r"(?<!\d)(?<!\d[,.:])(?P<clock>[01]?\d)\s*(?P<noon>[ap])\.?m\.?(?![a-z])"),
]
_CJK = [
    re.compile(
        rf"(?:(?P<era>{_ERA})(?P<erayear>元|{_N})|(?<!\d)(?<!\d[,.])(?P<year>\d{{3,4}}|[一二][{_HAN}]{{3}})|"
        rf"(?P<bc>紀元前|公元前|西元前|前)(?P<bcyear>{_N}))\s*"
        rf"(?:(?P<nendo>年度|財年|财年)|年(?![間间]))(?:\s*(?P<month>1[0-2]|0?[1-9]|{_N})\s*月(?:份)?)?"
        rf"(?:\s*(?P<day>[0-3]?\d|[{_HAN}廿]+)\s*[日号號])?"
    ),
    re.compile(rf"(?<!\d)(?<!\d[,.])(?P<month>1[0-2]|[1-9]|[{_HAN}]+)\s*月\s*(?P<day>[0-3]?\d|[{_HAN}廿]+)\s*[日号號]"),
    re.compile(
        r"(?<![\d,.])(?P<month>1[0-2]|0?[1-9])(?=\s*[-–—~〜～]\s*(?:1[0-2]|0?[1-9])\s*月(?![間间]))"  # 4〜6月期
    ),
    re.compile(
        rf"(?<![\d,.{_HAN}個个か])(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s*月(?![間间])(?:份)?"
    ),
    re.compile(rf"(?<![\d,.{_HAN}])(?P<day>[0-3]?\d|[{_HAN}廿]{{1,3}})\s*日(?![間间本])"),
    re.compile(
        r"第\s*(?P<quarter>[1-4一二三四])\s*(?:四半期|季度|季)|(?P<quarter2>[1-4一二三四])\s*(?:季度|q(?![a-z0-9]))"
    ),
    re.compile(r"(?P<firsthalf>上半期|上半年|上期|前半期)|(?P<secondhalf>下半期|下半年|下期|後半期|后半期)"),
    re.compile(rf"(?P<bc>紀元前|公元前|西元前|前)?(?P<century>\d{{1,2}}|[{_HAN}]{{1,3}})\s*(?:世紀|世纪)"),
    re.compile(rf"(?<!\d)(?<!\d[,.])(?P<decade>(?:1\d|20)?\d0|[一二三四五六七八九{_HAN}]{{1,4}})\s*年代"),
    re.compile(
        rf"(?P<ampm>午前|午後|上午|下午|凌晨|晚上|中午|早上)?\s*(?<!\d)(?<!\d[,.])(?P<hour>[0-2]?\d|"
        rf"[{_HAN}]{{1,3}})\s*[時时點点](?!間|间|[\d{_HAN}])"
        rf"(?:(?P<minute>[0-5]?\d|[{_HAN}]{{1,3}})分|(?P<halfpast>半))?"
    ),
]
_BARE_YEAR = re.compile(
    _YEAR.replace("(?P<year>", "(?P<year>") + r"(?P<second>\s*[-–—/〜~]\s*(?:1\d{3}|20\d{2}|\d{2})(?![\d,.%]))?"
)
_MONTH_ALONE = re.compile(rf"(?<![a-z])(?P<month>{_MONTH})(?![a-z])")
_BEFORE_MONTH = re.compile(
    r"(?<![a-z])(?:in|of|since|by|until|till|from|during|late|early|mid|last|next|this|to|and|through|each|"
    r"every)[\s-]+$"
)
_COUNTED = re.compile(
    r"\s*(?:[%‰$€£¥人名位個个件店家社円元株股台万億亿千回次歳岁倍度点所間]|m(?![a-z])|percent|people|persons|employees|"
    r"workers|staff|stores|"
    r"shares|units|items|times|customers|users|dollars|yen|euros?|pounds|million|billion|trillion|thousand|km|"
    r"kg|miles|feet|"
    r"meters|metres|square|hectares|acres|tons|tonnes|members|students|votes|points|copies|residents|"
    r"inhabitants|houses|"
    r"households|soldiers|troops|men|women|species|seats|others|delegates|kilomet|additional|new\s)"
)
_CURRENCY = re.compile(r"(?:[$€£¥₩₹#]|usd|eur|jpy|rmb|cny|gbp)\s?$")

Facets = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or period at a place in the folded text, by its parts: {("year", "2024"), ("month", "3")}."""

    at: Span
    facets: Facets

    def is_in(self, other: Moment) -> bool:
        """Whether the other says all that this one says, and of the same kind of year where this names one."""
        if not self.facets <= other.facets:
            return False
        return ("fiscal", "1") not in other.facets - self.facets or all(name != "year" for name, _ in self.facets)


def read_times(folded: Folded) -> list[Moment]:
    """Every date and period, in order, none over another."""
    text = folded.text
    taken = bytearray(len(text))
    found: list[Moment] = []

    def take(start: int, end: int, facets: dict[str, str]) -> None:
        if facets and not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            found.append(Moment(Span(start, end), frozenset(facets.items())))

    for pattern in (*_ENGLISH, *_CJK):
        for match in pattern.finditer(text):
            start, end = match.span()
            if start < end and not _is_duration(text, match):
                take(start, end, _facets(match))
    for match in _BARE_YEAR.finditer(text):
        second = match["second"]
        if _is_counted(text, match.end()) or _CURRENCY.search(text[: match.start()]):
            continue
        dash = text[match.start() - 1 : match.start()] == "-"
        if dash and re.search(r"[a-z\d]-$", text[max(0, match.start() - 2) : match.start()]) is None:
            continue
        take(match.start(), match.end("year"), {"year": match["year"]})
        if second:
            later = re.sub(r"\D", "", second)
            year = later if len(later) == 4 else match["year"][:2] + later
            take(match.end() - len(later), match.end(), {"year": year})
    for match in _MONTH_ALONE.finditer(text):
        written = folded.written(*match.span())
        usual = _BEFORE_MONTH.search(text[: match.start()]) is not None
        if written[:1].isupper() and (
            usual or match["month"].strip(".") not in ("may", "march", "mar", "dec", "jan", "sep")
        ):
            take(match.start(), match.end(), {"month": str(_MONTHS[match["month"].strip(".")])})
    return _joined(text, sorted(found, key=lambda moment: moment.at.start))


def _joined(text: str, moments: list[Moment]) -> list[Moment]:
    """A year and the half or quarter right behind it as one: 2024年 第3四半期."""
    result: list[Moment] = []
    for moment in moments:
        names = {name for name, _ in moment.facets}
        before = result[-1] if result else None
        if (
            before is not None
            and names <= {"half", "quarter"}
            and {name for name, _ in before.facets} in ({"year"}, {"year", "fiscal"})
            and text[before.at.end : moment.at.start].strip() in ("", "の", "的")
        ):
            result[-1] = Moment(Span(before.at.start, moment.at.end), before.facets | moment.facets)
        else:
            result.append(moment)
    return result


_LASTING = re.compile(r"(?:超過|超过|逾|长达|長達|多达|多達|有着|有著|已有|历经|歷經|历时|歷時)\s*$")
_LASTS = re.compile(r"\s*(?:的?[历歷]史|以上|前(?!半|期|後|后)|来|來|后|後の?間|之久|余|餘)")


def _is_duration(text: str, match: re.Match[str]) -> bool:
    """Whether what looks like a year is a number of years: 超過2000年的歷史."""
    if "year" not in match.groupdict() or not match.group().endswith("年"):
        return False
    before = text[max(0, match.start() - 6) : match.start()]
    return (_LASTING.search(before) is not None and _LASTS.match(text, match.end()) is not None) or before.endswith(
        ("超過", "超过", "長達", "长达")
    )


def _is_counted(text: str, end: int) -> bool:
    """Whether a unit or what is counted stands behind four digits, so that they are no year."""
    unit = UNIT.match(text, end)
    known = unit is not None and unit["unit"] not in _NO_UNITS and (len(unit["unit"]) > 1 or unit.start("unit") == end)
    return known or _COUNTED.match(text, end) is not None


_NO_UNITS = (
    "in",
    "m",
    "g",
    "t",
    "l",
    "x",
    "w",
    "年",
    "年間",
    "代",
    "期",
    "度",
    "回",
    "次",
    "届",
    "屆",
    "times",
    "years",
    "year",
)


def years_before(moments: list[Moment]) -> list[Moment]:
    """Further readings of dates without a year: with the year of the one before."""
    year: tuple[str, str] | None = None
    found: list[Moment] = []
    for moment in moments:
        own = next((facet for facet in moment.facets if facet[0] == "year"), None)
        if own is not None:
            year = own
        elif year is not None and {"month", "quarter", "half"} & {name for name, _ in moment.facets}:
            found.append(Moment(moment.at, moment.facets | {year}))
    return found


def _facets(match: re.Match[str]) -> dict[str, str]:
    named = {name: value for name, value in match.groupdict().items() if value is not None}
    facets: dict[str, str] = {}
    if "era" in named:
        count = 1 if named["erayear"] == "元" else _number(named["erayear"])
        facets["year"] = str(_ERAS[named["era"]] + count)
    elif "bcyear" in named:
        if named["bc"] == "前" and "month" not in named and _number(named["bcyear"]) < 100:
            return {}  # 前3年 is rather the three years before
        facets["year"] = f"-{_number(named['bcyear'])}"
    elif "year" in named:
        year = str(_number(named["year"]))
        facets["year"] = (("20" if year < "80" else "19") + year.zfill(2)) if len(year) <= 2 else year
    for name in ("adyear", "adyear2"):
        if name in named:
            facets["year"] = named[name]
    if "month" in named:
        raw = named["month"].strip(".")
        facets["month"] = str(_MONTHS[raw] if raw in _MONTHS else _number(raw))
    for name in ("day", "quarter", "half"):
        if name in named:
            facets[name] = str(_number(named[name]))
    if "quarter2" in named:
        facets["quarter"] = str(_number(named["quarter2"]))
    if "nth" in named:
        facets["half" if "ishalf" in named else "quarter"] = str(_ORDINAL_WORDS[named["nth"]])
    if "fiscal" in named or "nendo" in named or "fiscal1" in named:
        facets["fiscal"] = "1"
    if "firsthalf" in named:
        facets["half"] = "1"
    if "secondhalf" in named:
        facets["half"] = "2"
    if "century" in named or "centuryword" in named:
        sign = "-" if "bc" in named else ""
        number = _CENTURY_WORDS[named["centuryword"]] if "centuryword" in named else _number(named["century"])
        facets["century"] = f"{sign}{number}"
    if "decade" in named:
        facets["decade"] = str(_number(named["decade"]) % 100)
        if _number(named["decade"]) > 999:
            facets["decade_century"] = str(_number(named["decade"]) // 100)
    if "clock" in named or "hour" in named:
        hour = _number(named.get("hour", "") or named["clock"].split(":")[0])
        late = named.get("noon") == "p" or named.get("ampm") in ("午後", "下午", "晚上")
        minute = (
            named.get("minute") or ("30" if "halfpast" in named else "") or (named.get("clock", "") + ":").split(":")[1]
        )
        facets["clock"] = f"{hour % 12 + 12 if late and hour <= 12 else hour}:{_number(minute) if minute else 0:02d}"
    return facets


def _number(text: str) -> int:
    if text.isdecimal():
        return int(text)
    value = han_value(text)
    return int(value) if value is not None else -1
