"""A chunk before it is stored, what cuts texts into chunks, and the budget of a cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import Span

__all__ = ["DEFAULT_CHUNK_CHARS", "DEFAULT_OVERLAP_CHARS", "Budget", "BudgetError", "ChunkDraft", "Chunker"]

DEFAULT_CHUNK_CHARS = 480
DEFAULT_OVERLAP_CHARS = 80


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A stretch of a text that is found as a whole.

    Invariant of every chunker: `source_text[span.start:span.end] == text`.

    seq: place among the chunks of the text, from 0.
    heading, parent_id, parent_span: of the section that holds it; empty and None where the chunker knows no sections.
    """

    seq: int
    span: Span
    text: str
    heading: str = ""
    parent_id: str = ""
    parent_span: Span | None = None


class Chunker(Protocol):
    """Cuts a text into chunks; the same text always into the same ones."""

    @property
    def name(self) -> str:
        """As it is called in settings, e.g. "paragraph"."""
        ...

    @property
    def spec(self) -> str:
        """Name and budget, e.g. "paragraph(480,80)": equal specs cut equally."""
        ...

    def chunk(self, text: str) -> list[ChunkDraft]:
        """Chunks in text order; none when the text is blank."""
        ...


class BudgetError(InvalidRequest, ValueError):
    """A budget that no text can be cut by."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Longest chunk and longest overlap of neighbours, in code points.

    Raises:
        BudgetError: every violation at once (max_chars < 1, overlap_chars < 0, overlap_chars >= max_chars).
    """

    max_chars: int = DEFAULT_CHUNK_CHARS
    overlap_chars: int = DEFAULT_OVERLAP_CHARS

    def __post_init__(self) -> None:
        violations = []
        if self.max_chars < 1:
            violations.append(
                Violation("chunk_chars", ErrorReason.VALUE_OUT_OF_RANGE, f"{self.max_chars} is not above 0")
            )
        if self.overlap_chars < 0:
            violations.append(
                Violation("overlap_chars", ErrorReason.VALUE_OUT_OF_RANGE, f"{self.overlap_chars} is below 0")
            )
        elif self.overlap_chars >= self.max_chars > 0:
            violations.append(
                Violation(
                    "overlap_chars",
                    ErrorReason.VALUE_OUT_OF_RANGE,
                    f"{self.overlap_chars} is not below chunk_chars ({self.max_chars})",
                )
            )
        if violations:
            raise BudgetError(violations)
