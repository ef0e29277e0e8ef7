"""Titles of documents as names: where a text names what another document is about.

A title is a name as it stands and without a bracketed note at its end ("Faith (1920 film)" is Faith), compared in
normal form by words, and in CJK by characters.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import Span
from groundwire_server.store import StoreReader
from groundwire_server.text import align, has_borders, is_cjk, normalize

__all__ = ["MOST_NAMESAKES", "TitleBook", "TitleMention", "title_names"]

MOST_NAMESAKES = 16
"""Documents that may bear one name. What more of them are called ("Introduction") names none of them."""

_NOTE = re.compile(r"\s*[(（\[【][^()（）\[\]【】]*[)）\]】]\s*$")
_MOST_ATOMS = 32
_WORD = re.compile(r"[^\W_]+")
_WIDEST_GAP = 3


@dataclass(frozen=True, slots=True)
class TitleMention:
    """A name in a text: its place there, its normal form, and the revisions that bear it, by their places."""

    span: Span
    name: str
    revisions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Atoms:
    """The words, and in CJK the characters, of a text in normal form, and where each begins and ends in it."""

    normal: str
    texts: list[str]
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, normal: str) -> _Atoms:
        atoms = cls(normal, [], [], [])
        for found in _WORD.finditer(normal):
            word, start = found.group(), found.start()
            if word.isascii() or not any(map(is_cjk, word)):
                atoms._add(word, start)
                continue
            begun = 0  # of a run of other characters
            for place, character in enumerate(word):
                if is_cjk(character):
                    if begun < place:
                        atoms._add(word[begun:place], start + begun)
                    atoms._add(character, start + place)
                    begun = place + 1
            if begun < len(word):
                atoms._add(word[begun:], start + begun)
        return atoms

    def _add(self, text: str, start: int) -> None:
        self.texts.append(text)
        self.starts.append(start)
        self.ends.append(start + len(text))


def title_names(title: str) -> tuple[str, ...]:
    """The names that a title is, in normal form: without the note at its end, and whole where that is another one.

    >>> title_names("Faith (1920 film)"), title_names("京都市"), title_names("—")
    (('faith', 'faith 1920 film'), ('京 都 市',), ())
    """
    names = (_name(_NOTE.sub("", title)), _name(title))
    return tuple(dict.fromkeys(name for name in names if name))


class TitleBook:
    """Titles of all revisions of a library, read from its store when they are first asked for. Safe for any thread.

    What later revisions add is invisible to who asks with fewer of them: only what `visible` covers is found.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bearers: dict[str, list[int]] = {}
        self._longest: dict[str, int] = {}
        self._capital: list[bool] = []
        self._titles: list[str] = []
        self._places: dict[str, list[int]] = {}
        self._last_row = 0

    def follow(self, reader: StoreReader, revisions: int) -> TitleBook:
        """The same book, with the titles of at least that many revisions."""
        with self._lock:
            if len(self._titles) < revisions:
                last_row = reader.chunk_count()
                for detail in reader.revision_details(self._last_row):
                    self._add(detail.doc_id, detail.title)
                self._last_row = last_row
        return self

    def bearers(self, name: str, visible: NDArray[np.bool_]) -> tuple[int, ...]:
        """The visible revisions with a name, ascending; none where there are more than it can tell apart."""
        known = self._bearers.get(name, ())
        seen = tuple(place for place in known if place < len(visible) and visible[place])
        return seen if len(seen) <= MOST_NAMESAKES else ()

    def find(self, text: str, visible: NDArray[np.bool_]) -> list[TitleMention]:
        """Names of visible revisions in a text, none over another: from left to right, the longest first.

        A name of one word is met in lower case only where it is written so itself: "it" is not the film It.
        """
        aligned = align(text)
        atoms = _Atoms.of(aligned.normal)
        found: list[TitleMention] = []
        at = 0
        while at < len(atoms.texts):
            length, name, bearers = self._longest_at(atoms, at, visible)
            if bearers:
                span = aligned.span(atoms.starts[at], atoms.ends[at + length - 1])
                if length == 1 and text[span.start].islower():
                    bearers = tuple(place for place in bearers if not self._capital[place])
                if bearers:
                    found.append(TitleMention(span, name, bearers))
            at += length if bearers else 1
        return found

    def place(self, doc_id: str, visible: NDArray[np.bool_]) -> int | None:
        """The visible revision of a document; None where there is none."""
        known = self._places.get(doc_id, ())
        return next((place for place in known[::-1] if place < len(visible) and visible[place]), None)

    def names(self, place: int, visible: NDArray[np.bool_]) -> tuple[str, ...]:
        """The names that the title of a revision is, but for those of too many documents."""
        return tuple(name for name in title_names(self._titles[place]) if place in self.bearers(name, visible))

    def any(self, visible: NDArray[np.bool_]) -> bool:
        """Whether a visible revision has a title that is a name."""
        return any(title_names(self._titles[place]) for place in np.flatnonzero(visible).tolist())

    def title(self, place: int) -> str:
        """The title of a revision."""
        return self._titles[place]

    def _add(self, doc_id: str, title: str) -> None:
        revision = len(self._titles)
        self._titles.append(title)
        self._places.setdefault(doc_id, []).append(revision)
        first = next((character for character in title if character.isalnum()), "")
        self._capital.append(first.isupper())
        for name in title_names(title):
            head, *rest = name.split(" ")
            if not rest and (is_cjk(head[0]) or head.isdigit()):
                continue  # a single character of a text without blanks, or a number, is everywhere
            if rest:
                pair = f"{head} {rest[0]}"
                self._longest[pair] = max(self._longest.get(pair, 0), 1 + len(rest))
            self._bearers.setdefault(name, []).append(revision)

    def _longest_at(self, atoms: _Atoms, at: int, visible: NDArray[np.bool_]) -> tuple[int, str, tuple[int, ...]]:
        """How many atoms the longest visible name has that begins at one, the name, and who bears it."""
        texts, starts, ends = atoms.texts, atoms.starts, atoms.ends
        reach = 1
        if at + 1 < len(texts) and (most := self._longest.get(f"{texts[at]} {texts[at + 1]}")) is not None:
            most = min(most, len(texts) - at)
            while reach < most and starts[at + reach] - ends[at + reach - 1] <= _WIDEST_GAP:
                reach += 1
        for length in range(reach, 0, -1):
            name = " ".join(texts[at : at + length]) if length > 1 else texts[at]
            if name in self._bearers and has_borders(atoms.normal, starts[at], ends[at + length - 1]):
                bearers = self.bearers(name, visible)
                if bearers:
                    return length, name, bearers
        return 0, "", ()


def _name(title: str) -> str:
    texts = _Atoms.of(normalize(title)).texts
    return " ".join(texts) if len(texts) <= _MOST_ATOMS else ""
