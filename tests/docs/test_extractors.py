"""docs/extractors.md: its commands and snippet run, its tables say what is so, its numbers are those measured."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from groundwire_server.relations.extractors import EXTRACTORS, MAX_MENTIONS, MAX_PAIRS, MAX_REACH
from groundwire_server.relations.extractors.model import MAX_CALL_CHARS, MAX_RELATIONS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extractors.md").read_text(encoding="utf-8")
LINES = [json.loads(line) for line in (ROOT / "docs" / "extractors.jsonl").read_text(encoding="utf-8").splitlines()]


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_commands_work(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "groundwire"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m groundwire_server.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDWIRE_", "RAGSPINE_"))}
    done = subprocess.run(
        ["bash", "-eu"],
        input=block("sh"),
        cwd=tmp_path,
        env=kept | {"PATH": f"{tmp_path / 'bin'}:{kept['PATH']}", "GROUNDWIRE_EMBEDDING_BACKEND": "none"},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    assert "co_occurs_with" in done.stdout
    assert "kyoto.md#line=1,span=" in done.stdout


def test_the_snippet_works() -> None:
    exec(block("python"), {})


def test_every_extractor_is_told_of() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(EXTRACTORS)


def test_bounds_are_those_of_the_code() -> None:
    page = " ".join(PAGE.split())
    assert f"up to {MAX_PAIRS} pairs" in page
    assert f"{MAX_REACH:,} code points, and up to {MAX_MENTIONS} mentions" in page
    assert f"up to {MAX_RELATIONS} relations a call" in page
    assert f"{MAX_CALL_CHARS:,} code points of one document a call" in page


def test_the_table_says_what_was_measured() -> None:
    rows = re.findall(
        r"^\| (\w+) \| (\d+) \| ([\d,]+) \| ([\d,]+) passages/s \| ([\d,]+) passages/s \| ([\d,]+) \|$", PAGE, re.M
    )
    measured = [
        (
            line["name"].partition(",")[0],
            line["name"].split()[-2],
            f"{line['n']:,}",
            f"{line['peer_value']:,.0f}",
            f"{line['value']:,.0f}",
            f"{line['sources_of_edges']:,}",
        )
        for line in LINES
    ]
    assert rows == measured
