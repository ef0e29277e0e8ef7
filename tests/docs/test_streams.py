"""docs/streams.md: its command and snippets run; its sizes and bounds are those of the code."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from groundwire._ingest.retry import MAX_ATTEMPTS
from groundwire_server.evidence import Pin, Resume
from groundwire_server.rpc.cursor import MAX_TOKEN_BYTES, Cursor, CursorKey
from groundwire_server.rpc.place import _MOST_PAGES
from groundwire_server.settings import load_settings
from tests.docs.pages import blocks, run_shell

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "streams.md").read_text(encoding="utf-8")


def test_the_command_and_the_snippets_show_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run_shell("".join(blocks(PAGE, "sh")), tmp_path)
    assert [f"[{rank}]" in shown for rank in range(1, 6)] == [True] * 5
    assert shown.count("summary  ") == 3
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    for each in blocks(PAGE, "python"):
        exec(each, space)
    assert capsys.readouterr().out.splitlines() == ["TOP_K [1, 2]", "TOP_K [3, 4]", "EXHAUSTED [5]"]


def sealed(*names: str) -> int:
    pins = tuple(Pin(name, 1, "a" * 32, "b" * 32) for name in names)
    return len(CursorKey(b"s", 1.0).seal(Cursor(Resume(pins), date(2025, 1, 1), bytes(24)), bytes(32)))


def test_sizes_and_bounds_are_those_of_the_code() -> None:
    page = " ".join(PAGE.split())
    assert f"{MAX_ATTEMPTS} tries in a row" in page
    assert f"{sealed('default')} bytes for one library" in page
    assert sealed("default", "other") - sealed("default") == 41 + len("other")
    longest = [f"{number:02}" + "x" * 61 for number in range(60)]
    assert max(count for count in range(60) if sealed(*longest[:count]) <= MAX_TOKEN_BYTES) in range(36, 42)
    assert f"at most {_MOST_PAGES} further pages" in page
    assert load_settings({}, environ={}).limits.max_cursor_seconds == 24 * 3600
