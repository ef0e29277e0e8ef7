"""Several segments of neighbouring rows as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from groundwire_server.lexical.postings import Postings, pack, spelling_arrays, unpack
from groundwire_server.lexical.segment import MAX_ROWS, Segment, narrowest
from groundwire_server.lexical.terms import rank_words

__all__ = ["merge_postings", "merge_segments"]


def merge_segments(segments: Sequence[Segment]) -> Segment:
    """One segment with the rows of all, in order: the same as if it had been built from all their texts.

    Raises:
        ValueError: more rows than a segment holds.
    """
    size = sum(segment.size for segment in segments)
    if size > MAX_ROWS:
        raise ValueError(f"{size} rows; a segment holds at most {MAX_ROWS}")
    if len(segments) == 1:
        return segments[0]
    return pack(merge_postings([unpack(segment) for segment in segments]))


def merge_postings(parts: Sequence[Postings]) -> Postings:
    """The postings of neighbouring rows as one: the same as if they had been built from all their texts."""
    if len(parts) == 1:
        return parts[0]
    codes, words, numbers = _merged_terms(parts)
    counts = np.zeros(len(codes), dtype=np.int64)
    for part, terms in zip(parts, numbers, strict=True):
        starts = part.offsets
        counts[terms] += starts[1:] - starts[:-1]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))

    rows = np.empty(int(offsets[-1]), dtype=np.uint16)
    frequencies = np.empty(int(offsets[-1]), dtype=np.uint8)
    large_at: list[NDArray[np.int64]] = []
    next_free = offsets[:-1].copy()
    first_row = 0
    for part, terms in zip(parts, numbers, strict=True):
        starts = part.offsets
        sizes = starts[1:] - starts[:-1]
        targets = np.repeat(next_free[terms] - starts[:-1], sizes)
        targets += np.arange(len(targets))
        next_free[terms] += sizes
        rows[targets] = part.rows + np.uint16(first_row)
        frequencies[targets] = part.frequencies
        large_at.append(targets[part.large_at.astype(np.int64)])
        first_row += len(part.lengths)
    large = np.concatenate(large_at)
    order = np.argsort(large, kind="stable")
    word_offsets, spellings = spelling_arrays(words)
    return Postings(
        codes=codes,
        offsets=offsets,
        rows=rows,
        frequencies=frequencies,
        large_at=large[order].astype(np.uint64),
        large_counts=np.concatenate([part.large_counts for part in parts])[order],
        lengths=narrowest(np.concatenate([part.lengths.astype(np.int64) for part in parts])),
        word_offsets=word_offsets,
        spellings=spellings,
    )


def _merged_terms(
    parts: Sequence[Postings],
) -> tuple[NDArray[np.uint64], list[str], list[NDArray[np.int64]]]:
    """Codes of all terms, spellings of the words among them, and the new number of each term of each part."""
    cjk, cjk_numbers = np.unique(np.concatenate([part.codes[: part.first_word] for part in parts]), return_inverse=True)
    met: defaultdict[str, int] = defaultdict(count().__next__)
    spelled = [part.words() for part in parts]
    word_numbers = np.fromiter(
        map(met.__getitem__, chain.from_iterable(spelled)), dtype=np.int64, count=sum(map(len, spelled))
    )
    words = list(met)
    word_codes = np.empty(len(words), dtype=np.uint64)
    word_codes[word_numbers] = np.concatenate([part.codes[part.first_word :] for part in parts])
    order = rank_words(words, word_codes)
    ranks = np.empty(len(words), dtype=np.int64)
    ranks[order] = np.arange(len(cjk), len(cjk) + len(words))

    numbers: list[NDArray[np.int64]] = []
    cjk_at = word_at = 0
    for part, spellings in zip(parts, spelled, strict=True):
        cjk_end, word_end = cjk_at + part.first_word, word_at + len(spellings)
        numbers.append(np.concatenate((cjk_numbers[cjk_at:cjk_end], ranks[word_numbers[word_at:word_end]])))
        cjk_at, word_at = cjk_end, word_end
    return np.concatenate((cjk, word_codes[order])), [words[at] for at in order.tolist()], numbers
