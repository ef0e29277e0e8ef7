"""The default chunker: paragraphs, put together up to a budget, with whole paragraphs as overlap (semantics 5)."""

from __future__ import annotations

from groundwire_server.chunking.chunk import (
    DEFAULT_CHUNK_CHARS,
    DEFAULT_OVERLAP_CHARS,
    Budget,
    ChunkDraft,
    Headings,
)
from groundwire_server.chunking.measure import TextModel, measure_of
from groundwire_server.chunking.packing import Packer, paragraph_spans
from groundwire_server.evidence import slice_text
from groundwire_server.text import sentence_spans

__all__ = ["ParagraphChunker"]


class ParagraphChunker:
    """Cuts between lines.

    A paragraph is a line with content, without the blanks at its ends; lines end at CR and LF. How they are put
    together says `Packer`.

    Args:
        max_chars: longest chunk.
        overlap_chars: longest overlap of neighbours.
        unit: what both count: "characters" (code points) or "tokens".
        model: whose tokens.

    Raises:
        BudgetError: max_chars < 1, overlap_chars < 0 or overlap_chars >= max_chars.

    >>> [chunk.text for chunk in ParagraphChunker(12, 4).chunk("one\\ntwo\\nthree\\n\\nfour")]
    ['one\\ntwo', 'two\\nthree', 'four']
    """

    name = "paragraph"

    def __init__(
        self,
        max_chars: int = DEFAULT_CHUNK_CHARS,
        overlap_chars: int = DEFAULT_OVERLAP_CHARS,
        unit: str = "characters",
        model: TextModel | None = None,
    ) -> None:
        self.budget = Budget(max_chars, overlap_chars, unit)
        self._model = model

    @property
    def spec(self) -> str:
        """Name and budget, e.g. "paragraph(480,80)"."""
        return f"{self.name}({self.budget})"

    def chunk(self, text: str, headings: Headings = ()) -> list[ChunkDraft]:
        """Chunks in text order; none when the text is blank. Headings are no borders."""
        packer = Packer(text, self.budget, measure_of(text, self.budget, self._model), sentence_spans)
        spans = packer.pack(paragraph_spans(text))
        return [ChunkDraft(seq, span, slice_text(text, span)) for seq, span in enumerate(spans)]
