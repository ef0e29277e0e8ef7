"""Numbers as people write them in English, Chinese and Japanese, with digits or in words, with unit and scale."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from groundwire_server.evidence import Span
from groundwire_server.guard.folded import Folded, fold, fraction_of
from groundwire_server.guard.spelled import HAN, han_value, spelled_english
from groundwire_server.guard.times import read_times
from groundwire_server.guard.units import CURRENCY_BEFORE, MONEY, SCALE_CJK, SCALE_EN, UNIT, canonical_unit, powers

__all__ = ["Number", "find_numbers", "read_numbers"]

_DIGITS = re.compile(r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?P<sign>[\ue000-\ue00e])?|(?P<alone>[\ue000-\ue00e])")
_NAME = re.compile(
    r"(?<![a-z0-9])(?:[a-z]+[a-z.]*\d[a-z0-9.]*(?:-\d+)*|[a-z]+(?:[-/][a-z]+)*-\d[a-z0-9.]*)(?![a-z0-9])"
)
_NAME_BEHIND = re.compile(
    r"(?<![a-z0-9.,])\d+(?:[a-df-z][a-z0-9]*|-d(?![a-z]))(?![a-z0-9])|(?<![\d.,])\d+(?:(?:-\d+){2,}|(?:\.\d+){2,})(?![\d])"
)
_STRUCTURE = re.compile(
    r"(?<![a-z])(?:articles?|art\.|sections?|sec\.|chapters?|ch\.|pages?|pp?\.|items?|notes?|tables?|figures?|"
    r"fig\.|paragraphs?|"
    r"para\.|clauses?|appendix|exhibits?|schedules?|rules?|volumes?|vol\.|annex|footnotes?|equations?|eq\.|"
    r"steps?|§+)\s*"
    r"\d+(?:\.\d+)*[a-z]?(?![\d%]|,\d|\s*(?:percent|million|billion|thousand|trillion|[万億亿%]))"
    r"|第\s*(?:\d+|[〇一二三四五六七八九十百]+)\s*(?:条|條|章|節|节|項|项|款|頁|页|號|号|編|编|図|表|巻|卷)(?:の\d+)?"
    r"|(?:図|表|注|脚注|附件|附表|别表|別表|図表|图|圖)\s*\d+(?![\d%,.]|\s*[万億亿%人円元])|"
    r"(?<!\d)(?<!\d[,.])\d+\s*(?:ページ|頁|页)(?!の)"
)
_LIST_MARK = re.compile(
    r"^\s*(?:[-*•]\s*)?(?:[(（]?\d{1,2}[)）.、](?=\s|[^\d\s])|[(（]?[一二三四五六七八九十]{1,2}[)）、.])(?!\d)"
)
_ORDINAL = re.compile(r"(?<![\da-z])(?<!\d[,.])(\d+)(?:st|nd|rd|th)(?![a-z])")
_ORDINAL_CJK = re.compile(
    r"第\s*(\d+|[〇一二三四五六七八九十百千]+)(?:\s*(?P<unit>[位名代回次届屆期作話集部季号]))?|"
    r"(?<!\d)(?<!\d[,.])(\d+)\s*(?:位|番目|番手|等)(?!于|於)"
)
_SIGN = re.compile(r"(?:(?<![\w)\]%])[-\u2212]|[△▲]|(?<![a-z])minus\s|マイナス|负|負(?=[\d])|(?<![\w)\]])\+)\s?$")
_BRACKETED = re.compile(r":\s*[$€£¥]?\(\s*[$€£¥]?$")
_MORE_DIGITS = re.compile(r"\s?(?P<digits>\d{1,4}(?:,\d{3})*(?:\.\d+)?)(?P<scale>[百千]?[万萬億亿]?)")
_NOUN = re.compile(r"[\s-]+([a-z][a-z'’]*)")
_NOT_COUNTED = frozenset(
    [
        "of",
        "behind",
        "ahead",
        "ago",
        "later",
        "earlier",
        "long",
        "wide",
        "high",
        "tall",
        "deep",
        "away",
        "across",
        "total",
        "in",
        "and",
        "to",
        "from",
        "for",
        "by",
        "at",
        "on",
        "with",
        "who",
        "which",
        "that",
        "were",
        "was",
        "is",
        "are",
        "had",
        "has",
        "have",
        "as",
        "or",
        "than",
        "the",
        "a",
        "an",
        "per",
        "between",
        "into",
        "over",
        "during",
        "since",
        "after",
        "before",
        "while",
        "when",
        "but",
        "he",
        "she",
        "it",
        "its",
        "they",
        "their",
        "his",
        "her",
        "this",
        "these",
        "those",
        "be",
        "been",
        "not",
        "also",
        "against",
        "about",
        "would",
        "will",
        "could",
        "may",
        "can",
        "did",
        "do",
        "does",
        "both",
        "if",
        "so",
        "up",
        "down",
        "out",
        "off",
        "under",
        "above",
        "below",
        "more",
        "less",
        "other",
    ]
)
_PLAIN_MONEY = ("元", "圓", "块", "塊", "$", "dollars", "dollar")
_AND_MORE = re.compile(r"\s?[余餘多來来](?=[^\s。、，,])")
_HAN_COUNTER = re.compile(r"\s?([\u4e00-\u9fff\u30a0-\u30ff々]{1,2})")
_BEFORE_HAN = re.compile("[数數幾几]$")
_PERCENT_OF = re.compile(r"(?:百分之|百份之)$")
_PARTS_OF = re.compile(r"([〇一二三四五六七八九十百两兩\d]+)\s*(?:分之|分の)\s*([〇一二三四五六七八九十百两兩\d]+)")
_HAN_POINT = re.compile("[点點・.]([〇零一二三四五六七八九]+)")


@dataclass(frozen=True, slots=True)
class Number:
    """A figure in a text.

    span: in the source. at: in the folded text. value: with its scale, and negative where it is written so.
    decimals: digits written behind the point. scale: power of ten that was written as a word. unit: canonical ("%",
    "USD", "km", "/3" for thirds, "nth" for a place in an order); empty where none is known.
    nouns: words or characters right behind it, where the unit is not known. low, high: the last digit that counts is
    of some power of ten between these; trailing zeros of a whole number leave it open.
    """

    span: Span
    at: Span
    text: str
    value: Decimal
    decimals: int
    scale: int
    unit: str
    nouns: tuple[str, ...]
    low: int
    high: int
    soft: bool = False

    def equals(self, other: Number) -> bool:
        """Whether value and precision are the same; the unit is another question."""
        return abs(self.value) == abs(other.value) and self.low <= other.high and other.low <= self.high


def read_numbers(text: str, language: str = "") -> list[Number]:
    """Every figure in a text, in order: no dates, no names such as 5G, no articles and pages, no list marks.

    Args:
        language: "ja" or "zh" says which currency ¥ is; without it the sign stands for itself.

    >>> [
    ...     (str(n.value), n.decimals, n.unit)
    ...     for n in read_numbers("１２.0% of ¥3万, two miles, 三百人 in 2024, 5G", "ja")
    ... ]
    [('12.0', 1, '%'), ('30000', 0, 'JPY'), ('2', 0, 'mi'), ('300', 0, 'head')]
    """
    folded = fold(text)
    return find_numbers(folded, language, [moment.at for moment in read_times(folded)])


def find_numbers(folded: Folded, language: str, taken_by: list[Span]) -> list[Number]:
    """As `read_numbers`, apart from what is taken already."""
    text = folded.text
    taken = bytearray(len(text))
    for at in taken_by:
        taken[at.start : at.end] = b"\1" * (at.end - at.start)
    mark = _LIST_MARK.match(text)
    if mark:
        taken[: mark.end()] = b"\1" * mark.end()
    for match in (*_STRUCTURE.finditer(text), *_NAME.finditer(text), *_NAME_BEHIND.finditer(text)):
        if not any(taken[match.start() : match.end()]) and not _is_measured(folded, match):
            taken[match.start() : match.end()] = b"\1" * len(match.group())
    reader = _Reader(folded, language, taken)
    return _share_scales(text, sorted(reader.all(), key=lambda number: number.at.start))


def _is_measured(folded: Folded, match: re.Match[str]) -> bool:
    """Whether what looks like a name is an amount: usd5, 5km, 12x, 5m, mid-5."""
    word = match.group()
    head = re.match(r"[a-z.]+", word)
    if head:
        before = word[: head.end()]
        if CURRENCY_BEFORE.search(before) or before in ("c", "ca", "no", "approx", "about"):
            return True
        hyphen = re.match(r"[a-z-]+-(?=\d)", word)
        if hyphen:  # COVID-19 has a capital, sub-5 has none
            return not folded.written(match.start(), match.start() + 1).isupper()
        return False
    digits = re.match(r"\d+", word)
    if digits is None or re.search(r"[-.]\d", word):
        return False
    tail = word[digits.end() :]
    if tail in ("st", "nd", "rd", "th", "s"):
        return True
    written = folded.written(match.start(), match.end())
    if len(tail) == 1 and tail in "gdk" and written[-1:].isupper() and tail != "k":
        return False  # 5G, 3D
    found = UNIT.match(word, digits.end())
    scaled = SCALE_EN.match(word, digits.end())
    return (found is not None and found.end() == len(word)) or scaled is not None


class _Reader:
    """Reads the numbers of one text; what it has read is taken."""

    def __init__(self, folded: Folded, language: str, taken: bytearray) -> None:
        self.folded, self.text, self.language, self.taken = folded, folded.text, language, taken

    def all(self) -> Iterator[Number]:
        for match in _PARTS_OF.finditer(self.text):
            yield from self._parts(match)
        for match in _ORDINAL_CJK.finditer(self.text):
            raw = match[1] or match[3]
            value = Decimal(int(raw)) if raw.isdecimal() else han_value(raw)
            if value is not None and not (value == 1 and match["unit"] is None and not raw.isdecimal()):
                yield from self._take(match.start(), match.end(), value, "nth")
        for match in _ORDINAL.finditer(self.text):
            yield from self._take(match.start(), match.end(), Decimal(int(match[1])), "nth")
        for match in _DIGITS.finditer(self.text):
            yield from self._digits(match)
        for match in HAN.finditer(self.text):
            yield from self._han(match)
        for spelled in spelled_english(self.text):
            if spelled.unit:
                yield from self._take(spelled.start, spelled.end, spelled.value, spelled.unit)
            elif not self._is_taken(spelled.start, spelled.end):
                whole = spelled.value == spelled.value.to_integral_value()
                high = _zeros(spelled.value) if whole else 0
                yield self._number(spelled.start, spelled.end, spelled.value, 0, 0, high, "", soft=spelled.soft)

    def _is_taken(self, start: int, end: int) -> bool:
        return any(self.taken[start:end])

    def _take(self, start: int, end: int, value: Decimal, unit: str) -> Iterator[Number]:
        if not self._is_taken(start, end):
            self._mark(start, end)
            yield Number(
                self.folded.span(start, end),
                Span(start, end),
                self.folded.written(start, end),
                value,
                0,
                0,
                unit,
                (),
                0,
                0,
            )

    def _mark(self, start: int, end: int) -> None:
        self.taken[start:end] = b"\1" * (end - start)

    def _parts(self, match: re.Match[str]) -> Iterator[Number]:
        below, above = (Decimal(int(raw)) if raw.isdecimal() else han_value(raw) for raw in match.groups())
        if below is not None and above is not None and below != 100:
            yield from self._take(match.start(), match.end(), above, f"/{below}")

    def _digits(self, match: re.Match[str]) -> Iterator[Number]:
        start, end = match.span()
        if self._is_taken(start, end):
            return
        if match["alone"]:
            above, below = fraction_of(match["alone"])
            yield from self._take(start, end, Decimal(above), f"/{below}")
            return
        raw = match.group()
        fraction = Decimal(0)
        if match["sign"]:
            above, below = fraction_of(raw[-1])
            fraction, raw = Decimal(above) / Decimal(below), raw[:-1]
        plain = raw.replace(",", "")
        decimals = len(plain.partition(".")[2])
        if not decimals and (bar := re.match(r"\s?[/⁄]\s?(\d{1,3})(?![\d/])", self.text[end:])) and len(plain) < 3:
            yield from self._take(start, end + bar.end(), Decimal(plain), f"/{int(bar[1])}")
            return
        value = Decimal(plain) + fraction
        scale, end = self._scale(start, end)
        value = value.scaleb(scale)
        low = scale - decimals
        high = low if decimals else scale + _zeros(Decimal(plain))
        while (more := _MORE_DIGITS.match(self.text, end)) and self.text[end - 1] in "万萬億亿千百" and not decimals:
            power = powers(more["scale"]) if more["scale"] else 0
            part = Decimal(more["digits"].replace(",", "")).scaleb(power)
            if part >= Decimal(10) ** _last_power(self.text[end - 1]):
                break
            value += part
            low = power - len(more["digits"].partition(".")[2])
            high = low if "." in more["digits"] else power + _zeros(Decimal(more["digits"].replace(",", "")))
            end = more.end()
        yield self._number(start, end, value, decimals, low, high, "", scale)

    def _scale(self, start: int, end: int) -> tuple[int, int]:
        found = SCALE_CJK.match(self.text, end)
        if found:
            return powers(found["name"]), found.end()
        english = SCALE_EN.match(self.text, end)
        if english is None:
            return 0, end
        if english["letter"]:
            letter = english["letter"]
            money = CURRENCY_BEFORE.search(self.text, 0, start) is not None
            capital = self.folded.written(english.start("letter"), english.end("letter")).isupper()
            near = english.start("letter") == end
            if not near or not (money or capital or letter == "k"):
                return 0, end
            return powers("billion" if letter == "b" else letter), english.end()
        if english["hundred"]:
            return 2, english.end()
        return powers(english["name"]) + (2 if english["word"] else 0), english.end()

    def _han(self, match: re.Match[str]) -> Iterator[Number]:
        start, end = match.span()
        text = self.text
        if _BEFORE_HAN.search(text[max(0, start - 1) : start]) or self._is_taken(start, end):
            return
        if text[end : end + 1] in ("几", "幾", "数", "數", "来", "來") and text[end - 1] in "十百千万":
            return
        percent = _PERCENT_OF.search(text[:start])
        if text.startswith(("分之", "份之"), end - 1) or text.startswith(("分之", "分の", "份之"), end):
            return
        value = han_value(match.group())
        if value is None:
            return
        low, high, decimals = 0, _zeros(value), 0
        point = _HAN_POINT.match(text, end)
        if point and not text.startswith(("分", "鐘", "钟"), point.end()):
            digits = str(han_value(point[1]) if len(point[1]) > 1 else han_value(point[1]) or 0).zfill(len(point[1]))
            decimals = len(point[1])
            value, end = Decimal(f"{value}.{digits}"), point.end()
            scale, end = self._scale(start, end)
            value = value.scaleb(scale)
            low = high = scale - decimals
        if percent:
            self._mark(percent.start(), end)
            at = Span(percent.start(), end)
            yield Number(
                self.folded.span(at.start, end),
                at,
                self.folded.written(at.start, end),
                value,
                decimals,
                0,
                "%",
                (),
                low,
                high,
            )
            return
        unit = UNIT.match(text, end)
        if len(match.group()) == 1 and unit is None:
            return
        if unit and unit["unit"] == "分" and match.group() == "十":
            return
        soft = value == 1 and match.group() == "一"
        yield self._number(start, end, value, decimals, low, high, "", soft=soft)

    def _number(
        self, start: int, end: int, value: Decimal, decimals: int, low: int, high: int, unit: str, scale: int = 0,
        soft: bool = False,
    ) -> Number:  # fmt: skip
        """The number at `start:end`, with the sign and currency before it and the unit behind it."""
        text = self.text
        nouns: tuple[str, ...] = ()
        percent = _PERCENT_OF.search(text, 0, start)
        before = CURRENCY_BEFORE.search(text, 0, start)
        if before:
            unit, start = self._currency(before["unit"]), before.start()
        elif percent:
            unit, start = "%", percent.start()
        bracket = _BRACKETED.search(text[:start]) is not None and re.match(r"\s*[^()]{0,10}\)", text[end:]) is not None
        sign = _SIGN.search(text[:start])
        if (sign and "+" not in sign.group()) or bracket:
            value = -value
            start = sign.start() if sign else start
        more = _AND_MORE.match(text, end)
        behind = UNIT.match(text, more.end() if more else end)
        if behind and (
            behind["unit"] not in ("in", "m", "g", "l", "t", "x", "w")
            or behind.start("unit") == end
            or behind["unit"] != "in"
        ):
            named = self._currency(behind["unit"])
            if not unit or named == unit:
                unit, end = named, behind.end()
            elif unit in MONEY and named in MONEY and behind["unit"] not in _PLAIN_MONEY:
                unit, end = f"{unit}/{named}", behind.end()  # $5 yen is neither
        if not unit:
            nouns = self._nouns(end)
        self._mark(start, end)
        plain = Decimal(f"{value:f}")
        return Number(
            self.folded.span(start, end), Span(start, end), self.folded.written(start, end), plain, decimals, scale,
            unit, nouns, low, high, soft,
        )  # fmt: skip

    def _currency(self, spelling: str) -> str:
        unit = canonical_unit(spelling)
        if unit == "¥":
            return {"ja": "JPY", "zh": "CNY"}.get(self.language, "¥")
        return unit

    def _nouns(self, end: int) -> tuple[str, ...]:
        counter = _HAN_COUNTER.match(self.text, end)
        if counter:
            return (counter[1][0],) if not "\u30a0" <= counter[1][0] <= "\u30ff" else (counter[1],)
        found: list[str] = []
        while len(found) < 4 and (word := _NOUN.match(self.text, end)) and word[1] not in _NOT_COUNTED:
            found.append(_stem(word[1]))
            end = word.end()
        return tuple(found)


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _zeros(value: Decimal) -> int:
    """Zeros at the end of a whole number; of zero none."""
    digits = str(abs(value).to_integral_value())
    return len(digits) - len(digits.rstrip("0")) if value else 0


def _last_power(character: str) -> int:
    return powers(character)


_SHARING = re.compile(r"\s*(?:[-–—~〜～]|to|and|or|から|至|到|と|和)\s*")


def _share_scales(text: str, numbers: list[Number]) -> list[Number]:
    """Scale and unit said once behind the second of two numbers hold for the first: 5-7 million, 5〜7%."""
    shared = list(numbers)
    for place in range(len(shared) - 2, -1, -1):
        first, second = shared[place], shared[place + 1]
        if _SHARING.fullmatch(text, first.at.end, second.at.start) is None or first.unit == "nth":
            continue
        if second.value < 0 and text[second.at.start] in "-−":  # a dash, no sign
            second = shared[place + 1] = replace(second, value=-second.value)
        if first.unit in MONEY and not second.unit and not second.nouns:
            second = shared[place + 1] = replace(second, unit=first.unit)
        bare = not first.unit or (first.unit in MONEY and first.unit == second.unit)
        if not bare:
            continue
        if second.scale and not first.scale:
            first = replace(
                first, value=Decimal(f"{first.value.scaleb(second.scale):f}"), scale=second.scale,
                low=first.low + second.scale, high=first.high + second.scale,
            )  # fmt: skip
        if not first.unit:
            first = replace(
                first, unit=second.unit, nouns=first.nouns if second.unit else (*first.nouns, *second.nouns)
            )
        shared[place] = first
    return shared
