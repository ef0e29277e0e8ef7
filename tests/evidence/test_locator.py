"""Ids and locators survive printing and parsing, whatever stands in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import ChunkId, Locator, decode_id, encode_id, format_node_id, parse_node_id

raw = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
hostile = st.one_of(
    raw, st.sampled_from(["a@1#c0", "%41", "a,b=c#d?e", "報告/2024年.md", "\x7f\x00\x1f", "👩‍👩‍👧", "é"])
)


@given(hostile)
def test_encoding_an_id_can_be_undone(text: str) -> None:
    encoded = encode_id(text)
    assert decode_id(encoded) == text
    assert not set(encoded) & set("#@?,=")


@given(hostile, st.integers(1, 10**6), st.integers(0, 10**6))
def test_a_chunk_id_reads_back_as_itself(doc_id: str, revision: int, seq: int) -> None:
    chunk_id = ChunkId(doc_id, revision, seq)
    assert ChunkId.parse(str(chunk_id)) == chunk_id


@given(hostile, st.lists(st.tuples(hostile, hostile), max_size=4).map(tuple))
def test_a_locator_reads_back_as_itself(doc_id: str, parts: tuple[tuple[str, str], ...]) -> None:
    locator = Locator(doc_id, parts)
    assert Locator.parse(str(locator)) == locator


@given(st.sampled_from(["entity", "literal", "doc"]), hostile)
def test_a_node_id_reads_back_as_itself(kind: str, code: str) -> None:
    assert parse_node_id(format_node_id(kind, code)) == (kind, code)


@pytest.mark.parametrize("text", ["", "notes.md", "notes.md@0#c1", "notes.md@1#c", "notes.md@-1#c2"])
def test_what_is_no_chunk_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="DOC@REVISION#cSEQ"):
        ChunkId.parse(text)


@pytest.mark.parametrize("text", ["ACME", ":x", ""])
def test_what_is_no_node_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="kind:code"):
        parse_node_id(text)


def test_what_is_no_locator_is_refused() -> None:
    with pytest.raises(ValueError, match="key=value"):
        Locator.parse("a.md#page")
