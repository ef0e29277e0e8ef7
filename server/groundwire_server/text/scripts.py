"""Which characters belong to which kind of writing; everything else in this room asks here.

Three kinds matter for matching: *CJK* (Han, Hiragana, Katakana, Hangul: written without blanks, matched by characters
and adjacent pairs), other scripts written *without blanks* (Thai, Lao, Khmer, Myanmar) and scripts with *spaced* words.
Ranges are whole blocks, so that a character added to one of them by a later Unicode version is already at home.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CJK_CLASS",
    "IGNORABLE_CLASS",
    "cjk_table",
    "is_cjk",
    "is_katakana",
    "is_unspaced",
    "is_word_character",
    "mark_classes",
]

_Ranges = tuple[tuple[int, int], ...]

CJK_RANGES: _Ranges = (
    (0x1100, 0x11FF),  # Hangul jamo
    (0x2E80, 0x2FDF),  # Han radicals, Kangxi radicals
    (0x3005, 0x3007),  # 々 〆 〇
    (0x3021, 0x302F),  # Hangzhou numerals and tone marks
    (0x3031, 0x3035),  # vertical kana repeat marks
    (0x3038, 0x303C),  # Hangzhou tens, 〻, 〼
    (0x3041, 0x3096),  # Hiragana
    (0x3099, 0x309F),  # voiced sound marks, ゝ ゞ ゟ
    (0x30A1, 0x30FF),  # Katakana, with ・ inside names (jaquad nDCG@10 .9046, without it .9028), ー ヽ ヾ ヿ
    (0x3131, 0x318E),  # Hangul compatibility jamo
    (0x31F0, 0x31FF),  # small Katakana
    (0x3400, 0x4DBF),  # Han extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA960, 0xA97F),  # Hangul jamo extension A
    (0xAC00, 0xD7FF),  # Hangul syllables, jamo extension B
    (0xF900, 0xFAFF),  # Han compatibility
    (0xFF65, 0xFF9F),  # half-width Katakana (folded by the normal form, met in stored text)
    (0xFFA1, 0xFFDC),  # half-width Hangul
    (0x16FE3, 0x16FE3),  # old Chinese iteration mark
    (0x16FF0, 0x16FF1),  # Vietnamese reading marks
    (0x1AFF0, 0x1B16F),  # kana extensions and supplements
    (0x20000, 0x3FFFD),  # Han extensions B and later, compatibility supplement
)

KATAKANA_RANGES: _Ranges = (
    (0x3031, 0x3035),
    (0x3099, 0x309C),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9F),
    (0x1AFF0, 0x1AFFF),
    (0x1B000, 0x1B000),
    (0x1B120, 0x1B122),
    (0x1B155, 0x1B155),
    (0x1B164, 0x1B167),
)

UNSPACED_RANGES: _Ranges = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue, Khmer symbols
    (0xA9E0, 0xA9FF),  # Myanmar extension B
    (0xAA60, 0xAA7F),  # Myanmar extension A
)

# Default_Ignorable_Code_Point of Unicode: zero-width characters, direction marks, fillers and variation selectors.
IGNORABLE_RANGES: _Ranges = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)


def _class_body(ranges: _Ranges) -> str:
    """Inside of a regex character class."""
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


CJK_CLASS = _class_body(CJK_RANGES)
IGNORABLE_CLASS = _class_body(IGNORABLE_RANGES)

_CJK = re.compile(f"[{CJK_CLASS}]")
_KATAKANA = re.compile(f"[{_class_body(KATAKANA_RANGES)}]")
_UNSPACED = re.compile(f"[{_class_body(UNSPACED_RANGES)}]")


@lru_cache(maxsize=1 << 15)
def is_cjk(character: str) -> bool:
    """Whether one character is Han, Hiragana, Katakana or Hangul, with their repeat, long-vowel and middle-dot marks.

    >>> [is_cjk(c) for c in "漢かカー한々〇a5。"]
    [True, True, True, True, True, True, True, False, False, False]
    """
    return _CJK.match(character) is not None


def is_katakana(character: str) -> bool:
    """Whether one character can stand inside a Katakana run: full or half width, with ー and the voiced sound marks.

    >>> [is_katakana(c) for c in "カーｶﾞか漢・"]
    [True, True, True, True, False, False, False]
    """
    return _KATAKANA.match(character) is not None


def is_unspaced(character: str) -> bool:
    """Whether one character is of a script without blanks that is not CJK (Thai, Lao, Khmer, Myanmar)."""
    return _UNSPACED.match(character) is not None


def is_word_character(character: str) -> bool:
    """Whether one character is a letter, mark or digit.

    >>> [is_word_character(c) for c in "aé5漢_-\\u0301"]
    [True, True, True, True, False, False, True]
    """
    return character.isalnum() or unicodedata.category(character)[0] == "M" or is_cjk(character)


@cache
def mark_classes() -> tuple[str, str]:
    """Regex class bodies of the combining marks that are not CJK: those of the basic plane, and all of them.

    Read from the running interpreter's Unicode tables, which `\\w` follows too. Built at first need, in 20 ms.
    """
    ranges: list[tuple[int, int]] = []
    for code in range(0x300, 0x1F000):  # no mark beyond that but variation selectors, which the normal form drops
        if unicodedata.category(chr(code))[0] != "M" or is_cjk(chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return _class_body(tuple(r for r in ranges if r[1] <= 0xFFFF)), _class_body(tuple(ranges))


@cache
def cjk_table() -> NDArray[np.bool_]:
    """bool[0x110000]: `is_cjk` by code point, for whole arrays of code points."""
    table = np.zeros(0x110000, dtype=np.bool_)
    for low, high in CJK_RANGES:
        table[low : high + 1] = True
    table.setflags(write=False)
    return table
