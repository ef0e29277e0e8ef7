"""Units and scales in words: "USD millions", "百万円", "单位：万元", "in thousands, except per share data".

A phrase is read only where all of it is understood; what is not understood says nothing. Only the words below count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from groundwire_server.errors import ErrorReason, RowRefused

__all__ = [
    "HEADS",
    "NO_MEASURE",
    "PERCENT",
    "SHARES",
    "Measure",
    "MoneySigns",
    "Shares",
    "Vague",
    "find_language",
    "is_left_alone",
    "is_money",
    "read_measure",
    "read_scale",
    "read_title",
    "same_unit",
    "scale_words",
    "speaks_of_scale",
    "split_measure",
    "split_per",
    "unit_measure",
    "unit_words",
]

PERCENT, SHARES, HEADS = "PERCENT", "shares", "persons"

_CODES = frozenset({
    "AED", "ARS", "AUD", "BRL", "CAD", "CHF", "CLP", "CNH", "CNY", "COP", "CRC", "CZK", "DKK", "EGP", "EUR", "GBP",
    "HKD", "HUF", "IDR", "ILS", "INR", "JPY", "KRW", "KZT", "MOP", "MXN", "MYR", "NGN", "NOK", "NZD", "PEN", "PHP",
    "PKR", "PLN", "QAR", "RON", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR",
})  # fmt: skip

# What is one currency wherever it stands.
_MONEY = {
    "us$": "USD", "u.s.$": "USD", "usd$": "USD", "u.s. dollars": "USD", "u.s. dollar": "USD", "us dollars": "USD",
    "us dollar": "USD", "米ドル": "USD", "美元": "USD", "美金": "USD", "ドル": "USD", "弗": "USD",
    "€": "EUR", "euro": "EUR", "euros": "EUR", "ユーロ": "EUR", "欧元": "EUR", "歐元": "EUR",
    "£": "GBP", "pounds sterling": "GBP", "ポンド": "GBP", "英镑": "GBP", "英鎊": "GBP",
    "円": "JPY", "日本円": "JPY", "jp¥": "JPY", "yen": "JPY", "japanese yen": "JPY", "日元": "JPY", "日圓": "JPY",
    "rmb": "CNY", "renminbi": "CNY", "人民币": "CNY", "人民幣": "CNY", "人民元": "CNY", "cn¥": "CNY", "yuan": "CNY",
    "hk$": "HKD", "港元": "HKD", "港币": "HKD", "港幣": "HKD", "香港ドル": "HKD",
    "nt$": "TWD", "ntd": "TWD", "新台币": "TWD", "新台幣": "TWD", "新臺幣": "TWD", "台湾ドル": "TWD",
    "a$": "AUD", "au$": "AUD", "澳元": "AUD", "豪ドル": "AUD", "c$": "CAD", "ca$": "CAD", "加元": "CAD",
    "加ドル": "CAD", "s$": "SGD", "新加坡元": "SGD", "r$": "BRL", "スイスフラン": "CHF", "瑞士法郎": "CHF",
    "₩": "KRW", "韩元": "KRW", "韓元": "KRW", "ウォン": "KRW", "₹": "INR", "rs.": "INR", "rupees": "INR", "卢比": "INR",
    "ルピー": "INR", "₽": "RUB", "₺": "TRY", "₫": "VND", "฿": "THB", "฿.": "THB", "₪": "ILS", "₱": "PHP",
    **{code.casefold(): code for code in _CODES},
}  # fmt: skip
_SIGNS = ("$", "dollars", "dollar", "¥", "元", "圓")
"""Money of several countries: what they mean is for the mapping and the language to say."""

_OTHER = {
    "%": PERCENT, "percent": PERCENT, "per cent": PERCENT, "pct": PERCENT, "percentage": PERCENT, "パーセント": PERCENT,
    "百分比": PERCENT,
    "persons": HEADS, "people": HEADS, "employees": HEADS, "人": HEADS, "名": HEADS, "ftes": HEADS, "fte": HEADS,
    "shares": SHARES, "株": SHARES, "股": SHARES,
    "bps": "BPS", "basis points": "BPS", "ベーシスポイント": "BPS", "基点": "BPS",
    "pp": "PERCENTAGE_POINTS", "percentage points": "PERCENTAGE_POINTS", "percentage point": "PERCENTAGE_POINTS",
    "百分点": "PERCENTAGE_POINTS", "百分點": "PERCENTAGE_POINTS", "%pt": "PERCENTAGE_POINTS",
    "パーセントポイント": "PERCENTAGE_POINTS",
    "x": "times", "times": "times", "倍": "times",
}  # fmt: skip
_UNITS = {**_MONEY, **_OTHER}

_SCALES = {
    "k": 3, "thousand": 3, "thousands": 3, "'000": 3, "'000s": 3, "000": 3, "000s": 3, "000's": 3, "tsd": 3, "tsd.": 3,
    "千": 3, "仟": 3,
    "万": 4, "萬": 4, "lakh": 5, "lakhs": 5, "十万": 5, "十萬": 5,
    "mm": 6, "mn": 6, "mln": 6, "mil.": 6, "million": 6, "millions": 6, "mio": 6, "mio.": 6, "'000,000": 6,
    "百万": 6, "百萬": 6, "佰万": 6, "佰萬": 6,
    "千万": 7, "千萬": 7, "仟万": 7, "仟萬": 7, "crore": 7, "crores": 7, "億": 8, "亿": 8,
    "bn": 9, "bln": 9, "billion": 9, "billions": 9, "mrd": 9, "mrd.": 9, "十億": 9, "十亿": 9,
    "百億": 10, "百亿": 10, "千億": 11, "千亿": 11,
    "tn": 12, "trn": 12, "trillion": 12, "trillions": 12, "兆": 12, "万億": 12, "万亿": 12, "萬億": 12,
}  # fmt: skip
# A letter is a scale in capitals, or beside money: 12m may be metres. T is a thousand in German and a trillion in
# English, and "mil" a thousand in Portuguese and a million in English: neither is read.
_LETTERS = {"M": 6, "B": 9}
_MONEY_LETTERS = {"m": 6, "b": 9}

_FILLERS = frozenset({
    "unless", "otherwise", "noted", "indicated", "numbers", "restated",
    "in", "of", "the", "all", "are", "is", "amounts", "amount", "figures", "figure", "values", "value", "expressed",
    "stated", "presented", "reported", "shown", "data", "unit", "units", "unaudited", "audited", "and", "currency",
    "单位", "單位", "単位", "金额", "金額", "货币", "幣別", "币种", "幣種", "通貨", "为", "為", "以", "计", "計",
    "列示",
})  # fmt: skip
_WORD = re.compile(
    r"'000,000|'000s?|000's|000s?|u\.s\.\s?\$|[a-z]{1,3}\$|[a-z]{2}¥|[$€£¥₩₹₽₺₫฿₪₱]"
    r"|u\.s\. dollars?|us dollars?|pounds sterling|japanese yen|basis points|percentage points?|per cent"
    r"|(?:tsd|mio|mrd|mil|rs)\.|%pt|%|[a-z]+|[^\W\d_a-z]+|[:,;/()\-–—.'&]|\d+",
    re.IGNORECASE,
)
_GLUED = re.compile(r"(?P<code>[a-z]{2,3})(?P<scale>'?000s?|k|m|mm|mn|bn|mio|mrd)", re.IGNORECASE)
_SAYS_UNIT = re.compile(
    r"(?:^|[\s(])(?:currency )?(?:units?|(?:金额|金額|货币|貨幣|数量)?\s*(?:单位|單位|単位)|通貨単位)"
    r"\s*[:：]\s*(?P<phrase>.+)$",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[(\[（【〔［](?P<phrase>[^()\[\]（）【】〔〕［］]*)[)\]）】〕］]")
_TRAILING = re.compile(
    r"^(?P<name>.*\S)\s*[(\[（【〔［](?P<phrase>[^()\[\]（）【】〔〕［］]*)[)\]）】〕］]\s*$", re.DOTALL
)
_EXCEPT = re.compile(
    r"[,;、，]?\s*\b(?:except|excluding|other than)\b(?P<rest>.*)$|[,;、，]?\s*(?:除)(?P<zh>.*)$", re.IGNORECASE
)
_LONGEST, _LONGEST_LABEL = 200, 500
_APOSTROPHES = str.maketrans("\u2018\u2019´`", "''''")
_CUT_OFF = re.compile(r"未満(?:は|を)?(?:切り?捨て|四捨五入|切り?上げ)(?:表示|て表示)?(?:しており?ます|しています)?$")
_CODE = "|".join(sorted(_CODES | {"RMB"}))
_SCALE_IN_LETTERS = (
    r"\b(?:in)?(?P<word>thousands?|millions?|billions?|trillions?|mln|mn|bn|bln|mio|mrd|tsd|lakhs?|crores?)\b"
)
# Of what is counted in numerals that are put together: 千トン, 万辆, 百 万 円.
_SCALE_IN_NUMERALS = (
    r"(?P<numeral>[十百千万萬億亿兆仟佰拾](?:\s*[十百千万萬億亿兆仟佰拾])*)\s*"
    r"(?=[円元圓人名株股台吨噸辆輛件本個个户戶戸枚¥$€£]|ドル|米ドル|美元|港[元币幣]|ユーロ|トン|kwh|kl)"
)
# Of other languages and of other ways to write it: nothing is read of these, but they are seen.
_SPEAKS_OF_SCALE = re.compile(
    rf"{_SCALE_IN_LETTERS}|{_SCALE_IN_NUMERALS}|百万|百萬"
    r"|\bin hundreds\b|\b(?:lacs?|mil|mill|bil|tril|thous?|thsd|ths|mlrd|mios?)\b|(?:\b(?:rs\.?|inr)|₹)\s*crs?\b"
    r"|\b(?:tausend|million(?:en|i)|milliarden?|milliers?|milliards?|millones|miles de|milh[õo]es|milhares|bilh"
    r"|migliaia|miliardi)|тыс|млн|млрд|천\s*원|만\s*원|억\s*원"
    rf"|\b[kmbt](?:{_CODE})\b|\b(?:{_CODE})[ _]?[kmbt]\b|\bt\s?[$€£¥]|[$€£¥]\s?t\b|\bt (?:{_CODE})\b"
    r"|[x×*·]\s*1[,.]?000|[x×*·]\s*10\s*\^?\s*\d|\b10\s*\^\s*\d|\b1?e[369]\b"
    rf"|(?:\b(?:{_CODE}|units?\s*:)|[$€£¥])\s*1[,. ]?000\b|\b1[,. ]?000\s*(?:{_CODE})\b"
    r"|[\u2018\u2019'`´]\s?(?:000|mn?\b)|(?<![\d,.])000s?\b",
    re.IGNORECASE,
)
_RAISED_TEN = re.compile(r"10\s?[²³⁴⁵⁶⁷⁸⁹]")
_SCALE_SAID = re.compile(rf"{_SCALE_IN_LETTERS}|{_SCALE_IN_NUMERALS}|(?P<zeros>[\u2018\u2019']000)", re.IGNORECASE)
_ONLY_DIGITS = re.compile(r"[\d,.\s]*")
_IN_DIGITS = re.compile(r"(?<![\d,])(1,000(?:,000)?)(?:s\b|(?![\d,]))")
_DIGITS_WORD = {"1,000": "thousand ", "1,000,000": "million "}

Shares = Literal["same", "own", "unclear"]


@dataclass(frozen=True, slots=True)
class MoneySigns:
    """What signs of several currencies mean in a file.

    said: by sign, as the mapping says ("$": "CAD"). language: of the file, "ja", "zh" or empty where it is not clear.
    traditional: whether its Chinese is written in traditional characters, in which 元 has no country.
    """

    said: Mapping[str, str] = field(default_factory=dict)
    language: str = ""
    traditional: bool = False

    def unit(self, sign: str) -> str:
        """The currency of a sign; empty where it may be any of several.

        >>> MoneySigns().unit("$"), MoneySigns().unit("¥"), MoneySigns(language="ja").unit("¥")
        ('USD', '', 'JPY')
        """
        for spelling in _spellings(sign):
            if spelling in self.said:
                return self.said[spelling]
        match sign:
            case "$" | "dollar" | "dollars":
                return "USD"
            case "¥":
                return {"ja": "JPY", "zh": "CNY"}.get(self.language, "")
            case _:
                return "" if self.traditional or sign == "圓" else "CNY"


def _spellings(sign: str) -> tuple[str, ...]:
    match sign:
        case "dollar" | "dollars":
            return ("$", sign)
        case "¥":
            return ("¥", "￥")
        case _:
            return (sign,)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a phrase says of the numbers below or beside it.

    power: of ten that they are counted in; None: not said. unit: empty: not said.
    shares: whether numbers of shares are counted so, too: "same", "own" (they stand as they are), or "unclear".
    vague: a sign of money that may be of several countries, which made unit empty.
    """

    power: int | None = None
    unit: str = ""
    shares: Shares = "same"
    vague: str = ""

    def __bool__(self) -> bool:
        return self.power is not None or bool(self.unit) or bool(self.vague)

    def over(self, wider: Measure) -> Measure:
        """This one, and of what it does not say what the wider one says."""
        return Measure(
            wider.power if self.power is None else self.power,
            self.unit or ("" if self.vague else wider.unit),
            self.shares if self.power is not None else wider.shares,
            self.vague or ("" if self.unit else wider.vague),
        )


