"""`groundwire eval metric` on a small set with every outcome, right and wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import run, write, write_lines

GLOSSARY = [
    {"kind": "metric", "canonical": "Revenue", "label": "Revenue", "aliases": {"en": ["revenue", "sales"]}},
    {"kind": "entity", "canonical": "Acme", "label": "Acme", "aliases": {"en": ["Acme"]}},
]
SOURCE = {"source_doc": "r/2024", "locator": "line=3"}
FACTS = [
    {
        "metric": "Revenue",
        "entity": "Acme",
        "period": "2023",
        "channel": "",
        "unit": "USD_M",
        "value": "7.50",
        **SOURCE,
    },
    {"metric": "Revenue", "entity": "Acme", "period": "2024", "channel": "", "unit": "USD_M", "value": "8", **SOURCE},
]
ACME = {"metric": "Revenue", "entity": "Acme", "channel": ""}
RIGHT = [
    {
        "question_id": "a",
        "question": "What was the revenue of Acme in 2023?",
        "expect": "found",
        "params": {**ACME, "period": "2023"},
        "value": "7.5",
        "unit": "usd_m",
        **SOURCE,
    },
    {
        "question_id": "b",
        "question": "What was the revenue of Acme in 1999?",
        "expect": "not_found",
        "params": {**ACME, "period": "1999"},
    },
    {
        "question_id": "c",
        "question": "What was the viral coefficient of Acme in 2023?",
        "expect": "unrecognized_param",
        "bad_param": "metric",
        "bad_value": "viral coefficient",
    },
]


def folder(questions: list[dict[str, Any]]) -> Path:
    write_lines("set/glossary.jsonl", GLOSSARY)
    write_lines("set/facts.jsonl", FACTS)
    write_lines("set/structured_questions.jsonl", questions)
    return Path("set")


def evaluate(questions: list[dict[str, Any]], by: str = "params") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    ran = run("eval", "metric", folder(questions), "--by", by, "--run", "run.jsonl", "--json", "totals.json")
    assert ran.code == 0, ran
    lines = Path("run.jsonl").read_text(encoding="utf-8").splitlines()
    return json.loads(Path("totals.json").read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def test_every_outcome_by_its_parameters() -> None:
    totals, lines = evaluate(RIGHT)
    assert totals == {
        "set": "set",
        "by": "params",
        "n": 3,
        "right": 3,
        "wrong_figures": 0,
        "by_outcome": {kind: {"n": 1, "right": 1} for kind in ("found", "not_found", "unrecognized_param")},
        "refused_rows": 0,
    }
    nothing = {"value": None, "unit": "", "source_doc": "", "locator": ""}
    assert lines == [
        {"question_id": "a", "outcome": "found", "param": "", "value": "7.50", "unit": "USD_M", **SOURCE},
        {"question_id": "b", "outcome": "not_found", "param": "", **nothing},
        {"question_id": "c", "outcome": "unrecognized_param", "param": "metric", **nothing},
    ]


@pytest.mark.parametrize(
    ("change", "right", "wrong_figures"),
    [
        ({"value": "7.51"}, 0, 1),
        ({"unit": "EUR_M"}, 0, 0),
        ({"source_doc": "other"}, 0, 0),
        ({"locator": "line=4"}, 0, 0),
        ({"expect": "not_found"}, 0, 1),
        ({"value": "7.50000"}, 1, 0),
        ({"params": {**ACME, "period": "2024"}}, 0, 1),
        ({"params": {**ACME, "period": "1999"}}, 0, 0),
    ],
)
def test_what_counts_as_wrong(change: dict[str, Any], right: int, wrong_figures: int) -> None:
    totals, _ = evaluate([{**RIGHT[0], **change}])
    assert (totals["right"], totals["wrong_figures"]) == (right, wrong_figures)


def test_another_bad_name_than_expected_is_wrong() -> None:
    assert evaluate([{**RIGHT[2], "params": {**ACME, "entity": "Globex", "period": "2023"}}])[0]["right"] == 0


def test_from_the_words_of_the_question_alone() -> None:
    totals, lines = evaluate(RIGHT[:2], "question")
    assert (totals["by"], totals["right"], totals["wrong_figures"]) == ("question", 2, 0)
    assert [line["value"] for line in lines] == ["7.50", None]


def test_a_set_without_a_glossary_has_the_names_of_its_figures() -> None:
    root = folder(RIGHT[:1])
    (root / "glossary.jsonl").unlink()
    assert "set by params: 1 of 1 right, 0 wrong figures" in run("eval", "metric", root, "--by", "params").out


def test_a_refused_row_is_told() -> None:
    root = folder(RIGHT[:1])
    write_lines(root / "facts.jsonl", [*FACTS, {**FACTS[0], "period": "someday"}])
    ran = run("eval", "metric", root, "--by", "params", "--json", "totals.json")
    assert "refused rows cannot be found, e.g. row 3, period: " in ran.err
    assert json.loads(Path("totals.json").read_text(encoding="utf-8"))["refused_rows"] == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"expect": "guessed"}, "expect is 'guessed', and none of found, not_found, unrecognized_param"),
        ({"params": None, "bad_param": "metric"}, "it has neither 'params' nor 'bad_param' and 'bad_value'"),
        ({"params": {"metric": "x"}}, "'params' has not metric, entity and period"),
        ({"value": "about 7"}, "it expects a figure, and 'value' is none"),
        ({"question_id": 7}, "structured_questions.jsonl, line 1: 'question_id' is not there, or is no text"),
    ],
)
def test_a_question_that_does_not_hold(change: dict[str, Any], why: str) -> None:
    ran = run("eval", "metric", folder([{**RIGHT[0], **change}]), "--by", "params")
    assert ran.code == 1
    assert why in ran.complaint


def test_a_folder_that_does_not_hold() -> None:
    Path("empty").mkdir()
    assert (
        "facts.jsonl, structured_questions.jsonl not found"
        in run("eval", "metric", "empty", "--by", "params").complaint
    )
    root = folder(RIGHT)
    write(root, {"facts.jsonl": ""})
    assert "facts.jsonl is empty" in run("eval", "metric", root, "--by", "params").complaint
    write(folder(RIGHT), {"glossary.jsonl": "{\n"})
    assert "glossary.jsonl: line 1: no JSON" in run("eval", "metric", root, "--by", "params").complaint
