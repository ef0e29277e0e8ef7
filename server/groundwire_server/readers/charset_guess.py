"""Which charset bytes without a mark are written in: how well what they decode to reads as text of some language.

Every candidate decodes the same bytes, and each character costs what it is rare by, so that the sums compare directly:
the logarithm of a likelihood under a model that knows the frequent Han characters, kana, punctuation and little else.
"""

from __future__ import annotations

import codecs
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_server.readers.common_characters import JAPANESE, SIMPLIFIED, TRADITIONAL

__all__ = ["Guess", "guess_charset"]

# How often a character stands in text, as natural logarithms; only their order of magnitude matters.
_COMMON_PUNCTUATION = frozenset("、。，．・：；？！「」『』（）〈〉《》【】〔〕“”‘’—…～ー〜　")
_PUNCTUATION, _ASCII, _FULL_WIDTH = -5.0, -4.2, -7.0
_HIRAGANA, _KATAKANA = -4.6, -6.0
_KANA_IN_CHINESE, _HAN, _FOREIGN, _HALF_WIDTH_KANA, _RARE_HAN, _NEVER = -11.0, -11.0, -10.0, -12.0, -15.0, -20.0
_REPLACED = "\ufffd"

_SAMPLE_BYTES = 48_000
_WORST_MEAN = -9.8
_LEAST_LEAD, _SURE_LEAD = 4.0, 12.0
_LEAST_SIGNS = 2


def _costs(characters: str, first: float) -> dict[str, float]:
    """Zipf: the n-th most frequent character is about n times as rare as the first."""
    return {char: first - 0.75 * math.log(rank + 2) for rank, char in enumerate(characters)}


# Kana take more than half of a Japanese text, so each Han character is rarer there.
_HAN_COSTS = {
    "japanese": _costs(JAPANESE, -4.2),
    "simplified": _costs(SIMPLIFIED, -3.2),
    "traditional": _costs(TRADITIONAL, -3.2),
    "latin": {},
}


@dataclass(frozen=True, slots=True)
class Guess:
    """The charset that reads best.

    sure: no other one comes near. rival: the next best one that gives another text; empty: none.
    """

    charset: str
    sure: bool
    rival: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    """wide: two bytes take even the letters of English, so what stands beside Han characters is counted, too."""

    charset: str
    codec: str
    scripts: tuple[str, ...]
    wide: bool = False


_ANY = tuple(_HAN_COSTS)
_CANDIDATES = (
    _Candidate("utf-8", "utf_8", _ANY),
    _Candidate("shift-jis", "cp932", ("japanese",)),
    _Candidate("euc-jp", "euc_jp", ("japanese",)),
    _Candidate("gb18030", "gb18030", ("simplified", "traditional")),
    _Candidate("big5", "cp950", ("traditional",)),
    _Candidate("utf-16le", "utf_16_le", _ANY, wide=True),
    _Candidate("utf-16be", "utf_16_be", _ANY, wide=True),
)


@dataclass(frozen=True, slots=True)
class _Reading:
    charset: str
    text: str
    likelihood: float
    mean: float


def guess_charset(raw: bytes) -> Guess | None:
    """The charset of `raw`, judged by its first 48,000 bytes; None where none reads like text or two do alike.

    A wrong byte counts against a charset and does not rule it out: who decodes the whole strictly finds it then.

    >>> guess_charset("当社の売上高は前年度から増えた。".encode("euc_jp"))
    Guess(charset='euc-jp', sure=True, rival='big5')
    """
    readings = sorted(_readings(raw), key=lambda reading: -reading.likelihood)
    best = readings[0]
    rival = next((reading for reading in readings if reading.text != best.text), None)
    lead = math.inf if rival is None else best.likelihood - rival.likelihood
    if best.mean < _WORST_MEAN or lead < _LEAST_LEAD:
        return None
    return Guess(best.charset, lead >= _SURE_LEAD, rival.charset if rival else "")


def _readings(raw: bytes) -> Iterator[_Reading]:
    sample = raw[:_SAMPLE_BYTES]
    for candidate in _CANDIDATES:
        decoder = codecs.getincrementaldecoder(candidate.codec)("replace")
        text = decoder.decode(sample, len(sample) == len(raw))
        counts = Counter(text)
        likelihood, mean = max(_likelihood(counts, script, candidate.wide) for script in candidate.scripts)
        yield _Reading(candidate.charset, text, likelihood, mean)


def _likelihood(counts: Counter[str], script: str, wide: bool) -> tuple[float, float]:
    """(of all characters together, mean of those that tell of a charset; too few tell nothing)."""
    together = telling = 0.0
    number = 0
    for char, count in counts.items():
        cost = _cost(char, script) * count
        together += cost
        if wide or char > "\x7f":
            telling += cost
            number += count
    return together, telling / number if number >= _LEAST_SIGNS else _NEVER


def _cost(char: str, script: str) -> float:
    common = _HAN_COSTS[script].get(char)
    if common is not None:
        return common
    if char in _COMMON_PUNCTUATION:
        return _PUNCTUATION
    if char < "\x80":
        return _ASCII if char >= " " or char in "\t\n\r" else _NEVER
    if "\u3041" <= char <= "\u3096" or "\u30a1" <= char <= "\u30fc":
        kana = _HIRAGANA if char <= "\u3096" else _KATAKANA
        return kana if script == "japanese" else _KANA_IN_CHINESE
    if "\u4e00" <= char <= "\u9fff":
        return _HAN
    if "\u3400" <= char <= "\u4dbf" or "\U00020000" <= char <= "\U0003ffff":
        return _RARE_HAN
    if "\uff01" <= char <= "\uff5e":
        return _FULL_WIDTH
    if "\uff61" <= char <= "\uff9f":
        return _HALF_WIDTH_KANA
    if char < "\xa0" or "\ue000" <= char <= "\uf8ff" or char > "\uffff" or char == _REPLACED:
        return _NEVER
    return _FOREIGN
