"""`groundwire tools`, and `groundwire facts list`."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import furnish, run, write


def test_what_an_agent_can_call() -> None:
    furnish()
    rows = [line.split("\t") for line in run("tools").out.splitlines()]
    methods = {row[0]: row[1] for row in rows}
    assert methods["query_metric"] == "/groundwire.v1.MetricService/QueryMetric"
    assert all(row[2] for row in rows)
    frames = run("tools", "--json", "--language", "ja").frames
    assert {frame["frame"] for frame in frames} == {"ToolDescription"}


@pytest.mark.parametrize(
    ("form", "key"), [("mcp", "inputSchema"), ("openai", "function"), ("anthropic", "input_schema")]
)
def test_definitions_to_hand_to_a_model(form: str, key: str) -> None:
    furnish()
    definitions = json.loads(run("tools", "--form", form, "--definitions").out)
    assert definitions
    assert all(key in each for each in definitions)


def test_stored_figures_digit_for_digit() -> None:
    furnish()
    rows = [line.split("\t") for line in run("facts", "list").out.splitlines()]
    assert [row[:8] for row in rows] == [
        ["REVENUE", "ACME", "FY2023", "TOTAL", "1100", "USD_M", "reports/2023.md", "line=3"],
        ["REVENUE", "ACME", "FY2024", "TOTAL", "1234.50", "USD_M", "reports/2024.md", "line=3"],
    ]
    assert len(run("facts", "list", "--metric", "sales", "--source", "reports/2024.md").out.splitlines()) == 1
    assert run("facts", "list", "--status", "pending").out == ""
    assert [frame["frame"] for frame in run("facts", "list", "--json").frames] == ["ListedFact", "ListedFact"]


def test_every_version_of_a_figure() -> None:
    furnish()
    restated = (
        "metric,entity,period,value,unit,source_doc,locator\nREVENUE,ACME,FY2024,1240,USD_M,reports/2024.md,line=3\n"
    )
    write(".", {"restated.csv": restated})
    assert run("facts", "load", "restated.csv").code == 0
    assert [line.split("\t")[4] for line in run("facts", "list").out.splitlines()] == ["1100", "1240"]
    versions = [line.split("\t") for line in run("facts", "list", "--versions").out.splitlines()]
    assert [(row[4], row[8]) for row in versions if row[2] == "FY2024"] in (
        [("1234.50", "1"), ("1240", "2")],
        [("1240", "2"), ("1234.50", "1")],
    )