NO_MEASURE = Measure()
Vague = MoneySigns()


def unit_words() -> Mapping[str, str]:
    """Units by spelling, lower case."""
    return _UNITS


def read_scale(text: str) -> int:
    """The power of ten that a column of scales says: a word, a power of ten, or its exponent (SDMX: UNIT_MULT).

    >>> read_scale("Millions"), read_scale("1000"), read_scale("6"), read_scale("units")
    (6, 3, 6, 0)

    Raises:
        RowRefused: VALUE_MALFORMED.
    """
    folded = unicodedata.normalize("NFKC", text).strip().casefold().replace(",", "")
    if folded in _SCALES:
        return _SCALES[folded]
    if folded in ("units", "unit", "ones", "none", "円", "元"):
        return 0
    if re.fullmatch(r"10{0,15}", folded):
        return len(folded) - 1
    if re.fullmatch(r"[0-9]|1[0-5]", folded):
        return int(folded)
    why = "The scale is no word like millions, no power of ten and no exponent of one."
    raise RowRefused(ErrorReason.VALUE_MALFORMED, why, column="scale", value=text)


def scale_words() -> Mapping[str, int]:
    """Powers of ten by spelling, lower case."""
    return _SCALES


def same_unit(one: str, other: str) -> bool:
    """Whether two spellings name one unit.

    >>> (
    ...     same_unit("PERCENT", "%"),
    ...     same_unit("usd", "US$"),
    ...     same_unit("USD/shares", "USD per share"),
    ...     same_unit("t", "T"),
    ... )
    (True, True, True, True)
    """
    return _unit_key(one) == _unit_key(other)


