"""What semantics.md says, in plain loops over single characters. Nothing of the project is imported here."""

import unicodedata
from collections.abc import Iterable, Sequence
from math import log
from typing import Final

ZERO_WIDTH: Final = frozenset("\u200b\u200c\u200d\u2060\ufeff")
SENTENCE_ENDS: Final = frozenset("。！？；.!?;")


def is_variation_selector(character: str) -> bool:
    """VS1 to VS16 and VS17 to VS256."""
    return 0xFE00 <= ord(character) <= 0xFE0F or 0xE0100 <= ord(character) <= 0xE01EF


def normal_form(text: str) -> str:
    """NFKC(casefold(NFKC(s))) without zero-width characters and variation selectors."""
    bare = "".join(c for c in text if c not in ZERO_WIDTH and not is_variation_selector(c))
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", bare).casefold())


def is_cjk_by_name(character: str) -> bool:
    """Han, Hiragana, Katakana and Hangul by their names in the Unicode character database."""
    if character in "々〇〻・":  # iteration marks, the zero of Han numbers, and the one departure: the middle dot
        return True
    if character in "\u3099\u309a":  # sound marks that found no kana to join: the text is silent, kana is as good
        return True
    name = unicodedata.name(character, "")
    return unicodedata.category(character)[0] == "L" and name.startswith(
        ("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HANGUL")
    )


def tokens_of(text: str) -> list[str]:
    """Tokens of a text in which no line ends in a hyphen."""
    tokens: list[str] = []
    run: list[str] = []
    word: list[str] = []
    for c in [*normal_form(text), " "]:
        cjk = is_cjk_by_name(c)
        wordy = not cjk and (unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd")
        if run and not cjk:
            tokens.extend(run)
            tokens.extend(run[i] + run[i + 1] for i in range(len(run) - 1))
            run = []
        if word and not wordy:
            tokens.append("".join(word))
            word = []
        if cjk:
            run.append(c)
        elif wordy:
            word.append(c)
    return tokens


def seed_tokens(text: str) -> list[str]:
    """The seed's tokenizer for ASCII and Han: runs of ASCII letters and digits; Han singles, then pairs."""
    tokens: list[str] = []
    word = ""
    run = ""
    for c in text.lower() + " ":
        alnum = c in "abcdefghijklmnopqrstuvwxyz0123456789"
        han = "\u4e00" <= c <= "\u9fff"
        if word and not alnum:
            tokens.append(word)
            word = ""
        if run and not han:
            tokens += list(run)
            tokens += [run[i : i + 2] for i in range(len(run) - 1)]
            run = ""
        word += c if alnum else ""
        run += c if han else ""
    return tokens


def bm25(
    query: Iterable[str], documents: Sequence[Sequence[str]], k1: float = 1.5, b: float = 0.75
) -> dict[int, float]:
    """Scores above 0 by place; N, df and avglen are those of `documents`."""
    terms: list[str] = []
    times: dict[str, int] = {}
    for term in query:
        if term not in times:
            terms.append(term)
        times[term] = times.get(term, 0) + 1
    n = len(documents)
    if not n:
        return {}
    average = sum(len(document) for document in documents) / n
    weights = {}
    for term in terms:
        df = sum(1 for document in documents if term in document)
        weights[term] = log(1 + (n - df + 0.5) / (df + 0.5))
    scores: dict[int, float] = {}
    for place, document in enumerate(documents):
        total = 0.0
        for term in terms:
            tf = sum(1 for token in document if token == term)
            if tf:
                norm = tf + k1 * ((1 - b) + b * len(document) / average)
                total += ((times[term] * weights[term]) * tf * (k1 + 1)) / norm
        if total > 0:
            scores[place] = total
    return scores


def paragraphs_of(text: str) -> list[tuple[int, int]]:
    """Lines with content, without the blanks at their ends, as (start, end)."""
    found = []
    start = 0
    for end in [i for i, c in enumerate(text) if c in "\r\n"] + [len(text)]:
        first, last = start, end
        while first < last and text[first].isspace():
            first += 1
        while last > first and text[last - 1].isspace():
            last -= 1
        if first < last:
            found.append((first, last))
        start = end + 1
    return found


def is_sentence_end(text: str, place: int) -> bool:
    """Whether the character at `place` ends a sentence: one of 。！？；.!?; but no dot between two digits."""
    if text[place] not in SENTENCE_ENDS:
        return False
    between_digits = 0 < place < len(text) - 1 and text[place - 1].isdecimal() and text[place + 1].isdecimal()
    return not (text[place] == "." and between_digits)
