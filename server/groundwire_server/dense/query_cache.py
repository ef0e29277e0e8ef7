"""Queries come again: their vectors are kept for a while."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.embedder import Embedder

__all__ = ["CacheUse", "QueryCache"]


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How often a query's vector was at hand, how often not, and how many are kept."""

    hits: int
    misses: int
    kept: int


class QueryCache:
    """An embedder that keeps the vectors of the last `size` distinct queries, by their exact text.

    Passages go straight through. A vector at hand is the one that would be computed, so nothing else changes.
    """

    def __init__(self, embedder: Embedder, size: int = 1024) -> None:
        if size < 1:
            raise ValueError(f"size is {size}; at least 1")
        self._embedder = embedder
        self._cached = functools.lru_cache(maxsize=size)(embedder.embed_query)

    @property
    def name(self) -> str:
        """That of the embedder."""
        return self._embedder.name

    @property
    def version(self) -> str:
        """That of the embedder."""
        return self._embedder.version

    @property
    def dim(self) -> int:
        """That of the embedder."""
        return self._embedder.dim

    @property
    def max_tokens(self) -> int:
        """That of the embedder."""
        return self._embedder.max_tokens

    @property
    def for_tests(self) -> bool:
        """That of the embedder."""
        return self._embedder.for_tests

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """From the cache, else computed and kept."""
        return self._cached(text)

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        """Computed."""
        return self._embedder.embed_passage(text)

    def token_count(self, text: str) -> int:
        """That of the embedder."""
        return self._embedder.token_count(text)

    def token_starts(self, text: str) -> list[int]:
        """Those of the embedder."""
        return self._embedder.token_starts(text)

    def use(self) -> CacheUse:
        """Counts since the start."""
        info = self._cached.cache_info()
        return CacheUse(info.hits, info.misses, info.currsize)
