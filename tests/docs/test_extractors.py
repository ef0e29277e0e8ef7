"""docs/extractors.md: its commands and snippet run, its tables say what is so, its numbers are those measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

from groundwire_server.relations.extractors import EXTRACTORS, MAX_MENTIONS, MAX_PAIRS, MAX_REACH
from groundwire_server.relations.extractors.model import MAX_CALL_CHARS, MAX_RELATIONS
from tests.docs.pages import block, run_shell

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extractors.md").read_text(encoding="utf-8")
LINES = [json.loads(line) for line in (ROOT / "docs" / "extractors.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_commands_work(tmp_path: Path) -> None:
    shown = run_shell(block(PAGE, "sh"), tmp_path)
    assert "co_occurs_with" in shown
    assert "kyoto.md#line=1,span=" in shown


def test_the_snippet_works() -> None:
    exec(block(PAGE, "python"), {})


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
