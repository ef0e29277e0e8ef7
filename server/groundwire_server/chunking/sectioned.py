"""What all chunkers that know sections have in common; each is but another way to find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from groundwire_server.chunking.blocks import cut_blocks
from groundwire_server.chunking.budgeted import BudgetedChunker
from groundwire_server.chunking.chunk import ChunkDraft, Headings
from groundwire_server.chunking.cut import trimmed
from groundwire_server.chunking.packing import Packer, paragraph_spans
from groundwire_server.chunking.sections import Section
from groundwire_server.chunking.sentences import read_sentences
from groundwire_server.evidence import Span, slice_text

__all__ = ["PARENT_BUDGETS", "SectionChunker", "draft_of"]

PARENT_BUDGETS = 4
"""A parent is at most so many chunk budgets long: it goes into a prompt, and a chapter would fill that."""


class SectionChunker(BudgetedChunker):
    """Cuts within sections, never over their borders: base of the chunkers that find sections.

    Tables, lists and fenced code are borders too (`cut_blocks`) unless a chunker says otherwise. All chunks of a
    section have its heading and one parent_id, "s0", "s1" ... in text order; those before the first heading have none
    of both.

    Args:
        max_chars, overlap_chars, unit, model: see BudgetedChunker; an overlap stays within its section.

    Raises:
        BudgetError: the budget does not hold.
    """

    name = ""
    expands = False
    """Whether a chunk is read with its whole section around it, where that is at most PARENT_BUDGETS budgets long."""

    blocks = True
    """Whether tables, lists and code are borders. Where items are part of what they stand under, as (1) of an
    article or A. of an answer, they are none."""

    def sections(self, text: str, headings: Headings) -> Iterable[Section]:
        """The sections of a text, in order and without a gap between those that are not blank."""
        raise NotImplementedError

    def chunk(self, text: str, headings: Headings = ()) -> list[ChunkDraft]:
        """Chunks in text order; none when the text is blank."""
        packer = Packer(text, self.budget, self.measure(text), read_sentences)
        drafts = self._drafts(packer, self.sections(text, headings))
        return [replace(draft, seq=seq) for seq, draft in enumerate(drafts)]

    def _drafts(self, packer: Packer, sections: Iterable[Section]) -> Iterator[ChunkDraft]:
        number = 0
        for section in sections:
            parent_id, parent = "", None
            if section.heading:
                parent_id, number = f"s{number}", number + 1
                parent = self._parent(packer, section)
            for span in self._cut(packer, section):
                yield draft_of(packer.text, span, section.heading, parent_id, parent)

    def _cut(self, packer: Packer, section: Section) -> Iterator[Span]:
        if self.blocks:
            return cut_blocks(packer, section)
        return packer.pack(paragraph_spans(packer.text, section.span.start, section.span.end))

    def _parent(self, packer: Packer, section: Section) -> Span | None:
        if not self.expands:
            return None
        whole = trimmed(packer.text, section.span.start, section.span.end)
        fits = packer.measure.size(whole.start, whole.end) <= PARENT_BUDGETS * self.budget.max_chars
        return whole if fits else None


def draft_of(text: str, span: Span, heading: str, parent_id: str, parent: Span | None) -> ChunkDraft:
    """A chunk; a parent that holds no more than the chunk itself is none. Its seq is given later."""
    return ChunkDraft(0, span, slice_text(text, span), heading, parent_id, None if parent == span else parent)