@lru_cache(maxsize=4096)
def _unit_key(unit: str) -> str:
    text = unicodedata.normalize("NFKC", unit).strip().casefold()
    top, bar, bottom = split_per(text)
    if bar:
        return f"{_unit_key(top)}/{_unit_key(bottom)}"
    return _UNITS.get("shares" if text == "share" else text, text).casefold()


def split_per(text: str) -> tuple[str, bool, str]:
    """What stands before and behind the bar of a unit, and whether there is one.

    >>> split_per("USD per share"), split_per("USD")
    (('USD', True, 'share'), ('USD', False, ''))
    """
    for bar in ("/", " per "):
        top, found, bottom = text.partition(bar)
        if found and top.strip() and bottom.strip():
            return top.strip(), True, bottom.strip()
    return text, False, ""


@lru_cache(maxsize=4096)
def unit_measure(unit: str) -> Measure:
    """What a code of a unit says of scale by itself; false where it says none.

    >>> unit_measure("USD_M"), bool(unit_measure("USD"))
    (Measure(power=6, unit='USD', shares='same', vague=''), False)
    """
    measure = read_title(unit.replace("_", " "))
    return measure if measure.power is not None else NO_MEASURE


@lru_cache(maxsize=4096)
def is_money(unit: str) -> bool:
    """Whether a unit is a currency.

    >>> is_money("usd"), is_money("円"), is_money("shares")
    (True, True, False)
    """
    text = unicodedata.normalize("NFKC", unit).strip().casefold()
    return text in _MONEY or text in _SIGNS or (len(text) == 3 and text.upper() in _CODES)


