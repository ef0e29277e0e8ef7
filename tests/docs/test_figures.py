"""docs/figures.md: its commands and its snippet run, and its table says what the lines of the measurement say."""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
LINES = [json.loads(line) for line in (ROOT / "docs" / "figures.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_commands_and_the_snippet_work(tmp_path: Path) -> None:
    settings = load_settings(
        {"data": tmp_path / "data", "embedding.backend": "none", "server.port": 0, "log.level": "error"}, environ={}
    )
    (shell,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (snippet,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    printed = io.StringIO()
    with running_server(settings) as address:
        done = subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=shell,
            cwd=tmp_path,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "GROUNDWIRE_ADDRESS": address},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet.replace("127.0.0.1:50051", address), "figures.md", "exec"), {})
    said = done.stdout
    assert "0.25 RATIO" in said
    assert "No figure is stored for this metric, entity and channel in 2021." in said
    assert "corrected to 101.00" in said
    assert "10 USD" not in said
    assert said.index("101.00 USD") < said.rindex("100.00 USD")
    assert "Revenue of Acme for 2022: 80.00 USD. 2022.pdf" in printed.getvalue()
    assert "101.00 USD" in printed.getvalue()


def test_the_table_is_that_of_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    table = runpy.run_path(str(ROOT / "benchmarks" / "metric.py"))["table"]
    (shown,) = re.findall(r"<!-- table -->\n(.*)\n<!-- end of table -->", PAGE, re.DOTALL)
    assert shown == table(LINES)


def test_each_line_tells_what_was_measured_where() -> None:
    assert LINES
    for line in LINES:
        assert {"name", "unit", "value", "n", "commit", "machine", "load", "calibration_ms"} <= line.keys(), line
