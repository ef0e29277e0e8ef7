"""Words of units and scales, and whether two of them name one unit. Only the words below count."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from groundwire_server.errors import ErrorReason, RowRefused

__all__ = [
    "CURRENCY_CODES",
    "HEADS",
    "PERCENT",
    "SCALES",
    "SHARES",
    "SIGNS",
    "UNITS",
    "is_left_alone",
    "is_money",
    "read_scale",
    "same_unit",
    "scale_words",
    "split_per",
    "unit_key",
    "unit_words",
]

PERCENT, SHARES, HEADS = "PERCENT", "shares", "persons"
CURRENCY_CODES = frozenset({
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
    **{code.casefold(): code for code in CURRENCY_CODES},
}  # fmt: skip
SIGNS = ("$", "dollars", "dollar", "¥", "元", "圓")
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
UNITS = {**_MONEY, **_OTHER}
SCALES = {
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


def unit_words() -> Mapping[str, str]:
    """Units by spelling, lower case."""
    return UNITS


def read_scale(text: str) -> int:
    """The power of ten that a column of scales says: a word, a power of ten, or its exponent (SDMX: UNIT_MULT).

    >>> read_scale("Millions"), read_scale("1000"), read_scale("6"), read_scale("units")
    (6, 3, 6, 0)

    Raises:
        RowRefused: VALUE_MALFORMED.
    """
    folded = unicodedata.normalize("NFKC", text).strip().casefold().replace(",", "")
    if folded in SCALES:
        return SCALES[folded]
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
    return SCALES


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
    return unit_key(one) == unit_key(other)


@lru_cache(maxsize=4096)
def unit_key(unit: str) -> str:
    """A unit by which its spellings are compared."""
    text = unicodedata.normalize("NFKC", unit).strip().casefold()
    top, bar, bottom = split_per(text)
    if bar:
        return f"{unit_key(top)}/{unit_key(bottom)}"
    return UNITS.get("shares" if text == "share" else text, text).casefold()


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
def is_money(unit: str) -> bool:
    """Whether a unit is a currency.

    >>> is_money("usd"), is_money("円"), is_money("shares")
    (True, True, False)
    """
    text = unicodedata.normalize("NFKC", unit).strip().casefold()
    return text in _MONEY or text in SIGNS or (len(text) == 3 and text.upper() in CURRENCY_CODES)


@lru_cache(maxsize=4096)
def is_left_alone(unit: str) -> bool:
    """Whether the scale of a heading leaves numbers of this unit as they stand: percents, ratios, per-unit, heads.

    >>> is_left_alone("percent"), is_left_alone("USD/shares"), is_left_alone("persons"), is_left_alone("USD")
    (True, True, True, False)
    """
    key = unit_key(unit)
    return "/" in key or key in _ALONE


_ALONE = frozenset({"percent", "persons", "bps", "percentage_points", "times", "pure", "ratio"})
