"""docs/chunkers.md: its commands run, and its table says what the lines of the measurement say."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

from groundwire_server.chunking import CHUNKERS
from tests.docs.pages import block, run_shell

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "chunkers.md").read_text(encoding="utf-8")
LINES = [json.loads(line) for line in (ROOT / "docs" / "chunkers.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_chunker_is_told_of() -> None:
    assert set(re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)) == set(CHUNKERS)


def test_the_commands_work(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "energy.md").write_text("# Energy\n\nEnergy is dear.\n\nIt was cheap.\n", encoding="utf-8")
    shown = run_shell(block(PAGE, "sh"), tmp_path)
    assert re.search(r"^chunker +qa$", shown, re.MULTILINE) or "chunker\tqa" in shown
    assert "Energy is dear." in shown


def test_the_table_is_that_of_the_lines() -> None:
    table = runpy.run_path(str(ROOT / "benchmarks" / "chunkers.py"))["table"]
    (shown,) = re.findall(r"<!-- table -->\n(.*)\n<!-- end of table -->", PAGE, re.DOTALL)
    assert shown == table(LINES)


def test_each_line_tells_what_was_measured_where() -> None:
    assert LINES
    for line in LINES:
        assert {"name", "unit", "value", "peer", "ratio", "n", "commit", "machine"} <= line.keys(), line
    names = [line["name"] for line in LINES]
    assert len(set(names)) == len(names)
