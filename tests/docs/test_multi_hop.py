"""docs/multi-hop.md: its commands run, and its table says what the lines of the measurement say."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

from tests.cli.test_everyday import follow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "multi-hop.md").read_text(encoding="utf-8")
LINES = [json.loads(line) for line in (ROOT / "docs" / "multi-hop.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_commands_work(tmp_path: Path) -> None:
    said = follow(PAGE, tmp_path, GROUNDWIRE_EMBEDDING_BACKEND="none")
    assert said.count("Payment on Demand -mentions-> Curtis Bernhardt") == 1
    assert "3 nodes: Universal" in said


def test_the_table_is_that_of_the_lines() -> None:
    table = runpy.run_path(str(ROOT / "benchmarks" / "multi_hop.py"))["table"]
    (shown,) = re.findall(r"<!-- table -->\n(.*)\n<!-- end of table -->", PAGE, re.DOTALL)
    assert shown == table(LINES)


def test_each_line_tells_what_was_measured_where() -> None:
    assert LINES
    for line in LINES:
        assert {"name", "unit", "value", "peer", "ratio", "n", "commit", "machine"} <= line.keys(), line
    names = [line["name"] for line in LINES]
    assert len(set(names)) == len(names)
