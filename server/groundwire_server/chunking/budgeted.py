"""What all chunkers that keep to a budget have in common."""

from __future__ import annotations

from groundwire_server.chunking.chunk import DEFAULT_CHUNK_CHARS, DEFAULT_OVERLAP_CHARS, Budget
from groundwire_server.chunking.measure import Measure, TextModel, measure_of

__all__ = ["BudgetedChunker"]


class BudgetedChunker:
    """Its name, its budget and what the budget counts.

    Args:
        max_chars: longest chunk.
        overlap_chars: longest overlap of neighbours.
        unit: what both count: "characters" (code points) or "tokens".
        model: whose tokens.

    Raises:
        BudgetError: max_chars < 1, overlap_chars < 0 or overlap_chars >= max_chars, or an unknown unit.
    """

    name = ""

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

    def measure(self, text: str) -> Measure:
        """What measures a text. Raises FailedPrecondition: NO_EMBEDDER, tokens are counted and there is no model."""
        return measure_of(text, self.budget, self._model)
