"""Highlights are matches, in code points of the stored text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given

from groundwire_server.evidence import slice_text
from groundwire_server.text import highlight_spans, tokenize
from tests.text import oracle


@given(oracle.texts(), oracle.texts())
def test_spans_ascend_apart_and_share_a_token_with_the_query(text: str, query: str) -> None:
    wanted = tokenize(query)
    end = 0
    for span in highlight_spans(text, wanted):
        assert end <= span.start < span.end <= len(text)
        end = span.end
        assert set(tokenize(slice_text(text, span))) & set(wanted)


@given(oracle.texts())
def test_a_text_highlights_all_its_own_words(text: str) -> None:
    spans = highlight_spans(text, tokenize(text))
    rest = list(text)
    for span in spans:
        rest[span.start : span.end] = " " * (span.end - span.start)
    left = tokenize("".join(rest))
    # What may be left are single CJK characters that the text also has in a pair elsewhere.
    assert all(len(token) == 1 for token in left)


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Net revenue rose; revenues too", "REVENUE", ["revenue"]),
        (unicodedata.normalize("NFD", "Le café."), "café", [unicodedata.normalize("NFD", "café")]),
        ("ＲＯＥは高い", "roe", ["ＲＯＥ"]),
        ("利益と収益", "収益", ["収益"]),
        ("百円", "円", ["円"]),
        ("日本銀行", "日本銀行", ["日本銀行"]),
        ("an inter-\nnational firm", "international", ["inter-\nnational"]),
        ("an inter\u00ad\nnational firm", "international", ["inter\u00ad\nnational"]),
        ("an inter-\nnational firm", "national", ["national"]),
        ("👩‍👩‍👧 revenue", "revenue", ["revenue"]),
        ("no match", "other", []),
        ("", "x", []),
    ],
)
def test_examples(text: str, query: str, expected: list[str]) -> None:
    assert [slice_text(text, span) for span in highlight_spans(text, tokenize(query))] == expected
