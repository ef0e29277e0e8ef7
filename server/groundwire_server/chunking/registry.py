"""Chunkers by name."""

from __future__ import annotations

from collections.abc import Callable

from groundwire_server.chunking.chunk import DEFAULT_CHUNK_CHARS, DEFAULT_OVERLAP_CHARS, Budget, Chunker
from groundwire_server.chunking.paragraph import ParagraphChunker
from groundwire_server.chunking.whole import WholeChunker
from groundwire_server.errors import ErrorReason, InvalidRequest

__all__ = ["CHUNKERS", "make_chunker"]

# Each makes a chunker of a checked budget; one whose unit has no length passes it over.
CHUNKERS: dict[str, Callable[[Budget], Chunker]] = {
    "paragraph": lambda budget: ParagraphChunker(budget.max_chars, budget.overlap_chars),
    "whole": lambda budget: WholeChunker(),
}


def make_chunker(
    name: str, max_chars: int = DEFAULT_CHUNK_CHARS, overlap_chars: int = DEFAULT_OVERLAP_CHARS
) -> Chunker:
    """The chunker of that name; `whole` has no budget, but what is given must be one.

    Raises:
        InvalidRequest: UNKNOWN_NAME, with the names there are; or the budget does not hold (`BudgetError`).
    """
    make = CHUNKERS.get(name)
    if make is None:
        raise InvalidRequest.one(
            "chunker", ErrorReason.UNKNOWN_NAME, f"{name[:80]!r} is none of {', '.join(sorted(CHUNKERS))}"
        )
    return make(Budget(max_chars, overlap_chars))
