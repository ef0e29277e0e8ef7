"""The default chunker: paragraphs, put together up to a budget, with whole paragraphs as overlap (semantics 5)."""

from __future__ import annotations

from groundwire_server.chunking.budgeted import BudgetedChunker
from groundwire_server.chunking.chunk import ChunkDraft, Headings
from groundwire_server.chunking.packing import Packer, paragraph_spans
from groundwire_server.evidence import slice_text
from groundwire_server.text import sentence_spans

__all__ = ["ParagraphChunker"]


class ParagraphChunker(BudgetedChunker):
    """Cuts between lines.

    A paragraph is a line with content, without the blanks at its ends; lines end at CR and LF. How they are put
    together says `Packer`.

    >>> [chunk.text for chunk in ParagraphChunker(12, 4).chunk("one\\ntwo\\nthree\\n\\nfour")]
    ['one\\ntwo', 'two\\nthree', 'four']
    """

    name = "paragraph"

    def chunk(self, text: str, headings: Headings = ()) -> list[ChunkDraft]:
        """Chunks in text order; none when the text is blank. Headings are no borders."""
        packer = Packer(text, self.budget, self.measure(text), sentence_spans)
        spans = packer.pack(paragraph_spans(text))
        return [ChunkDraft(seq, span, slice_text(text, span)) for seq, span in enumerate(spans)]