@lru_cache(maxsize=4096)
def is_left_alone(unit: str) -> bool:
    """Whether the scale of a heading leaves numbers of this unit as they stand: percents, ratios, per-unit, heads.

    >>> is_left_alone("percent"), is_left_alone("USD/shares"), is_left_alone("persons"), is_left_alone("USD")
    (True, True, True, False)
    """
    key = _unit_key(unit)
    return "/" in key or key in _ALONE


_ALONE = frozenset({"percent", "persons", "bps", "percentage_points", "times", "pure", "ratio"})


def read_measure(text: str, signs: MoneySigns = Vague) -> Measure:
    """What a heading or a title says of unit and scale; false where it says neither.

    >>> read_measure("Revenue (USD millions)"), read_measure("（単位：百万円）")
    (Measure(power=6, unit='USD', shares='same', vague=''), Measure(power=6, unit='JPY', shares='same', vague=''))
    >>> read_measure("Revenue from USD loans") == NO_MEASURE
    True
    """
    if len(text) > _LONGEST_LABEL:
        return NO_MEASURE
    return _read(unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).strip(), _Frozen.of(signs))


@dataclass(frozen=True, slots=True)
class _Frozen:
    """Signs that a cache can hold."""

    said: tuple[tuple[str, str], ...]
    language: str
    traditional: bool

    @classmethod
    def of(cls, signs: MoneySigns) -> _Frozen:
        return cls(tuple(sorted(signs.said.items())), signs.language, signs.traditional)

    def thawed(self) -> MoneySigns:
        return MoneySigns(dict(self.said), self.language, self.traditional)


