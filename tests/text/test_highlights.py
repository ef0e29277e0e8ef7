"""Highlights are matches, in code points of the stored text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import slice_text
from groundwire_server.text import Highlighter, tokenize
from tests.text import highlight_oracle, oracle

COMMON = st.text("aé0の収益利円カー-\n ,。・\u0301\u3099\ufe0f，", max_size=60)
LONG_QUERY = [chr(code) + chr(code + 1) for code in range(0x3042, 0x3090)] + [f"w{n}" for n in range(50)]


@given(oracle.texts() | COMMON, st.lists(oracle.texts() | COMMON, max_size=3), st.booleans())
def test_spans_are_those_of_the_plain_reading(text: str, queries: list[str], long: bool) -> None:
    wanted = [token for query in queries for token in tokenize(query)] + long * LONG_QUERY
    assert_as_the_plain_reading(text, wanted)


@given(oracle.texts() | COMMON, st.data(), st.booleans())
def test_spans_of_its_own_tokens_are_those_of_the_plain_reading(text: str, data: st.DataObject, long: bool) -> None:
    own = tokenize(text)
    wanted = data.draw(st.lists(st.sampled_from(own), max_size=8)) if own else []
    assert_as_the_plain_reading(text, wanted + long * LONG_QUERY)


@given(oracle.texts() | COMMON, st.lists(st.text("a収益 -é\u0301の", max_size=3)))
def test_tokens_that_no_tokenizer_gives_do_no_harm(text: str, wanted: list[str]) -> None:
    assert_as_the_plain_reading(text, wanted)


def assert_as_the_plain_reading(text: str, wanted: list[str]) -> None:
    spans = Highlighter(wanted).spans(text)
    assert [(span.start, span.end) for span in spans] == highlight_oracle.highlights(text, wanted)


@given(oracle.texts(), oracle.texts())
def test_spans_ascend_apart_and_share_a_token_with_the_query(text: str, query: str) -> None:
    wanted = tokenize(query)
    end = 0
    for span in Highlighter(wanted).spans(text):
        assert end <= span.start < span.end <= len(text)
        end = span.end
        assert set(tokenize(slice_text(text, span))) & set(wanted)


@given(oracle.texts())
def test_a_text_highlights_all_its_own_words(text: str) -> None:
    spans = Highlighter(tokenize(text)).spans(text)
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
    assert [slice_text(text, span) for span in Highlighter(tokenize(query)).spans(text)] == expected
