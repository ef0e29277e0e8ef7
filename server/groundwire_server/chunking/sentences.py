"""Sentences as people read them: abbreviations, numbers and addresses end none (semantics 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundwire_server.evidence import Span
from groundwire_server.text import is_cjk, sentence_spans

__all__ = ["read_sentences"]

# A dot behind one of these never ends a sentence: something that it belongs to follows.
_BEFORE_A_NAME = frozenset(
    {
        "adm", "al", "approx", "art", "capt", "cf", "ch", "col", "dept", "dr", "eq", "eqs", "est", "fig", "figs",
        "gen", "gov", "hon", "lt", "maj", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mt", "mx", "nos", "nr",
        "op", "par", "paras", "pp", "pres", "prof", "rep", "rev", "sec", "sect", "sen", "sgt", "sr", "st",
        "tab", "vol", "vols", "vs",
    }
)  # fmt: skip
# Behind one of these a number follows, or it is the end: "Nov. 5", "The answer is no."
_BEFORE_A_NUMBER = frozenset(
    {"apr", "aug", "ca", "dec", "feb", "jan", "jul", "jun", "mar", "no", "nov", "oct", "sep", "sept"}
)
# The last word before a dot, also of letters that each have a dot of their own.
_MARKED = re.compile(r"(?:\b[a-z]+\.)*(?P<word>\w+)\.$", re.IGNORECASE)
_NUMBERED = re.compile(r"[(\[]?[0-9０-９]{1,3}[.．]\s*$")
_CLOSING = "\"'”’」』）》】〉])}"
# As much of a sentence's end as is looked at.
_TAIL = 48


def read_sentences(text: str) -> Iterator[Span]:
    """Sentences of a text; the spans follow each other without a gap and cover it.

    They end where `sentence_spans` says, but not at a dot that
    - stands within a word (example.com) or before a word in lower case (approx. five, e.g. this),
    - closes an abbreviation that something belongs to (Dr. Sato, No. 5, Fig. 2), an initial (J. Smith) or letters that
      each have a dot of their own (U.S. Treasury), or
    - follows the number with which a line begins (1. Scope).

    >>> text = "Dr. Sato of the U.S. Treasury paid 3.5 % to example.com. 増えた。Why? See No. 5."
    >>> [text[span.start : span.end] for span in read_sentences(text)]
    ['Dr. Sato of the U.S. Treasury paid 3.5 % to example.com. ', '増えた。', 'Why? ', 'See No. 5.']
    """
    start = 0
    last = Span(0, 0)
    for last in sentence_spans(text):
        if last.end < len(text) and not _ends(text, start, last.end):
            continue
        yield Span(start, last.end)
        start = last.end
    if start < last.end:
        yield Span(start, last.end)


def _ends(text: str, start: int, end: int) -> bool:
    """Whether what looks like an end is one; `end` lies behind the closing signs and blanks."""
    tail = text[max(start, end - _TAIL) : end]
    closed = tail.rstrip()
    marks = closed.rstrip(_CLOSING)
    if not marks.endswith("."):
        return True
    following = text[end]
    if closed == tail and not is_cjk(following):
        return False  # no blank behind the dot
    if following.islower():
        return False
    if marks != closed or marks.endswith(".."):
        return True
    line = marks[max(marks.rfind("\n"), marks.rfind("\r")) + 1 :].lstrip()
    if _NUMBERED.fullmatch(line) and (line != marks or _begins_line(text, start)):
        return False
    found = _MARKED.search(marks)
    if found is None:
        return True
    word = found["word"]
    if word.casefold() in _BEFORE_A_NAME or (word.casefold() in _BEFORE_A_NUMBER and following.isdecimal()):
        return False
    return not (len(word) == 1 and word.isalpha() and word.isascii() and word not in "I")


def _begins_line(text: str, start: int) -> bool:
    """Whether only blanks stand between the start of a line and a place."""
    place = start
    while place > 0 and text[place - 1] in " \t\u3000":
        place -= 1
    return place == 0 or text[place - 1] in "\r\n"
