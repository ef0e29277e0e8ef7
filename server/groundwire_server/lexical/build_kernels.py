"""From code points to postings, compiled: texts are walked once, terms are counted as they come, nothing is sorted.

Imported in the background, and only where numba is installed; `build` says the same with numpy. Each distinct term has
a number in order of first occurrence. `sort_postings` brings them into the order of a segment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import boolean, int64, njit, types, uint8, uint16, uint32, uint64

from groundwire_server.text import CJK, CONTEXT, LINE_END, WORD, code_point_tables

__all__ = ["add_texts", "needs_context", "rehash", "sort_postings"]

_compile: Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]] = njit
_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}

_ZERO = np.uint64(0)
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_PAIR = np.uint64(21)
_WORD_BIT = np.uint64(1 << 63)
_CONTEXT = np.uint32(CONTEXT)
_PLANE = np.uint32(0x10000)
_HYPHEN, _OTHER_HYPHEN, _BLANK, _TAB = np.uint32(0x2D), np.uint32(0x2010), np.uint32(0x20), np.uint32(0x09)
_NOBODY = np.int64(-1)

_points = types.Array(uint32, 1, "C", readonly=True)
_matching = types.Array(uint32, 1, "C", readonly=True)
_kinds = types.Array(uint8, 1, "C", readonly=True)
_numbers = types.Array(int64, 1, "C", readonly=True)
_flags = types.Array(boolean, 1, "C")


@_compile(types.void(_points, _numbers, _matching, _kinds, _flags), **_OPTIONS)
def needs_context(points: Any, ends: Any, matching: Any, kinds: Any, found: Any) -> None:
    """Which texts hold what `matching` does not tell, or a hyphen at a line end: their matching form is made elsewhere.

    Args:
        points: code points of all texts, one behind the other.
        ends: of each text.
        matching, kinds: of `CodePointTables`.
        found: bool[texts], filled.
    """
    start = np.int64(0)
    for text in range(len(ends)):
        stop = ends[text]
        found[text] = False
        hyphen = False
        for at in range(start, stop):
            point = points[at]
            if point >= _PLANE or matching[point] == _CONTEXT:
                found[text] = True
                break
            point = matching[point]
            if hyphen and kinds[point] == LINE_END:
                found[text] = True
                break
            hyphen = point in (_HYPHEN, _OTHER_HYPHEN) or (hyphen and point in (_BLANK, _TAB))
        start = stop


@_compile(uint64(uint64), inline="always", **_OPTIONS)
def _mixed(value: Any) -> Any:
    value = value * _PRIME
    return value ^ (value >> _SHIFT)


@_compile(
    types.void(uint64[::1], int64[::1], uint64[::1], int64),
    **_OPTIONS,
)
def rehash(table_keys: Any, table_terms: Any, keys: Any, terms: Any) -> None:
    """Enter the keys of the first terms into a larger, empty table (`table_terms` all -1, length a power of two)."""
    mask = np.uint64(len(table_keys) - 1)
    for term in range(terms):
        key = keys[term]
        slot = _mixed(key) & mask
        while table_terms[np.int64(slot)] != _NOBODY:
            slot = (slot + np.uint64(1)) & mask
        table_keys[np.int64(slot)] = key
        table_terms[np.int64(slot)] = term


@_compile(
    int64(
        int64, _points, _numbers, types.Array(boolean, 1, "C", readonly=True), _matching, _kinds, int64,
        uint64[::1], int64[::1], uint64[::1], int64[::1], int64[::1], uint32[::1],
        uint32[::1], uint16[::1], uint32[::1], int64[::1], int64[::1],
    ),
    **_OPTIONS,
)  # fmt: skip
def add_texts(
    text: Any, points: Any, ends: Any, formed: Any, matching: Any, kinds: Any, first_row: Any,
    table_keys: Any, table_terms: Any, keys: Any, last: Any, word_ends: Any, spelled: Any,
    post_terms: Any, post_rows: Any, post_counts: Any, lengths: Any, state: Any,
) -> Any:  # fmt: skip
    """Take texts from number `text` on, while there is room for them; gives the number of the next one.

    Args:
        points, ends: as above; `formed` says which texts are in matching form already.
        first_row: of the first text.
        table_keys, table_terms: the hash table; `rehash` says how it looks.
        keys: uint64[most terms]: first and second code point of a CJK token, a hash with the top bit set of a word.
        last: int64[most terms], the last posting of each term, -1 before there is one.
        word_ends: int64[most terms + 1], where the spelling of each term ends in `spelled`; a CJK token has none.
        spelled: uint32, code points of the words.
        post_terms, post_rows, post_counts: postings, by row.
        lengths: int64[texts], tokens of each text; filled.
        state: terms, postings, tokens before this call's texts are counted (all grow).
    """
    mask = np.uint64(len(table_keys) - 1)
    terms, postings = state[0], state[1]
    while text < len(ends):
        start = ends[text - 1] if text else np.int64(0)
        stop = ends[text]
        most = 2 * (stop - start)
        if (
            2 * (terms + most) > len(table_keys)
            or terms + most > len(keys)
            or postings + most > len(post_terms)
            or word_ends[terms] + (stop - start) > len(spelled)
        ):
            break
        row = np.int64(first_row + text)
        row_first = postings
        tokens = np.int64(0)
        as_is = formed[text]
        previous = np.uint64(0)
        at = start
        while at < stop:
            point = points[at] if as_is else matching[points[at]]
            kind = kinds[point]
            key = _ZERO
            begin = at
            if kind == CJK:
                key = np.uint64(point) << _PAIR
                at += 1
            elif kind == WORD:
                previous = _ZERO
                key = _ZERO
                while at < stop:
                    point = points[at] if as_is else matching[points[at]]
                    if kinds[point] != WORD:
                        break
                    key = (key ^ np.uint64(point)) * _PRIME
                    key ^= key >> _SHIFT
                    at += 1
                key |= _WORD_BIT
            else:
                previous = _ZERO
                at += 1
                continue
            again = True
            while again:
                again = False
                slot = _mixed(key) & mask
                term = table_terms[np.int64(slot)]
                while term != _NOBODY:
                    if table_keys[np.int64(slot)] == key:
                        if kind == CJK:
                            break
                        first = word_ends[term - 1] if term else np.int64(0)
                        size = word_ends[term] - first
                        same = size == at - begin
                        offset = np.int64(0)
                        while same and offset < size:
                            other = points[begin + offset]
                            if not as_is:
                                other = matching[other]
                            same = spelled[first + offset] == other
                            offset += 1
                        if same:
                            break
                    slot = (slot + np.uint64(1)) & mask
                    term = table_terms[np.int64(slot)]
                if term == _NOBODY:
                    term = terms
                    terms += 1
                    table_keys[np.int64(slot)] = key
                    table_terms[np.int64(slot)] = term
                    keys[term] = key
                    last[term] = _NOBODY
                    end = word_ends[term - 1] if term else np.int64(0)
                    if kind == WORD:
                        for place in range(at - begin):
                            other = points[begin + place]
                            if not as_is:
                                other = matching[other]
                            spelled[end + place] = other
                        end += at - begin
                    word_ends[term] = end
                    word_ends[term + 1] = end
                tokens += 1
                if last[term] >= row_first:
                    post_counts[last[term]] += np.uint32(1)
                else:
                    last[term] = postings
                    post_terms[postings] = np.uint32(term)
                    post_rows[postings] = np.uint16(row)
                    post_counts[postings] = np.uint32(1)
                    postings += 1
                if kind == CJK:
                    if previous != _ZERO:
                        key = previous << _PAIR | np.uint64(point)
                        previous = _ZERO
                        again = True
                    else:
                        previous = np.uint64(point)
            if kind == CJK:
                previous = np.uint64(point)
        lengths[text] = tokens
        text += 1
    state[0], state[1] = terms, postings
    return text


@_compile(
    types.void(uint32[::1], uint16[::1], uint32[::1], int64, int64[::1], int64[::1], uint16[::1], uint32[::1]),
    **_OPTIONS,
)
def sort_postings(
    post_terms: Any, post_rows: Any, post_counts: Any, postings: Any, ranks: Any, nexts: Any, rows: Any, counts: Any
) -> None:
    """Put postings into the order of a segment.

    Args:
        ranks: the place of each term in the segment.
        nexts: int64[terms], by place, where the postings of each begin; moved on.
        rows, counts: filled.
    """
    for posting in range(postings):
        place = ranks[np.int64(post_terms[posting])]
        at = nexts[place]
        nexts[place] = at + 1
        rows[at] = post_rows[posting]
        counts[at] = post_counts[posting]


code_point_tables()  # made here, behind the first answers, and not when they are needed
