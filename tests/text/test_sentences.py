"""Sentences and languages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from groundwire_server.evidence import slice_text
from groundwire_server.text import detect_language, sentence_spans
from tests.text import oracle


@given(oracle.texts())
def test_sentences_cover_the_text_without_a_gap(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(slice_text(text, span) for span in spans) == text
    assert all(span.start < span.end for span in spans)
    assert [span.end for span in spans[:-1]] == [span.start for span in spans[1:]]


@given(oracle.texts())
def test_only_the_last_sentence_may_lack_its_mark(text: str) -> None:
    for span in sentence_spans(text)[:-1]:
        assert re.search("[。！？；.!?;]", slice_text(text, span))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three", ["One. ", "Two! ", "Three"]),
        ("売上は3.5倍。利益は？", ["売上は3.5倍。", "利益は？"]),
        ("It rose by 3. Then 5.", ["It rose by 3. ", "Then 5."]),
        ("「はい。」と言う。", ["「はい。」", "と言う。"]),
        ("What?! ... Yes.", ["What?! ", "... ", "Yes."]),
        ("营收增长；利润下降。", ["营收增长；", "利润下降。"]),
        ("a\n\nb", ["a\n\nb"]),
        ("", []),
    ],
)
def test_examples(text: str, expected: list[str]) -> None:
    assert [slice_text(text, span) for span in sentence_spans(text)] == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What was revenue?", "en"),
        ("", "en"),
        ("Выручка", "en"),
        ("2024年营业收入", "zh"),
        ("𠮷", "zh"),
        ("2024年の売上", "ja"),
        ("ﾆｭｰﾖｰｸ", "ja"),
        ("東京タワー", "ja"),
    ],
)
def test_languages_by_script(text: str, language: str) -> None:
    assert detect_language(text) == language
