"""Terms in free text: the longest names win, with borders by script (semantics 7, 10, 11)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from groundwire_server.evidence import Span, slice_text
from groundwire_server.glossary.names import inverted, stem
from groundwire_server.glossary.terms import (
    MemberTerm,
    RelationTerm,
    Term,
    TermKind,
    kind_of,
    names_of,
)
from groundwire_server.text import AlignedText, align, has_borders, is_cjk, normalize

__all__ = ["TermFinder", "TermMention", "TermRef"]

_GAP = re.compile(r"(?:[^\S\n]|[-‐‑–—'’.,/&·・:()\[\]\"“”]|\n(?!\s*\n)){0,3}")
_SENTENCE_END = re.compile(r"[.]\s")
_MEANINGFUL_PUNCTUATION = frozenset("%‰#")


@dataclass(frozen=True, slots=True, order=True)
class TermRef:
    """A term: its kind ("metric", "entity", "channel", or "dimension" with the axis) and code."""

    kind: str
    code: str
    dimension: str = ""


@dataclass(frozen=True, slots=True)
class TermMention:
    """A name in a text: its place, the text there, and every term that it may mean, sorted."""

    span: Span
    text: str
    terms: tuple[TermRef, ...]


@dataclass(slots=True)
class _Node:
    """A step on the way of names.

    following: what may come next. ending: terms with a name that ends here, with its spelling where only that counts.
    dotted: some name has what looks like the end of a sentence before this step (St. Kitts).
    """

    following: dict[str, _Node] = field(default_factory=dict)
    ending: list[tuple[TermRef, str]] = field(default_factory=list)
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class _Atom:
    """A word, a CJK character or a symbol of a text in normal form."""

    text: str
    start: int
    end: int


class TermFinder:
    """Finds names of terms.

    Codes and identifiers count only as they are written (PER is Peru, per is a word); other names in any case, spacing
    and punctuation, and those of metrics, channels and members in plural variants too.
    """

    def __init__(self, terms: Iterable[Term]) -> None:
        self._exact = _Node()
        self._plural = _Node()
        for term in terms:
            if isinstance(term, RelationTerm):  # nobody asks for a figure or a passage by one
                continue
            ref = TermRef(kind_of(term).value, term.code, term.dimension if isinstance(term, MemberTerm) else "")
            written = {synonym.text for synonym in term.synonyms} | {term.label}
            for name in names_of(term):
                cased = name if name not in written else ""
                for form in (normalize(name), inverted(name)) if not cased else (normalize(name),):
                    self._add(form, ref, cased, plural=not cased and kind_of(term) is not TermKind.ENTITY)

    def _add(self, normal: str, ref: TermRef, cased: str, *, plural: bool) -> None:
        atoms = list(_atoms(normal))
        words = [atom.text for atom in atoms]
        dots = [bool(_SENTENCE_END.search(normal[a.end : b.start])) for a, b in pairwise(atoms)]
        _insert(self._exact, words, dots, (ref, cased))
        if plural:
            _insert(self._plural, [stem(word) for word in words], dots, (ref, cased))

    def find(self, text: str) -> list[TermMention]:
        """Mentions in text order, none over another: the longest wins, then the first."""
        aligned = align(text)
        atoms = list(_atoms(aligned.normal))
        words = [atom.text for atom in atoms]
        stems = [stem(word) for word in words]
        found: dict[tuple[int, int], set[TermRef]] = {}
        for first in range(len(atoms)):
            exact = dict(self._walk(self._exact, aligned, atoms, words, first))
            plural = dict(self._walk(self._plural, aligned, atoms, stems, first))
            for end, refs in {**plural, **exact}.items():
                if has_borders(aligned.normal, atoms[first].start, end):
                    found[atoms[first].start, end] = refs
        return [
            TermMention(span, slice_text(text, span), tuple(sorted(found[place])))
            for place in _longest_apart(found)
            for span in (aligned.span(*place),)
        ]

    def _walk(
        self, root: _Node, aligned: AlignedText, atoms: list[_Atom], words: list[str], first: int
    ) -> Iterator[tuple[int, set[TermRef]]]:
        node = root
        for place in range(first, len(atoms)):
            following = node.following.get(words[place])
            if following is None:
                return
            if place > first and not _close(aligned.normal, atoms[place - 1], atoms[place], dotted=following.dotted):
                return
            node = following
            end = atoms[place].end
            refs = {ref for ref, cased in node.ending if not cased or _is_written(aligned, atoms[first], end, cased)}
            if refs:
                yield end, refs


def _insert(root: _Node, words: list[str], dots: list[bool], ending: tuple[TermRef, str]) -> None:
    if not words:
        return
    node = root
    for word, dotted in zip(words, [False, *dots], strict=True):
        node = node.following.setdefault(word, _Node())
        node.dotted = node.dotted or dotted
    node.ending.append(ending)


def _atoms(normal: str) -> Iterator[_Atom]:
    start = 0
    while start < len(normal):
        char = normal[start]
        end = start + 1
        if is_cjk(char) or char in _MEANINGFUL_PUNCTUATION or unicodedata.category(char).startswith("S"):
            yield _Atom(char, start, end)
        elif _in_word(char):
            while end < len(normal) and _in_word(normal[end]) and not is_cjk(normal[end]):
                end += 1
            yield _Atom(normal[start:end], start, end)
        start = end


def _in_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _close(normal: str, before: _Atom, after: _Atom, *, dotted: bool) -> bool:
    """Whether two atoms may stand in one name: little between, and no end of a sentence but where names have one."""
    gap = normal[before.end : after.start]
    initial = before.end - before.start == 1
    return _GAP.fullmatch(gap) is not None and (dotted or initial or not _SENTENCE_END.search(gap))


def _is_written(aligned: AlignedText, first: _Atom, end: int, cased: str) -> bool:
    written = slice_text(aligned.source, aligned.span(first.start, end))
    return unicodedata.normalize("NFKC", written) == unicodedata.normalize("NFKC", cased)


def _longest_apart(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    taken = bytearray()
    for start, end in sorted(found, key=lambda place: (place[0] - place[1], place[0])):
        taken.extend(bytes(max(0, end - len(taken))))
        # The places come from the longest down: one that overlaps a kept one has an end in it.
        if not (taken[start] or taken[end - 1]):
            kept.append((start, end))
            taken[start:end] = b"\1" * (end - start)
    return sorted(kept)
