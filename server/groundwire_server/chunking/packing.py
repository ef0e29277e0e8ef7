"""Paragraphs put together up to a budget, with whole paragraphs as overlap (semantics 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from groundwire_server.chunking.chunk import Budget
from groundwire_server.chunking.cut import Sentences, cut_long, trimmed, within
from groundwire_server.chunking.measure import Measure
from groundwire_server.evidence import Span

__all__ = ["Packer", "paragraph_spans"]

_LINE = re.compile(r"[^\r\n]+")


def paragraph_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Lines with content, without the blanks at their ends; lines end at CR and LF."""
    for line in _LINE.finditer(text, start, len(text) if end is None else end):
        paragraph = trimmed(text, line.start(), line.end())
        if paragraph.end > paragraph.start:
            yield paragraph


@dataclass(frozen=True, slots=True)
class Packer:
    """Puts paragraphs of one text together.

    budget, measure: how much fits, and how that is counted.
    sentences: where a paragraph over the budget is cut.
    """

    text: str
    budget: Budget
    measure: Measure
    sentences: Sentences

    def pack(self, paragraphs: Iterable[Span]) -> Iterator[Span]:
        """Chunks, each one slice of the text with all that lies between its paragraphs.

        The next chunk begins with as many whole paragraphs from the end of the one before as fit into the overlap
        together and leave room for a new one. A paragraph over the budget stands alone, in pieces (`cut_long`), and no
        overlap reaches into or out of it.
        """
        return within(self.text, self._pack(paragraphs), self.budget.max_chars, self.measure, self.sentences)

    def fits(self, start: int, end: int) -> bool:
        """Whether a stretch can be one chunk."""
        return self.measure.size(start, end) <= self.budget.max_chars

    def _pack(self, paragraphs: Iterable[Span]) -> Iterator[Span]:
        gathered: list[Span] = []
        carried = 0  # how many of the gathered ones stand in the chunk before
        for paragraph in paragraphs:
            if not self.fits(paragraph.start, paragraph.end):
                if len(gathered) > carried:
                    yield Span(gathered[0].start, gathered[-1].end)
                gathered, carried = [], 0
                yield from cut_long(self.text, paragraph, self.budget.max_chars, self.measure, self.sentences)
                continue
            if gathered and not self.fits(gathered[0].start, paragraph.end):
                if len(gathered) > carried:
                    yield Span(gathered[0].start, gathered[-1].end)
                    gathered = self._overlap(gathered)
                while gathered and not self.fits(gathered[0].start, paragraph.end):
                    del gathered[0]
                carried = len(gathered)
            gathered.append(paragraph)
        if len(gathered) > carried:
            yield Span(gathered[0].start, gathered[-1].end)

    def _overlap(self, gathered: list[Span]) -> list[Span]:
        """The paragraphs at the end that fit into the overlap together, with what lies between them."""
        end, most = gathered[-1].end, self.budget.overlap_chars
        return [paragraph for paragraph in gathered if self.measure.size(paragraph.start, end) <= most]
