"""Vectors of queries that come again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense import CacheUse, HashEmbedder, QueryCache


class Counting(HashEmbedder):
    """Knows which queries it computed."""

    def __init__(self) -> None:
        super().__init__(16)
        self.computed: list[str] = []

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.computed.append(text)
        return super().embed_query(text)


def test_the_last_queries_by_exact_text() -> None:
    inner = Counting()
    cache = QueryCache(inner, 2)
    for text in ("a", "b", "a", "A", "a", "b", "a "):
        assert cache.embed_query(text).tobytes() == HashEmbedder(16).embed_query(text).tobytes()
    assert inner.computed == ["a", "b", "A", "b", "a "]
    assert cache.use() == CacheUse(hits=2, misses=5, kept=2)


def test_everything_else_goes_through() -> None:
    inner = Counting()
    cache = QueryCache(inner)
    assert (cache.name, cache.version, cache.dim) == (inner.name, inner.version, inner.dim)
    assert (cache.max_tokens, cache.for_tests) == (0, True)
    assert cache.embed_passage("x").tobytes() == inner.embed_passage("x").tobytes()
    assert cache.token_count("x y") == 2
    assert inner.computed == []


def test_from_several_threads() -> None:
    cache = QueryCache(HashEmbedder(16), 3)
    texts = [str(number % 7) for number in range(400)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(cache.embed_query, texts))
    assert [v.tobytes() for v in found] == [HashEmbedder(16).embed_query(text).tobytes() for text in texts]


def test_size_is_checked() -> None:
    with pytest.raises(ValueError, match="size"):
        QueryCache(HashEmbedder(), 0)
