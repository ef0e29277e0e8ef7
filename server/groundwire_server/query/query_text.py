"""A question, as the parts of this room are given it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MAX_QUERY_CHARS", "QueryText"]

MAX_QUERY_CHARS = 512
"""Code points of a query or question that is made; a longer one is left out."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """A question as the caller wrote it, and its language, which decides that of the prompt."""

    text: str
    language: str
