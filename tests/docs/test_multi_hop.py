"""docs/multi-hop.md: its commands run, and its table says what the lines of the measurement say."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "multi-hop.md").read_text(encoding="utf-8")
LINES = [json.loads(line) for line in (ROOT / "docs" / "multi-hop.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_commands_work(tmp_path: Path) -> None:
    (shell,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "groundwire"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m groundwire_server.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDWIRE_", "RAGSPINE_"))}
    done = subprocess.run(
        ["bash", "-eu"],
        input=shell,
        cwd=tmp_path,
        env=kept | {"PATH": f"{tmp_path / 'bin'}:{kept['PATH']}", "GROUNDWIRE_EMBEDDING_BACKEND": "none"},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Payment on Demand -mentions-> Curtis Bernhardt") == 1
    assert "3 nodes: Universal" in done.stdout


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
