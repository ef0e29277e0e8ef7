"""One chunk a text: the unit of the evaluation sets, and of texts that are short by nature."""

from __future__ import annotations

from groundwire_server.chunking.chunk import ChunkDraft, Headings
from groundwire_server.evidence import Span

__all__ = ["WholeChunker"]


class WholeChunker:
    """Leaves a text as it is, blanks at its ends included; a blank one gives no chunk. It has no budget.

    >>> [chunk.span for chunk in WholeChunker().chunk(" a ")], WholeChunker().chunk(" ")
    ([Span(start=0, end=3)], [])
    """

    name = "whole"
    spec = "whole"

    def chunk(self, text: str, headings: Headings = ()) -> list[ChunkDraft]:
        """The text as one chunk."""
        return [ChunkDraft(0, Span(0, len(text)), text)] if text.strip() else []
