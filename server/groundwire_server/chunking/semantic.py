"""Borders where neighbouring sentences speak of different things (semantics 5; seed, "semantic")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groundwire_server.chunking.budgeted import BudgetedChunker
from groundwire_server.chunking.chunk import (
    DEFAULT_CHUNK_CHARS,
    DEFAULT_OVERLAP_CHARS,
    ChunkDraft,
    Headings,
)
from groundwire_server.chunking.measure import TextModel, need_model
from groundwire_server.chunking.packing import Packer
from groundwire_server.chunking.sentences import read_sentences
from groundwire_server.chunking.units import sentence_units
from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Span, slice_text

__all__ = ["MAX_SENTENCES", "PERCENTILE", "SemanticChunker"]

PERCENTILE = 90
"""Neighbours whose distance lies above this percentile of all distances of the text are parted."""

MAX_SENTENCES = 20_000
"""Of one text. Each is embedded while the document waits to be stored: so many take a quarter of an hour."""


class SemanticChunker(BudgetedChunker):
    """Embeds each sentence and cuts where the cosine distance of neighbours is above the 90th percentile of the text.

    What lies between two such borders is packed up to the budget by whole sentences; an overlap stays within it.
    Sentences are those of the sentence window chunker.

    Args:
        model: embeds the sentences, one a run.
        max_chars, overlap_chars, unit: see BudgetedChunker.

    Raises:
        BudgetError: the budget does not hold.
        FailedPrecondition: NO_EMBEDDER, there is no model.
    """

    name = "semantic"

    def __init__(
        self,
        max_chars: int = DEFAULT_CHUNK_CHARS,
        overlap_chars: int = DEFAULT_OVERLAP_CHARS,
        unit: str = "characters",
        model: TextModel | None = None,
    ) -> None:
        super().__init__(max_chars, overlap_chars, unit, model)
        self._embedder = need_model(model, "The chunker semantic")

    def chunk(self, text: str, headings: Headings = ()) -> list[ChunkDraft]:
        """Chunks in text order; none when the text is blank. Headings are no borders of their own.

        Raises:
            DocumentRefused: DOCUMENT_TOO_LARGE, the text has more than MAX_SENTENCES.
        """
        measure = self.measure(text)
        packer = Packer(text, self.budget, measure, read_sentences)
        units = sentence_units(text, self.budget, measure)
        if len(units) > MAX_SENTENCES:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"It has {len(units)} sentences, and the chunker semantic takes at most {MAX_SENTENCES}.",
                hint="Split it, or choose another chunker for it.",
                details={"max_sentences": str(MAX_SENTENCES)},
            )
        vectors = [self._embedder.embed_passage(slice_text(text, unit)) for unit in units]
        spans = (span for group in _groups(units, vectors) for span in packer.pack(group))
        return [ChunkDraft(seq, span, slice_text(text, span)) for seq, span in enumerate(spans)]


def _groups(units: Sequence[Span], vectors: Sequence[NDArray[np.float32]]) -> Iterator[list[Span]]:
    """Sentences between the borders."""
    distances = [
        1.0 - float(np.add.reduce(one.astype(np.float64) * following))  # summed in a fixed order, as a dot is not
        for one, following in pairwise(vectors)
    ]
    most = float(np.percentile(distances, PERCENTILE)) if distances else 0.0
    start = 0
    for place, distance in enumerate(distances, 1):
        if distance > most:
            yield list(units[start:place])
            start = place
    yield list(units[start:])
