"""Books, theses, manuals: one chapter or numbered section a section (semantics 5; seed, "book")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from groundwire_server.chunking.chunk import Headings
from groundwire_server.chunking.headings import (
    HEADING_CHARS,
    Border,
    Line,
    all_borders,
    reads_on,
)
from groundwire_server.chunking.numerals import CJK_NUMBER
from groundwire_server.chunking.sectioned import SectionChunker
from groundwire_server.chunking.sections import Section, sections_of

__all__ = ["BookChunker"]

_TITLE_CHARS = 80
# Below the levels of Markdown's headings.
_LEVELS = {"部": 11, "篇": 12, "章": 13, "节": 14, "節": 14}
_CHAPTER = 13
_NUMBERED = 15

_CJK = re.compile(rf"第\s?{CJK_NUMBER}\s?(?P<kind>[部篇章节節])(?P<rest>.*)")
# Written without a blank behind it, a title must not begin like the rest of a sentence (第三章では ...).
_SPACED = re.compile(r"(?:$|[\s：:、.．—–-])")
_KANA = re.compile(r"[ぁ-ん]")
_WORD = "One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Eleven|Twelve|Thirteen|Fourteen|Fifteen|Sixteen|Seventeen"
_WORD += "|Eighteen|Nineteen|Twenty"
_LATIN = re.compile(
    rf"(?:Chapter|CHAPTER)\s+(?:\d{{1,3}}|[IVXLCDM]{{1,8}}|(?i:{_WORD}))(?=$|[.:](?:\s|$)|\s*[–—-]\s|\s+[^\sa-z0-9,;()])"
)
# A number with one dot in it is a decimal number, whatever follows it, and no heading (semantics 5).
_NUMBER = re.compile(
    r"(?P<number>\d{1,2}(?:\.\d{1,3}){2,4}(?=\s)"
    r"|\d{1,2}(?:\.\d{1,3})*[.)](?=\s)"
    r"|[0-9０-９]{1,2}[．、)）](?![0-9０-９]))\s*(?P<title>\S.*)"
)


class BookChunker(SectionChunker):
    """Sections begin at 第N部/篇/章/節, Chapter N, headings of Markdown or of the reader, and numbered headings.

    A numbered heading is a short line behind a blank one, "2. Method", "1.2.1 Scope", "３．結論", that does not end
    like a sentence and has no neighbour of its kind: those are a list. A line that starts with a decimal number is
    none. Lines of a table of contents begin no section.

    >>> text = "第一章 绪论\\n\\n3.5 亿人受益。\\n\\n第二章 方法\\n内容"
    >>> [(chunk.heading, chunk.text) for chunk in BookChunker().chunk(text)]
    [('第一章 绪论', '第一章 绪论\\n\\n3.5 亿人受益。'), ('第二章 方法', '第二章 方法\\n内容')]
    """

    name = "book"
    blocks = False

    def sections(self, text: str, headings: Headings) -> Iterable[Section]:
        """One a heading, and what stands before the first."""
        return sections_of(text, all_borders(text, headings, (_chapter, _numbered), reader_first=True))


def _chapter(lines: Sequence[Line], place: int) -> Border | None:
    line = lines[place]
    if not line.short or len(line.bare) > _TITLE_CHARS or reads_on(line.bare):
        return None
    if _LATIN.match(line.bare):
        return _border(line, _CHAPTER)
    found = _CJK.match(line.bare)
    if found is None:
        return None
    rest = found["rest"]
    spaced = _SPACED.match(rest)
    # Without a blank: only behind a blank line, short, and nothing that goes on as a sentence does.
    if not spaced and (_KANA.match(rest) or len(line.bare) > 30 or not _after_blank(lines, place)):
        return None
    return _border(line, _LEVELS[found["kind"]])


def _numbered(lines: Sequence[Line], place: int) -> Border | None:
    line = lines[place]
    depth = _depth(line)
    if not depth or not _after_blank(lines, place):
        return None
    if place + 1 < len(lines) and not lines[place + 1].blank and _depth(lines[place + 1]):
        return None
    if _is_listed(lines, place, depth, 1) or _is_listed(lines, place, depth, -1):
        return None
    return _border(line, _NUMBERED + depth)


def _depth(line: Line) -> int:
    """Parts of the number of what looks like a numbered heading; 0: it does not."""
    found = _NUMBER.fullmatch(line.bare) if line.short and len(line.bare) <= _TITLE_CHARS else None
    if found is None or reads_on(line.bare) or not any(char.isalpha() for char in found["title"]):
        return 0
    return found["number"].rstrip(".)").count(".") + 1


def _is_listed(lines: Sequence[Line], place: int, depth: int, step: int) -> bool:
    """Whether the next line with content that way is numbered alike."""
    place += step
    while 0 <= place < len(lines) and lines[place].blank:
        place += step
    return 0 <= place < len(lines) and _depth(lines[place]) == depth


def _after_blank(lines: Sequence[Line], place: int) -> bool:
    return place == 0 or lines[place - 1].blank


def _border(line: Line, level: int) -> Border:
    return Border(line.span.start, line.span.end, level, line.bare[:HEADING_CHARS])
