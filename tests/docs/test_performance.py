"""docs/performance.md says what the lines of the measurements say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINES = ROOT / "docs" / "performance.jsonl"


def test_the_tables_are_those_of_the_lines() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "performance.py"), "check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr or "run `python benchmarks/performance.py tables`"


def test_each_line_tells_what_was_measured_where() -> None:
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    assert lines
    for line in lines:
        assert {"program", "name", "unit", "value", "n", "commit", "machine"} <= line.keys(), line
        assert line["value"] > 0
        assert ("peer" in line) == ("ratio" in line) == ("peer_value" in line), line
    places = [(line["program"], line["name"], line["unit"], line["n"]) for line in lines]
    assert len(set(places)) == len(places)


def test_the_chart_is_there() -> None:
    assert (ROOT / "docs" / "images" / "growth.png").read_bytes().startswith(b"\x89PNG")
