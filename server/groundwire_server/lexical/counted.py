"""Postings by the compiled kernels: what these are given, how their arrays grow, and the order of a segment."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.postings import Postings, spelling_arrays
from groundwire_server.lexical.segment import LARGE_FREQUENCY, narrowest
from groundwire_server.lexical.terms import WORD_BIT, rank_words, word_codes
from groundwire_server.text import code_point_tables, form_with_joined_words

__all__ = ["PostingsCounter"]

_FIRST_TERMS = 1 << 10
_CHARACTERS_A_TERM = 16
_ENDED = ord("\n")
_Number = TypeVar("_Number", bound=np.generic)


class PostingsCounter:
    """Counts the terms of texts, block by block, in tables that grow with them.

    Args:
        compiled: the module `build_kernels`.
    """

    def __init__(self, compiled: ModuleType) -> None:
        self._kernels = compiled
        self._state = np.zeros(2, dtype=np.int64)  # terms, postings
        self._keys = np.empty(0, dtype=np.uint64)
        self._last = np.empty(0, dtype=np.int64)
        self._word_ends = np.zeros(1, dtype=np.int64)
        self._spelled = np.empty(0, dtype=np.uint32)
        self._table_keys, self._table_terms = _empty_table(0)
        self._terms = np.empty(0, dtype=np.uint32)
        self._rows = np.empty(0, dtype=np.uint16)
        self._counts = np.empty(0, dtype=np.uint32)
        self._lengths: list[NDArray[np.int64]] = []

    def add(self, texts: Sequence[str], first_row: int) -> None:
        """Take texts whose rows begin at `first_row`."""
        tables = code_point_tables()
        points, ends = _code_points(texts)
        formed = np.empty(len(texts), dtype=np.bool_)
        self._kernels.needs_context(points, ends, tables.matching, tables.kinds, formed)
        if formed.any():
            points, ends = _code_points(
                [
                    form_with_joined_words(text) if is_formed else text
                    for text, is_formed in zip(texts, formed, strict=True)
                ]
            )
        lengths = np.zeros(len(texts), dtype=np.int64)
        if first_row == 0 and texts:  # mostly all the room that these texts need
            self._make_room(max(_FIRST_TERMS, int(ends[-1]) // _CHARACTERS_A_TERM), int(ends[-1]))
        text = 0
        while text < len(texts):
            most = 2 * int(ends[text] - (ends[text - 1] if text else 0))
            self._make_room(most, most)
            text = self._kernels.add_texts(
                text, points, ends, formed, tables.matching, tables.kinds, first_row,
                self._table_keys, self._table_terms, self._keys, self._last, self._word_ends, self._spelled,
                self._terms, self._rows, self._counts, lengths, self._state,
            )  # fmt: skip
        self._lengths.append(lengths)

    def finish(self) -> Postings:
        """The postings of all texts; nothing can be added any more."""
        terms, postings = self._state.tolist()
        keys = self._keys[:terms]
        is_word = keys >= np.uint64(WORD_BIT)
        cjk, word_terms = np.flatnonzero(~is_word), np.flatnonzero(is_word)
        cjk = cjk[np.argsort(keys[cjk])]
        words = self._words(word_terms)
        codes = word_codes(words)
        order = rank_words(words, codes)
        in_order = np.concatenate((cjk, word_terms[order]))
        ranks = np.empty(terms, dtype=np.int64)
        ranks[in_order] = np.arange(terms)
        held = np.bincount(self._terms[:postings], minlength=terms)[in_order]
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(held)))
        rows = np.empty(postings, dtype=np.uint16)
        counts = np.empty(postings, dtype=np.uint32)
        self._kernels.sort_postings(
            self._terms, self._rows, self._counts, postings, ranks, offsets[:-1].copy(), rows, counts
        )
        large = np.flatnonzero(counts >= LARGE_FREQUENCY)
        word_offsets, spellings = spelling_arrays([words[at] for at in order.tolist()])
        return Postings(
            codes=np.concatenate((keys[cjk], codes[order])),
            offsets=offsets,
            rows=rows,
            frequencies=np.minimum(counts, LARGE_FREQUENCY).astype(np.uint8),
            large_at=large.astype(np.uint64),
            large_counts=counts[large].astype(np.uint64),
            lengths=narrowest(np.concatenate([np.zeros(0, dtype=np.int64), *self._lengths])),
            word_offsets=word_offsets,
            spellings=spellings,
        )

    def _make_room(self, new_terms: int, new_postings: int) -> None:
        """Room for so many further terms, and for postings and code points, at least."""
        terms, postings = self._state.tolist()
        most = terms + new_terms
        if most > len(self._keys):
            size = _grown(len(self._keys), most)
            self._keys = _resized(self._keys, size)
            self._last = _resized(self._last, size)
            self._word_ends = _resized(self._word_ends, size + 1)
        if 2 * most > len(self._table_keys):
            self._table_keys, self._table_terms = _empty_table(_grown(len(self._table_keys), 2 * most))
            self._kernels.rehash(self._table_keys, self._table_terms, self._keys, terms)
        spelled = int(self._word_ends[terms]) + new_terms
        if spelled > len(self._spelled):
            self._spelled = _resized(self._spelled, _grown(len(self._spelled), spelled))
        if postings + new_postings > len(self._terms):
            size = _grown(len(self._terms), postings + new_postings)
            self._terms = _resized(self._terms, size)
            self._rows = _resized(self._rows, size)
            self._counts = _resized(self._counts, size)

    def _words(self, terms: NDArray[np.int64]) -> list[str]:
        """Spellings of the terms that are words, ascending."""
        ends = self._word_ends[terms]
        count = int(ends[-1]) if len(ends) else 0
        spelled = np.full(count + len(terms), _ENDED, dtype="<u4")
        kept = np.ones(len(spelled), dtype=np.bool_)
        kept[ends + np.arange(len(terms))] = False
        spelled[kept] = self._spelled[:count]
        return spelled.tobytes().decode("utf-32-le").split("\n")[:-1]


def _code_points(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4"), np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))


def _empty_table(slots: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    return np.empty(slots, dtype=np.uint64), np.full(slots, -1, dtype=np.int64)


def _resized(array: NDArray[_Number], size: int) -> NDArray[_Number]:
    """With room at its end. `np.resize` would fill that room, and most of its pages are never needed."""
    resized = np.empty(size, dtype=array.dtype)
    resized[: len(array)] = array
    return resized


def _grown(size: int, needed: int) -> int:
    """A power of two that is enough, and twice `size` at least."""
    return max(1 << (needed - 1).bit_length(), 2 * size)
