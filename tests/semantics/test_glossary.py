"""Semantics 10 and formats: the glossary."""

import json
import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import GlossaryConflict, InvalidRequest
from groundwire_server.glossary import (
    TOTAL,
    Additivity,
    Ambiguous,
    ChannelTerm,
    EntityTerm,
    Glossary,
    Identifier,
    MetricNature,
    MetricTerm,
    Resolution,
    Resolved,
    Synonym,
    Term,
    Unknown,
    display_name,
)
from tests.semantics.hostile import TEXTS, any_text, quick

TOML = """
[[metric]]
code = "revenue"
label = "Revenue"
unit = "USD"
additivity = "sum"
nature = "flow"
definition = "What customers paid."
synonyms = {en = ["net sales", "turnover"], zh = ["营业收入"], ja = ["売上高", "売上"]}

[[metric]]
code = "cash"
label = "Cash at year end"
unit = "USD"
additivity = "none"
nature = "instant"
synonyms = {zh = ["现金"], ja = ["現金"]}

[[entity]]
code = "ACME"
label = "Acme Corporation"
type = "company"
ids = {ticker = "7203.T"}
fiscal_year_start = "04-01"
fiscal_year_named_by = "start"
synonyms = {en = ["Acme"], zh = ["艾克美"], ja = ["アクメ"]}

[[entity]]
code = "ACME_JP"
label = "Acme Japan"
parent = "ACME"
synonyms = {ja = ["アクメジャパン", "アクメ日本"]}

[[channel]]
code = "ONLINE"
synonyms = {en = ["online", "web"], zh = ["线上"], ja = ["オンライン"]}
"""
GLOSSARY = Glossary.from_toml(TOML)


def metric(code: str, *names: str) -> MetricTerm:
    return MetricTerm(code, synonyms=tuple(Synonym(name) for name in names))


def resolve(kind: str, raw: str) -> Resolution:
    return {"metric": GLOSSARY.resolve_metric, "entity": GLOSSARY.resolve_entity, "channel": GLOSSARY.resolve_channel}[
        kind
    ](raw)


# Names


@pytest.mark.parametrize(
    ("kind", "raw", "code"),
    [
        ("metric", "revenue", "revenue"),
        ("metric", "Revenue", "revenue"),
        ("metric", "REVENUE", "revenue"),
        ("metric", "ｒｅｖｅｎｕｅ", "revenue"),
        ("metric", " net  sales ", "revenue"),
        ("metric", "Net Sales", "revenue"),
        ("metric", "营业收入", "revenue"),
        ("metric", "売上高", "revenue"),
        ("metric", "売\u200b上高", "revenue"),
        ("metric", "現金", "cash"),
        ("entity", "ACME", "ACME"),
        ("entity", "Acme Corporation", "ACME"),
        ("entity", "7203.T", "ACME"),
        ("entity", "アクメ", "ACME"),
        ("entity", "ｱｸﾒ", "ACME"),
        ("entity", "艾克美", "ACME"),
        ("entity", "アクメ日本", "ACME_JP"),
        ("channel", "web", "ONLINE"),
        ("channel", "线上", "ONLINE"),
        ("channel", "ｵﾝﾗｲﾝ", "ONLINE"),
        ("channel", "", TOTAL),
        ("channel", "TOTAL", TOTAL),
    ],
)
def test_names_are_exact_after_normalisation(kind: str, raw: str, code: str) -> None:
    assert resolve(kind, raw) == Resolved(code)


@pytest.mark.parametrize(
    ("kind", "raw", "code"),
    [
        ("metric", "Revenue (restated)", "revenue"),
        ("metric", "Revenue [USD m]", "revenue"),
        ("metric", "売上高（百万円）", "revenue"),
        ("metric", "营业收入（万元）", "revenue"),
        ("entity", "アクメ（連結）", "ACME"),
        ("entity", "Acme Corporation (consolidated)", "ACME"),
        ("channel", "online (web)", "ONLINE"),
    ],
)
def test_a_second_try_leaves_out_a_bracketed_note_at_the_end(kind: str, raw: str, code: str) -> None:
    assert resolve(kind, raw) == Resolved(code)


def test_a_note_that_is_part_of_the_name_counts_first() -> None:
    glossary = Glossary([metric("gdp", "GDP"), metric("gdp_usd", "GDP (current US$)")])
    assert glossary.resolve_metric("GDP (current US$)") == Resolved("gdp_usd")
    assert glossary.resolve_metric("GDP (constant LCU)") == Resolved("gdp")
    assert glossary.resolve_metric("GDP") == Resolved("gdp")


@pytest.mark.parametrize(
    "raw", ["(restated) revenue", "revenue (a) more", "revenu", "reven ue s x", "Acme", "売", "(revenue)x", "profit"]
)
def test_nothing_else_is_a_metric(raw: str) -> None:
    assert isinstance(GLOSSARY.resolve_metric(raw), Unknown)


