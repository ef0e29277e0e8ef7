"""Two ways from texts to postings, numpy and the compiled kernels: the same arrays, and the tokens of `tokenize`."""

from __future__ import annotations

import importlib.util
import random
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server import kernels
from groundwire_server.lexical.build import build_postings
from groundwire_server.lexical.postings import Postings
from groundwire_server.lexical.segment import LARGE_FREQUENCY
from groundwire_server.text import tokenize
from tests.lexical.oracle import WORDS
from tests.support.hostile_text import hostile_text

needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
BROKEN = [
    "inter-\nnational",
    "2010-\r\n2012",
    "co\u2010\u00a0\n operate",
    "soft\xad\nhyphen",
    "so\xadft",
    "a-\x85b-\u2028c",
]


def both(texts: Sequence[str]) -> tuple[Postings, Postings]:
    """By numpy, and by the kernels."""
    from groundwire_server.lexical import build_kernels

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "compiled", lambda name: None)
        plain = build_postings(texts)
        patch.setattr(kernels, "compiled", lambda name: build_kernels)
        return plain, build_postings(texts)


def assert_same(texts: Sequence[str]) -> None:
    plain, compiled = both(texts)
    for field in fields(Postings):
        one, other = getattr(plain, field.name), getattr(compiled, field.name)
        assert one.dtype == other.dtype, field.name
        assert np.array_equal(one, other), field.name


def counts(postings: Postings) -> Iterator[tuple[str, int, int]]:
    """(term, row, occurrences) of all postings."""
    words = postings.words()
    large = dict(zip(postings.large_at.tolist(), postings.large_counts.tolist(), strict=True))
    for place, code in enumerate(postings.codes.tolist()):
        if place >= postings.first_word:
            term = words[place - postings.first_word]
        else:
            first, second = code >> 21, code & (1 << 21) - 1
            term = chr(first) + (chr(second) if second else "")
        for at in range(int(postings.offsets[place]), int(postings.offsets[place + 1])):
            count = int(postings.frequencies[at])
            yield term, int(postings.rows[at]), count if count < LARGE_FREQUENCY else large[at]


@needs_numba
@given(st.lists(hostile_text() | st.sampled_from(BROKEN), max_size=12))
def test_hostile_texts(texts: list[str]) -> None:
    assert_same(texts)
    _, compiled = both(texts)
    expected = Counter((token, row) for row, text in enumerate(texts) for token in tokenize(text))
    assert Counter({(term, row): count for term, row, count in counts(compiled)}) == expected
    assert compiled.lengths.tolist() == [len(tokenize(text)) for text in texts]


@needs_numba
def test_every_code_point_alone_and_between_others() -> None:
    """Of the basic plane, where the tables decide, all; of the others some of each block."""
    codes = [*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, 0x110000, 61)]
    chars = [chr(code) for code in codes if unicodedata.category(chr(code)) != "Cn"]
    assert_same(
        ["".join(f"a{char}b か{char}は e{char} " for char in chars[at : at + 4]) for at in range(0, len(chars), 4)]
    )


@needs_numba
def test_neighbours_of_the_basic_plane() -> None:
    """What a code point becomes alone is what it becomes beside any other."""
    chosen = random.Random(11)
    letters = [chr(code) for code in range(0x10000) if unicodedata.category(chr(code))[0] in "LMNP"]
    assert_same(["".join(chosen.choices(letters, k=40)) for _ in range(800)])


@needs_numba
def test_many_blocks_grow_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = random.Random(3)
    texts = [" ".join(chosen.choices(WORDS, k=chosen.randint(0, 30))) + f" w{row} 番{row}" for row in range(5000)]
    texts[17] = "again " * 7_000 + "漢" * 300
    texts[18] = " ".join(f"term{number}" for number in range(20_000))
    assert_same(texts)


@needs_numba
def test_one_huge_line_and_nothing() -> None:
    assert_same(["x" * 60_000, "", "長" * 40_000, "\0", "e" + "\u0301" * 5000])
    assert_same([])


def test_more_texts_than_a_segment_holds() -> None:
    with pytest.raises(ValueError, match="65537 texts; a segment holds at most 65536"):
        build_postings([""] * 65_537)
