"""Whether a text names a scale, be it understood or not, and whether it names two."""

from __future__ import annotations

import re
import unicodedata

from groundwire_server.ingest.measure_phrase import CUT_OFF, EXCEPT
from groundwire_server.ingest.unit_words import CURRENCY_CODES, SCALES

__all__ = ["says_two_scales", "speaks_of_scale"]

_CODE = "|".join(sorted(CURRENCY_CODES | {"RMB"}))
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


def says_two_scales(text: str) -> bool:
    """Whether a text names two scales, one for one thing and one for another: "$ in millions, shares in thousands".

    What is excepted counts apart.
    """
    rest = CUT_OFF.sub("", EXCEPT.sub("", text))
    said = set()
    for match in _SCALE_SAID.finditer(rest):
        word = (match["word"] or "".join((match["numeral"] or "'000").split())).casefold()
        said.add(SCALES.get(word.replace("拾", "十"), word))
    return len(said) > 1


def speaks_of_scale(text: str) -> bool:
    """Whether a text names a scale, be it understood or not.

    >>> speaks_of_scale("Rounded to the nearest thousand"), speaks_of_scale("Revenue")
    (True, False)
    """
    return bool(_SPEAKS_OF_SCALE.search(unicodedata.normalize("NFKC", text)) or _RAISED_TEN.search(text))
