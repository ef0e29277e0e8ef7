"""Numbers in words: "twenty-five million", "half", "三百二十", "百分之五"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["HAN", "Spelled", "han_value", "spelled_english"]

_SMALL = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    word: 10 * (place + 2)
    for place, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
}
_BIG = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5,
    "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8, "ninth": 9,
    "ninths": 9, "tenth": 10, "tenths": 10,
}  # fmt: skip
_ORDINALS = {
    word: place
    for place, word in enumerate(
        ["second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"], 2
    )
}
_WORD = re.compile(r"(?<![a-z0-9])[a-z]+(?![a-z0-9])")
_NEAR = re.compile(r"[\s-]+")
_SCALES = re.compile(r"[\s-]+(hundred|thousand|million|billion|trillion)(?![a-z])")
_NO_ONE = frozenset(
    [
        "no",
        "the",
        "this",
        "that",
        "each",
        "any",
        "every",
        "some",
        "which",
        "not",
        "another",
        "only",
        "someone",
        "either",
        "neither",
    ]
)
_AFTER_ONE = frozenset(
    [
        "of",
        "another",
        "or",
        "and",
        "who",
        "that",
        "which",
        "is",
        "was",
        "has",
        "had",
        "can",
        "could",
        "may",
        "might",
        "must",
        "will",
        "would",
        "to",
        "in",
        "by",
        "at",
        "for",
        "day",
        "time",
        "such",
        "thing",
        "side",
        "hand",
        "another's",
    ]
)

HAN = re.compile("[〇零一二三四五六七八九十百千万萬億亿兆两兩壱壹弐贰貳叁参參肆伍陆陸柒捌玖拾佰仟廿]+")
_DIGITS = dict(zip("〇零一二三四五六七八九", (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), strict=True)) | {
    "两": 2, "兩": 2, "壱": 1, "壹": 1, "弐": 2, "贰": 2, "貳": 2, "叁": 3, "参": 3, "參": 3, "肆": 4, "伍": 5, "陆": 6,
    "陸": 6, "柒": 7, "捌": 8, "玖": 9,
}  # fmt: skip
_LOW = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_HIGH = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}


@dataclass(frozen=True, slots=True)
class Spelled:
    """A number in words at `start:end`. unit: "/3" counts thirds; "nth" is a place in an order; else empty."""

    start: int
    end: int
    value: Decimal
    unit: str = ""
    soft: bool = False  # "one", which is often no number


def spelled_english(text: str) -> Iterator[Spelled]:
    """Every number in English words in a folded text, the longest from each beginning.

    >>> [(str(each.value), each.unit) for each in spelled_english("two hundred and five; half a million; two-thirds")]
    [('205', ''), ('500000', ''), ('2', '/3')]
    """
    words = list(_WORD.finditer(text))
    at = 0
    while at < len(words):
        read = _from(text, words, at)
        if read is None:
            at += 1
            continue
        found, at = read
        yield found


def _from(text: str, words: list[re.Match[str]], at: int) -> tuple[Spelled, int] | None:
    first = words[at].group()
    start = words[at].start()
    if first in ("a", "an") and at + 1 < len(words) and _adjacent(text, words, at):
        second = words[at + 1].group()
        if second in _BIG:
            return _cardinal(text, words, at + 1, start, leading=1)
        if second == "dozen":
            return Spelled(start, words[at + 1].end(), Decimal(12)), at + 2
        if second in _PARTS and (second not in ("quarter", "half") or _is_share(text, words[at + 1].end())):
            return Spelled(start, words[at + 1].end(), Decimal(1), f"/{_PARTS[second]}"), at + 2
        return None
    if first == "half":
        return _half(text, words, at)
    if first in ("hundred", "dozen") and at and text[words[at - 1].end() : start].isspace():
        return None  # several hundred: a quantity word
    if first in _SMALL or first in _TENS:
        return _cardinal(text, words, at, start)
    if first in _ORDINALS and not (first == "second" and text[words[at].end() :].startswith(",")):
        return Spelled(start, words[at].end(), Decimal(_ORDINALS[first]), "nth"), at + 1
    return None


def _cardinal(
    text: str, words: list[re.Match[str]], at: int, start: int, leading: int = 0
) -> tuple[Spelled, int] | None:
    """A cardinal from word `at` on. leading: of "a" in "a hundred"."""
    total, group, place, previous = 0, leading, at, ""
    end = start
    while place < len(words):
        word = words[place].group()
        if place > at and not _adjacent(text, words, place - 1):
            break
        if word == "and" and previous in _BIG and place + 1 < len(words) and _is_number(words[place + 1].group()):
            place, previous = place + 1, "and"
            continue
        if word in _SMALL and (
            place == at or previous in _BIG or previous == "and" or (previous in _TENS and 0 < _SMALL[word] < 10)
        ):
            group += _SMALL[word]
        elif word in _TENS and (place == at or previous in _BIG or previous == "and"):
            group += _TENS[word]
        elif word == "hundred" and group % 100 > 0 and group < 100:
            group *= 100
        elif word in _BIG and word != "hundred" and group:
            total += group * _BIG[word]
            group = 0
        else:
            break
        end, place, previous = words[place].end(), place + 1, word
    if previous == "and":
        place -= 1
    value = Decimal(total + group)
    if place < len(words) and _adjacent(text, words, place - 1):
        following = words[place].group()
        if following in _PARTS and value < 20 and (value > 1 or following not in ("quarter", "half", "second")):
            return Spelled(start, words[place].end(), value, f"/{_PARTS[following]}"), place + 1
        if following == "dozen":
            return Spelled(start, words[place].end(), value * 12), place + 1
    if re.match(r"\s+and\s+a\s+half(?![a-z])", text[end:]) and place + 2 < len(words):
        return _and_half(text, words, place + 3, start, value)
    point = re.match(r"\s+point((?:[\s-]+(?:zero|one|two|three|four|five|six|seven|eight|nine))+)(?![a-z])", text[end:])
    if point:
        digits = "".join(str(_SMALL[word]) for word in re.findall("[a-z]+", point[1]))
        scale = _SCALES.match(text, end + point.end())
        after = Decimal(f"{value}.{digits}")
        stop = scale.end() if scale else end + point.end()
        used = sum(1 for word in words[place:] if word.start() < stop)
        return Spelled(start, stop, after * _BIG[scale[1]] if scale else after), place + used
    soft = value == 1 and words[at].group() == "one" and end == words[at].end()
    if soft:
        before = words[at - 1].group() if at else ""
        following = words[place].group() if place < len(words) and _adjacent(text, words, place - 1) else ""
        if before in _NO_ONE or following in _AFTER_ONE or not following:
            return None
    return Spelled(start, end, value, "", soft), place


def _and_half(text: str, words: list[re.Match[str]], place: int, start: int, value: Decimal) -> tuple[Spelled, int]:
    """ "Two and a half million": value is of the words before."""
    end = words[place - 1].end()
    scale = _SCALES.match(text, end)
    half = value + Decimal("0.5")
    if scale is None:
        return Spelled(start, end, half), place
    return Spelled(start, scale.end(), half * _BIG[scale[1]]), place + 1


def _half(text: str, words: list[re.Match[str]], at: int) -> tuple[Spelled, int] | None:
    """ "Half a million" is a number, "first half" is a period, any other half is a share."""
    start, end = words[at].span()
    million = re.match(r"\s+an?\s+(hundred|thousand|million|billion|trillion|dozen)(?![a-z])", text[end:])
    if million:
        whole = _BIG.get(million[1], 12)
        return Spelled(start, end + million.end(), Decimal(whole) / 2), at + 3
    if at and words[at - 1].group() in ("first", "second", "latter", "other", "better", "and", "a"):
        return None
    return Spelled(start, end, Decimal(1), "/2"), at + 1


def _is_share(text: str, end: int) -> bool:
    return re.match(r"\s+of(?![a-z])", text[end:]) is not None


def _is_number(word: str) -> bool:
    return word in _SMALL or word in _TENS


def _adjacent(text: str, words: list[re.Match[str]], place: int) -> bool:
    return _NEAR.fullmatch(text, words[place].end(), words[place + 1].start()) is not None


def han_value(run: str) -> Decimal | None:
    """The value of a run of Han numerals; None where it is none (一一万, 百).

    >>> [str(han_value(run)) for run in ("三百二十", "一億二千万", "二〇〇八", "十", "百万", "万")]
    ['320', '120000000', '2008', '10', '1000000', 'None']
    """
    if len(run) > 24:
        return None
    if len(run) > 1 and all(character in _DIGITS for character in run):
        return Decimal("".join(str(_DIGITS[character]) for character in run))
    total = group = digit = 0
    seen = False
    lowest = 10**5
    for character in run.replace("廿", "二十"):
        if character in _DIGITS:
            if digit and seen:
                return None
            digit, seen = _DIGITS[character], True
        elif character in _LOW:
            if _LOW[character] >= lowest:
                return None
            lowest = _LOW[character]
            group += (digit or 1) * lowest
            digit, seen = 0, False
        else:
            if group + digit == 0:
                return None
            if character in "亿億兆" and total:
                total = (
                    (total + group + digit) * _HIGH[character]
                    if total < _HIGH[character]
                    else total + (group + digit) * _HIGH[character]
                )
            else:
                total += (group + digit) * _HIGH[character]
            group = digit = 0
            seen, lowest = False, 10**5
    value = total + group + digit
    return Decimal(value) if value or run in "〇零" else None
