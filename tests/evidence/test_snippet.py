"""Snippet ids tell libraries, items and texts apart, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import make_snippet_id, text_sha256

words = st.text(max_size=8)


@given(st.tuples(words, words, words, words), st.tuples(words, words, words, words))
def test_ids_are_equal_exactly_when_all_parts_are(left: tuple[str, ...], right: tuple[str, ...]) -> None:
    one, two = (make_snippet_id(kind, lib, item, text_sha256(text)) for kind, lib, item, text in (left, right))
    assert (one == two) is (left == right)
    assert len(one) == 32
    assert set(one) <= set("0123456789abcdef")
