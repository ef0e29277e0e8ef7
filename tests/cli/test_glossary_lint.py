"""`groundwire glossary lint` and `coverage`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import GLOSSARY, furnish, run, write, write_lines

SHARED = """\
[[metric]]
code = "REVENUE"
unit = "USD"
synonyms = { en = ["sales"] }

[[metric]]
code = "ORDERS"
unit = "COUNT"
synonyms = { en = ["Sales"] }
"""


def lint(text: str, name: str = "glossary.toml") -> tuple[int, list[str]]:
    write(".", {name: text})
    ran = run("glossary", "lint", name)
    return ran.code, ran.out.splitlines()


def test_a_glossary_that_holds() -> None:
    code, lines = lint(GLOSSARY)
    assert (code, lines) == (0, [])
    assert run("glossary", "lint", "glossary.toml").err == "2 terms, 0 errors, 0 to look at\n"
    assert not Path("groundwire-data").exists()  # a file needs no server


def test_a_shared_name_tells_both_places() -> None:
    code, lines = lint(SHARED)
    assert code == 1
    assert lines[0] == (
        "error  metric: 'Sales' is a name of ORDERS (metric[1], line 6) and of REVENUE (metric[0], line 1)"
    )
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "look   ORDERS (metric[1], line 6)",
        "look   REVENUE (metric[0], line 1)",
    ]  # what was assumed


@pytest.mark.parametrize(
    ("derivation", "why"),
    [
        ("(REVENUE - COGS) / REVENUE", "names 'COGS', which is no metric here"),
        ("(REVENUE", "is no formula: a bracket is not closed"),
        ("MARGIN * 2", "'MARGIN' is derived from itself"),
        ("HALF", "is derived from itself"),
        ("100", "names no metric"),
    ],
)
def test_a_derivation_that_does_not_hold(derivation: str, why: str) -> None:
    metrics = {"REVENUE": "", "MARGIN": derivation, "HALF": "MARGIN / 2"}
    text = "".join(f'[[metric]]\ncode = "{code}"\nunit = "USD"\nderivation = "{it}"\n' for code, it in metrics.items())
    code, lines = lint(text)
    assert code == 1
    assert any(line.startswith("error  MARGIN (metric[1], line 5): ") and why in line for line in lines)


def test_what_was_assumed_is_told() -> None:
    write_lines("glossary.jsonl", [{"kind": "metric", "canonical": "Revenue", "unit": "USD", "aliases": {}}])
    ran = run("glossary", "lint", "glossary.jsonl")
    assert ran.code == 0
    assert 'look   Revenue (line 1): additivity is not said; "sum" is assumed' in ran.out
    (finding,) = run("glossary", "lint", "glossary.jsonl", "--json").frames
    assert (finding["severity"], finding["where"]) == ("look", "Revenue (line 1)")


def test_a_ratio_that_is_added_and_a_metric_without_a_unit() -> None:
    code, lines = lint(
        '[[metric]]\ncode = "A"\n[[metric]]\ncode = "B"\nunit = "X"\nderivation = "A / 2"\nadditivity = "sum"\n'
    )
    assert code == 0
    assert [line.partition(":")[0] for line in lines] == [
        "look   A (metric[0], line 1)",
        "look   A (metric[0], line 1)",
        "look   B (metric[1], line 3)",
    ]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("g.toml", "[[metric]\n", "no TOML at line 1"),
        ("g.toml", '[[metric]]\nlabel = "x"\n', "metric[0].code: a text is needed"),
        ("g.jsonl", "{}\n", "line 1.kind: "),
    ],
)
def test_a_file_that_cannot_be_read_as_one(name: str, text: str, why: str) -> None:
    code, lines = lint(text, name)
    assert code == 1
    assert why in lines[0]


def test_another_form_is_refused() -> None:
    write(".", {"glossary.xlsx": "x"})
    assert "ends in .toml, .yaml or .jsonl" in run("glossary", "lint", "glossary.xlsx").complaint


def test_the_glossary_of_a_library() -> None:
    furnish()
    write(".", {"owned.toml": '[[relation]]\ncode = "owned_by"\ninverse_of = "parent_of"\n'})
    assert run("glossary", "load", "owned.toml", "--add").code == 0
    ran = run("glossary", "lint")
    assert (ran.code, ran.out, ran.err) == (0, "", "3 terms, 0 errors, 0 to look at\n")
    write(".", {"more.csv": "metric,entity,period,value,unit,source_doc,locator\nEBIT,Globex,2024,1,USD,a,b\n"})
    run("facts", "load", "more.csv")
    said = run("glossary", "lint").out.splitlines()
    assert said == [
        "look   EBIT: no term names this metric (1 facts)",
        "look   Globex: no term names this entity (1 facts)",
    ]


def test_names_that_the_terms_of_a_library_share() -> None:
    furnish()
    assert run("libraries", "set", "default", "--set", "ambiguous=report").code == 0
    write(".", {"shared.toml": SHARED})
    assert run("glossary", "load", "shared.toml", "--add").code == 0
    ran = run("glossary", "lint")
    assert ran.code == 1
    assert "error  metric: 'Sales' is a name of ORDERS (metric) and of REVENUE (metric)" in ran.out


def test_coverage() -> None:
    furnish()
    write(".", {"more.csv": "metric,entity,period,value,unit,source_doc,locator\nsales,Acme,FY2020,1,USD_M,a,b\n"})
    run("facts", "load", "more.csv")
    ran = run("glossary", "coverage")
    assert ran.out.splitlines() == [
        "metric\tREVENUE\tRevenue\tUSD_M\t3\t3\tFY2020\tFY2024\tFY2021, FY2022",
        "entity\tACME\tAcme Corporation\tUSD_M\t3\t3\tFY2020\tFY2024\tFY2021, FY2022",
    ]
    assert "2 of 2 terms have figures; 0 names in facts have no term" in ran.err
    kinds = [frame["frame"] for frame in run("glossary", "coverage", "--json").frames]
    assert kinds == ["TermDescription", "TermDescription"]


def test_coverage_of_what_is_missing_alone() -> None:
    furnish()
    write(".", {"term.toml": '[[metric]]\ncode = "EBIT"\nunit = "USD"\n'})
    run("glossary", "load", "term.toml", "--add")
    write(".", {"more.csv": "metric,entity,period,value,unit,source_doc,locator\nsales,Globex,2024,1,USD_M,a,b\n"})
    run("facts", "load", "more.csv")
    lines = [line.split("\t") for line in run("glossary", "coverage", "--missing").out.splitlines()]
    assert [line[:5] for line in lines] == [
        ["metric", "EBIT", "", "", "0"],
        ["entity", "Globex", "(no term)", "USD_M", "1"],
    ]
