"""docs/decomposition.md: its commands run, its names are those of the code, its tables those of the measurement."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

from groundwire_server.library import LibraryConfig
from groundwire_server.llm import load_prompt
from groundwire_server.query import DECOMPOSERS, DECOMPOSITION, MAX_SUB_QUESTIONS
from groundwire_server.settings import load_settings
from tests.cli.test_everyday import follow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "decomposition.md").read_text(encoding="utf-8")
LINES = [json.loads(line) for line in (ROOT / "docs" / "decomposition.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_commands_work(tmp_path: Path) -> None:
    said = follow(PAGE, tmp_path, GROUNDWIRE_EMBEDDING_BACKEND="none")
    assert "branch 1 narrative: Who has led Acme since 2019?" in said
    assert "branch 2 narrative: when was the Cloud division sold?" in said
    assert "“The Cloud division was sold in May.”" in said
    assert "decompose" in said
    assert "adaptive" in said


def test_names_and_bounds_are_those_of_the_code() -> None:
    told = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## What runs")[0], re.MULTILINE)
    assert sorted(told) == sorted(["decomposition", *DECOMPOSERS, "none"])
    assert (LibraryConfig().decomposition, LibraryConfig().adaptive) == ("none", False)
    assert MAX_SUB_QUESTIONS == 4
    assert "At most four parts" in PAGE
    assert f"`{DECOMPOSITION}:llm`" in PAGE
    assert load_prompt("decompose", "en").purpose == "decompose/1"
    for variable, value in (("RAGSPINE_QUERY_DECOMPOSE", "rules"), ("RAGSPINE_ADAPTIVE", "llm")):
        assert f"`{variable}`" in PAGE
        load_settings(environ={variable: value})


def test_the_tables_are_those_of_the_lines() -> None:
    program = runpy.run_path(str(ROOT / "benchmarks" / "decomposition.py"))
    for name, unit in (("table", "both found"), ("steps_table", "several steps")):
        assert program[name]([line for line in LINES if line["unit"] == unit]) in PAGE


def test_the_snippet_works() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "docs/decomposition.md", "exec"), {})
