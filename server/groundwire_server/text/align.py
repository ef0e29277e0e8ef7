"""A text beside its normal form, and the way back from a match in the one to code points of the other.

The normal form composes, splits and drops characters (NFD, full width, ligatures, variation selectors), so a position
in it is no position in the source. Characters that act on each other are taken together: a base character with the
combining marks and dropped characters behind it is one *cluster*, and a match that touches a cluster covers it whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from groundwire_server.evidence import Span
from groundwire_server.text.normal import normalize

__all__ = ["MAY_JOIN", "AlignedText", "align"]


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text, its normal form, and for each position of that the cluster of the source that it came from.

    Attributes:
        source: the text as stored.
        normal: `normalize(source)`.
        starts: where the cluster of each normal position begins in the source; None when positions are equal.
        ends: where it ends.
    """

    source: str
    normal: str
    starts: Sequence[int] | None
    ends: Sequence[int] | None

    def span(self, start: int, end: int) -> Span:
        """The stretch of the source that `normal[start:end]`, not empty, came from."""
        if self.starts is None or self.ends is None:
            return Span(start, end)
        return Span(self.starts[start], self.ends[end - 1])


class _Forms(dict[str, str | None]):
    """Normal form of single characters as they are met; None for one that joins the character before it."""

    def __missing__(self, character: str) -> str | None:
        form = normalize(character) if not _joins(character) else None
        self[character] = form or None
        return self[character]


def _joins(character: str) -> bool:
    """Whether a character can act on the one before it: combining marks and the later jamo of a Hangul syllable."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff" or unicodedata.combining(first) != 0


_FORMS = _Forms()

# Beyond these blocks (Latin, Greek and Cyrillic letters, general punctuation and symbols, kana, Han, Hangul syllables,
# full width) a character may join the one before it or leave the normal form. Within them none does.
MAY_JOIN = re.compile(
    "[^\\0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205f\u2070-\u20cf\u2100-\u2bff"
    "\u3000-\u3029\u3030-\u3096\u309b-\u30ff\u3200-\ua66e\uac00-\ud7a3\uff01-\uff9d]"
)


def align(text: str) -> AlignedText:
    """A text beside its normal form.

    >>> aligned = align("ﬁne ｶﾞｽ")
    >>> aligned.normal, aligned.span(1, 2), aligned.span(5, 6)
    ('fine ガス', Span(start=0, end=1), Span(start=4, end=6))
    """
    if text.isascii():
        return AlignedText(text, text.lower(), None, None)
    if MAY_JOIN.search(text) is None:
        normal = normalize(text)
        if len(normal) == len(text):  # none joins and none is dropped, so each is one character
            return AlignedText(text, normal, None, None)
    return _align_clusters(text)


def _align_clusters(text: str) -> AlignedText:
    forms = list(map(_FORMS.__getitem__, text))
    parts = [form or "" for form in forms]  # of a cluster, all at its first character
    ends = list(range(1, len(text) + 1))
    end = 0
    for joining in [at for at, form in enumerate(forms) if form is None]:
        if joining >= end:
            head, end = max(0, joining - 1), joining + 1
            while end < len(text) and forms[end] is None:
                end += 1
            parts[head], ends[head] = normalize(text[head:end]), end
    starts = list(chain.from_iterable(map(repeat, range(len(text)), map(len, parts))))
    return AlignedText(text, "".join(parts), starts, [ends[start] for start in starts])
