"""The default chunker: paragraphs, put together up to a budget, with whole paragraphs as overlap (semantics 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundwire_server.chunking.chunk import DEFAULT_CHUNK_CHARS, DEFAULT_OVERLAP_CHARS, Budget, ChunkDraft
from groundwire_server.chunking.cut import cut_long, trimmed
from groundwire_server.evidence import Span, slice_text

__all__ = ["ParagraphChunker", "paragraph_spans"]

_LINE = re.compile(r"[^\r\n]+")


class ParagraphChunker:
    """Cuts between lines.

    A paragraph is a line with content, without the blanks at its ends; lines end at CR and LF. Paragraphs are put
    together while the chunk, which is one slice of the source with all that lies between them, has at most `max_chars`
    code points. The next chunk begins with as many whole paragraphs from the end of the one before as fit into
    `overlap_chars` together and leave room for a new one. A paragraph over the budget stands alone, in pieces
    (`cut_long`), and no overlap reaches into or out of it.

    Args:
        max_chars: longest chunk, in code points.
        overlap_chars: longest overlap of neighbours, in code points.

    Raises:
        BudgetError: max_chars < 1, overlap_chars < 0 or overlap_chars >= max_chars.

    >>> [chunk.text for chunk in ParagraphChunker(12, 4).chunk("one\\ntwo\\nthree\\n\\nfour")]
    ['one\\ntwo', 'two\\nthree', 'four']
    """

    name = "paragraph"

    def __init__(self, max_chars: int = DEFAULT_CHUNK_CHARS, overlap_chars: int = DEFAULT_OVERLAP_CHARS) -> None:
        self.budget = Budget(max_chars, overlap_chars)

    @property
    def spec(self) -> str:
        """Name and budget, e.g. "paragraph(480,80)"."""
        return f"{self.name}({self.budget.max_chars},{self.budget.overlap_chars})"

    def chunk(self, text: str) -> list[ChunkDraft]:
        """Chunks in text order; none when the text is blank."""
        return [ChunkDraft(seq, span, slice_text(text, span)) for seq, span in enumerate(self._spans(text))]

    def _spans(self, text: str) -> Iterator[Span]:
        most = self.budget.max_chars
        gathered: list[Span] = []
        carried = 0  # how many of the gathered ones stand in the chunk before
        for paragraph in paragraph_spans(text):
            if paragraph.end - paragraph.start > most:
                if len(gathered) > carried:
                    yield Span(gathered[0].start, gathered[-1].end)
                gathered, carried = [], 0
                yield from cut_long(text, paragraph.start, paragraph.end, most)
                continue
            if gathered and paragraph.end - gathered[0].start > most:
                if len(gathered) > carried:
                    yield Span(gathered[0].start, gathered[-1].end)
                    gathered = self._overlap(gathered)
                while gathered and paragraph.end - gathered[0].start > most:
                    del gathered[0]
                carried = len(gathered)
            gathered.append(paragraph)
        if len(gathered) > carried:
            yield Span(gathered[0].start, gathered[-1].end)

    def _overlap(self, gathered: list[Span]) -> list[Span]:
        """The paragraphs at the end that fit into the overlap together, with what lies between them."""
        end = gathered[-1].end
        return [paragraph for paragraph in gathered if end - paragraph.start <= self.budget.overlap_chars]


def paragraph_spans(text: str) -> Iterator[Span]:
    """Lines with content, without the blanks at their ends."""
    for line in _LINE.finditer(text):
        paragraph = trimmed(text, line.start(), line.end())
        if paragraph.end > paragraph.start:
            yield paragraph
