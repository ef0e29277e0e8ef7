"""Terms as numbers: what a segment is sorted by.

A CJK token is one or two code points, 21 bits each, so its code is the token itself. A word's code is a 63-bit hash
below a set top bit; a segment keeps the word's spelling too and compares it, so that no collision changes a result.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from groundwire_server.text import is_cjk

__all__ = ["WORD_BIT", "QueryTerms", "rank_words", "word_codes"]

WORD_BIT = 1 << 63
"""Set in the code of every word, in no code of a CJK token."""


def word_codes(words: Iterable[str]) -> NDArray[np.uint64]:
    """uint64 codes of words that are not CJK tokens."""
    return np.frombuffer(b"".join(map(_digest, words)), dtype="<u8") | np.uint64(WORD_BIT)


@lru_cache(maxsize=1 << 16)
def _digest(word: str) -> bytes:
    return blake2b(word.encode(), digest_size=8).digest()


def rank_words(words: Sequence[str], codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The order of distinct words in a segment: by code, and by spelling where two share a code."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    if np.any(ordered[1:] == ordered[:-1]):
        return np.asarray(sorted(range(len(words)), key=lambda at: (int(codes[at]), words[at])), dtype=np.int64)
    return order


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The distinct terms of a query in order of first occurrence.

    Attributes:
        tokens: the terms.
        codes: uint64[n].
        spellings: UTF-8 of each word; None for a CJK token, whose code says it all.
        counts: how often each term occurs in the query.
        packed: bytes of `codes`; of int64[n + 1], where the spelling of each term begins and the last one ends; and of
            the words' spellings, one behind the other, of which a CJK token has none.
    """

    tokens: tuple[str, ...]
    codes: NDArray[np.uint64]
    spellings: tuple[bytes | None, ...]
    counts: tuple[int, ...]
    packed: bytes

    @classmethod
    def of(cls, tokens: Iterable[str]) -> QueryTerms:
        """The terms of a tokenized query."""
        counts: dict[str, int] = {}
        for token in tokens:
            counts[token] = counts.get(token, 0) + 1
        known = [_code(token) for token in counts]
        codes = np.array([code for code, _ in known], dtype=np.uint64)
        spellings = tuple([spelling for _, spelling in known])
        ends = array("q", accumulate([len(each or b"") for each in spellings], initial=0))
        packed = b"".join([codes.tobytes(), ends.tobytes(), *filter(None, spellings)])
        return cls(tuple(counts), codes, spellings, tuple(counts.values()), packed)


@lru_cache(maxsize=1 << 16)
def _code(token: str) -> tuple[int, bytes | None]:
    """Code and spelling of a query's token."""
    if _is_cjk_token(token):
        return ord(token[0]) << 21 | (ord(token[1]) if len(token) == 2 else 0), None
    return int(word_codes([token])[0]), token.encode()


def _is_cjk_token(token: str) -> bool:
    return 1 <= len(token) <= 2 and is_cjk(token[0]) and is_cjk(token[-1])