@lru_cache(maxsize=4096)
def _read(text: str, frozen: _Frozen) -> Measure:
    if not text or len(text) > _LONGEST:
        return NO_MEASURE
    signs = frozen.thawed()
    for phrase in _phrases(text):
        measure = _phrase(phrase, signs)
        if measure:
            two = (measure.power is not None and _says_two_scales(text)) or _says_two_units(text, signs)
            return NO_MEASURE if two else measure
    return NO_MEASURE


def _says_two_scales(text: str) -> bool:
    """Whether a text names two scales, one for one thing and one for another: "$ in millions, shares in thousands".

    What is excepted counts apart.
    """
    rest = _CUT_OFF.sub("", _EXCEPT.sub("", text))
    said = set()
    for match in _SCALE_SAID.finditer(rest):
        word = (match["word"] or "".join((match["numeral"] or "'000").split())).casefold()
        said.add(_SCALES.get(word.replace("拾", "十"), word))
    return len(said) > 1


def _phrases(text: str) -> list[str]:
    """Where a measure may stand in a heading, the surest place first."""
    found = [text]
    said = _SAYS_UNIT.search(text)
    if said:
        found.append(said["phrase"].rstrip(" )]）】"))
    found += [match["phrase"] for match in reversed(list(_BRACKET.finditer(text)))]
    found += [text[match.end() :] for match in re.finditer(r"(?:(?<!\d),|,(?!\d)|[:;、])\s*|\s+[-–—|]\s+", text)][-3:]
    lowered = text.casefold()
    at = lowered.rfind(" in ")
    if at > 0:
        found.append(text[at + 1 :])
    return found


def _says_two_units(text: str, signs: MoneySigns) -> bool:
    """Whether a text lists units, one for some figures and one for others: "USD, %"."""
    shown = _SAYS_UNIT.search(text)
    listed = re.split(r"[,;、・]\s*|\s+and\s+", _EXCEPT.sub("", shown["phrase"] if shown else text).strip("()[] "))
    if len(listed) < 2:
        return False
    said = [_phrase(each, signs) for each in listed]
    return len({_unit_key(each.unit or each.vague) for each in said if each.unit or each.vague}) > 1


def read_title(text: str, signs: MoneySigns = Vague) -> Measure:
    """What a text says that speaks of nothing but unit and scale; false for any other text.

    >>> read_title("（単位：百万円）").power, bool(read_title("Revenue (USD)"))
    (6, False)
    """
    if len(text) > _LONGEST_LABEL:
        return NO_MEASURE
    shown = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).strip()
    whole = re.fullmatch(r"[(\[【〔](?P<inner>[^()\[\]【】〔〕]*)[)\]】〕]", shown)
    phrase = whole["inner"].strip() if whole else shown
    return _phrase(phrase, signs) if phrase and len(phrase) <= _LONGEST else NO_MEASURE


