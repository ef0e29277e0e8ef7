"""The tokens of many texts at once, as arrays: what indexing wants.

`tokenize` decides what a token is; this gives the same tokens without an object for each CJK one. A test holds the two
equal on hostile text. Order within a text is not kept: an index only counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.text.scripts import cjk_table
from groundwire_server.text.tokens import has_broken_line, matching_form, patterns_for

__all__ = ["TokenBatch", "form_with_joined_words", "tokenize_batch"]


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """All tokens of n texts.

    Attributes:
        lengths: int64[n], tokens in each text.
        words: the tokens that are not CJK, text after text.
        word_counts: int64[n], how many of `words` each text has.
        first: uint32[m], code point of each CJK token, or the first of its two.
        second: uint32[m], the second of its two code points, 0 for a single one.
        texts: int64[m], the text that each CJK token belongs to.
    """

    lengths: NDArray[np.int64]
    words: list[str]
    word_counts: NDArray[np.int64]
    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    texts: NDArray[np.int64]


def form_with_joined_words(text: str) -> str:
    """The matching form of a text, and behind it the words that hyphens at line ends break, joined.

    Its runs of one kind of code points are the words and CJK runs of the text, each as often as the text has it.

    >>> form_with_joined_words("Inter-\\nnational")
    'inter-\\nnational\\x00international'
    """
    normal = matching_form(text)
    if not has_broken_line(normal):
        return normal
    patterns = patterns_for(normal)
    joined = ["".join(patterns.words.findall(run)) for run in patterns.broken.findall(normal)]
    return "\0".join([normal, *joined])


def tokenize_batch(texts: Sequence[str]) -> TokenBatch:
    """The tokens of `texts`, the same as `tokenize` gives text by text."""
    words: list[str] = []
    word_counts = np.zeros(len(texts), dtype=np.int64)
    others: list[str] = []
    other_texts: list[int] = []
    for number, text in enumerate(texts):
        normal = matching_form(text)
        patterns = patterns_for(normal)
        found = patterns.words.findall(normal)
        if has_broken_line(normal):
            found.extend("".join(patterns.words.findall(run)) for run in patterns.broken.findall(normal))
        words.extend(found)
        word_counts[number] = len(found)
        if not normal.isascii():
            others.append(normal)
            other_texts.append(number)
    first, second, cjk_texts = _cjk_tokens(others, other_texts)
    lengths = word_counts + np.bincount(cjk_texts, minlength=len(texts))
    return TokenBatch(lengths, words, word_counts, first, second, cjk_texts)


def _cjk_tokens(
    normals: list[str], numbers: list[int]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
    """Single CJK characters, then adjacent pairs, of texts in normal form."""
    # A NUL behind each text keeps the last character of one and the first of the next from being neighbours.
    joined = "\0".join([*normals, ""])
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    at = np.flatnonzero(cjk_table()[codes])
    singles = codes[at]
    sizes = np.fromiter(map(len, normals), dtype=np.int64, count=len(normals)) + 1
    owners = np.repeat(np.asarray(numbers, dtype=np.int64), sizes)[at]
    pairs = np.flatnonzero(at[1:] == at[:-1] + 1)
    first = np.concatenate((singles, singles[pairs]))
    second = np.concatenate((np.zeros(len(singles), dtype=np.uint32), singles[1:][pairs]))
    return first, second, np.concatenate((owners, owners[pairs]))
