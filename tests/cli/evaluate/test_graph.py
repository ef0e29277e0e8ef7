"""`groundwire eval graph` on small sets of every shape, with answers that are right and expectations that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.commands import run, write_lines

OWNERS = [
    {"subject": "Leaf", "relation": "owned_by", "object": "Mid: A", "source_doc": "list.csv", "locator": "L1"},
    {"subject": "Mid: A", "relation": "owned_by", "object": "Top", "source_doc": "list.csv", "locator": "L2"},
    {
        "subject": "Ｓｅａ",
        "relation": "subsidiary_of",
        "object": "Top",
        "source_doc": "ex21",
        "locator": "tr1",
        "jurisdiction": "Japan",
    },
    {"subject": "Top", "relation": "owned_by", "object": "Mid: A", "source_doc": "list.csv", "locator": "L4"},
]
CASES = [
    {
        "case_id": "t",
        "kind": "trace",
        "start": "Leaf",
        "end": "Top",
        "shortest_path": ["Leaf", "Mid: A", "Top"],
        "sources": [["list.csv", "L1"], ["list.csv", "L2"]],
    },
    {"case_id": "o", "kind": "all_owners", "start": "Leaf", "answer": ["Mid: A", "Top"]},
    {"case_id": "r", "kind": "rollup", "start": "Top", "answer": ["Leaf", "Mid: A", "Ｓｅａ"], "count": 3},
    {
        "case_id": "f",
        "kind": "filtered_count",
        "start": "Top",
        "jurisdiction": "Japan",
        "count": 1,
        "answer": ["Ｓｅａ"],
    },
    {"case_id": "n", "kind": "no_path", "start": "Ｓｅａ", "end": "Leaf", "answer": False},
    {"case_id": "wrong", "kind": "all_owners", "start": "Leaf", "answer": ["Top"]},
    {"case_id": "nobody", "kind": "all_owners", "start": "Nobody", "answer": []},
]


def evaluate(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    ran = run("eval", "graph", folder, "--run", "run.jsonl", "--json", "totals.json")
    assert ran.code == 0, ran
    lines = Path("run.jsonl").read_text(encoding="utf-8").splitlines()
    return json.loads(Path("totals.json").read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def test_paths_closures_and_counts() -> None:
    write_lines("set/edges.jsonl", OWNERS)
    write_lines("set/cases.jsonl", CASES)
    totals, lines = evaluate(Path("set"))
    assert totals == {
        "set": "set",
        "n": 7,
        "right": 5,
        "by_kind": {
            "all_owners": {"n": 3, "right": 1},
            "filtered_count": {"n": 1, "right": 1},
            "no_path": {"n": 1, "right": 1},
            "rollup": {"n": 1, "right": 1},
            "trace": {"n": 1, "right": 1},
        },
        "not_answered": {"all_owners: INVALID_REQUEST": 1},
        "relations": 4,
        "relations_of_cases_alone": 0,
        "refused_rows": 0,
    }
    assert [(line["case_id"], line["answer"]) for line in lines] == [
        ("t", ["Leaf", "Mid: A", "Top"]),
        ("o", ["Mid: A", "Top"]),
        ("r", ["Leaf", "Mid: A", "Ｓｅａ"]),
        ("f", 1),
        ("n", None),
        ("wrong", ["Mid: A", "Top"]),
        ("nobody", None),
    ]


DIRECTED = ["Film", "director", "Ann"]


def test_chains_of_triples_also_those_that_cases_alone_state() -> None:
    write_lines(
        "set/triples.jsonl",
        [
            {"subject": "Film", "relation": "director", "object": "Ann"},
            {"subject": "Film", "relation": "director", "object": "Bo"},
        ],
    )
    write_lines(
        "set/graph_cases.jsonl",
        [
            {
                "query_id": "a",
                "type": "compositional",
                "triples": [["Film", "director", "Ann"], ["Ann", "born", "1960"]],
            },
            {"query_id": "b", "type": "comparison", "triples": [["Film", "director", "Ann"], ["Bo", "born", "1970"]]},
        ],
    )
    write_lines("set/cases.jsonl", [{"query_id": "not read"}])
    totals, lines = evaluate(Path("set"))
    assert (totals["n"], totals["right"], totals["relations_of_cases_alone"]) == (2, 2, 2)
    assert [(line["query_id"], line["kind"], line["answer"]) for line in lines] == [
        ("a", "compositional", [["Film", "Ann", "1960"], ["Film", "Bo", "1970"]]),
        ("b", "comparison", [["Film", "Ann"], ["Film", "Bo"], ["Bo", "1970"]]),
    ]


def test_sums_with_their_members() -> None:
    facts = [
        {"metric": "population", "entity": code, "period": "2020", "unit": "people", "value": value, **where}
        for code, value, where in (
            ("JPN", "126.5", {"source_doc": "p.csv", "locator": "L1"}),
            ("CHN", "1411", {"source_doc": "p.csv", "locator": "L2"}),
        )
    ]
    write_lines("set/facts.jsonl", facts)
    write_lines(
        "set/glossary.jsonl",
        [{"kind": "metric", "canonical": "population", "label": "Population", "aliases": {"en": []}}],
    )
    write_lines(
        "set/graph_edges.jsonl",
        [{"subject": code, "relation": "part_of", "object": "Asia"} for code in ("JPN", "CHN", "KOR")],
    )
    case = {
        "question_id": "s",
        "metric": "population",
        "node": "Asia",
        "period": "2020",
        "value": "1537.5",
        "members": ["CHN", "JPN"],
        "locators": ["L1", "L2"],
        "missing": ["KOR"],
    }
    write_lines("set/rollup_cases.jsonl", [case, {**case, "question_id": "x", "missing": []}])
    totals, lines = evaluate(Path("set"))
    assert totals["by_kind"] == {"rollup": {"n": 2, "right": 1}}
    assert lines == [{"question_id": name, "kind": "rollup", "answer": "1537.5"} for name in ("s", "x")]


def test_a_folder_of_something_else_is_named() -> None:
    write_lines("set/edges.jsonl", OWNERS)
    assert "no set of relations" in run("eval", "graph", "set").err
    write_lines("set/cases.jsonl", [{"case_id": "a", "kind": "trace", "start": "Leaf"}])
    assert "line 1: no end" in run("eval", "graph", "set").err
    write_lines("set/cases.jsonl", [{"case_id": "a", "kind": "guess"}])
    assert "line 1: no known kind" in run("eval", "graph", "set").err
