"""Words of a phrase of unit and scale, apart where they are written as one: "百万円", "TEUR"."""

from __future__ import annotations

import re

from groundwire_server.ingest.unit_words import CURRENCY_CODES, SCALES, SIGNS, UNITS

__all__ = ["FILLERS", "read_word", "split_words"]

# A letter is a scale in capitals, or beside money: 12m may be metres. T is a thousand in German and a trillion in
# English, and "mil" a thousand in Portuguese and a million in English: neither is read.
_LETTERS = {"M": 6, "B": 9}
_MONEY_LETTERS = {"m": 6, "b": 9}
FILLERS = frozenset({
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


def split_words(phrase: str) -> list[str] | None:
    """None where something is no word at all."""
    if _WORD.sub("", phrase).strip():
        return None
    return [word for match in _WORD.finditer(phrase) for word in _unglued(match[0])]


def _unglued(word: str) -> list[str]:
    """ "百万円" is two words and "TEUR" is "T" and "EUR"; longest first."""
    folded = word.casefold()
    if folded in UNITS or folded in SCALES or folded in FILLERS or word.isascii():
        glued = _GLUED.fullmatch(word)
        if glued and folded not in UNITS and folded not in SCALES and glued["code"].casefold() in UNITS:
            return [glued["code"], glued["scale"]]
        if folded[:1] == "t" and folded[1:].upper() in CURRENCY_CODES and folded not in UNITS:
            return ["thousand", folded[1:]]
        if word[:1] in "kKM" and word[1:] in CURRENCY_CODES and folded not in UNITS:
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
    return text in UNITS or text in SCALES or text in FILLERS or text in SIGNS


def read_word(word: str) -> tuple[int | None, str] | None:
    """(power, unit) of a word; None where it is neither."""
    folded = word.casefold()
    if word in _LETTERS:
        return _LETTERS[word], ""
    if folded in SCALES:
        return SCALES[folded], ""
    if folded in _MONEY_LETTERS:
        return _MONEY_LETTERS[folded], ""
    if folded in UNITS:
        return None, UNITS[folded]
    if folded in SIGNS:
        return None, folded
    return None
