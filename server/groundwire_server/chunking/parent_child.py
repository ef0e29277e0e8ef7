"""Small chunks that are found, and the larger stretch that is read in their place (semantics 5; "small to big")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from groundwire_server.chunking.blocks import cut_blocks
from groundwire_server.chunking.chunk import Budget, ChunkDraft, Headings
from groundwire_server.chunking.layout import layout_sections
from groundwire_server.chunking.packing import Packer
from groundwire_server.chunking.sectioned import PARENT_BUDGETS, SectionChunker, draft_of
from groundwire_server.chunking.sections import Section

__all__ = ["ParentChildChunker"]


class ParentChildChunker(SectionChunker):
    """Cuts each section into parents of at most four budgets, and each parent into chunks of the budget.

    Parents do not overlap. Text without headings has parents too.

    >>> child = ParentChildChunker(8, 0).chunk("one\\ntwo\\nthree\\nfour\\nfive\\nsix\\nseven")[1]
    >>> child.text, child.parent_id, child.parent_span
    ('three', 'p0', Span(start=0, end=27))
    """

    name = "parent_child"

    def sections(self, text: str, headings: Headings) -> Iterable[Section]:
        """As the layout chunker finds them."""
        return layout_sections(text, headings)

    def _drafts(self, packer: Packer, sections: Iterable[Section]) -> Iterator[ChunkDraft]:
        large = replace(packer, budget=Budget(PARENT_BUDGETS * self.budget.max_chars, 0, self.budget.unit))
        number = 0
        for section in sections:
            for parent in cut_blocks(large, section):
                parent_id, number = f"p{number}", number + 1
                for span in cut_blocks(packer, Section(parent, section.heading, section.head_end)):
                    yield draft_of(packer.text, span, section.heading, parent_id, parent)
