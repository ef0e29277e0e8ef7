"""What a person should look at in a glossary, and which derivations can not be meant."""

from __future__ import annotations

import pytest

from groundwire_server.errors import InvalidRequest
from groundwire_server.glossary import (
    Additivity,
    EntityTerm,
    FindingKind,
    Glossary,
    Identifier,
    MetricTerm,
    Synonym,
    check_derivations,
    lint_glossary,
)


def metric(code: str, derivation: str = "", **more: object) -> MetricTerm:
    return MetricTerm(code, unit="USD", derivation=derivation, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("terms", "fault"),
    [
        ([metric("A", "B +")], "'B +' is no formula: its end is missing"),
        ([metric("A", "(B")], "'(B' is no formula: a bracket is not closed"),
        ([metric("A", "B; DROP")], "'B; DROP' is no formula: 'D' stands where nothing belongs"),
        ([metric("A", "B;")], ""),  # codes may look odd: an unknown one is to look at, and may come later
        ([metric("A", "1 + 2")], "'1 + 2' names no metric"),
        ([metric("A", "A * 2")], "'A' is derived from itself"),
        ([metric("A", "B"), metric("B", "C / 2"), metric("C", "A - 1")], "'B' is derived from itself"),
        ([metric("売上総利益", "売上高 - 売上原価"), metric("売上高"), metric("売上原価")], ""),
        ([metric("A", "B / C"), metric("B"), metric("C")], ""),
    ],
)
def test_a_derivation_is_a_formula_of_other_metrics(terms: list[MetricTerm], fault: str) -> None:
    glossary = Glossary(terms)
    wrong = [each.message for each in lint_glossary(glossary) if each.wrong]
    if not fault:
        check_derivations(glossary)
        return
    with pytest.raises(InvalidRequest) as raised:
        check_derivations(glossary)
    assert fault in str(raised.value)
    assert any(fault in message for message in wrong)


def test_only_what_is_changed_is_judged() -> None:
    glossary = Glossary([metric("OLD", "OLD + 1"), metric("NEW", "OLD * 2")])
    check_derivations(glossary, {"NEW"})
    with pytest.raises(InvalidRequest, match="OLD"):
        check_derivations(glossary)


def test_everything_to_look_at_is_told() -> None:
    glossary = Glossary.from_toml(
        """
[[metric]]
code = "gross_margin"
derivation = "(revenue - cogs) / revenue"
[[metric]]
code = "revenue"
unit = "USD"
additivity = "sum"
[[metric]]
code = "ratio"
unit = "x"
additivity = "sum"
derivation = "revenue / 2"
[[entity]]
code = "GOOD"
ids = {lei = "5493001KJTIIGC8Y1R12", isin = "US0378331005", iso3166 = "JPN", ticker = "anything"}
[[entity]]
code = "BAD"
ids = {lei = "5493001KJTIIGC8Y1R13", isin = "US0378331006", ISO3166 = "Japan"}
"""
    )
    found = [(each.kind, each.code, each.wrong) for each in lint_glossary(glossary)]
    assert found == [
        (FindingKind.IDENTIFIER, "BAD", False),
        (FindingKind.IDENTIFIER, "BAD", False),
        (FindingKind.IDENTIFIER, "BAD", False),
        (FindingKind.DERIVATION, "gross_margin", True),
        (FindingKind.ASSUMED, "gross_margin", False),
        (FindingKind.UNIT, "gross_margin", False),
        (FindingKind.ADDITIVITY, "ratio", False),
    ]
    assert glossary.metrics["gross_margin"].additivity is Additivity.NONE


def test_what_is_assumed_stays_assumed() -> None:
    """It is written as what nobody said, so that other names may change it."""
    glossary = Glossary.from_toml('[[metric]]\ncode = "X"\n')
    assert glossary.metrics["X"].additivity is Additivity.SUM
    assert Glossary.from_toml(glossary.to_toml()) == glossary
    assert "additivity" not in glossary.to_toml()
    said = Glossary([MetricTerm("X", additivity=Additivity.SUM)])
    assert said != glossary
    assert said.content_hash != glossary.content_hash
    renamed = Glossary.from_toml(glossary.to_toml() + 'label = "Price per share"\n')
    assert renamed.metrics["X"].additivity is Additivity.NONE


def test_identifiers_are_names() -> None:
    terms = [EntityTerm("A", identifiers=(Identifier("ticker", "7203.T"),), synonyms=(Synonym("トヨタ", "ja"),))]
    assert Glossary(terms).resolve_entity("7203.t") == Glossary(terms).resolve_entity("トヨタ")
