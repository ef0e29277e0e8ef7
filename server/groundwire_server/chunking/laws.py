"""Statutes, contracts, rules: one article or clause a section (semantics 5; seed, "laws")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from groundwire_server.chunking.chunk import Headings
from groundwire_server.chunking.headings import Border, Line, all_borders, reads_on
from groundwire_server.chunking.numerals import CJK_NUMBER, LATIN_NUMBER
from groundwire_server.chunking.sectioned import SectionChunker
from groundwire_server.chunking.sections import Section, sections_of

__all__ = ["LawsChunker"]

_TITLE_CHARS = 80
# Below the levels of Markdown's headings, so that those hold the articles under them.
_LEVELS = {"编": 11, "編": 11, "章": 12, "节": 13, "節": 13, "条": 16, "條": 16, "项": 18, "項": 18}
_DIVISION = 14  # 款 over articles, as in Japanese codes
_CLAUSE = 17  # 款 within an article, as in Chinese ones
_WORDS = {
    "annex": 11,
    "part": 11,
    "schedule": 11,
    "title": 11,
    "chapter": 12,
    "art.": 15,
    "article": 15,
    "section": 16,
    "sec.": 16,
    "§": 16,
}

_CJK = re.compile(
    rf"第\s?{CJK_NUMBER}\s?(?P<kind>[编編章节節条條款项項])(?:[のノ之]{CJK_NUMBER})*(?=$|\s|[：:（(【《])"
)
_LATIN = re.compile(
    rf"(?P<kind>Annex|ANNEX|Schedule|SCHEDULE|Article|ARTICLE|Art\.|Section|SECTION|Sec\.|SEC\.|Chapter|CHAPTER|Part|PART|Title|TITLE|§{{1,2}})"
    # Of a title that goes on in lower case, the line is a sentence that begins with a reference.
    rf"\s*{LATIN_NUMBER}(?=$|[.:](?:\s|$)|\s*[–—-]\s|\s+[^\sa-z0-9,;()\[\]])"
)
_CAPTION = re.compile(r"[（(【《][^（()）【】《》]{1,40}[)）】》]")
# Supplementary provisions, which count their articles from one again.
_SUPPLEMENT = re.compile(r"附\s?[則则](?=$|\s|[：:（(【《])")


class LawsChunker(SectionChunker):
    """Sections begin at 第N編/章/節/条/款/項, 附則, and Part, Chapter, Article, Section, § N, at the start of a line.

    A line that only refers to an article ("第3条の規定により", "Section 3 applies") begins none: behind the number must
    stand a blank, a colon, a bracket or the end of the line, in Latin script a title. Names of parts and chapters open
    a section together with their first article. A hit is read with its whole article, where that is short enough.

    >>> text = "第一章 総則\\n（目的）\\n第一条 この法律は、…\\n第1条の規定は、準用する。\\n第二条 用語の定義。"
    >>> [(chunk.heading, chunk.text[:4]) for chunk in LawsChunker().chunk(text)]
    [('第一章 総則 > 第一条（目的）', '第一章 '), ('第一章 総則 > 第二条', '第二条 ')]
    """

    name = "laws"
    expands = True
    blocks = False

    def sections(self, text: str, headings: Headings) -> Iterable[Section]:
        """One an article or clause, and what stands before the first."""
        return sections_of(text, all_borders(text, headings, (_article,)))


def _article(lines: Sequence[Line], place: int) -> Border | None:
    line = lines[place]
    if _SUPPLEMENT.match(line.bare) and len(line.bare) <= _TITLE_CHARS and not reads_on(line.bare):
        return Border(line.span.start, line.span.end, _LEVELS["編"], line.bare)
    found = _CJK.match(line.bare) or _LATIN.match(line.bare)
    if found is None or line.of_contents:
        return None
    rest = line.bare[found.end() :].strip(" \t\u3000.:：–—-")
    titled = len(line.bare) <= _TITLE_CHARS and not reads_on(line.bare)
    level = _level(found["kind"], titled=titled)
    container = level < 15
    title = line.bare if titled and (container or found.re is _LATIN) else _name(line.bare, found, rest)
    border = Border(line.span.start, line.span.end, level, title, holds_text=not titled and bool(rest))
    return border if container else _with_caption(lines, place, border)


def _level(kind: str, *, titled: bool) -> int:
    if kind == "款":
        return _DIVISION if titled else _CLAUSE
    return _LEVELS.get(kind) or _WORDS.get(kind.lower(), _WORDS["§"])


def _name(line: str, found: re.Match[str], rest: str) -> str:
    """The article's number, with the title in brackets that follows it."""
    caption = _CAPTION.match(rest)
    return found[0].strip() + (caption[0] if caption else "")


def _with_caption(lines: Sequence[Line], place: int, border: Border) -> Border:
    """An article with the line of its title above it, as Japanese statutes have it: （目的）."""
    above = lines[place - 1] if place else None
    if above is None or above.code or not _CAPTION.fullmatch(above.bare):
        return border
    return replace(border, start=above.span.start, title=border.title + above.bare)
