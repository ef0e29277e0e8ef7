"""Folded text -> words. Numbers, letters and CJK words are told apart here; what they mean together is grammar."""

from __future__ import annotations

import re

from groundwire_server.glossary.periods.lexicon_cjk import CJK, NUMERALS
from groundwire_server.glossary.periods.lexicon_en import ENGLISH
from groundwire_server.glossary.periods.symbols import Symbol, Word
from groundwire_server.text import is_cjk

__all__ = ["read_words"]

_PUNCTUATION = {
    "-": Symbol.DASH,
    "‐": Symbol.DASH,
    "‑": Symbol.DASH,
    "‒": Symbol.DASH,
    "–": Symbol.DASH,
    "—": Symbol.DASH,
    "―": Symbol.DASH,
    "−": Symbol.DASH,
    "~": Symbol.DASH,
    "〜": Symbol.DASH,
    "∼": Symbol.DASH,
    "/": Symbol.SLASH,
    ".": Symbol.DOT,
    ",": Symbol.COMMA,
    "|": Symbol.COMMA,
    "、": Symbol.COMMA,
    "'": Symbol.APOSTROPHE,
    "’": Symbol.APOSTROPHE,
    "‘": Symbol.APOSTROPHE,
    "`": Symbol.APOSTROPHE,
}
_RUN_TOGETHER = frozenset({"qfy", "hfy"})  # 3QFY24
_LONGEST_CJK = max(map(len, CJK))
_NUMERAL = "".join(NUMERALS) + "百"
_NUMERALS = re.compile(f"(?:(?!四半期|一昨)[{_NUMERAL}])+")
_PHRASES: dict[str, list[tuple[tuple[str, ...], tuple[Symbol, object]]]] = {}
for _phrase, _meaning in ENGLISH.items():
    _words = tuple(_phrase.split())
    _PHRASES.setdefault(_words[0], []).append((_words, _meaning))
for _listed in _PHRASES.values():
    _listed.sort(key=lambda entry: -len(entry[0]))


def read_words(folded: str) -> list[Word]:
    """The words of a text in normal form, blanks left out."""
    return _join_phrases(_split(folded))


def _split(text: str) -> list[Word]:
    words: list[Word] = []
    place, glued = 0, False
    while place < len(text):
        char = text[place]
        if char.isspace():
            place, glued = place + 1, False
            continue
        word = _word_at(text, place, glued)
        words.append(word)
        place, glued = word.end, True
    return words


def _word_at(text: str, place: int, glued: bool) -> Word:
    char = text[place]
    if char.isascii() and char.isdigit():
        end = place + 1
        while end < len(text) and text[end].isascii() and text[end].isdigit():
            end += 1
        digits = text[place:end]
        value = int(digits) if len(digits) <= 8 else -1
        return Word(Symbol.NUMBER, value, digits, place, end, glued, letters=True)
    if is_cjk(char):
        return _cjk_word(text, place, glued)
    if char.isalpha():
        end = place + 1
        while end < len(text) and text[end].isalpha() and not is_cjk(text[end]):
            end += 1
        if text[place:end] in _RUN_TOGETHER:
            end = place + 1
        return Word(Symbol.OTHER, None, text[place:end], place, end, glued, letters=True)
    symbol = _PUNCTUATION.get(char, Symbol.OTHER)
    return Word(symbol, None, char, place, place + 1, glued, letters=False)


def _cjk_word(text: str, place: int, glued: bool) -> Word:
    for length in range(min(_LONGEST_CJK, len(text) - place), 0, -1):
        piece = text[place : place + length]
        if piece in CJK:
            symbol, value = CJK[piece]
            return Word(symbol, value, piece, place, place + length, glued, letters=False)
    numerals = _NUMERALS.match(text, place)
    if numerals is not None:
        value = _numeral(numerals[0])
        symbol = Symbol.OTHER if value is None else Symbol.COUNT
        return Word(symbol, value, numerals[0], place, numerals.end(), glued, letters=False)
    return Word(Symbol.OTHER, None, text[place], place, place + 1, glued, letters=False)


def _numeral(text: str) -> int | None:
    """二〇二四 by digits, 二十三 by tens, 一百一十二 by hundreds; None for what is none of these."""
    if "十" not in text and "百" not in text:
        return int("".join(str(NUMERALS[char]) for char in text)) if len(text) in (1, 2, 3, 4) else None
    hundreds, hundred, rest = text.rpartition("百")
    tens, ten, ones = rest.rpartition("十")
    if hundred and not ten:
        # 一百零五; 一百五 is a hundred and fifty to some, and is not read.
        tens, ones = "", ones.removeprefix("零").removeprefix("〇") if ones[:1] in ("零", "〇") else ones and "?"
    counts = [_count(hundreds, hundred), _count(tens, ten), NUMERALS.get(ones, -1) if ones else 0]
    if -1 in counts or (ones and not counts[2]) or 10 in counts:
        return None
    return counts[0] * 100 + counts[1] * 10 + counts[2]


def _count(before: str, unit: str) -> int:
    """How many tens or hundreds: one where nothing stands before the sign, none without it; -1 for what is none."""
    if not unit:
        return -1 if before else 0
    return NUMERALS.get(before, -1) or -1 if before else 1


def _join_phrases(words: list[Word]) -> list[Word]:
    joined: list[Word] = []
    place = 0
    while place < len(words):
        word = words[place]
        if word.symbol is Symbol.OTHER and word.letters:
            phrase = _phrase_at(words, place)
            if phrase is not None:
                (symbol, value), end = phrase
                last = words[end - 1]
                text = " ".join(w.text for w in words[place:end])
                joined.append(Word(symbol, value, text, word.start, last.end, word.glued, letters=True))
                place = end
                continue
        joined.append(word)
        place += 1
    return joined


def _phrase_at(words: list[Word], place: int) -> tuple[tuple[Symbol, object], int] | None:
    for phrase, meaning in _PHRASES.get(words[place].text, ()):
        at = place + 1
        for wanted in phrase[1:]:
            if at < len(words) and words[at].symbol is Symbol.DASH and words[at].text == "-":
                at += 1
            if at >= len(words) or words[at].text != wanted:
                break
            at += 1
        else:
            return meaning, at
    return None
