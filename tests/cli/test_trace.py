"""`groundwire trace` and `groundwire relations`."""

from __future__ import annotations

import pytest

from tests.cli.commands import GLOSSARY, run, run_on_terminal, write, write_lines

OWNERS = [
    ("Acme", "parent_of", "Beta", "2019-04-01", ""),
    ("Beta", "parent_of", "Gamma", "", "2022-03-31"),
    ("Acme", "parent_of", "Delta", "", ""),
    ("グローバル", "competes_with", "Acme", "", ""),
]


def plant() -> None:
    """A library with some relations and a glossary that names one of their ends."""
    rows = [
        {
            "subject": subject,
            "relation": relation,
            "object": target,
            "source_doc": "owners.jsonl",
            "locator": f"line={number}",
            **({"valid_from": since} if since else {}),
            **({"valid_to": until} if until else {}),
        }
        for number, (subject, relation, target, since, until) in enumerate(OWNERS, start=1)
    ]
    write(".", {"glossary.toml": GLOSSARY})
    assert run("glossary", "load", "glossary.toml").code == 0
    file = write_lines("owners.jsonl", rows)
    assert run("facts", "load", file, "--form", "relations_jsonl").code == 0


def rows_of(*words: str) -> list[list[str]]:
    ran = run("trace", *words)
    assert ran.code == 0, ran
    return [line.split("\t") for line in ran.out.splitlines()]


def test_what_is_around_a_node() -> None:
    plant()
    rows = rows_of("around", "Acme")
    assert [row[1:4] for row in rows] == [
        ["グローバル", "competes_with", "Acme Corporation"],
        ["Acme Corporation", "parent_of", "Beta"],
        ["Acme Corporation", "parent_of", "Delta"],
    ]
    beta = next(row for row in rows if row[3] == "Beta")
    assert beta[4:] == ["2019-04-01", "", "owners.jsonl", "line=1"]
    ran = run("trace", "around", "Acme", "--relation", "parent_of", "--hops", "2", "--valid-in", "2021")
    assert [line.split("\t")[3] for line in ran.out.splitlines()] == ["Beta", "Delta", "Gamma"]
    assert "summary  exhausted: 3 snippets" in ran.err  # the table alone goes into a pipe


def test_a_walk_for_programs() -> None:
    plant()
    kinds = [frame["frame"] for frame in run("trace", "around", "Acme", "--json").frames]
    assert kinds == ["StreamHeader", "SnippetBatch", "StreamSummary"]


def test_a_name_that_is_no_node() -> None:
    plant()
    ran = run("trace", "around", "Acmee")
    assert ran.code == 1
    assert "'Acmee' is no node here; near: entity:ACME" in ran.complaint


def test_how_two_nodes_hang_together() -> None:
    plant()
    (row,) = rows_of("paths", "グローバル", "Gamma")
    assert row == [
        "1",
        "3",
        "グローバル -competes_with-> Acme Corporation -parent_of-> Beta -parent_of-> Gamma",
        "owners.jsonl",
    ]
    (row,) = rows_of("paths", "Gamma", "Acme", "--pattern", "owned_by, owned_by")
    assert row[2] == "Gamma <-parent_of- Beta <-parent_of- Acme Corporation"
    assert rows_of("paths", "Gamma", "Delta", "--direction", "out") == []


def test_all_that_can_be_reached() -> None:
    plant()
    rows = rows_of("closure", "Acme", "--relation", "parent_of")
    assert [(row[1], row[2].rpartition("-> ")[2]) for row in rows] == [("1", "Beta"), ("1", "Delta"), ("2", "Gamma")]
    (row,) = rows_of("closure", "Beta", "--relation", "parent_of", "--direction", "in")
    assert row[2] == "Beta <-parent_of- Acme Corporation"
    assert len(rows_of("closure", "Acme", "--relation", "parent_of", "--depth", "1")) == 2


def test_what_lies_above() -> None:
    plant()
    rows = rows_of("ancestors", "Gamma", "Delta")
    assert rows
    assert all("Acme Corporation" in row[2] for row in rows)
    alone = run("trace", "ancestors", "Gamma")
    assert alone.code == 2
    assert "groundwire trace closure Gamma --relation parent_of --direction in" in alone.complaint


def test_stored_relations() -> None:
    plant()
    ran = run("relations", "list", "--relation", "parent_of")
    assert ran.code == 0
    assert [line.split("\t")[:5] for line in ran.out.splitlines()] == [
        ["entity:ACME", "parent_of", "entity:Beta", "2019-04-01", ""],
        ["entity:ACME", "parent_of", "literal:Delta", "", ""],
        ["entity:Beta", "parent_of", "literal:Gamma", "", "2022-03-31"],
    ]
    listed = run("relations", "list", "--source", "owners.jsonl", "--json").frames
    assert [frame["frame"] for frame in listed] == ["ListedRelation"] * 4
    assert run("relations", "list", "--source", "nowhere").out == ""


@pytest.mark.parametrize("columns", [40, 90])
def test_on_a_terminal(columns: int) -> None:
    plant()
    shown = run_on_terminal("trace", "around", "Acme", columns=columns, NO_COLOR="1")
    assert shown.code == 0
    assert "グローバル" in shown.out
    assert "relation" in shown.out.partition("\n")[0] or columns == 40


PARTS = """\
metric,entity,period,value,unit,source_doc,locator
REVENUE,Beta,FY2024,10.50,USD_M,a.md,line=1
REVENUE,Gamma,FY2024,2.25,USD_M,a.md,line=2
"""


def test_figures_along_relations() -> None:
    plant()
    names = "".join(f'[[entity]]\ncode = "{name}"\n' for name in ("Beta", "Gamma", "Delta"))
    write(".", {"parts.csv": PARTS, "names.toml": names})
    assert run("glossary", "load", "names.toml", "--add").code == 0
    assert run("facts", "load", "parts.csv").code == 0
    added = run("trace", "rollup", "revenue", "Acme", "FY2024")
    assert added.code == 0
    assert "found    revenue / Acme / FY2024" in added.out
    assert "10.50 USD_M" in added.out
    compared = run("trace", "compare", "revenue", "FY2024", "Beta", "Delta")
    assert compared.code == 0
    assert "found    revenue / Beta / FY2024" in compared.out
    assert "not found revenue / Delta / FY2024" in compared.out
    kinds = [frame["frame"] for frame in run("trace", "rollup", "revenue", "Acme", "FY2024", "--json").frames]
    assert kinds[:2] == ["StreamHeader", "MetricOutcomes"]


def test_how_a_figure_came_to_be() -> None:
    plant()
    terms = (
        '[[metric]]\ncode = "COGS"\nunit = "USD_M"\n'
        '[[metric]]\ncode = "PROFIT"\nlabel = "Gross profit"\nunit = "USD_M"\nderivation = "REVENUE - COGS"\n'
    )
    costs = "metric,entity,period,value,unit,source_doc,locator\nCOGS,Acme,FY2024,4.25,USD_M,a.md,line=3\n"
    write(".", {"terms.toml": terms, "costs.csv": PARTS.replace("Beta", "Acme") + costs.partition("\n")[2]})
    assert run("glossary", "load", "terms.toml", "--add").code == 0
    assert run("facts", "load", "costs.csv").code == 0
    ran = run("trace", "derivation", "Gross profit", "Acme", "FY2024")
    assert ran.code == 0
    assert "6.25 USD_M" in ran.out
    assert "10.50 USD_M" in ran.out
    assert "a.md line=3" in ran.out
