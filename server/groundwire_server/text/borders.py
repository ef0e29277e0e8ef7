"""Where a term may stand inside a text: borders by script, for glossary, router and gate.

A term of a spaced script needs word borders: "heroes" holds no ROE. CJK text has none, so a CJK term matches anywhere,
except that inside a Katakana run nothing shorter does: ヨーク is not in ニューヨーク. Where scripts meet there is a
border: `香港revenue` holds `revenue`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise, zip_longest

from groundwire_server.evidence import Span
from groundwire_server.text.align import AlignedText, align
from groundwire_server.text.normal import normalize
from groundwire_server.text.scripts import is_cjk, is_katakana, is_unspaced, is_word_character

__all__ = ["find_term", "has_borders"]


def has_borders(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]`, not empty, stands there as a term of its own.

    >>> text = "heroes ニューヨーク 香港revenue"
    >>> [has_borders(text, *at) for at in ((1, 4), (10, 13), (7, 13), (14, 16), (16, 23))]
    [False, False, True, True, True]
    """
    before = start == 0 or _border_between(text[start - 1], text[start])
    return before and (end == len(text) or _border_between(text[end - 1], text[end]))


def find_term(text: str | AlignedText, term: str, *, across_blanks: bool = False) -> Iterator[Span]:
    """Where `text` holds `term` between borders, compared in normal form: ascending, not overlapping, in code points of
    the source (semantics 6, 7, 11).

    Blanks within the term match any blanks, a line break too. With `across_blanks`, blanks between two CJK characters
    are looked through (`売 上` is 売上).

    >>> list(find_term("Ｎｅｔ\\nincome of 香港", "net income")), list(find_term("売 上", "売上", across_blanks=True))
    ([Span(start=0, end=10)], [Span(start=0, end=3)])
    """
    pattern = _pattern(normalize(term), across_blanks)
    if pattern is None:
        return
    aligned = text if isinstance(text, AlignedText) else align(text)
    at = 0
    while (match := pattern.search(aligned.normal, at)) is not None:
        if has_borders(aligned.normal, match.start(), match.end()):
            yield aligned.span(match.start(), match.end())
            at = match.end()
        else:
            at = match.start() + 1


def _border_between(left: str, right: str) -> bool:
    """Whether a term may end or begin between two neighbouring characters."""
    if not is_word_character(left) or not is_word_character(right):
        return True
    if unicodedata.category(right)[0] == "M" and not is_cjk(right):
        return False
    if is_cjk(left) or is_cjk(right):
        return not (is_katakana(left) and is_katakana(right))
    return is_unspaced(left) or is_unspaced(right)


@lru_cache(maxsize=4096)
def _pattern(term: str, across_blanks: bool) -> re.Pattern[str] | None:
    """Pattern of a term in normal form; None for one without any character."""
    words = term.split()
    if not words:
        return None
    parts = [_word_pattern(words[0], across_blanks)]
    for left, right in pairwise(words):
        parts.append(r"\s*" if across_blanks and is_cjk(left[-1]) and is_cjk(right[0]) else r"\s+")
        parts.append(_word_pattern(right, across_blanks))
    return re.compile("".join(parts))


def _word_pattern(word: str, across_blanks: bool) -> str:
    if not across_blanks:
        return re.escape(word)
    gaps = [r"\s*" if is_cjk(left) and is_cjk(right) else "" for left, right in pairwise(word)]
    return "".join(re.escape(character) + gap for character, gap in zip_longest(word, gaps, fillvalue=""))
