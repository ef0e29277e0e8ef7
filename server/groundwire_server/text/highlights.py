"""Which parts of a stored text made it match."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import Span
from groundwire_server.text.align import AlignedText, align
from groundwire_server.text.scripts import is_cjk, is_word_character
from groundwire_server.text.tokens import has_broken_line, patterns_for, show_soft_hyphens

__all__ = ["Highlighter"]

_FEW_WORDS = 32  # beyond that it is faster to look at all words of the text

_Match = tuple[int, int]


class _Kinds(dict[str, str]):
    """What characters are part of, as they are met: "c" for a CJK run, "w" for another word, "-" for neither."""

    def __missing__(self, character: str) -> str:
        kind = "c" if is_cjk(character) else "w" if is_word_character(character) else "-"
        self[character] = kind
        return kind


_KINDS = _Kinds()


class Highlighter:
    """Finds in many texts what they share with one query. Any thread may use it.

    Words and single characters are looked for one by one: to find a fixed string is the fastest that Python can do with
    a text. Pairs, of which a query has many, are looked up at the places where two of their characters meet.

    Args:
        query_tokens: tokens of the query and its variants.
    """

    def __init__(self, query_tokens: Collection[str]) -> None:
        words: set[str] = set()
        singles: set[str] = set()
        pairs: set[str] = set()
        within_pairs: set[str] = set()
        for token in query_tokens:
            kinds = "".join(map(_KINDS.__getitem__, token))
            if kinds == "cc":
                pairs.add(token)
            elif kinds == "c":
                singles.add(token)
            elif not kinds.strip("w"):
                words.add(token)
            if len(kinds) == 2 and kinds[0] == "c":
                within_pairs.update(token)
        self._words = words - within_pairs - {""}
        self._singles = singles - within_pairs
        self._pairs = pairs
        self._begins, self._ends = _table(pair[0] for pair in pairs), _table(pair[1] for pair in pairs)

    def spans(self, text: str) -> list[Span]:
        """Parts of `text` that share tokens with the query: ascending, not overlapping, in code points of `text`.

        Single CJK characters of a longer query word are left out: 益 of 収益 is no help to the eye in 利益. They count
        for BM25 all the same.

        >>> from groundwire_server.text import tokenize
        >>> Highlighter(tokenize("finance 収益")).spans("Net ﬁnance, 収益と利益")
        [Span(start=4, end=10), Span(start=12, end=14)]
        """
        aligned = align(show_soft_hyphens(text))
        normal = aligned.normal
        matches = [*self._words_in(normal), *self._pairs_in(normal)]
        matches += ((at, at + 1) for character in self._singles for at in _places(normal, character))
        return _joined(aligned, sorted(matches))

    def _words_in(self, normal: str) -> list[_Match]:
        """Wanted words in a text in normal form."""
        if not self._words:
            return []
        if has_broken_line(normal):
            return list(_pieces_in(normal, self._words))
        words = self._words
        if len(words) > _FEW_WORDS:
            return [run.span() for run in patterns_for(normal).runs.finditer(normal) if run[0] in words]
        framed = f" {normal} "  # around normal[start:end] stand framed[start] and framed[end + 1]
        return [
            (at, at + len(word))
            for word in words
            if word in normal
            for at in _places(normal, word)
            if _KINDS[framed[at]] != "w" and _KINDS[framed[at + len(word) + 1]] != "w"
        ]

    def _pairs_in(self, normal: str) -> list[_Match]:
        """Wanted pairs of CJK characters; they may overlap."""
        if not self._pairs or normal.isascii():
            return []
        halves = _low_halves(normal)
        (likely,) = (self._begins[halves[:-1]] & self._ends[halves[1:]]).nonzero()
        pairs = self._pairs
        return [(at, at + 2) for at in likely.tolist() if normal[at : at + 2] in pairs]


def _low_halves(text: str) -> NDArray[np.uint16]:
    """The lower 16 bits of each character, which tell nearly all apart."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u2")[::2]


def _table(characters: Iterable[str]) -> NDArray[np.bool_]:
    """bool[65536]: whether a lower half is that of one of the characters."""
    table = np.zeros(1 << 16, dtype=np.bool_)
    table[_low_halves("".join(characters))] = True
    return table


def _places(text: str, wanted: str) -> Iterator[int]:
    """Where a string begins in a text, ascending; places may overlap."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _pieces_in(normal: str, wanted: Collection[str]) -> Iterator[_Match]:
    """Wanted words of a text in which hyphens break words at line ends: the whole word, else its wanted parts."""
    patterns = patterns_for(normal)
    for run in patterns.pieces.finditer(normal):
        if run[0] in wanted:
            yield run.span()
        elif not is_cjk(run[0][0]):
            parts = list(patterns.words.finditer(normal, *run.span()))
            if "".join(part[0] for part in parts) in wanted:
                yield run.span()
            else:
                yield from (part.span() for part in parts if part[0] in wanted)


def _joined(aligned: AlignedText, matches: list[_Match]) -> list[Span]:
    """Ascending matches as spans of the source. Two become one where a pair begins inside the pair before it, or where
    both met in one cluster."""
    spans: list[Span] = []
    begin, stop = 0, 0
    for start, end in matches:
        if aligned.starts is not None and aligned.ends is not None:
            start, end = aligned.starts[start], aligned.ends[end - 1]
        if start >= stop:
            if stop:
                spans.append(Span(begin, stop))
            begin, stop = start, end
        elif end > stop:
            stop = end
    if stop:
        spans.append(Span(begin, stop))
    return spans
