"""The candidates of a search: what the caller may read and the filter keeps, and what is counted over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.tables import address

__all__ = ["Candidates", "mask_words"]

_MOST_KNOWN = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """A mask and its counts; kept from search to search where the mask cannot change.

    Attributes:
        mask: bool[rows].
        kept: how many rows it keeps.
        total: tokens of those.
        words: uint64, the mask as bits, 64 rows a word, each segment from the beginning of a word.
        words_at: address of those.
        df: how many candidates hold a term, for terms that were asked for before.
    """

    mask: NDArray[np.bool_]
    kept: int
    total: int
    words: NDArray[np.uint64]
    words_at: int = field(init=False)
    df: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words_at", address(self.words))

    @property
    def everything(self) -> bool:
        """Whether all rows are candidates."""
        return self.kept == len(self.mask)

    def learn(self, tokens: Sequence[str], df: Sequence[int]) -> None:
        """Remember what was counted."""
        if len(self.df) + len(tokens) <= _MOST_KNOWN:
            self.df.update(zip(tokens, df, strict=True))


def mask_words(mask: NDArray[np.bool_], starts: Sequence[int]) -> NDArray[np.uint64]:
    """A mask as bits, 64 rows a word, each segment from the beginning of a word.

    Args:
        starts: row at which each segment begins, and the number of rows.
    """
    sizes = [stop - start for start, stop in pairwise(starts)]
    if all(size % 64 == 0 for size in sizes[:-1]):
        packed = np.packbits(mask, bitorder="little")
        words = np.zeros(-(-len(mask) // 64), dtype=np.uint64)
        words.view(np.uint8)[: len(packed)] = packed
        return words
    words = np.zeros(sum(-(-size // 64) for size in sizes), dtype=np.uint64)
    held = words.view(np.uint8)
    at = 0
    for start, size in zip(starts, sizes, strict=False):
        held[at : at + -(-size // 8)] = np.packbits(mask[start : start + size], bitorder="little")
        at += -(-size // 64) * 8
    return words
