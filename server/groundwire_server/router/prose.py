"""A model's text, cut into sentences while it comes, so that each can be judged and sent as soon as it is whole.

Citation marks behind a full stop belong to the sentence before it. How the text was cut into pieces on its way makes no
difference: an end is taken for one only when what follows it has been seen.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from groundwire_server.text import is_cjk

__all__ = ["LONGEST_SENTENCE", "Prose", "Sentence"]

LONGEST_SENTENCE = 1500
"""Code points after which a text without an end is cut; no sentence of an answer is as long."""

_OPEN_MARK = "[［【〔"
_END = re.compile(r"[.。！？!?]+[*_]*[\"'”’」』）》〉)}]*[*_]*")
_MARKS = re.compile(r"(?:[ \t]*[\[［【〔][\d\s,，、;；–—~〜-]{1,40}[\]］】〕])*[。.]?")
_UNCLOSED_MARK = re.compile(r"[\[［【〔][\d \t,，、;；–—~〜-]{0,40}\Z")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“‘])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Inc|Corp|Co|Ltd|Bros|Dept|Univ"
    r"|Gov|Sen|Rep|Gen|Col|Capt|Lt|Sgt|No|Nos|Vol|Fig|Art|Sec|Ch|pp?|vs|etc|cf|al|ca|approx|est|Jan|Feb|Mar|Apr|Jun"
    r"|Jul|Aug|Sept?|Oct|Nov|Dec|Mt|Ft)\.\Z"
)
_ITEM = re.compile(r"\s*(?:[-*•]\s*)?\d{1,3}\.\Z")
_PAIRS = ("“”", "「」", "『』", "«»")
_CLOSING = frozenset("”」』»")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A whole sentence with its marks. `before`: what stands between it and the one before: "", " " or a line break."""

    text: str
    before: str


class Prose:
    """Takes a text in pieces and gives its sentences.

    >>> prose = Prose()
    >>> [each.text for each in prose.feed("It rose 3.")], [each.text for each in prose.feed("5 % [1]. It fell.[2] An")]
    ([], ['It rose 3.5 % [1].', 'It fell.[2]'])
    >>> [each.text for each in prose.close()]
    ['An']
    """

    def __init__(self) -> None:
        self._rest = ""
        self._begun = False

    def feed(self, piece: str) -> list[Sentence]:
        """The sentences that a piece completes."""
        self._rest += _plain(piece)
        return self._ready(closed=False)

    def close(self) -> list[Sentence]:
        """What is left, as the last sentence."""
        return self._ready(closed=True)

    def _ready(self, *, closed: bool) -> list[Sentence]:
        found: list[Sentence] = []
        while True:
            start = len(self._rest) - len(self._rest.lstrip())
            end = _end_of(self._rest, start, closed=closed)
            if end is None:
                return found
            text = self._rest[start:end].strip()
            if text:
                found.append(Sentence(text, _between(self._rest[:start], text) if self._begun else ""))
                self._begun = True
            self._rest = self._rest[end:]


def _plain(text: str) -> str:
    """Without characters that hide or turn text around; a line ends with a line feed."""
    return "".join(
        char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )


def _between(blanks: str, text: str) -> str:
    if "\n" in blanks:
        return "\n"
    return "" if not blanks or is_cjk(text[0]) else " "


def _end_of(text: str, start: int, *, closed: bool) -> int | None:
    """Where the sentence that begins at `start` ends; None: not seen yet, or nothing is left."""
    if start == len(text):
        return None
    line = text.find("\n", start)
    stop = len(text) if line < 0 else line
    stop = min(stop, start + LONGEST_SENTENCE)
    for found in _END.finditer(text, start, stop):
        end = _MARKS.match(text, found.end(), stop)
        at = found.end() if end is None else end.end()
        following = text[at:stop].lstrip(" \t")
        if not following and stop == len(text) and not closed:
            return None  # what comes decides
        if following and following[0] in _OPEN_MARK and not closed and _UNCLOSED_MARK.match(following):
            return None
        if _ends(text[start : found.end()], text[at:stop], following, marked=at > found.end()):
            return at
    whole = closed or line >= 0 or stop < len(text) or stop - start >= LONGEST_SENTENCE
    return stop if whole else None


def _ends(sentence: str, rest: str, following: str, *, marked: bool) -> bool:
    """Whether a sentence ends where its closing mark stands."""
    if not following:
        return True
    if _within_quotation(sentence):
        return False
    latin = sentence.rstrip("*_\"'”’)}")[-1:] in (".", "!", "?")
    touching = rest[:1] not in (" ", "\t")
    if not latin:
        return marked or not touching or sentence[-1] not in _CLOSING  # 「増えた。」と言った
    if touching and not is_cjk(following[0]) and following[0] not in _OPEN_MARK:
        return False  # example.com, 3.5, e.g.
    if following[0].islower():
        return False
    return not (_ABBREVIATION.search(sentence) or _ITEM.fullmatch(sentence))


def _within_quotation(sentence: str) -> bool:
    opened = any(sentence.count(pair[0]) > sentence.count(pair[1]) for pair in _PAIRS)
    return opened or sentence.count('"') % 2 == 1
