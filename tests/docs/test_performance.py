"""docs/performance.md says what the lines of the measurements say."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES = ROOT / "docs" / "performance.jsonl"
SHARED = ROOT.parent / "shared"


def ran(program: str, *arguments: str) -> str:
    """What a program wrote, which has to end well."""
    command = [sys.executable, str(ROOT / "benchmarks" / f"{program}.py"), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_tables_are_those_of_the_lines() -> None:
    assert ran("performance", "check") == "", "run `python benchmarks/performance.py tables`"


def test_each_line_tells_what_was_measured_where() -> None:
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    assert lines
    for line in lines:
        assert {"program", "name", "unit", "value", "n", "commit", "machine"} <= line.keys(), line
        assert line["value"] > 0
        assert ("peer" in line) == ("ratio" in line) == ("peer_value" in line), line
    places = [(line["program"], line["name"], line["unit"], line["n"]) for line in lines]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("unit", "value", "more", "said"),
    [
        ("ms", 1.0, {}, ""),
        ("ms", 5.9, {"goal": 6.0}, "met"),
        ("ms", 9.0, {"goal": 6.0}, "**missed, 1.50×**"),
        ("chunks/s", 20_000.0, {"goal": 15_000}, "met"),
        ("chunks/s", 7_500.0, {"goal": 15_000}, "**missed, 2.00×**"),
        ("ms", 1.0, {"goal": 1.5, "goal_ratio": 5.0, "ratio": 2.5}, "**missed, 2.00×**"),
    ],
)
def test_a_goal_is_met_or_missed_by_a_factor(
    monkeypatch: pytest.MonkeyPatch, unit: str, value: float, more: dict[str, float], said: str
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    for name in ("performance", "report"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    performance = importlib.import_module("performance")
    assert performance.verdict({"unit": unit, "value": value, **more}) == said


def test_the_chart_is_there() -> None:
    assert (ROOT / "docs" / "images" / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_the_programs_tell_how_to_use_them() -> None:
    assert "--sizes" in ran("performance", "--help")
    assert "--questions" in ran("query", "--help")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.mark.slow
@pytest.mark.timeout(900)  # the first one may have to compile all searches
@pytest.mark.skipif(not (SHARED / "tools" / "make_corpus.py").exists(), reason="the shared folder is not there")
@pytest.mark.parametrize("program", ["query", "updates", "memory", "cold_start"])
def test_a_program_measures_a_small_library(program: str, cache: Path) -> None:
    folders = ("--cache", str(cache), "--models", str(cache / "none"), "--shared", str(SHARED))
    few = {"query": ("--questions", "2"), "updates": ("--rounds", "2"), "cold_start": ("--rounds", "1")}
    said = ran(program, "--sizes", "400", *folders, *few.get(program, ()))
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert lines
    assert {line["n"] for line in lines} == {400}
    assert {line["program"] for line in lines} == {program}
