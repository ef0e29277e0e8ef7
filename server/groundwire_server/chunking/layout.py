"""Headings, tables and lists as borders of chunks (semantics 5; seed, "layout")."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire_server.chunking.chunk import Headings
from groundwire_server.chunking.headings import all_borders
from groundwire_server.chunking.sectioned import SectionChunker
from groundwire_server.chunking.sections import Section, sections_of

__all__ = ["LayoutChunker", "layout_sections"]


class LayoutChunker(SectionChunker):
    """Cuts at headings: those that the reader of the file has found, else those of Markdown in the text.

    >>> [chunk.text for chunk in LayoutChunker().chunk("# A\\n\\none\\n\\n- x\\n- y\\n\\n# B\\ntwo")]
    ['# A\\n\\none', '- x\\n- y', '# B\\ntwo']
    """

    name = "layout"

    def sections(self, text: str, headings: Headings) -> Iterable[Section]:
        """One a heading, and what stands before the first."""
        return layout_sections(text, headings)


def layout_sections(text: str, headings: Headings) -> Iterable[Section]:
    """Sections by the reader's headings, else by ATX and Setext headings."""
    return sections_of(text, all_borders(text, headings, ()))
