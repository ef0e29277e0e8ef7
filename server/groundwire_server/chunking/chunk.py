"""A chunk before it is stored, what cuts texts into chunks, and the budget of a cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import Span

__all__ = [
    "BUDGET_UNITS",
    "DEFAULT_CHUNK_CHARS",
    "DEFAULT_OVERLAP_CHARS",
    "Budget",
    "BudgetError",
    "ChunkDraft",
    "Chunker",
    "Headings",
]

DEFAULT_CHUNK_CHARS = 480
DEFAULT_OVERLAP_CHARS = 80

BUDGET_UNITS = ("characters", "tokens")
"""What a budget counts: code points, or tokens of the embedder."""

Headings = Sequence[tuple[int, str]]
"""Where a reader has found headings: (offset, path in force from there, "Report > Results"), ascending."""


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A stretch of a text that is found as a whole.

    Invariant of every chunker: `source_text[span.start:span.end] == text`.

    seq: place among the chunks of the text, from 0.
    heading: of the section that holds it; empty where the chunker knows no sections.
    parent_id: of the section or question that it belongs to, unique in its text; empty: none.
    parent_span: the stretch that is read in its place, a parent or a window; None: it stands for itself.
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
        """Name and budget, e.g. "paragraph(480,80)": equal specs cut equally, by the same model where they ask one."""
        ...

    def chunk(self, text: str, headings: Headings = ()) -> list[ChunkDraft]:
        """Chunks in text order; none when the text is blank.

        Args:
            headings: what the reader of the file knows of it. A chunker that cuts at headings takes these where there
                are any, and looks for headings in the text itself where there are none.

        Raises:
            DocumentRefused: DOCUMENT_TOO_LARGE, only where each sentence goes through a model.
        """
        ...


class BudgetError(InvalidRequest, ValueError):
    """A budget that no text can be cut by."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Longest chunk and longest overlap of neighbours, in code points or, where `unit` says so, in tokens.

    Raises:
        BudgetError: every violation at once (max_chars < 1, overlap_chars < 0, overlap_chars >= max_chars, an unknown
            unit).
    """

    max_chars: int = DEFAULT_CHUNK_CHARS
    overlap_chars: int = DEFAULT_OVERLAP_CHARS
    unit: str = "characters"

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
        if self.unit not in BUDGET_UNITS:
            why = f"{self.unit[:80]!r} is none of {', '.join(BUDGET_UNITS)}"
            violations.append(Violation("budget_unit", ErrorReason.UNKNOWN_NAME, why))
        if violations:
            raise BudgetError(violations)

    def __str__(self) -> str:
        """As it stands in specs: "480,80", "256,0,tokens"."""
        unit = "" if self.unit == "characters" else f",{self.unit}"
        return f"{self.max_chars},{self.overlap_chars}{unit}"
