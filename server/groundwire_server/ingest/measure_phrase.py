"""One phrase of unit and scale: all of it is understood, or it says nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from groundwire_server.ingest.measures import NO_MEASURE, Measure, Shares
from groundwire_server.ingest.money_signs import MoneySigns
from groundwire_server.ingest.phrase_words import FILLERS, read_word, split_words
from groundwire_server.ingest.unit_words import SIGNS, is_money, split_per, unit_key

__all__ = ["CUT_OFF", "EXCEPT", "SAYS_UNIT", "read_phrase"]

SAYS_UNIT = re.compile(
    r"(?:^|[\s(])(?:currency )?(?:units?|(?:金额|金額|货币|貨幣|数量)?\s*(?:单位|單位|単位)|通貨単位)"
    r"\s*[:：]\s*(?P<phrase>.+)$",
    re.IGNORECASE,
)
EXCEPT = re.compile(
    r"[,;、，]?\s*\b(?:except|excluding|other than)\b(?P<rest>.*)$|[,;、，]?\s*(?:除)(?P<zh>.*)$", re.IGNORECASE
)
CUT_OFF = re.compile(r"未満(?:は|を)?(?:切り?捨て|四捨五入|切り?上げ)(?:表示|て表示)?(?:しており?ます|しています)?$")
_ONLY_DIGITS = re.compile(r"[\d,.\s]*")
_IN_DIGITS = re.compile(r"(?<![\d,])(1,000(?:,000)?)(?:s\b|(?![\d,]))")
_DIGITS_WORD = {"1,000": "thousand ", "1,000,000": "million "}


def read_phrase(phrase: str, signs: MoneySigns) -> Measure:
    """All of a phrase as unit and scale, or nothing."""
    shares: Shares = "same"
    excepted = EXCEPT.search(phrase)
    if excepted:
        shares = _shares_of(excepted["rest"] or excepted["zh"] or "")
        phrase = phrase[: excepted.start()]
    phrase = CUT_OFF.sub("", phrase.strip(" ,;:."))
    if _ONLY_DIGITS.fullmatch(phrase):
        return NO_MEASURE
    said = SAYS_UNIT.search(phrase)
    if said:
        phrase = said["phrase"]
    top, bar, bottom = split_per(re.sub(r"\s*/\s*", "/", phrase))
    if bar:
        return _per_unit(top, bottom, signs)
    parts = _parts(phrase)
    # Two scales or two currencies say nothing that could be used; a letter is a scale beside a unit alone.
    if parts is None or len(parts.powers) > 1 or len({unit_key(unit) for unit in parts.units}) > 1:
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
    words = split_words(_IN_DIGITS.sub(lambda match: _DIGITS_WORD[match[1]], phrase))
    if words is None:
        return None
    for word in words:
        if word.casefold() in FILLERS or word in ",:;()-–—.&":
            continue
        if re.fullmatch(r"10{1,3}", word) and not tens and not parts.powers:
            tens = len(word) - 1
            continue
        read = read_word(word)
        if read is None:
            return None
        power, unit = read
        if power is not None:
            parts.powers.append(power + tens)
            parts.by_letter |= len(word) == 1 and word.isascii()
            tens = 0
        elif unit in SIGNS:
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
    above, below = read_phrase(top, signs), read_phrase("shares" if bottom.casefold() == "share" else bottom, signs)
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
    scales = (read[0] for read in map(read_word, re.findall(r"\w+", alone)) if read is not None)
    return "unclear" if any(power is not None for power in scales) else "own"
