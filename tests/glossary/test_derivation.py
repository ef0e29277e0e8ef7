"""Formulas of metrics."""

from __future__ import annotations

import pytest

from groundwire_server.glossary import derivation_codes

KNOWN = {"REVENUE", "COGS", "NET INCOME", "R&D-COST", "売上高"}


@pytest.mark.parametrize(
    ("formula", "codes"),
    [
        ("REVENUE", ("REVENUE",)),
        ("(REVENUE - COGS) / REVENUE", ("REVENUE", "COGS")),
        ("-COGS*100", ("COGS",)),
        ("NET INCOME / 売上高", ("NET INCOME", "売上高")),
        ("R&D-COST + 1.5", ("R&D-COST",)),
        ("REVENUES - COGS", ("REVENUES", "COGS")),
        ("2024", ()),
        ("((((COGS))))", ("COGS",)),
    ],
)
def test_the_names_of_a_formula(formula: str, codes: tuple[str, ...]) -> None:
    assert derivation_codes(formula, KNOWN) == codes


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("REVENUE -", "its end is missing"),
        ("", "its end is missing"),
        ("(REVENUE", "a bracket is not closed"),
        ("REVENUE)", "stands where nothing belongs"),
        ("* COGS", "stands where a metric belongs"),
        ("REVENUE COGS", "stands where nothing belongs"),
        ("(" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_formula(formula: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        derivation_codes(formula, KNOWN)
