"""A text as the guard reads it: folded, with the way back to the code points of the source."""

from __future__ import annotations

import re
from functools import lru_cache

from groundwire_server.evidence import Span
from groundwire_server.text import AlignedText, align

__all__ = ["FRACTIONS", "Folded", "fold"]

FRACTIONS = dict(
    zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", ((1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (1, 5), (2, 5), (3, 5), (4, 5), (1, 6), (5, 6),
                              (1, 8), (3, 8), (5, 8), (7, 8)), strict=True)
)  # fmt: skip
_PRIVATE = 0xE000
_FRACTION_SIGNS = {sign: chr(_PRIVATE + place) for place, sign in enumerate(FRACTIONS)}
_NO_DIGITS = re.compile(r"(?<![A-Za-zａ-ｚ])[²³¹⁰-⁹₀-₉]|[①-⓿❶-➓]")
"""Raised digits mark footnotes, circled ones the items of a list. Behind a letter they belong to a unit: km²."""


class Folded:
    """A text in normal form (`text`), as written (`source`), and spans of the one in the other."""

    __slots__ = ("_aligned", "source", "text")

    def __init__(self, source: str) -> None:
        shown = _NO_DIGITS.sub(" ", source)
        if not shown.isascii():
            shown = shown.translate({ord(sign): mark for sign, mark in _FRACTION_SIGNS.items()})
        self._aligned: AlignedText = align(shown)
        self.source = source
        self.text = self._aligned.normal

    def span(self, start: int, end: int) -> Span:
        """Where `text[start:end]` stands in the source."""
        return self._aligned.span(start, end)

    def written(self, start: int, end: int) -> str:
        """The source of `text[start:end]`."""
        span = self.span(start, end)
        return self.source[span.start : span.end]


def fraction_of(sign: str) -> tuple[int, int]:
    """Numerator and denominator of a fraction sign in a folded text."""
    return list(FRACTIONS.values())[ord(sign) - _PRIVATE]


@lru_cache(maxsize=512)
def fold(source: str) -> Folded:
    """The folded text; the last ones are kept."""
    return Folded(source)
