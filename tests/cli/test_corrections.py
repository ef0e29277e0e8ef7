"""`groundwire facts correct` and `groundwire facts withdraw`."""

from __future__ import annotations

import pytest

from tests.cli.commands import run, write

FIGURES = (
    "metric,entity,period,value,unit,source_doc,locator\n"
    "REVENUE,ACME,FY2023,1010.05,USD,a.md,page=1\n"
    "REVENUE,ACME,FY2022,900,USD,a.md,page=2\n"
    "REVENUE,ACME,FY2022,901,USD,b.md,page=1\n"
    "COST,ACME,FY2023,10,USD,a.md,page=3\n"
)
BY = ("--by", "R. Mori", "--why", "a digit was dropped")


@pytest.fixture(autouse=True)
def stored() -> None:
    write(".", {"figures.csv": FIGURES})
    assert run("facts", "load", "figures.csv").out == "4 stored, 0 unchanged, 0 refused\n"


def values(*words: str) -> list[tuple[str, int, str, str]]:
    told = run("facts", "list", "--versions", "--json", *words).frames
    rows = [(each["fact"], each["fact"].get("version") or {}) for each in told]
    return [(f["value"], v.get("version", 0), v.get("author", ""), v.get("reason", "")) for f, v in rows]


def test_a_correction_is_the_latest_version_with_who_and_why() -> None:
    ran = run("facts", "correct", "REVENUE", "ACME", "FY2023", "1010.50", *BY)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "REVENUE of ACME for FY2023, 1010.05 USD from a.md: corrected to 1010.50\n"
    found = run("metric", "REVENUE", "ACME", "FY2023").out
    assert "1010.50 USD" in found
    assert "         version 2 of 2, by R. Mori: a digit was dropped\n" in found
    drawn = run("trace", "derivation", "REVENUE", "ACME", "FY2023", "--format", "dot").out
    assert "by R. Mori: a digit was dropped" in drawn
    assert "version 1" not in run("metric", "COST", "ACME", "FY2023").out
    expected = [("1010.05", 1, "", ""), ("1010.50", 2, "R. Mori", "a digit was dropped")]
    assert values("--metric", "REVENUE")[-2:] == expected
    # The file once more does not undo it.
    assert run("facts", "load", "figures.csv").out == "0 stored, 4 unchanged, 0 refused\n"
    assert "1010.50 USD" in run("metric", "REVENUE", "ACME", "FY2023").out
    assert "1010.05 USD" in run("metric", "REVENUE", "ACME", "FY2023", "--versions", "as_reported").out


def test_of_several_sources_one_is_named() -> None:
    ran = run("facts", "correct", "REVENUE", "ACME", "FY2022", "902", *BY)
    assert ran.code == 1
    assert "Several figures are meant: 900 USD from a.md; 901 USD from b.md. --source and --unit tell" in ran.err
    assert run("facts", "correct", "REVENUE", "ACME", "FY2022", "900.5", *BY, "--source", "b.md").code == 0
    assert [value for value, *_ in values("--source", "b.md")] == ["901", "900.5"]
    ran = run("facts", "withdraw", "REVENUE", "ACME", "FY2022", "--source", "a.md")
    assert ran.out == "REVENUE of ACME for FY2022, 900 USD from a.md: withdrawn\n"
    assert "900.5 USD" in run("metric", "REVENUE", "ACME", "FY2022").out
    assert run("facts", "withdraw", "REVENUE", "ACME", "FY2022", "--source", "c.md").code == 1


def test_what_is_taken_back_is_found_no_more() -> None:
    dry = run("facts", "withdraw", "COST", "ACME", "FY2023", "--dry-run")
    assert dry.out == "COST of ACME for FY2023, 10 USD from a.md: would be withdrawn\n"
    assert "10 USD" in run("metric", "COST", "ACME", "FY2023").out
    assert run("facts", "withdraw", "COST", "ACME", "FY2023").code == 0
    assert (
        "not found" in run("metric", "COST", "ACME", "FY2023").out
        or "unrecognized" in run("metric", "COST", "ACME", "FY2023").out
    )


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("correct", "REVENU", "ACME", "FY2023", "1", *BY), 1, "unrecognized metric 'REVENU'; near: REVENUE"),
        (("correct", "REVENUE", "ACME", "FY1999", "1", *BY), 1, "No figure is stored"),
        (("correct", "REVENUE", "ACME", "FY2023", "about 7", *BY), 3, "(FACT_VALUE_MALFORMED)"),
        (("correct", "REVENUE", "ACME", "FY2023", "1", "--by", "x"), 2, "--why"),
        (("withdraw", "REVENUE", "ACME", "FY1999"), 1, "No figure is stored"),
    ],
)
def test_what_cannot_be_done_says_why(words: tuple[str, ...], code: int, why: str) -> None:
    ran = run("facts", *words)
    assert ran.code == code
    assert why in ran.err
    assert len(values()) == 4


def test_a_figure_is_asked_for_as_it_was_known_on_a_day() -> None:
    rows = "metric,entity,period,value,unit,source_doc,locator,filed\n"
    rows += "SALES,ACME,2020,5,USD,c.md,page=1,2021-03-01\nSALES,ACME,2020,7,USD,c.md,page=1,2022-03-01\n"
    write(".", {"filed.csv": rows})
    assert run("facts", "load", "filed.csv").code == 0
    for day, value in (("2021-12-31", "5 USD"), ("2022-12-31", "7 USD")):
        assert f": {value}." in run("metric", "SALES", "ACME", "2020", "--known-at", day).out
    assert "not found" in run("metric", "SALES", "ACME", "2020", "--known-at", "2020-12-31").out
    assert run("metric", "SALES", "ACME", "2020", "--known-at", "soon").code == 2
