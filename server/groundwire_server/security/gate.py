"""The security gate: names that this deployment does not answer about (semantics 6).

It runs before data is touched, and again on every text that is made from a question. Matching is on the normal form
(NFKC, zero-width characters gone), blanks between CJK characters are looked through, and terms of spaced scripts need
word borders: full-width letters and invisible characters do not get by, and "Acmeville" is not "Acme". Where a glossary
reads one name, the gate does too: words may be joined by up to three marks or blanks, "Acme-Bank", "Acme_Bank" and
"Acme, Bank" as "Acme Bank", and CJK characters stand apart by them; the end of a sentence joins nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from groundwire_server.evidence import Refusal, RefusalReason, Span, make_refusal, slice_text
from groundwire_server.text import AlignedText, align, has_borders, is_cjk, normalize

__all__ = ["SecurityGate"]

_JOIN = r"(?:\s|\.(?!\s)|[-_‐‑‒–—−'’,/&·・:()\[\]\"“”])"  # as between the words of a name in glossary/mentions, and "_"
_BETWEEN_WORDS = rf"(?:\s+|{_JOIN}{{1,3}})"
_BETWEEN_CJK = rf"(?:\s+|{_JOIN}{{1,3}})?"
_PARTS = re.compile(r"[\s_‐‑‒–−-]+")
_SHORTEST_IN_PARTS = 4  # in letters; the parts of a shorter one ("A-B") are too common beside each other


class SecurityGate:
    """Outside names of a deployment, and whether a text names one.

    Args:
        outside_names: competitors and the like; blank ones and repeats are passed over.
    """

    def __init__(self, outside_names: Iterable[str] = ()) -> None:
        named = {normalize(name).strip() for name in outside_names}
        self._names = tuple(_pattern(normal) for normal in sorted(named) if normal)

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._names)

    def find(self, text: str, known: Iterable[Span] = ()) -> Span | None:
        """The first outside name within a text, or None.

        Args:
            known: where names of the glossary stand in the text. Inside Han the longest name wins: an outside name that
                is only a part of a longer known one is not named.
        """
        aligned = align(text)
        longer = tuple(known)
        hits = [span for name in self._names for span in _places(aligned, name)]
        hits = [hit for hit in hits if not _is_part_of(hit, longer, text)]
        return min(hits, key=lambda hit: (hit.start, -hit.end), default=None)

    def refusal(self, text: str, language: str = "en", known: Iterable[Span] = ()) -> Refusal | None:
        """OUT_OF_SCOPE when the text names an outside name, else None."""
        return make_refusal(RefusalReason.OUT_OF_SCOPE, language) if self.find(text, known) is not None else None

    def passes(self, text: str) -> bool:
        """Whether a text that was made from a question names nothing outside."""
        return self.find(text) is None


def _pattern(name: str) -> re.Pattern[str]:
    """Pattern of a name in normal form, not blank, over text in normal form; borders are looked at where it is used."""
    words = [word for word in _PARTS.split(name) if word]
    if sum(map(len, words)) < _SHORTEST_IN_PARTS:
        words = name.split()
    parts = [_word(words[0])]
    for left, right in pairwise(words):
        parts += [_BETWEEN_CJK if is_cjk(left[-1]) and is_cjk(right[0]) else _BETWEEN_WORDS, _word(right)]
    return re.compile("".join(parts))


def _word(word: str) -> str:
    parts = [re.escape(word[0])]
    for left, right in pairwise(word):
        parts += [_BETWEEN_CJK if is_cjk(left) and is_cjk(right) else "", re.escape(right)]
    return "".join(parts)


def _places(text: AlignedText, name: re.Pattern[str]) -> Iterator[Span]:
    """Where a name stands between borders, in code points of the source."""
    at = 0
    while (match := name.search(text.normal, at)) is not None:
        if has_borders(text.normal, match.start(), match.end()):
            yield text.span(match.start(), match.end())
            at = match.end()
        else:
            at = match.start() + 1


def _is_part_of(hit: Span, longer: tuple[Span, ...], text: str) -> bool:
    name = slice_text(text, hit)
    if not (is_cjk(name[0]) and is_cjk(name[-1])):
        return False
    return any(
        span.start <= hit.start and hit.end <= span.end and span.end - span.start > hit.end - hit.start
        for span in longer
    )
