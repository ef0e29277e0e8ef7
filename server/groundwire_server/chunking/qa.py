"""Questions with their answers (semantics 5; seed, "qa")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from groundwire_server.chunking.chunk import Headings
from groundwire_server.chunking.headings import HEADING_CHARS, Border, Line, all_borders
from groundwire_server.chunking.sectioned import SectionChunker
from groundwire_server.chunking.sections import Section, sections_of

__all__ = ["QaChunker"]

_QUESTION = re.compile(r"(?:[-*•]\s+)?(?:[QqＱ]\s?\d{0,4}\s?[:：.．]|[问問]\s?\d{0,4}\s?[:：])\s*")
_ANSWER = re.compile(r"(?:[-*•]\s+)?(?:[AaＡ]\s?\d{0,4}\s?[:：.．]|[答]\s?\d{0,4}\s?[:：])")
_ASKS = ("?", "？")
_LEVEL = 10  # below the headings of Markdown, so that these hold the questions under them


class QaChunker(SectionChunker):
    """Sections begin at a question: a line that begins with Q: Q. 问： 問： Ｑ： (a number may stand behind the mark),
    or one that ends in ? or ？ and is no marked answer.

    A question and its answers have one parent_id, and a hit is read with both, where they are short enough. A marked
    question may go on for some lines up to its question mark. Headings of Markdown end an answer.

    >>> [chunk.text for chunk in QaChunker(30, 0).chunk("Q: Why?\\nA: So.\\n\\n何時ですか？\\n三時です。")]
    ['Q: Why?\\nA: So.', '何時ですか？\\n三時です。']
    """

    name = "qa"
    expands = True
    blocks = False

    def sections(self, text: str, headings: Headings) -> Iterable[Section]:
        """One a question, and what stands before the first."""
        return sections_of(text, all_borders(text, headings, (_Questions(),)))


class _Questions:
    """Recognises questions, line by line in order: whether one is still open tells what the next line is."""

    def __init__(self) -> None:
        self._open_until = -1

    def __call__(self, lines: Sequence[Line], place: int) -> Border | None:
        line = lines[place]
        marked = _QUESTION.match(line.bare)
        asks = line.bare.endswith(_ASKS) if len(line.bare) <= HEADING_CHARS else False
        if marked is None and (not asks or _ANSWER.match(line.bare) or place == self._open_until):
            return None
        end, title = line.span.end, line.bare[marked.end() if marked else 0 :]
        if marked is not None and not asks:
            self._open_until = _end_of_question(lines, place)
            if self._open_until >= 0:
                end = lines[self._open_until].span.end
        return Border(line.span.start, end, line.marks or _LEVEL, title.strip()[:HEADING_CHARS], holds_text=True)


def _end_of_question(lines: Sequence[Line], place: int) -> int:
    """The line in which a marked question ends with its question mark; -1 where it has none."""
    for following in range(place + 1, min(place + 6, len(lines))):
        bare = lines[following].bare
        if lines[following].blank or _ANSWER.match(bare) or _QUESTION.match(bare):
            return -1
        if bare.endswith(_ASKS):
            return following
    return -1
