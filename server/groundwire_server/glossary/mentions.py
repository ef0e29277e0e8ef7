"""Terms in free text: the longest names win, with borders by script (semantics 7, 10, 11)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

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
class _Atoms:
    """Words, CJK characters and symbols of a text in normal form, in order: what each is, where it begins and ends."""

    texts: list[str]
    starts: list[int]
    ends: list[int]


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
        atoms = _atoms(normal)
        words = atoms.texts
        gaps = zip(atoms.ends, atoms.starts[1:], strict=False)
        dots = [bool(_SENTENCE_END.search(normal[end:start])) for end, start in gaps]
        _insert(self._exact, words, dots, (ref, cased))
        if plural:
            _insert(self._plural, [stem(word) for word in words], dots, (ref, cased))

    def find(self, text: str) -> list[TermMention]:
        """Mentions in text order, none over another: the longest wins, then the first."""
        aligned = align(text)
        atoms = _atoms(aligned.normal)
        words = atoms.texts
        stems = [stem(word) for word in words] if self._plural.following else words
        found: dict[tuple[int, int], set[TermRef]] = {}
        exact, plural = self._exact, self._plural
        begin, begin_plural = exact.following, plural.following
        for first, word in enumerate(words):
            ends: dict[int, set[TermRef]] = {}
            if stems[first] in begin_plural:
                ends.update(_walk(plural, aligned, atoms, stems, first))
            if word in begin:
                ends.update(_walk(exact, aligned, atoms, words, first))
            for end, refs in ends.items():
                if has_borders(aligned.normal, atoms.starts[first], end):
                    found[atoms.starts[first], end] = refs
        return [
            TermMention(span, slice_text(text, span), tuple(sorted(found[place])))
            for place in _longest_apart(found)
            for span in (aligned.span(*place),)
        ]


def _walk(
    root: _Node, aligned: AlignedText, atoms: _Atoms, words: list[str], first: int
) -> Iterator[tuple[int, set[TermRef]]]:
    """Where names end that begin with an atom, and what they mean."""
    node = root
    for place in range(first, len(words)):
        following = node.following.get(words[place])
        if following is None:
            return
        if place > first and not _close(aligned.normal, atoms, place, dotted=following.dotted):
            return
        node = following
        if node.ending:
            end = atoms.ends[place]
            start = atoms.starts[first]
            refs = {ref for ref, cased in node.ending if not cased or _is_written(aligned, start, end, cased)}
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


def _atoms(normal: str) -> _Atoms:
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    begun = -1  # of the word that goes on
    for place, kind in enumerate(map(_KINDS.__getitem__, normal)):
        if kind == _WORD:
            if begun < 0:
                begun = place
            continue
        if begun >= 0:
            texts.append(normal[begun:place])
            starts.append(begun)
            ends.append(place)
            begun = -1
        if kind == _ALONE:
            texts.append(normal[place])
            starts.append(place)
            ends.append(place + 1)
    if begun >= 0:
        texts.append(normal[begun:])
        starts.append(begun)
        ends.append(len(normal))
    return _Atoms(texts, starts, ends)


_BETWEEN, _WORD, _ALONE = range(3)


class _Kinds(dict[str, int]):
    """What characters are to names, as they are met: a part of a word, an atom alone, or nothing."""

    def __missing__(self, char: str) -> int:
        if is_cjk(char) or char in _MEANINGFUL_PUNCTUATION or unicodedata.category(char).startswith("S"):
            kind = _ALONE
        else:
            kind = _WORD if char.isalnum() or unicodedata.category(char).startswith("M") else _BETWEEN
        self[char] = kind
        return kind


_KINDS = _Kinds()


def _close(normal: str, atoms: _Atoms, place: int, *, dotted: bool) -> bool:
    """Whether an atom and the one before may stand in one name: little between, no end of a sentence but in names."""
    before = place - 1
    gap = normal[atoms.ends[before] : atoms.starts[place]]
    initial = atoms.ends[before] - atoms.starts[before] == 1
    return _GAP.fullmatch(gap) is not None and (dotted or initial or not _SENTENCE_END.search(gap))


def _is_written(aligned: AlignedText, start: int, end: int, cased: str) -> bool:
    written = slice_text(aligned.source, aligned.span(start, end))
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
