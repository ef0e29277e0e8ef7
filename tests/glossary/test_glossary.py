"""Glossaries from files, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, GlossaryConflict, InvalidRequest
from groundwire_server.glossary import (
    Additivity,
    Ambiguous,
    ChannelTerm,
    EntityTerm,
    Glossary,
    Identifier,
    MemberTerm,
    MetricNature,
    MetricTerm,
    RelationTerm,
    Resolved,
    Synonym,
    Term,
    Unknown,
    display_name,
)
from groundwire_server.glossary.names import name_key

TOML = """
[[metric]]
code = "REVENUE"
label = "Revenue"
unit = "USD"
additivity = "sum"
nature = "flow"
definition = "What customers paid."
synonyms = {en = ["turnover", "net sales"], ja = ["売上高"], zh = ["营业收入"]}

[[metric]]
code = "MARGIN"
label = "Gross margin"
unit = "PERCENT"
derivation = "(REVENUE - COGS) / REVENUE"

[[entity]]
code = "ACME"
label = "Acme Corporation"
type = "company"
ids = {ticker = "ACM", lei = "5493001KJTIIGC8Y1R12"}
fiscal_year_start = "04-01"

[[entity]]
code = "ACME_JP"
parent = "ACME"
synonyms = {ja = ["アクメ日本"]}

[[channel]]
code = "ONLINE"
synonyms = ["online stores", "ネット"]

