"""`groundwire eval routes` on a small set, with and without the names that the router may know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import run, write, write_lines
from tests.cli.evaluate.test_metric import FACTS, GLOSSARY

QUESTIONS: list[dict[str, Any]] = [
    {"question_id": "a", "question": "What was the revenue of Acme in 2023?", "route": "structured", "lang": "en"},
    {"question_id": "b", "question": "Why did the plant in Osaka open early?", "route": "narrative", "lang": "en"},
    {
        "question_id": "c",
        "question": "Why did the plant close?",
        "route": "structured",
        "lang": "ja",
        "origin": "facts",
    },
]


def evaluate(*options: str | Path, questions: list[dict[str, Any]] = QUESTIONS) -> dict[str, Any]:
    file = write_lines("routes/routes.jsonl", questions)
    ran = run("eval", "routes", file, *options, "--run", "run.jsonl", "--json", "totals.json")
    assert ran.code == 0, ran
    totals: dict[str, Any] = json.loads(Path("totals.json").read_text(encoding="utf-8"))
    return totals


def test_names_of_the_origins_are_known() -> None:
    write_lines("facts/glossary.jsonl", GLOSSARY)
    write_lines("facts/facts.jsonl", FACTS)
    totals = evaluate()
    assert totals == {
        "set": "routes",
        "loaded": ["facts"],
        "n": 3,
        "accuracy": 0.666667,
        "two_way_accuracy": 0.666667,
        "evidence_covered": 0.666667,
        "evidence_reached": 0.666667,
        "composite_share": 0.0,
        "routes": {"narrative": 2, "structured": 1},
        "by_language": totals["by_language"],
    }
    assert {name: part["accuracy"] for name, part in totals["by_language"].items()} == {"en": 1.0, "ja": 0.0}
    lines = [json.loads(line) for line in Path("run.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["question_id"], line["route"]) for line in lines] == [
        ("a", "structured"),
        ("b", "narrative"),
        ("c", "narrative"),
    ]
    assert all(line["reason"] for line in lines)
    assert evaluate("--limit", "1")["n"] == 1


def test_without_names_the_words_alone_decide() -> None:
    assert evaluate()["loaded"] == []
    write_lines("names/glossary.jsonl", GLOSSARY)
    totals = evaluate("--load", "names")
    assert (totals["loaded"], totals["routes"]) == (["names"], {"narrative": 2, "structured": 1})


def test_composite_covers_everything() -> None:
    write_lines("routes/glossary.jsonl", GLOSSARY)
    write_lines("routes/facts.jsonl", FACTS)
    both = "What was the revenue of Acme in 2023, and why did it rise?"
    totals = evaluate(questions=[{"question": both, "route": "narrative"}, {"question": both, "route": "composite"}])
    assert totals["composite_share"] == 1.0
    assert (totals["accuracy"], totals["evidence_covered"], totals["two_way_accuracy"]) == (0.5, 1.0, 0.5)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("{", "line 1: not a JSON object"),
        ('{"question": "x"}', "'route' is not there"),
        ('{"question": "x", "route": "sideways"}', "route 'sideways' is none of structured, narrative, composite"),
    ],
)
def test_a_file_that_does_not_hold(text: str, why: str) -> None:
    write(".", {"routes.jsonl": text})
    assert why in run("eval", "routes", "routes.jsonl").complaint


def test_a_folder_without_names_is_refused() -> None:
    write(".", {"empty/readme.txt": "nothing"})
    file = write_lines("routes.jsonl", QUESTIONS)
    assert "neither a glossary nor facts.jsonl" in run("eval", "routes", file, "--load", "empty").complaint
