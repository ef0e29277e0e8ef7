"""From borders to sections: a stretch of text each, under a path of headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundwire_server.chunking.headings import HEADING_CHARS, Border
from groundwire_server.evidence import Span

__all__ = ["Section", "sections_of"]

SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text under one heading; sections follow each other without a gap.

    heading: its path, e.g. "Report > Results"; empty before the first heading.
    head_end: where the lines of its headings end; its start where it has none of their own.
    """

    span: Span
    heading: str
    head_end: int


def sections_of(text: str, borders: Sequence[Border]) -> Iterator[Section]:
    """The sections that borders make. A heading opens one together with the deeper ones that directly follow it."""
    start, head_end, heading = 0, 0, ""
    path: list[Border] = []
    open_head = False  # nothing but headings stands in the section so far
    for border in borders:
        if not (open_head and path[-1].level < border.level and not text[head_end : border.start].strip()):
            if text[start : border.start].strip():
                yield Section(Span(start, border.start), heading, head_end)
            start = border.start
        while path and path[-1].level >= border.level:
            path.pop()
        path.append(border)
        heading = _path(path)
        open_head = not border.holds_text
        head_end = border.end if open_head else border.start
    if text[start:].strip():
        yield Section(Span(start, len(text)), heading, head_end)


def _path(borders: Sequence[Border]) -> str:
    last = borders[-1]
    if last.path:
        return last.path
    return SEPARATOR.join(title for each in borders if (title := " ".join(each.title.split())))[: 4 * HEADING_CHARS]