def speaks_of_scale(text: str) -> bool:
    """Whether a text names a scale, be it understood or not.

    >>> speaks_of_scale("Rounded to the nearest thousand"), speaks_of_scale("Revenue")
    (True, False)
    """
    return bool(_SPEAKS_OF_SCALE.search(unicodedata.normalize("NFKC", text)) or _RAISED_TEN.search(text))


def split_measure(label: str, signs: MoneySigns = Vague) -> tuple[str, Measure]:
    """A name and what a bracket at its end says of its unit; the whole label where it says nothing.

    >>> split_measure("売上高（百万円）")[0], split_measure("Net sales (pro forma)")[0]
    ('売上高', 'Net sales (pro forma)')
    """
    found = _TRAILING.match(label) if len(label) <= _LONGEST_LABEL else None
    if found:
        measure = _phrase(unicodedata.normalize("NFKC", found["phrase"]).translate(_APOSTROPHES).strip(), signs)
        if measure:
            return found["name"], measure
    return label, NO_MEASURE


def _phrase(phrase: str, signs: MoneySigns) -> Measure:
    """All of a phrase as unit and scale, or nothing."""
    shares: Shares = "same"
    excepted = _EXCEPT.search(phrase)
    if excepted:
        shares = _shares_of(excepted["rest"] or excepted["zh"] or "")
        phrase = phrase[: excepted.start()]
    phrase = _CUT_OFF.sub("", phrase.strip(" ,;:."))
    if _ONLY_DIGITS.fullmatch(phrase):
        return NO_MEASURE
    said = _SAYS_UNIT.search(phrase)
    if said:
        phrase = said["phrase"]
    top, bar, bottom = split_per(re.sub(r"\s*/\s*", "/", phrase))
    if bar:
        return _per_unit(top, bottom, signs)
    parts = _parts(phrase)
    # Two scales or two currencies say nothing that could be used; a letter is a scale beside a unit alone.
    if parts is None or len(parts.powers) > 1 or len({_unit_key(unit) for unit in parts.units}) > 1:
        return NO_MEASURE
    power = parts.powers[0] if parts.powers else None
    unit = parts.units[0] if parts.units else ""
    vague = ""
    if not unit and parts.signs:
        # A sign beside the name of a currency (人民币…元, HKD $) says nothing more.
        meant = {_sign(sign, phrase, signs) for sign in parts.signs}
        unit = meant.pop() if len(meant) == 1 else ""
        vague = "" if unit else parts.signs[0]
    elif parts.signs and not is_money(unit):  # 万元, %: units of two kinds
        return NO_MEASURE
    if parts.by_letter and not (vague or (unit and is_money(unit))):
        return NO_MEASURE
    return Measure(power, unit, shares, vague)


@dataclass(slots=True)
class _Parts:
    """Words of a phrase by what they say. by_letter: the scale is a single letter."""

    powers: list[int] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    signs: list[str] = field(default_factory=list)
    by_letter: bool = False


def _parts(phrase: str) -> _Parts | None:
    """None where a word is none of these."""
    parts = _Parts()
    tens = 0
    words = _words(_IN_DIGITS.sub(lambda match: _DIGITS_WORD[match[1]], phrase))
    if words is None:
        return None
    for word in words:
        if word.casefold() in _FILLERS or word in ",:;()-–—.&":
            continue
        if re.fullmatch(r"10{1,3}", word) and not tens and not parts.powers:
            tens = len(word) - 1
            continue
        read = _word(word)
        if read is None:
            return None
        power, unit = read
        if power is not None:
            parts.powers.append(power + tens)
            parts.by_letter |= len(word) == 1 and word.isascii()
            tens = 0
        elif unit in _SIGNS:
            parts.signs.append(unit)
        else:
            parts.units.append(unit)
    return None if tens else parts


def _sign(sign: str, phrase: str, signs: MoneySigns) -> str:
    """元 in a phrase of traditional characters has no country, whatever stands around it."""
    if sign == "元" and set(phrase) & set("仟萬億") and sign not in signs.said:
        return ""
    return signs.unit(sign)


def _per_unit(top: str, bottom: str, signs: MoneySigns) -> Measure:
    """ "USD/share", "円/株": a unit of its own, never scaled by what stands around it."""
    above, below = _phrase(top, signs), _phrase("shares" if bottom.casefold() == "share" else bottom, signs)
    if above.unit and below.unit and above.power is None and below.power is None and not is_money(below.unit):
        return Measure(None, f"{above.unit}/{below.unit}")
    if above.vague and below.unit:
        return Measure(None, "", vague=above.vague)
    return NO_MEASURE


