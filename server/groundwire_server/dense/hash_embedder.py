"""An embedder without a model, for tests: it knows which words two texts share, nothing about what they mean."""

from __future__ import annotations

import hashlib
import re

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.kernel import unit_vector

__all__ = ["HashEmbedder"]

# Runs of letters and digits below the CJK blocks, and every other letter by itself.
_PIECE = re.compile(r"[^\W_⺀-\U0003ffff]+|(?=\w)[⺀-\U0003ffff]")


class HashEmbedder:
    """For tests only: each distinct word (or CJK character) adds or takes one in places that its hash picks.

    Named "deterministic", as the seeds call it. A text without words gets the zero vector.
    """

    name = "deterministic"
    max_tokens = 0
    for_tests = True

    def __init__(self, dim: int = 64) -> None:
        self.dim = dim
        self.version = hashlib.sha256(f"groundwire hash embedder 1, {dim} dimensions".encode()).hexdigest()

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The same as for a passage."""
        return self.embed_passage(text)

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        """Sum over the distinct words, brought to length one."""
        total = np.zeros(self.dim, np.float64)
        for piece in sorted(set(_PIECE.findall(text.casefold()))):
            digest = hashlib.sha256(piece.encode("utf-8", "surrogatepass")).digest()
            for place in range(0, 16, 4):
                word = int.from_bytes(digest[place : place + 4], "little")
                total[(word >> 1) % self.dim] += 1 if word & 1 else -1
        return unit_vector(total)

    def token_count(self, text: str) -> int:
        """Words and CJK characters."""
        return len(self.token_starts(text))

    def token_starts(self, text: str) -> list[int]:
        """Where words and CJK characters begin."""
        return [piece.start() for piece in _PIECE.finditer(text)]
