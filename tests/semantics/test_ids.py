"""Formats, "Ids and locators"."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import (
    ChunkId,
    Locator,
    Span,
    decode_id,
    encode_id,
    format_node_id,
    make_snippet_id,
    parse_node_id,
    slice_text,
    text_sha256,
)
from tests.semantics.hostile import TEXTS, any_text, quick

CONTROLS = [chr(c) for c in range(0x100) if unicodedata.category(chr(c)) == "Cc"]
ids = st.text(alphabet="ab%#@?,=:/ ;&+.漢é😀\u2028\x00\x1f\x7f\x85", min_size=1, max_size=20) | st.text(
    min_size=1, max_size=20
)
values = st.text(alphabet="abc0123456789-", min_size=1, max_size=8)
keys = st.sampled_from(["line", "slide", "para", "page", "sheet", "cell"])


def percent(text: str) -> str:
    """What formats.md says, by hand."""
    out = ""
    for c in text:
        encoded = c in "%#@?,=" or unicodedata.category(c) == "Cc"
        out += "".join(f"%{byte:02X}" for byte in c.encode()) if encoded else c
    return out


@quick
@given(ids)
def test_only_the_named_characters_and_controls_are_encoded(raw: str) -> None:
    assert encode_id(raw) == percent(raw)
    assert decode_id(encode_id(raw)) == raw


@pytest.mark.parametrize("c", [*"%#@?,=", *CONTROLS], ids=repr)
def test_each_of_them_is_encoded(c: str) -> None:
    assert encode_id(f"a{c}b") == f"a%{c.encode()[0]:02X}{f'%{c.encode()[1]:02X}' if len(c.encode()) > 1 else ''}b"
    assert decode_id(encode_id(f"a{c}b")) == f"a{c}b"


def test_ids_of_people_stay_readable() -> None:
    for raw in ("reports/2024 annual.md", "報告/売上高.md", "报告·年度.txt", "a:b;c&d+e", "cafe\u0301.md"):
        assert encode_id(raw) == raw


@quick
@given(ids, ids)
def test_two_ids_never_encode_to_one(one: str, other: str) -> None:
    assert (encode_id(one) == encode_id(other)) is (one == other)


@quick
@given(ids, st.integers(1, 10**9), st.integers(0, 10**9))
def test_a_chunk_id_is_doc_revision_and_seq_and_comes_back(doc_id: str, revision: int, seq: int) -> None:
    chunk_id = ChunkId(doc_id, revision, seq)
    assert str(chunk_id) == f"{percent(doc_id)}@{revision}#c{seq}"
    assert ChunkId.parse(str(chunk_id)) == chunk_id


def test_chunk_ids_are_unique_over_revisions() -> None:
    triples = [
        (doc, revision, seq) for doc in ("a", "a@1", "a@1#c0", "a%40") for revision in (1, 11) for seq in (0, 1, 10)
    ]
    assert len({str(ChunkId(*triple)) for triple in triples}) == len(triples)


@pytest.mark.parametrize(
    "text", ["", "a", "a@", "a@1", "a@1#", "a@1#c", "a#c0", "@1#c0x", "a@x#c0", "a@1#cx", "a@1#0", "a@-1#c0"]
)
def test_what_is_no_chunk_id_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        ChunkId.parse(text)


@quick
@given(ids, st.lists(st.tuples(keys, values), max_size=3).map(tuple))
def test_a_locator_comes_back(doc_id: str, parts: tuple[tuple[str, str], ...]) -> None:
    locator = Locator(doc_id, parts)
    assert Locator.parse(str(locator)) == locator
    if parts:
        assert str(locator) == percent(doc_id) + "#" + ",".join(f"{key}={value}" for key, value in parts)


@pytest.mark.parametrize(
    ("text", "doc_id", "parts"),
    [
        ("deck.pptx#slide=2,para=1", "deck.pptx", (("slide", "2"), ("para", "1"))),
        ("report.pdf#page=3,para=2-4", "report.pdf", (("page", "3"), ("para", "2-4"))),
        ("notes.md#line=10-18", "notes.md", (("line", "10-18"),)),
        ("a/b%23c.md#line=1", "a/b#c.md", (("line", "1"),)),
        ("報告.md#line=1", "報告.md", (("line", "1"),)),
    ],
)
def test_locators_of_the_text(text: str, doc_id: str, parts: tuple[tuple[str, str], ...]) -> None:
    assert Locator.parse(text) == Locator(doc_id, parts)
    assert str(Locator(doc_id, parts)) == text


@quick
@given(ids, keys, st.text(min_size=1, max_size=10))
def test_a_value_of_a_locator_may_hold_anything(doc_id: str, name: str, value: str) -> None:
    locator = Locator(doc_id, ((name, value), ("cell", "B2")))
    assert Locator.parse(str(locator)) == locator


@quick
@given(st.sampled_from(["entity", "metric", "document", "literal"]), ids)
def test_a_node_id_is_kind_and_encoded_code(kind: str, code: str) -> None:
    assert format_node_id(kind, code) == f"{kind}:{percent(code)}"
    assert parse_node_id(format_node_id(kind, code)) == (kind, code)


def test_a_node_without_a_kind_is_a_value_error() -> None:
    for text in ("", "ACME", "漢"):
        with pytest.raises(ValueError, match=r".*"):
            parse_node_id(text)


@quick
@given(any_text)
def test_the_hash_of_a_text_is_that_of_its_utf8(text: str) -> None:
    assert text_sha256(text) == hashlib.sha256(text.encode()).digest()


def test_snippet_ids_are_128_bit_hex_and_tell_everything_apart() -> None:
    one, other = text_sha256("a"), text_sha256("b")
    given_ids = [
        make_snippet_id("chunk", "lib", "x", one),
        make_snippet_id("fact", "lib", "x", one),
        make_snippet_id("chunk", "lib2", "x", one),
        make_snippet_id("chunk", "lib", "y", one),
        make_snippet_id("chunk", "lib", "x", other),
        make_snippet_id("chunk", "libx", "", one),
        make_snippet_id("chun", "klib", "x", one),
    ]
    assert len(set(given_ids)) == len(given_ids)
    for each in given_ids:
        assert len(each) == 32
        int(each, 16)
    assert make_snippet_id("chunk", "lib", "x", one) == given_ids[0]


@quick
@given(any_text, st.data())
def test_spans_count_code_points(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert slice_text(text, Span(start, end)) == "".join(list(text)[start:end])


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_spans_of_hostile_texts_count_code_points(text: str) -> None:
    for place in range(0, len(text), 97):
        assert slice_text(text, Span(place, place + 1)) == text[place]