[[dimension]]
dimension = "segment"
code = "CLOUD"
synonyms = {en = ["cloud services"]}
"""


def test_the_toml_form() -> None:
    glossary = Glossary.from_toml(TOML)
    assert glossary.metrics["REVENUE"] == MetricTerm(
        "REVENUE",
        "Revenue",
        (Synonym("turnover", "en"), Synonym("net sales", "en"), Synonym("营业收入", "zh"), Synonym("売上高", "ja")),
        "USD",
        Additivity.SUM,
        MetricNature.FLOW,
        "What customers paid.",
    )
    assert glossary.metrics["MARGIN"].additivity is Additivity.NONE
    assert glossary.metrics["MARGIN"].derivation == "(REVENUE - COGS) / REVENUE"
    assert glossary.entities["ACME"].identifiers == (
        Identifier("ticker", "ACM"),
        Identifier("lei", "5493001KJTIIGC8Y1R12"),
    )
    assert len(glossary) == 6


@pytest.mark.parametrize(
    ("kind", "raw", "code"),
    [
        ("metric", "Net Sales", "REVENUE"),
        ("metric", "売上高", "REVENUE"),
        ("metric", "margins, gross", "MARGIN"),
        ("entity", "acm", "ACME"),
        ("entity", "5493001KJTIIGC8Y1R12", "ACME"),
        ("entity", "アクメ日本", "ACME_JP"),
        ("channel", "", "TOTAL"),
        ("channel", "total", "TOTAL"),
        ("channel", "Online Store", "ONLINE"),
    ],
)
def test_names_resolve(kind: str, raw: str, code: str) -> None:
    glossary = Glossary.from_toml(TOML)
    resolve: Callable[[str], object] = getattr(glossary, f"resolve_{kind}")
    assert resolve(raw) == Resolved(code)


def test_members_resolve_on_their_axis() -> None:
    glossary = Glossary.from_toml(TOML)
    assert glossary.resolve_member("segment", "Cloud Services") == Resolved("CLOUD")
    assert glossary.resolve_member("region", "Cloud Services") == Unknown()


def test_a_fiscal_year_comes_down_the_line() -> None:
    glossary = Glossary.from_toml(TOML)
    assert glossary.fiscal_calendar("ACME").start == "04-01"
    assert glossary.fiscal_calendar("ACME_JP").start == "04-01"
    assert glossary.fiscal_calendar("ELSE").start == "01-01"
    assert glossary.knows_fiscal_year("ACME_JP")
    assert not glossary.knows_fiscal_year("ELSE")


def test_an_empty_glossary_knows_the_whole() -> None:
    assert Glossary().resolve_channel("") == Resolved("TOTAL")
    assert Glossary.from_toml("") == Glossary()


JSONL = [
    '{"kind": "metric", "canonical": "gdp", "label": "GDP (US$)", "aliases": {"en": ["GDP"], "ja": ["GDP"], "zh": []}}',
    "",
    '{"kind": "metric", "canonical": "cpi", "label": "Inflation (annual %)", "aliases": {}}',
    '{"kind": "metric", "canonical": "eps", "aliases": {"ja": ["1株当たり利益"]}}',
    '{"kind": "metric", "canonical": "rate", "unit": "pure"}',
    '{"kind": "entity", "canonical": "JPN", "aliases": {"en": ["Japan"], "ja": ["日本"]}, "ids": {"iso3166": "JP"}}',
]


def test_the_json_lines_form_and_what_it_assumes() -> None:
    glossary = Glossary.from_jsonl(JSONL)
    sums = {code: term.additivity is Additivity.SUM for code, term in glossary.metrics.items()}
    assert sums == {"gdp": True, "cpi": False, "eps": False, "rate": False}
    assert all(term.additivity_assumed for term in glossary.metrics.values())
    assert glossary.resolve_entity("jp") == Resolved("JPN")
    assert display_name(glossary.entities["JPN"], "en") == "Japan"
    assert display_name(glossary.entities["JPN"], "zh") == "Japan"


def test_a_shared_name_is_refused_with_both_places() -> None:
    text = '[[metric]]\ncode = "A"\nsynonyms = ["Long-term Debt"]\n\n[[metric]]\ncode = "B"\nlabel = "long term debt"\n'
    with pytest.raises(GlossaryConflict) as raised:
        Glossary.from_toml(text)
    assert raised.value.reason is ErrorReason.GLOSSARY_CONFLICT
    assert raised.value.details == {
        "synonym": "Long-term Debt",
        "first": "A (metric[0], line 1)",
        "second": "B (metric[1], line 5)",
    }
    reported = Glossary.from_toml(text, ambiguous="report")
    assert reported.resolve_metric("long term debt") == Ambiguous(("A", "B"))
    assert reported.resolve_metric("A") == Resolved("A")
    assert [conflict.codes for conflict in reported.conflicts] == [("A", "B")]


def test_one_name_in_two_kinds_or_on_two_axes_is_no_conflict() -> None:
    Glossary(
        [
            MetricTerm("CLOUD"),
            EntityTerm("CLOUD"),
            ChannelTerm("CLOUD"),
            MemberTerm("a", "CLOUD"),
            MemberTerm("b", "CLOUD"),
        ]
    )


def test_a_channel_may_not_be_called_total() -> None:
    with pytest.raises(GlossaryConflict, match="built in"):
        Glossary([ChannelTerm("ALL", synonyms=(Synonym("Total"),))])
    Glossary([ChannelTerm("TOTAL", synonyms=(Synonym("合計"),))])


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("[[metric]]\n", ["metric[0].code"]),
        ('[[metric]]\ncode = ""\n', ["metric[0].code"]),
        (
            '[[metric]]\ncode = "A"\nadditivity = "yes"\nnature = "stock"\n',
            ["metric[0].additivity", "metric[0].nature"],
        ),
        ('[[metric]]\ncode = "A"\nsinonyms = []\n', ["metric[0].sinonyms"]),
        ('[[metric]]\ncode = "A"\nsynonyms = {en = "turnover"}\n', ["metric[0].synonyms.en"]),
        ('[[metric]]\ncode = "A"\nsynonyms = "turnover"\n', ["metric[0].synonyms"]),
        ('[[metric]]\ncode = "A"\nunit = 5\n', ["metric[0].unit"]),
        ('[[metric]]\ncode = "A"\n[[metric]]\ncode = "A"\n', ["metric[1].code"]),
        ('[[entity]]\ncode = "A"\nfiscal_year_start = "4-1"\n', ["entity[0].fiscal_year_start"]),
        ('[[entity]]\ncode = "A"\nfiscal_year_named_by = "middle"\n', ["entity[0].fiscal_year_named_by"]),
        ('[[entity]]\ncode = "A"\nparent = "B"\n', ["entity[0].parent"]),
        ('[[entity]]\ncode = "A"\nparent = "A"\n', ["entity[0].parent"]),
        ('[[entity]]\ncode = "A"\nids = ["x"]\n', ["entity[0].ids"]),
        ('[[entity]]\ncode = "A\\u0007"\n', ["entity[0].code", "entity[0]"]),
        ('[[thing]]\ncode = "A"\n', ["thing"]),
        ('metric = "A"\n', ["metric"]),
        ("[[metric]\n", ["glossary"]),
        ('[[dimension]]\ncode = "A"\n', ["dimension[0].dimension"]),
    ],
)
def test_every_fault_is_named(text: str, fields: list[str]) -> None:
    with pytest.raises(InvalidRequest) as raised:
        Glossary.from_toml(text)
    assert [violation.field for violation in raised.value.violations] == fields


def test_a_circle_of_parents_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="ancestor"):
        Glossary([EntityTerm("A", parent_code="B"), EntityTerm("B", parent_code="A")])


@pytest.mark.parametrize(
    ("line", "field"),
    [("{", "line 2"), ("[]", "line 2"), ('{"canonical": "A"}', "line 2.kind"), ('{"kind": "thing"}', "line 2.kind")],
)
def test_bad_json_lines_are_named(line: str, field: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        Glossary.from_jsonl([JSONL[0], line])
    assert raised.value.violations[0].field == field


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=8
).filter(lambda text: text.strip() == text and bool(name_key(text)))
LANGUAGES = st.sampled_from(["", "en", "zh", "ja", "de", "pt-BR"])
SYNONYMS = st.lists(st.builds(Synonym, TEXTS, LANGUAGES), max_size=4).map(tuple)
STARTS = st.sampled_from(["", "01-01", "04-01", "12-31"])


@st.composite
def terms(draw: st.DrawFn) -> list[Term]:
    codes = draw(st.lists(TEXTS, min_size=1, max_size=6, unique=True))
    made: list[Term] = []
    for code in codes:
        label, names = draw(st.just("") | TEXTS), draw(SYNONYMS)
        match draw(st.integers(0, 4)):
            case 0:
                additivity, nature = draw(st.sampled_from(Additivity)), draw(st.none() | st.sampled_from(MetricNature))
                texts = [draw(st.just("") | st.text("aé\n\t\"\\'']", max_size=6)) for _ in range(2)]
                made.append(MetricTerm(code, label, names, draw(st.just("") | TEXTS), additivity, nature, *texts))
            case 1:
                named_by = draw(st.sampled_from(["", "start", "end"]))
                schemes = draw(st.dictionaries(st.sampled_from(["ticker", "lei", "x y"]), TEXTS, max_size=2))
                identifiers = tuple(Identifier(*pair) for pair in schemes.items())
                made.append(
                    EntityTerm(code, label, names, identifiers, "", draw(STARTS), named_by, draw(st.just("") | TEXTS))
                )
            case 2:
                made.append(ChannelTerm(code, label, names))
            case 3:
                made.append(MemberTerm(draw(TEXTS), code, label, names))
            case _:
                inverse = draw(st.just("") | TEXTS.map("of {}".format))
                made.append(RelationTerm(code, label, names, inverse, not inverse and draw(st.booleans())))
    return made


@given(terms(), st.randoms())
def test_a_glossary_is_the_same_in_any_order_and_after_a_trip_through_toml(made: list[Term], chosen: object) -> None:
    glossary = Glossary(made, ambiguous="report")
    again = Glossary.from_toml(glossary.to_toml(), ambiguous="report")
    assert again == glossary
    assert again.content_hash == glossary.content_hash
    shuffled = list(made)
    chosen.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Glossary(shuffled, ambiguous="report").content_hash == glossary.content_hash


@given(terms())
def test_every_name_resolves_to_its_term_or_to_all_that_share_it(made: list[Term]) -> None:
    glossary = Glossary(made, ambiguous="report")
    for term in made:
        if isinstance(term, MetricTerm):
            for name in (term.label, *(synonym.text for synonym in term.synonyms)):
                if name.strip():
                    found = glossary.resolve_metric(name)
                    codes = (found.code,) if isinstance(found, Resolved) else getattr(found, "candidates", ())
                    # A name that is another term's code is that term's: a code always leads to its own.
                    assert term.code in codes or name in glossary.metrics
            assert glossary.resolve_metric(term.code) == Resolved(term.code)


def test_a_content_hash_tells_glossaries_apart() -> None:
    one = Glossary([MetricTerm("A", unit="USD")])
    other = Glossary([MetricTerm("A", unit="EUR")])
    assert one.content_hash != other.content_hash
    assert hash(one) != hash(other)
    assert one != other
    assert json.dumps(one.content_hash)


def test_relations_are_stored_under_one_name() -> None:
    glossary = Glossary.from_toml(
        '[[relation]]\ncode = "bought_by"\ninverse_of = "bought"\nsynonyms = {ja = ["買収元"]}\n'
        '[[relation]]\ncode = "competes_with"\nsymmetric = true\n[[relation]]\ncode = "part_of"\n'
    )
    names = glossary.relation_names
    assert [names.resolve(name) for name in ("bought_by", "part_of", "owned_by", "competes_with")] == [
        ("bought", True),
        ("part_of", False),
        ("parent_of", True),
        ("competes_with", False),
    ]
    assert glossary.relations["competes_with"].symmetric
    assert glossary.relation_index.exact("買収元") == ("bought_by",)
    assert glossary.find_terms("bought_by whom?") == []
    with pytest.raises(InvalidRequest) as raised:
        Glossary(
            [
                RelationTerm("a", inverse_of="owned_by"),
                RelationTerm("b", inverse_of="a"),
                RelationTerm("c", inverse_of="d", symmetric=True),
            ]
        )
    assert [fault.field for fault in raised.value.violations] == [
        "term 1.inverse_of",
        "term 2.inverse_of",
        "term 3.symmetric",
    ]
