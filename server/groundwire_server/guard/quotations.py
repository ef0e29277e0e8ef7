"""Marked quotations in a model's sentence, and whether each is an exact part of a cited text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from groundwire_server.evidence import Span
from groundwire_server.guard.folded import fold
from groundwire_server.guard.words import hedges_after, hedges_before
from groundwire_server.text import is_cjk, tokenize

__all__ = ["Quotation", "find_quotations"]

_QUOTED = re.compile(r"“([^“”]+)”|「([^「」]+)」|『([^『』]+)』|\"([^\"]+)\"|«([^«»]+)»")
_CLOSING = ".,;:。、，；： "
_BESIDE = re.compile(r"[\d.,%$€£¥]")
_RANGE_BEFORE = re.compile(r"[\d%](?:\s*(?:[-–—~〜～]|to|and|から|至|到)\s*)$")
_RANGE_AFTER = re.compile(r"\s*(?:[-–—~〜～]|to\s|から|至|到)\s*[$€£¥]?\d")
_LONG_WORDS, _LONG_CJK = 5, 12
_SAYS_WORDS, _SAYS_CJK = 3, 6


@dataclass(frozen=True, slots=True)
class Quotation:
    """The words between two marks. verbatim: an exact part of a cited text that says something by itself. long: more
    than a name or a title, and not in a cited text in any form.
    """

    span: Span
    verbatim: bool
    long: bool


def find_quotations(text: str, sources: Iterable[str]) -> list[Quotation]:
    """Every marked quotation in a sentence, in order."""
    known = list(sources)
    found: list[Quotation] = []
    for match in _QUOTED.finditer(text):
        place = next(number for number, group in enumerate(match.groups(), 1) if group is not None)
        span = Span(*match.span(place))
        inside = match[place].strip().rstrip(_CLOSING)
        exact = _says(inside) and any(_stands(inside, source) for source in known)
        alike = any(fold(inside).text in fold(source).text for source in known)
        found.append(Quotation(span, exact, _is_long(inside) and not alike))
    return found


def _says(inside: str) -> bool:
    """Whether there is more in it than a figure."""
    words = [word for word in tokenize(inside) if word.isalpha()]
    return sum(map(is_cjk, inside)) >= _SAYS_CJK or len(words) >= _SAYS_WORDS


def _is_long(inside: str) -> bool:
    return sum(map(is_cjk, inside)) >= _LONG_CJK or len(inside.split()) >= _LONG_WORDS


def _stands(inside: str, source: str) -> bool:
    """Whether it is a part of the source that cuts off no digit, no hedge and no other end of a range."""
    at = source.find(inside)
    while at >= 0:
        end = at + len(inside)
        if not (_cuts_before(source, at) or _cuts_after(source, end)):
            return True
        at = source.find(inside, at + 1)
    return False


def _cuts_before(source: str, at: int) -> bool:
    before = fold(source[max(0, at - 40) : at]).text
    first = source[at]
    if not (first.isdigit() or first in "$€£¥一二三四五六七八九十百千万"):
        return first.isascii() and first.isalnum() and source[at - 1 : at].isascii() and source[at - 1 : at].isalnum()
    sticks = bool(before) and _BESIDE.search(before[-1]) is not None
    return sticks or bool(hedges_before(before, len(before))) or _RANGE_BEFORE.search(before) is not None


def _cuts_after(source: str, end: int) -> bool:
    last = source[end - 1]
    after = fold(source[end : end + 20]).text
    if last.isascii() and last.isalnum() and after[:1].isascii() and after[:1].isalnum():
        return True
    if (
        not re.match(r"\s*(?:[%万億亿千]|million|billion|thousand|percent)", after)
        and not last.isdigit()
        and last not in "%人円元個个社家店件名"
    ):
        return False
    return (
        re.match(r"[.,]?\d|\s*(?:[%万億亿千]|million|billion|thousand|percent)", after) is not None
        or bool(hedges_after(after, 0))
        or _RANGE_AFTER.match(after) is not None
    )
