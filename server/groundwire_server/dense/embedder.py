"""What turns a text into a vector."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "pack_vector", "unpack_vector"]


class Embedder(Protocol):
    """Texts to unit vectors, one text a run.

    The vector of a text depends on the text and on `version` alone: not on what else is embedded, in which order, or on
    how many threads. All methods may be called from several threads at once. A vector is float32 [dim], of length one
    (or zero, where an embedder has nothing to say), and read-only.
    """

    @property
    def name(self) -> str:
        """Name of the model, for people and plans."""
        ...

    @property
    def version(self) -> str:
        """SHA-256 in hex of what makes the vectors; vectors of two versions are never compared."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """A text with more tokens is cut before it is embedded; 0 where nothing is cut."""
        ...

    @property
    def for_tests(self) -> bool:
        """True when the vectors carry no meaning."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of something that is searched for."""
        ...

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        """The vector of something that is found."""
        ...

    def token_count(self, text: str) -> int:
        """Tokens of a passage before it is cut, marks at the ends included: above `max_tokens` its end is not seen."""
        ...

    def token_starts(self, text: str) -> list[int]:
        """Offset at which each token of a text begins, ascending; prefix and marks at the ends are none of them."""
        ...


def pack_vector(vector: NDArray[np.float32]) -> bytes:
    """A vector as it is stored: little-endian float32.

    >>> pack_vector(np.array([1, 0], np.float32)).hex()
    '0000803f00000000'
    """
    return vector.astype("<f4").tobytes()


def unpack_vector(packed: bytes) -> NDArray[np.float32]:
    """The inverse of `pack_vector`; read-only. Raises ValueError when the bytes are no whole number of float32."""
    return np.frombuffer(packed, "<f4").astype(np.float32, copy=False)
