"""Tokens: what a query and a text have in common when they match (semantics 1).

The patterns are compiled twice. Combining marks outside the basic plane would make each step of the matcher walk a long
list of ranges, so the pattern that knows them serves only texts that hold such characters at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import add

from groundwire_server.text.normal import normalize
from groundwire_server.text.scripts import CJK_CLASS, is_cjk, mark_classes

__all__ = [
    "TOKENIZER_ID",
    "Patterns",
    "has_broken_line",
    "matching_form",
    "patterns_for",
    "show_soft_hyphens",
    "tokenize",
]

TOKENIZER_ID = f"cjk-single-and-pair/1+unicode-{unicodedata.unidata_version}"
"""Name, version and Unicode version of the tokenizer. An index made by another one is rebuilt, never guessed at."""

_LINE_END = r"[ \t]*(?:\r\n|[\n\r\x0b\x0c\x85\u2028\u2029])[ \t]*"
_HYPHEN = r"[-\u2010]"
_SOFT_HYPHEN_AT_LINE_END = re.compile(rf"\xad(?={_LINE_END})")
_BROKEN_LINE = re.compile(_HYPHEN + _LINE_END)
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LETTER_BEYOND_ASCII = re.compile(rf"[^\W\x00-\x7f]|[{CJK_CLASS}]")


@dataclass(frozen=True, slots=True)
class Patterns:
    """Compiled patterns over text in normal form.

    Attributes:
        words: all words: runs of letters, marks and digits that are not CJK.
        runs: all words and all CJK runs, in order.
        broken: whole words that hyphens at line ends break into parts.
        pieces: broken words, else words and CJK runs, in order.
    """

    words: re.Pattern[str]
    runs: re.Pattern[str]
    broken: re.Pattern[str]
    pieces: re.Pattern[str]


def _compile(word: str, not_inside: str, cjk: str = "") -> Patterns:
    # Digits beside the hyphen make a range or a number, not a broken word. Words are atomic and begin at their first
    # character: one long word costs its length, not the square of it.
    broken = rf"{not_inside}(?>{word})(?:(?<!\d){_HYPHEN}{_LINE_END}(?!\d)(?>{word}))+"
    return Patterns(
        words=re.compile(word),
        runs=re.compile("|".join(filter(None, [cjk, word]))),
        broken=re.compile(broken),
        pieces=re.compile("|".join(filter(None, [broken, cjk, word]))),
    )


_ASCII = _compile("[a-z0-9]+", "(?<![a-z0-9])")


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(f"[{mark_classes()[0]}]")


@cache
def _unicode_patterns(*, astral: bool) -> Patterns:
    marks = mark_classes()[1 if astral else 0]
    letter = rf"[^\W_{CJK_CLASS}]"
    word = f"{letter}+(?:[{marks}]+{letter}*)*|(?:[{marks}]+{letter}*)+"
    return _compile(word, f"(?<!{letter})(?<![{marks}])", f"[{CJK_CLASS}]+")


def show_soft_hyphens(text: str) -> str:
    """Soft hyphens at line ends, where they show, as hyphens; the normal form drops them everywhere else."""
    return _SOFT_HYPHEN_AT_LINE_END.sub("-", text) if "\xad" in text else text


def matching_form(text: str) -> str:
    """The normal form that tokens are cut from."""
    return normalize(show_soft_hyphens(text))


def patterns_for(normal: str) -> Patterns:
    """The patterns that find every word of a text in normal form.

    English with curly quotes and dashes has no word character beyond ASCII either: there the fast pattern does too.
    """
    if normal.isascii():
        return _ASCII
    astral = _ASTRAL.search(normal) is not None
    if not astral and _LETTER_BEYOND_ASCII.search(normal) is None and _mark().search(normal) is None:
        return _ASCII
    return _unicode_patterns(astral=astral)


def has_broken_line(normal: str) -> bool:
    """Whether a hyphen stands at a line end."""
    return ("-" in normal or "\u2010" in normal) and _BROKEN_LINE.search(normal) is not None


def tokenize(text: str) -> list[str]:
    """Tokens of a text, in order.

    A run of CJK characters gives all its characters, then all its adjacent pairs. Any other run of letters, marks and
    digits gives one token. A word that a hyphen breaks at a line end gives its parts and then the joined word.
    For plain ASCII and Han this is the seed's tokenizer (seed, "lexical"); kana and Hangul as CJK is ours.

    >>> tokenize("FY2024 売上高 3.5 ｶﾞｽ")
    ['fy2024', '売', '上', '高', '売上', '上高', '3', '5', 'ガ', 'ス', 'ガス']
    >>> tokenize("inter-\\nnational")
    ['inter', 'national', 'international']
    """
    normal = matching_form(text)
    patterns = patterns_for(normal)
    if has_broken_line(normal):
        return _expand(patterns.pieces.findall(normal), lambda run: _parts(patterns, run))
    if patterns is _ASCII:
        return patterns.words.findall(normal)
    return _expand(patterns.runs.findall(normal), None)


def _parts(patterns: Patterns, run: str) -> list[str]:
    """A word, or the parts of a broken word and the joined word behind them."""
    parts: list[str] = patterns.words.findall(run)
    return parts if len(parts) == 1 else [*parts, "".join(parts)]


def _expand(runs: list[str], parts: Callable[[str], list[str]] | None) -> list[str]:
    tokens: list[str] = []
    for run in runs:
        if run[0] >= "\u1100" and is_cjk(run[0]):
            characters = list(run)
            tokens += characters
            tokens += map(add, characters, characters[1:])
        elif parts is None:
            tokens.append(run)
        else:
            tokens.extend(parts(run))
    return tokens
