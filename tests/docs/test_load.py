"""docs/load.md: its settings are those of the server, its block is read, its table is that of the lines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire_server.rpc.endings import MOST_UNREAD
from groundwire_server.rpc.stream import MAX_BATCH_BYTES, MAX_BATCH_SECONDS, MAX_BATCH_SNIPPETS
from groundwire_server.rpc.work import BYTES_AHEAD, FRAMES_AHEAD
from groundwire_server.settings import Settings, load_settings, setting_names

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "load.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([a-z_.]+)` \| (\d+) \|", PAGE, re.MULTILINE)
SAID = re.findall(r"`((?:limits|server)\.[a-z_]+)` \((\d+)\)", PAGE)


@pytest.mark.parametrize(("name", "value"), ROWS + SAID)
def test_a_value_is_the_default(name: str, value: str) -> None:
    section, _, field = name.partition(".")
    assert getattr(getattr(Settings(), section), field) == float(value)


def test_every_place_is_there() -> None:
    told = {name for name, _ in ROWS}
    assert {name for name in setting_names() if re.fullmatch(r"limits\.max_(\w+_calls|watches)", name)} <= told


def test_the_block_is_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "groundwire.toml"
    file.write_text(block, encoding="utf-8")
    read = load_settings({}, environ={"GROUNDWIRE_CONFIG": str(file)})
    assert (read.reading_threads, read.limits.max_router_calls, read.server.drain_seconds) == (2, 8, 10)


def test_the_bounds_are_those_of_the_code() -> None:
    assert f"at most {FRAMES_AHEAD} frames and {BYTES_AHEAD >> 10} KiB" in PAGE
    bounds = f"{MAX_BATCH_SNIPPETS} snippets, {MAX_BATCH_BYTES >> 10} KiB, or {MAX_BATCH_SECONDS * 1e3:g} ms"
    assert bounds in PAGE
    assert f"leaves {MOST_UNREAD} such endings unread" in PAGE


def test_the_table_is_that_of_the_lines() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "load_table.py"), "check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_nothing_was_left() -> None:
    lines = [json.loads(line) for line in (ROOT / "docs" / "load.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines
    left = [line for line in lines if line["name"].startswith("left of them")]
    assert left
    assert all(line["value"] == 0 for line in left)
    for line in lines:
        assert {"program", "name", "unit", "value", "n", "commit", "machine", "load"} <= line.keys()
