"""Where a term may stand, by script."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import slice_text
from groundwire_server.text import align, find_term, has_borders, normalize
from tests.text import oracle


def found(text: str, term: str, *, across_blanks: bool = False) -> list[str]:
    return [slice_text(text, span) for span in find_term(text, term, across_blanks=across_blanks)]


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("heroes", "ROE", []),
        ("the ROE.", "roe", ["ROE"]),
        ("ＲＯＥは", "ROE", ["ＲＯＥ"]),
        ("香港revenue2", "revenue", []),
        ("香港revenue増", "revenue", ["revenue"]),
        ("revenue香港", "香港", ["香港"]),
        ("ニューヨーク", "ヨーク", []),
        ("ﾆｭｰﾖｰｸ", "ヨーク", []),
        ("ニューヨーク・タイムズ", "ニューヨーク", ["ニューヨーク"]),
        ("ニューヨーク市", "ニューヨーク", ["ニューヨーク"]),
        ("サーバー", "サーバ", []),
        ("東京都", "京都", ["京都"]),
        ("売上高は", "売上", ["売上"]),
        ("매출은", "매출", ["매출"]),
        ("net\n  income", "net income", ["net\n  income"]),
        ("net income_total", "net income", ["net income"]),
        ("FY2024", "2024", []),
        ("2024年", "2024", ["2024"]),
        (unicodedata.normalize("NFD", "café"), "cafe", []),
        (unicodedata.normalize("NFD", "un café!"), "café", [unicodedata.normalize("NFD", "café")]),
        ("re\u200bvenue", "revenue", ["re\u200bvenue"]),
        ("aa aa", "aa", ["aa", "aa"]),
        ("รายได้รวม", "รายได้", ["รายได้"]),
        ("x", " ", []),
        ("x", "", []),
    ],
)
def test_examples(text: str, term: str, expected: list[str]) -> None:
    assert found(text, term) == expected


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("売 上\n高", "売上高", ["売 上\n高"]),
        ("香港支店", "香港 支店", ["香港支店"]),
        ("net in come", "net income", []),
        ("ACME 社", "ACME社", []),
        ("アク メ", "アクメ", ["アク メ"]),
    ],
)
def test_blanks_between_cjk_can_be_looked_through(text: str, term: str, expected: list[str]) -> None:
    assert found(text, term, across_blanks=True) == expected


@given(oracle.texts(), oracle.texts(), oracle.texts())
def test_a_term_is_found_where_it_stands_alone(before: str, term: str, after: str) -> None:
    if not normalize(term).split():
        return
    assert found(f"{before} , {term.strip()} , {after}", term)


@given(oracle.texts(), oracle.texts())
def test_what_is_found_is_the_term_between_borders(text: str, term: str) -> None:
    end = 0
    for span in find_term(text, term):
        assert end <= span.start < span.end
        end = span.end
        assert " ".join(normalize(term).split()) in " ".join(normalize(slice_text(text, span)).split())


@given(oracle.texts(), oracle.texts())
def test_an_aligned_text_gives_the_same(text: str, term: str) -> None:
    assert list(find_term(align(text), term)) == list(find_term(text, term))


@given(oracle.texts().filter(bool), st.data())
def test_a_whole_text_has_borders_and_half_a_word_has_none(text: str, data: st.DataObject) -> None:
    assert has_borders(text, 0, len(text))
    at = data.draw(st.integers(0, len(text)))
    glued = text[:at] + "abc" + text[at:]
    assert not has_borders(glued, at, at + 2)
    assert not has_borders(glued, at + 1, at + 3)