def _shares_of(rest: str) -> Shares:
    """What is excepted: "per share data" alone leaves numbers of shares with the rest."""
    text = unicodedata.normalize("NFKC", rest).casefold()
    alone = re.sub(r"per[\s-]+(?:\w+\s+)?(?:share|unit|ads)s?|每股\S*|[1１一]?株当\S*|每\s*股\S*", "", text)
    if not re.search(r"shares?|股数|股份|株式|株数|股", alone):
        return "same"
    scales = (read[0] for read in map(_word, re.findall(r"\w+", alone)) if read is not None)
    return "unclear" if any(power is not None for power in scales) else "own"


def _words(phrase: str) -> list[str] | None:
    """None where something is no word at all."""
    if _WORD.sub("", phrase).strip():
        return None
    return [word for match in _WORD.finditer(phrase) for word in _unglued(match[0])]


def _unglued(word: str) -> list[str]:
    """ "百万円" is two words and "TEUR" is "T" and "EUR"; longest first."""
    folded = word.casefold()
    if folded in _UNITS or folded in _SCALES or folded in _FILLERS or word.isascii():
        glued = _GLUED.fullmatch(word)
        if glued and folded not in _UNITS and folded not in _SCALES and glued["code"].casefold() in _UNITS:
            return [glued["code"], glued["scale"]]
        if folded[:1] == "t" and folded[1:].upper() in _CODES and folded not in _UNITS:
            return ["thousand", folded[1:]]
        if word[:1] in "kKM" and word[1:] in _CODES and folded not in _UNITS:
            return ["million" if word[0] == "M" else "thousand", word[1:]]
        return [word]
    parts: list[str] = []
    at = 0
    while at < len(folded):
        length = next((size for size in range(min(8, len(folded) - at), 0, -1) if _known(folded[at : at + size])), 0)
        if not length:
            return [word]
        parts.append(folded[at : at + length])
        at += length
    return parts


def _known(text: str) -> bool:
    return text in _UNITS or text in _SCALES or text in _FILLERS or text in _SIGNS


def _word(word: str) -> tuple[int | None, str] | None:
    """(power, unit) of a word; None where it is neither."""
    folded = word.casefold()
    if word in _LETTERS:
        return _LETTERS[word], ""
    if folded in _SCALES:
        return _SCALES[folded], ""
    if folded in _MONEY_LETTERS:
        return _MONEY_LETTERS[folded], ""
    if folded in _UNITS:
        return None, _UNITS[folded]
    if folded in _SIGNS:
        return None, folded
    return None


# Characters that only one of the languages writes today.
_JAPANESE = frozenset(
    "売円営経済価単広駅気図戦団帰対応発変検験険権毎両帯拡拠転労収従実読続総桜沢浜渋择営払込内訳期"
) - frozenset("内期择")
_SIMPLIFIED = frozenset("营额亿资产负债业务润银费销财报单币间经济价东权员这个们应发总净现货库账贷")
_TRADITIONAL = frozenset("營總經價單幣應發萬億資產負債業務潤銀費銷財報間東權員這個們淨現貨庫帳貸額收")
_TRADITIONAL_ONLY = frozenset("營總經價單幣應發萬這個們淨潤產")
_KANA = re.compile(r"[\u3041-\u30fa\uff66-\uff9d]")


def find_language(texts: list[str]) -> tuple[str, bool]:
    """("ja", "zh" or "" where it is not clear; whether the Chinese is written in traditional characters).

    Numbers of money hang on it, so it is told by what only one of the languages writes, and not guessed.

    >>> (
    ...     find_language(["売上高"]),
    ...     find_language(["营业收入"]),
    ...     find_language(["資本", "¥12"]),
    ...     find_language(["營業額"]),
    ... )
    (('ja', False), ('zh', False), ('', False), ('zh', True))
    """
    letters = set("".join(texts))
    japanese = bool(letters & _JAPANESE) or any(_KANA.search(text) for text in texts)
    simplified = bool(letters & _SIMPLIFIED)
    traditional = bool(letters & _TRADITIONAL_ONLY)
    if japanese == (simplified or traditional):
        return "", False
    return ("ja", False) if japanese else ("zh", traditional)
