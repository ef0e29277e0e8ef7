"""The sentences of a text as spans that each fit into the budget."""

from __future__ import annotations

from groundwire_server.chunking.chunk import Budget
from groundwire_server.chunking.cut import cut_units, within
from groundwire_server.chunking.measure import Measure
from groundwire_server.chunking.packing import paragraph_spans
from groundwire_server.chunking.sentences import read_sentences
from groundwire_server.evidence import Span

__all__ = ["sentence_units"]


def sentence_units(text: str, budget: Budget, measure: Measure) -> list[Span]:
    """Sentences line by line, without the blanks at their ends; those over the budget in pieces."""
    return [
        unit
        for line in paragraph_spans(text)
        for unit in within(
            text,
            cut_units(text, line, budget.max_chars, measure, read_sentences),
            budget.max_chars,
            measure,
            read_sentences,
        )
    ]
