"""Chunkers by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from groundwire_server.chunking.book import BookChunker
from groundwire_server.chunking.chunk import DEFAULT_CHUNK_CHARS, DEFAULT_OVERLAP_CHARS, Budget, Chunker
from groundwire_server.chunking.laws import LawsChunker
from groundwire_server.chunking.layout import LayoutChunker
from groundwire_server.chunking.measure import TextModel, need_model
from groundwire_server.chunking.paragraph import ParagraphChunker
from groundwire_server.chunking.parent_child import ParentChildChunker
from groundwire_server.chunking.qa import QaChunker
from groundwire_server.chunking.semantic import SemanticChunker
from groundwire_server.chunking.sentence_window import SentenceWindowChunker
from groundwire_server.chunking.whole import WholeChunker
from groundwire_server.errors import ErrorReason, InvalidRequest

__all__ = ["CHUNKERS", "CHUNKER_ALIASES", "chunker_name", "cut_spec", "make_chunker", "needs_model"]

_Make = Callable[[int, int, str, TextModel | None], Chunker]

_BUDGETED: dict[str, _Make] = {
    "book": BookChunker,
    "laws": LawsChunker,
    "layout": LayoutChunker,
    "paragraph": ParagraphChunker,
    "parent_child": ParentChildChunker,
    "qa": QaChunker,
    "semantic": SemanticChunker,
    "sentence_window": SentenceWindowChunker,
}
_WHOLE = WholeChunker.name
_NO_OVERLAP = frozenset({SentenceWindowChunker.name})

CHUNKERS: tuple[str, ...] = tuple(sorted([*_BUDGETED, _WHOLE]))
"""Names of all chunkers."""

CHUNKER_ALIASES: dict[str, str] = {"small_to_big": "parent_child"}
"""Further names of the seeds, and what each stands for."""


def chunker_name(name: str) -> str:
    """The name itself, or what an alias stands for.

    >>> chunker_name("small_to_big"), chunker_name("laws")
    ('parent_child', 'laws')
    """
    return CHUNKER_ALIASES.get(name, name)


def needs_model(name: str, unit: str = "characters") -> bool:
    """Whether a cut asks an embedding model; `whole` has no budget to count."""
    name = chunker_name(name)
    return name == SemanticChunker.name or (unit == "tokens" and name != _WHOLE)


def cut_spec(
    name: str,
    max_chars: int = DEFAULT_CHUNK_CHARS,
    overlap_chars: int = DEFAULT_OVERLAP_CHARS,
    unit: str = "characters",
) -> str:
    """The spec of the chunker that `make_chunker` would make, without a model. Raises InvalidRequest as that does."""
    name, budget = _checked(name, max_chars, overlap_chars, unit)
    if name == _WHOLE:
        return name
    return f"{name}({replace(budget, overlap_chars=0) if name in _NO_OVERLAP else budget})"


def make_chunker(
    name: str,
    max_chars: int = DEFAULT_CHUNK_CHARS,
    overlap_chars: int = DEFAULT_OVERLAP_CHARS,
    unit: str = "characters",
    model: TextModel | None = None,
) -> Chunker:
    """The chunker of that name or alias; `whole` has no budget, but what is given must be one.

    Args:
        unit: what the budget counts, of BUDGET_UNITS.
        model: for `semantic`, and for budgets in tokens.

    Raises:
        InvalidRequest: UNKNOWN_NAME, with the names there are; or the budget does not hold (`BudgetError`).
        FailedPrecondition: NO_EMBEDDER, it needs a model, and there is none.
    """
    name, _ = _checked(name, max_chars, overlap_chars, unit)
    if name == _WHOLE:
        return WholeChunker()
    if needs_model(name, unit):
        need_model(model, f"The chunker {name}" if name == SemanticChunker.name else "A budget in tokens")
    return _BUDGETED[name](max_chars, overlap_chars, unit, model)


def _checked(name: str, max_chars: int, overlap_chars: int, unit: str) -> tuple[str, Budget]:
    known = chunker_name(name)
    if known not in CHUNKERS:
        raise InvalidRequest.one("chunker", ErrorReason.UNKNOWN_NAME, f"{name[:80]!r} is none of {', '.join(CHUNKERS)}")
    return known, Budget(max_chars, overlap_chars, unit)