def test_suggestions_are_made_and_never_applied() -> None:
    found = GLOSSARY.resolve_metric("revenu")
    assert isinstance(found, Unknown)
    assert found.suggestions
    for suggestion in found.suggestions:
        assert isinstance(GLOSSARY.resolve_metric(suggestion), Resolved)
    misspelt = GLOSSARY.resolve_entity("アクメジャパソ")
    assert isinstance(misspelt, Unknown)
    assert len(misspelt.suggestions) <= 5


@quick
@given(any_text | st.sampled_from(TEXTS))
def test_no_text_breaks_resolving(raw: str) -> None:
    for found in (GLOSSARY.resolve_metric(raw), GLOSSARY.resolve_entity(raw), GLOSSARY.resolve_channel(raw)):
        assert isinstance(found, Resolved | Unknown)


@quick
@given(
    st.sampled_from(["net sales", "売上高", "营业收入", "Acme Corporation", "アクメ"]),
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
)
def test_the_form_of_a_name_does_not_matter(name: str, form: str) -> None:
    dressed = unicodedata.normalize(form, name)  # type: ignore[arg-type]
    kind = "entity" if "cme" in name or "ア" in name else "metric"
    for raw in (dressed, dressed.upper(), f"\u3000{dressed}\t", "\u200d".join(dressed)):
        assert isinstance(resolve(kind, raw), Resolved)


# What stands in it


def test_a_glossary_holds_what_the_file_says() -> None:
    terms = {term.code: term for term in Glossary.from_toml(GLOSSARY.to_toml()).terms}
    revenue = terms["revenue"]
    assert isinstance(revenue, MetricTerm)
    assert (revenue.unit, revenue.additivity, revenue.nature) == ("USD", Additivity.SUM, MetricNature.FLOW)
    assert revenue.definition == "What customers paid."
    cash = terms["cash"]
    assert isinstance(cash, MetricTerm)
    assert (cash.additivity, cash.nature) == (Additivity.NONE, MetricNature.INSTANT)
    acme = terms["ACME"]
    assert isinstance(acme, EntityTerm)
    assert acme.identifiers == (Identifier("ticker", "7203.T"),)
    assert Glossary.from_toml(GLOSSARY.to_toml()) == GLOSSARY


def test_names_to_show_by_language() -> None:
    terms = {term.code: term for term in GLOSSARY.terms}
    assert display_name(terms["revenue"], "en") == "Revenue"
    assert display_name(terms["revenue"], "ja") == "売上高"
    assert display_name(terms["revenue"], "zh") == "营业收入"


def test_the_order_of_terms_does_not_matter() -> None:
    terms = list(GLOSSARY.terms)
    for seed in range(5):
        random.Random(seed).shuffle(terms)
        assert Glossary(terms) == GLOSSARY
        assert Glossary(terms).content_hash == GLOSSARY.content_hash


def test_fiscal_years_are_the_entitys_own_else_its_parents_else_from_january() -> None:
    assert GLOSSARY.fiscal_calendar("ACME").start == "04-01"
    assert GLOSSARY.fiscal_calendar("ACME_JP").start == "04-01"
    assert GLOSSARY.fiscal_calendar("ACME_JP").named_by == "start"
    assert GLOSSARY.fiscal_calendar("nobody").start == "01-01"


# Shared synonyms


SHARED: list[Term] = [metric("revenue", "sales"), metric("volume", "Ｓａｌｅｓ", "units")]


def test_a_shared_synonym_is_an_error_that_names_both_places() -> None:
    with pytest.raises(GlossaryConflict) as caught:
        Glossary(SHARED, places=["glossary.toml:3", "glossary.toml:9"])
    told = f"{caught.value} {caught.value.details}"
    assert "glossary.toml:3" in told
    assert "glossary.toml:9" in told
    with pytest.raises(GlossaryConflict):
        Glossary.from_toml(
            '[[metric]]\ncode="a"\nsynonyms={ja=["売上"]}\n[[metric]]\ncode="b"\nsynonyms={zh=["売上"]}\n'
        )


def test_reported_it_is_a_typed_ambiguity_and_never_a_pick() -> None:
    glossary = Glossary(SHARED, ambiguous="report")
    assert glossary.resolve_metric("sales") == Ambiguous(("revenue", "volume"))
    assert glossary.resolve_metric("ＳＡＬＥＳ (net)") == Ambiguous(("revenue", "volume"))
    assert glossary.resolve_metric("units") == Resolved("volume")
    assert glossary.resolve_metric("revenue") == Resolved("revenue")
    assert [conflict.codes for conflict in glossary.conflicts] == [("revenue", "volume")]


