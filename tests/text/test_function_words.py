"""What is left of a question without the words that carry no content of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.text import FUNCTION_WORDS, content_spans


def content(text: str, language: str) -> list[str]:
    return [text[span.start : span.end] for span in content_spans(text, language)]


@pytest.mark.parametrize(
    ("language", "text", "left"),
    [
        ("en", "What was the revenue of Acme in 2023?", ["revenue", "Acme", "2023"]),
        ("en", "What is it and what was that?", []),
        ("en", "Ｗｈａｔ is the snow_line?", ["snow", "line"]),
        ("ja", "売上高の増加について", ["売上高", "増加"]),
        ("ja", "これは何ですか", []),
        ("zh", "截至年底的营业收入呢", ["营业收入"]),
        ("zh", "什么是利润", ["利润"]),
        ("zh", "它的是", ["它"]),
    ],
)
def test_content(language: str, text: str, left: list[str]) -> None:
    assert content(text, language) == left


def test_covered_stretches_are_passed_over() -> None:
    text = "snow closed the roads"
    covered = bytearray(len(text))
    covered[0:4] = b"\1" * 4
    assert [text[each.start : each.end] for each in content_spans(text, "en", covered)] == ["closed", "roads"]


@given(st.text(max_size=80), st.sampled_from(["en", "zh", "ja", ""]))
def test_spans_ascend_and_hold_something(text: str, language: str) -> None:
    end = 0
    for span in content_spans(text, language):
        assert end <= span.start < span.end <= len(text)
        end = span.end


def test_function_words_are_in_normal_form() -> None:
    assert all(word == word.casefold() and word.isalnum() for word in FUNCTION_WORDS)
