"""Lines of a text, and the headings among them that stand in every kind of document."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groundwire_server.chunking.chunk import Headings
from groundwire_server.chunking.cut import trimmed
from groundwire_server.evidence import Span

__all__ = [
    "HEADING_CHARS",
    "Border",
    "Line",
    "Recognise",
    "all_borders",
    "reads_on",
]

HEADING_CHARS = 200
"""A longer line is no heading, and of a longer name so much is kept."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
_MARKS = re.compile(r"(?P<atx>#{1,6})(?=\s|$)")
_FENCE = re.compile(r"(?:`{3,}|~{3,})")
_UNDERLINE = re.compile(r"=+|-{3,}")
_SENTENCE_SIGNS = ".。．;；,，、:："
_MARKUP = "#*_ \t\u3000"
_CONTENTS = re.compile(r"(?:[.．。…·・_]\s?){3,}\s*\d*$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text.

    span: without the blanks at its ends; empty where it is blank.
    bare: its text without the marks of Markdown around it, cut at HEADING_CHARS + 1.
    marks: "#" at its start; 0: none.
    code: it lies within fenced code.
    """

    span: Span
    bare: str
    marks: int
    code: bool

    @property
    def blank(self) -> bool:
        """Whether nothing stands in it."""
        return self.span.end == self.span.start

    @property
    def short(self) -> bool:
        """Whether it can be a heading."""
        return not self.blank and len(self.bare) <= HEADING_CHARS and not self.of_contents

    @property
    def of_contents(self) -> bool:
        """Whether it is a line of a table of contents: a row of dots and a page."""
        return _CONTENTS.search(self.bare) is not None


@dataclass(frozen=True, slots=True)
class Border:
    """A place where a section begins.

    start, end: of the line, or of the lines, that open it.
    level: 1 is the highest.
    title: for people.
    holds_text: content stands in those lines themselves, as in "第三条 …".
    path: the whole path, where a reader knows it; empty: it follows from levels and titles.
    """

    start: int
    end: int
    level: int
    title: str
    holds_text: bool = False
    path: str = ""


Recognise = Callable[[Sequence[Line], int], Border | None]
"""The border that a line is, or None; it may look at its neighbours."""


def lines_of(text: str) -> list[Line]:
    """All lines. They end at CR LF, CR and LF, as editors count."""
    lines = []
    fence = ""
    for match in _LINE.finditer(text):
        if match.start() == match.end():
            break
        span = trimmed(text, match.start(), match.end())
        start = text[span.start : min(span.end, span.start + HEADING_CHARS + 16)]
        opened = _FENCE.match(start)
        code = bool(fence) or opened is not None
        if opened is not None and not fence:
            fence = opened[0]
        elif opened is not None and opened[0].startswith(fence):
            fence = ""
        marks = _MARKS.match(start)
        lines.append(Line(span, _without_marks(start), len(marks["atx"]) if marks else 0, code))
    return lines


def find_borders(lines: Sequence[Line], *recognise: Recognise) -> list[Border]:
    """The borders in text order; of several that know a line, the first counts. None lie within fenced code."""
    found = []
    for place, line in enumerate(lines):
        if line.blank or line.code:
            continue
        border = next((known for each in recognise if (known := each(lines, place)) is not None), None)
        if border is not None:
            found.append(border)
    return found


def all_borders(
    text: str, headings: Headings, recognise: Sequence[Recognise], *, reader_first: bool = False
) -> list[Border]:
    """Borders that the lines show, and those where the reader of the file has found headings; in text order.

    Args:
        headings: the reader's; where there are none, headings are looked for as Markdown marks them.
        recognise: what else begins a section.
        reader_first: whether a heading counts as such where its line could begin a section by `recognise` as well.
    """
    lines = lines_of(text)
    if not headings:
        return find_borders(lines, *((marked_heading, *recognise) if reader_first else (*recognise, marked_heading)))
    first, second = find_borders(lines, *recognise), read_borders(text, headings)
    if reader_first:
        first, second = second, first
    held = sorted(first, key=_start)
    starts = [border.start for border in held]
    added = [border for border in second if not _meets(border, held, starts)]
    return sorted([*held, *added], key=_start)


def _start(border: Border) -> int:
    return border.start


def _meets(border: Border, held: Sequence[Border], starts: Sequence[int]) -> bool:
    """Whether a border stands in the lines of another one."""
    after = bisect_right(starts, border.start)
    if after and border.start < max(held[after - 1].end, held[after - 1].start + 1):
        return True
    return after < len(held) and held[after].start < border.end


def marked_heading(lines: Sequence[Line], place: int) -> Border | None:
    """ATX (# Title), or a line over === or --- that stands alone."""
    line = lines[place]
    if line.marks:
        return Border(line.span.start, line.span.end, line.marks, line.bare[:HEADING_CHARS])
    if place + 1 == len(lines) or not line.short or (place > 0 and not lines[place - 1].blank):
        return None
    under = lines[place + 1]
    # The marks are no part of a bare line, so that of "---" nothing is left but the dashes.
    if under.blank or not _UNDERLINE.fullmatch(under.bare) or _UNDERLINE.fullmatch(line.bare):
        return None
    return Border(line.span.start, under.span.end, 1 if under.bare[0] == "=" else 2, line.bare)


def read_borders(text: str, headings: Headings) -> list[Border]:
    """Borders where the reader of a file has found headings; each with the line that stands there."""
    found = []
    for start, path in headings:
        line = _LINE.match(text, start)
        span = trimmed(text, start, line.end() if line else start)
        parts = path.split(" > ")
        title = parts[-1].strip()
        # A reader of Markdown gives the whole path; the line itself may say more than its heading.
        alone = span.end - span.start <= 2 * HEADING_CHARS and title[:40] in text[span.start : span.end]
        found.append(Border(start, span.end, len(parts), title, holds_text=not alone, path=path))
    return found


def reads_on(text: str) -> bool:
    """Whether a line ends like a statement or in the middle of one, so that it is no title. A title may ask."""
    return text.rstrip()[-1:] in _SENTENCE_SIGNS


def _without_marks(line: str) -> str:
    """The line without what Markdown puts around a heading: number signs, stars, underscores."""
    return line.strip(_MARKUP)[: HEADING_CHARS + 1]
