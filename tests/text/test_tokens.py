"""Tokens against a slow reading of their description, against the seed, and text by text against many at once."""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire_server.text import TOKENIZER_ID, is_cjk, is_katakana, normalize, tokenize, tokenize_batch
from tests.text import oracle


@given(oracle.texts())
@example("か\u3099" * 3 + "-\n" + "b")
@example("a-\nb-\nc- d-\n5 é-\r\n  f")
def test_tokens_are_those_of_the_description(text: str) -> None:
    assert tokenize(text) == oracle.tokens(text)


@given(oracle.texts())
def test_normal_form_is_the_one_described(text: str) -> None:
    assert normalize(text) == oracle.normal_form(text)


@given(st.text(st.characters(max_codepoint=127)) | st.text(st.sampled_from("aZ09 .,_漢字仮名中国-9\t")))
def test_ascii_and_han_give_the_tokens_of_the_seed(text: str) -> None:
    assert tokenize(text.replace("\n", " ").replace("\r", " ").replace("\x0b", " ").replace("\x0c", " ")) == (
        oracle.seed_tokens(text)
    )


@given(st.lists(oracle.texts(), max_size=6))
@example(["漢", "字", "", "a-\n漢", "\u2028x-\ny"])
def test_many_at_once_are_as_one_by_one(texts: list[str]) -> None:
    batch = tokenize_batch(texts)
    found: list[Counter[str]] = [Counter() for _ in texts]
    owners = np.repeat(np.arange(len(texts)), batch.word_counts)
    for word, owner in zip(batch.words, owners.tolist(), strict=True):
        found[owner][word] += 1
    for first, second, owner in zip(batch.first.tolist(), batch.second.tolist(), batch.texts.tolist(), strict=True):
        found[owner][chr(first) + (chr(second) if second else "")] += 1
    assert found == [Counter(tokenize(text)) for text in texts]
    assert batch.lengths.tolist() == [len(tokenize(text)) for text in texts]


def test_cjk_is_what_unicode_names_so() -> None:
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) not in ("Cn", "Co", "Cs") and normalize(character):
            assert is_cjk(character) == oracle.is_cjk(character), hex(code)
            assert is_cjk(character) or not is_katakana(character), hex(code)


def test_ignorable_characters_never_come_out_of_the_normal_form() -> None:
    ignorable = {chr(code) for code in range(0x110000) if normalize(chr(code)) == ""}
    assert set(oracle.IGNORABLE) <= ignorable
    for code in range(0x110000):
        assert not ignorable & set(normalize("x" + chr(code)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.5", ["3", "5"]),
        ("snake_case", ["snake", "case"]),
        ("香港revenue", ["香", "港", "香港", "revenue"]),
        ("コーヒー", ["コ", "ー", "ヒ", "ー", "コー", "ーヒ", "ヒー"]),
        ("ﾊﾟﾝ", ["パ", "ン", "パン"]),
        ("한국", ["한", "국", "한국"]),
        ("exam\u00adple exam\u00ad\nple", ["example", "exam", "ple", "example"]),
        ("1990-\n2000", ["1990", "2000"]),
        ("日-\n本", ["日", "本"]),
        ("", []),
        ("\u200b_。!", []),
    ],
)
def test_examples(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


def test_the_id_names_the_unicode_version() -> None:
    assert TOKENIZER_ID.endswith(unicodedata.unidata_version)


def test_one_huge_line_takes_linear_time() -> None:
    """Ends at all: with a matcher that walks back, this would take hours."""
    text = "x" * 400_000 + "-\ny" + " -" * 200_000 + "é" * 200_000 + "\u0301" * 100_000 + "- \t" * 100_000
    assert len(tokenize(text)) == len(tokenize_batch([text]).words)
