"""Terms in sentences: the longest wins, borders by script, original places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import slice_text
from groundwire_server.glossary import (
    ChannelTerm,
    EntityTerm,
    Glossary,
    Identifier,
    MemberTerm,
    MetricTerm,
    Synonym,
    TermRef,
)


def _names(*texts: str) -> tuple[Synonym, ...]:
    return tuple(Synonym(text) for text in texts)


GLOSSARY = Glossary(
    [
        MetricTerm("REVENUE", synonyms=_names("revenue", "net sales", "売上高", "营业收入")),
        MetricTerm("ROE", label="ROE"),
        MetricTerm("ASSETS", synonyms=_names("assets", "total assets", "総資産")),
        MetricTerm("ASSETS_CURRENT", label="Assets, Current", synonyms=_names("流動資産")),
        MetricTerm("LIABILITIES", synonyms=_names("current liabilities")),
        EntityTerm("PER", synonyms=_names("Peru", "ペルー", "秘鲁")),
        EntityTerm("NYC", synonyms=_names("New York", "ニューヨーク")),
        EntityTerm("YORK", synonyms=_names("York", "ヨーク")),
        EntityTerm("KNA", synonyms=_names("St. Kitts & Nevis")),
        EntityTerm("ACME", label="Acme.com, Inc.", identifiers=(Identifier("ticker", "ACM"),), synonyms=_names("Acme")),
        EntityTerm("BOJ", synonyms=_names("日本銀行")),
        EntityTerm("JPN", synonyms=_names("日本")),
        ChannelTerm("WEB", label="Acme Web Services"),
        MemberTerm("segment", "CLOUD", synonyms=_names("cloud")),
    ]
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What was the revenue of Acme?", [("revenue", "REVENUE"), ("Acme", "ACME")]),
        ("ACME'S NET SALES", [("ACME", "ACME"), ("NET SALES", "REVENUE")]),
        ("Acme.com, Inc. net-sales", [("Acme.com, Inc", "ACME"), ("net-sales", "REVENUE")]),
        ("Acme Web Services revenues", [("Acme Web Services", "WEB"), ("revenues", "REVENUE")]),
        ("heroes have no ROEs, only ROE", [("ROEs", "ROE"), ("ROE", "ROE")]),
        ("total assets, current liabilities", [("total assets", "ASSETS"), ("current liabilities", "LIABILITIES")]),
        ("assets, current liabilities", [("assets", "ASSETS"), ("current liabilities", "LIABILITIES")]),
        ("current assets", [("current assets", "ASSETS_CURRENT")]),
        ("We have assets. Current prices are high.", [("assets", "ASSETS")]),
        ("St. Kitts & Nevis: revenue", [("St. Kitts & Nevis", "KNA"), ("revenue", "REVENUE")]),
        ("revenue per capita of PER", [("revenue", "REVENUE"), ("PER", "PER")]),
        ("acm or ACM", [("ACM", "ACME")]),
        ("香港revenue", [("revenue", "REVENUE")]),
        ("ニューヨークの売上高", [("ニューヨーク", "NYC"), ("売上高", "REVENUE")]),
        ("ニューヨーカーとヨークシャー", []),
        ("ヨークの総資産", [("ヨーク", "YORK"), ("総資産", "ASSETS")]),
        ("ﾆｭｰﾖｰｸの 売 上 高", [("ﾆｭｰﾖｰｸ", "NYC"), ("売 上 高", "REVENUE")]),
        ("日本銀行と日本", [("日本銀行", "BOJ"), ("日本", "JPN")]),
        ("请给出秘鲁的营业收入", [("秘鲁", "PER"), ("营业收入", "REVENUE")]),
        ("ｎｅｔ\nｓａｌｅｓ", [("ｎｅｔ\nｓａｌｅｓ", "REVENUE")]),
        ("net\n\nsales", []),
        ("Cloud revenue", [("Cloud", "CLOUD"), ("revenue", "REVENUE")]),
        ("", []),
    ],
)
def test_mentions(text: str, expected: list[tuple[str, str]]) -> None:
    found = GLOSSARY.find_terms(text)
    assert [(mention.text, mention.terms[0].code) for mention in found] == expected
    assert all(slice_text(text, mention.span) == mention.text for mention in found)


def test_a_shared_name_mentions_all_its_terms() -> None:
    glossary = Glossary(
        [
            MetricTerm("A", synonyms=_names("debt")),
            MetricTerm("B", synonyms=_names("Debt")),
            EntityTerm("D", label="Debt"),
        ],
        ambiguous="report",
    )
    (mention,) = glossary.find_terms("the debt")
    assert mention.terms == (TermRef("entity", "D"), TermRef("metric", "A"), TermRef("metric", "B"))


def test_a_member_names_its_axis() -> None:
    (mention,) = GLOSSARY.find_terms("in the cloud")
    assert mention.terms == (TermRef("dimension", "CLOUD", "segment"),)


HOSTILE = "revenue netsales売上高総資産日本銀行ニューヨーク ｶﾞé\u0301\u200d😀\r\n\u2028.,'ＲＥ"


@given(st.text(st.sampled_from(HOSTILE), max_size=40) | st.text(max_size=20))
def test_mentions_lie_apart_and_in_order(text: str) -> None:
    end = 0
    for mention in GLOSSARY.find_terms(text):
        assert end <= mention.span.start < mention.span.end <= len(text)
        assert slice_text(text, mention.span) == mention.text
        assert mention.terms
        end = mention.span.end


@given(st.lists(st.sampled_from(["revenue", "Peru", "total assets", "New York", "was", "the"]), max_size=6))
def test_names_between_commas_are_all_found(words: list[str]) -> None:
    text = "; ".join(words)
    assert [mention.text for mention in GLOSSARY.find_terms(text)] == [w for w in words if w not in ("was", "the")]


def test_a_huge_text_is_searched_in_reasonable_time() -> None:
    text = "The revenue of Acme in New York and 日本銀行の総資産. " * 1000
    assert len(GLOSSARY.find_terms(text)) == 5000
