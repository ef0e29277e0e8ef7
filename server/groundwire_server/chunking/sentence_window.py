"""One sentence a chunk, read with its neighbours (semantics 5; seed, "sentence window")."""

from __future__ import annotations

from dataclasses import replace

from groundwire_server.chunking.budgeted import BudgetedChunker
from groundwire_server.chunking.chunk import ChunkDraft, Headings
from groundwire_server.chunking.sectioned import draft_of
from groundwire_server.chunking.units import sentence_units
from groundwire_server.evidence import Span

__all__ = ["WINDOW", "SentenceWindowChunker"]

WINDOW = 3
"""Sentences on either side that are read with one."""


class SentenceWindowChunker(BudgetedChunker):
    """Each sentence is a chunk; its window is three sentences before it to three behind it.

    A sentence ends at the end of its line at the latest; one over the budget is cut hard, and its pieces count as
    sentences. Windows of neighbours overlap, chunks do not; the overlap of the budget has no effect but must hold.

    >>> [chunk.text for chunk in SentenceWindowChunker().chunk("It rose 3.5 %. Why? 増えた。")]
    ['It rose 3.5 %.', 'Why?', '増えた。']
    """

    name = "sentence_window"

    @property
    def spec(self) -> str:
        """Name and budget, e.g. "sentence_window(480,0)"; the overlap is none."""
        return f"{self.name}({replace(self.budget, overlap_chars=0)})"

    def chunk(self, text: str, headings: Headings = ()) -> list[ChunkDraft]:
        """Chunks in text order; none when the text is blank. Headings are no borders."""
        units = sentence_units(text, self.budget, self.measure(text))
        drafts = []
        for seq, unit in enumerate(units):
            first, last = units[max(0, seq - WINDOW)], units[min(len(units) - 1, seq + WINDOW)]
            drafts.append(replace(draft_of(text, unit, "", "", Span(first.start, last.end)), seq=seq))
        return drafts
