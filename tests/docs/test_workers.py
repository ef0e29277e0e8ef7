"""docs/workers.md: its commands work, and its figures are those that were measured."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

from groundwire_server.rpc.workers.reader import NEWEST
from groundwire_server.settings import setting_names
from tests.docs.pages import block, run_shell

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "workers.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
    shown = run_shell(block(PAGE, "sh").replace("50051", port), tmp_path)
    assert re.search(r"process\s+reader-[12]", shown)
    assert re.search(r"process\s+writer", shown)
    assert "A fox sleeps in a den." in shown
    lines = map(json.loads, (tmp_path / "log.json").read_text().splitlines())
    assert {line["process"] for line in lines} == {"supervisor", "writer", "reader-1", "reader-2"}


def test_the_settings_are_those_of_the_code() -> None:
    said = set(re.findall(r"`((?:server|telemetry|limits)\.[a-z_]+)`", PAGE))
    assert said
    assert said <= set(setting_names())


def test_what_sees_the_newest_state_is_named() -> None:
    """The words of the page for the methods that do."""
    nouns = {"ListLibraries": "libraries", "ListDocuments": "documents", "ListFacts": "figures"}
    nouns |= {"ListRelations": "relations", "GetDocument": "document", "VerifyCitation": "citation"}
    nouns |= {"ListRevisions": "document", "DiffRevisions": "document"}
    assert {name.rpartition("/")[2] for name in NEWEST} == set(nouns)
    assert all(noun in PAGE for noun in nouns.values())


def test_the_figures_of_the_page() -> None:
    lines = [json.loads(line) for line in (ROOT / "docs" / "workers.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines
    for line in lines:
        assert row(line) in PAGE, line["name"]


def row(line: dict[str, object]) -> str:
    """A result as the table has it."""
    peer, ratio = line.get("peer_value"), line.get("ratio")
    cells = [digits(line["value"]), digits(peer), digits(ratio)]
    return f"| {line['name']} | {line['unit']} | {' | '.join(cells)} |"


def digits(value: object) -> str:
    if not isinstance(value, int | float):
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