def test_terms_of_two_kinds_may_share_a_synonym() -> None:
    glossary = Glossary([metric("web", "online"), ChannelTerm("ONLINE", synonyms=(Synonym("online"),))])
    assert glossary.resolve_metric("online") == Resolved("web")
    assert glossary.resolve_channel("online") == Resolved("ONLINE")


def test_one_code_twice_is_an_error() -> None:
    with pytest.raises((InvalidRequest, GlossaryConflict)):
        Glossary([metric("revenue"), metric("revenue", "sales")])


# Two forms of file


def test_the_json_lines_form_is_read_too() -> None:
    lines = [
        json.dumps(
            {
                "kind": "metric",
                "canonical": "gdp",
                "label": "GDP (current US$)",
                "aliases": {"en": ["GDP"], "ja": ["国内総生産"]},
            }
        ),
        json.dumps(
            {"kind": "entity", "canonical": "ABW", "aliases": {"en": ["Aruba"], "ja": ["アルバ"], "zh": ["阿鲁巴"]}}
        ),
    ]
    glossary = Glossary.from_jsonl(lines)
    assert glossary.resolve_metric("国内総生産") == Resolved("gdp")
    assert glossary.resolve_entity("アルバ") == glossary.resolve_entity("阿鲁巴") == Resolved("ABW")


@pytest.mark.parametrize(
    ("label", "unit", "expected"),
    [
        ("GDP (current US$)", "USD", Additivity.SUM),
        ("Population, total", "persons", Additivity.SUM),
        ("Employees", "count", Additivity.SUM),
        ("Inflation (annual %)", "percent", Additivity.NONE),
        ("Gross margin", "PERCENT", Additivity.NONE),
        ("Current ratio", "ratio", Additivity.NONE),
        ("Earnings per share", "USD/shares", Additivity.NONE),
        ("GDP per capita (current US$)", "USD", Additivity.NONE),
    ],
)
def test_an_unsaid_additivity_is_assumed_and_the_assumption_is_shown(
    label: str, unit: str, expected: Additivity
) -> None:
    line = json.dumps({"kind": "metric", "canonical": "m", "label": label, "unit": unit, "aliases": {}})
    (term,) = Glossary.from_jsonl([line]).terms
    assert isinstance(term, MetricTerm)
    assert term.additivity is expected
    assert term.additivity_assumed
    said = json.dumps({"kind": "metric", "canonical": "m", "label": label, "unit": unit, "additivity": "sum"})
    (term,) = Glossary.from_jsonl([said]).terms
    assert isinstance(term, MetricTerm)
    assert (term.additivity, term.additivity_assumed) == (Additivity.SUM, False)


# Free text


def mentions(text: str) -> list[tuple[str, list[str]]]:
    return [(text[m.span.start : m.span.end], [ref.code for ref in m.terms]) for m in GLOSSARY.find_terms(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What was the turnover of Acme?", [("turnover", ["revenue"]), ("Acme", ["ACME"])]),
        ("アクメジャパンの売上高は？", [("アクメジャパン", ["ACME_JP"]), ("売上高", ["revenue"])]),
        ("アクメ日本とアクメの現金", [("アクメ日本", ["ACME_JP"]), ("アクメ", ["ACME"]), ("現金", ["cash"])]),
        ("艾克美的营业收入", [("艾克美", ["ACME"]), ("营业收入", ["revenue"])]),
        ("艾克美revenue", [("艾克美", ["ACME"]), ("revenue", ["revenue"])]),
        ("Acme Corporation's net\nsales", [("Acme Corporation", ["ACME"]), ("net\nsales", ["revenue"])]),
        ("👍 ＲＥＶＥＮＵＥ online", [("ＲＥＶＥＮＵＥ", ["revenue"]), ("online", ["ONLINE"])]),
        ("acmeology and cashier", []),
        ("ネオアクメの話", []),
        ("", []),
    ],
)
def test_the_longest_name_in_free_text_wins(text: str, expected: list[tuple[str, list[str]]]) -> None:
    assert mentions(text) == expected


@quick
@given(
    st.lists(
        st.sampled_from(
            ["売上", "高", "アクメ", "ジャパン", "日本", " ", "net sales", "Acme", "。", "\r\n", "の", "现金", "x"]
        ),
        max_size=8,
    ).map("".join)
)
def test_mentions_are_in_order_never_over_one_another_and_true(text: str) -> None:
    end = 0
    for mention in GLOSSARY.find_terms(text):
        assert end <= mention.span.start < mention.span.end <= len(text)
        end = mention.span.end
        assert mention.text == text[mention.span.start : mention.span.end]
        for ref in mention.terms:
            assert resolve(ref.kind, mention.text) == Resolved(ref.code)
