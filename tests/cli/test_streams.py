"""Output on whatever streams and locales there are."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import Attribute, Period
from groundwire_server.cli.output import as_json
from groundwire_server.cli.streams import printable
from tests.cli.commands import COMMAND, finish, furnish, run, run_alone, spawn, write


@given(st.text())
def test_no_text_moves_the_cursor(text: str) -> None:
    shown = printable(text)
    assert len(f"{shown}.".splitlines()) == 1
    assert not set(shown) & {chr(code) for code in (*range(32), *range(0x7F, 0xA0), *range(0x202A, 0x202F))}
    shown.encode("utf-8")


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",))))
def test_json_is_one_line_and_the_same_text(text: str) -> None:
    for ascii_only in (False, True):
        line = as_json(Attribute("a", text or "x"), ascii_only=ascii_only)
        assert len(line.splitlines()) == 1
        assert json.loads(line)["value"] == (text or "x")
        assert line.isascii() or not ascii_only


def test_json_says_which_of_several_kinds_a_value_is() -> None:
    assert json.loads(as_json(Attribute("a", Period("FY2024")))) == {
        "frame": "Attribute",
        "name": "a",
        "value": {"text": "FY2024"},
    }


def test_a_document_cannot_write_to_the_terminal() -> None:
    folder = write("mine", {"a.md": "apple \x1b[2J\x1b]0;gone\x07 pie"})
    assert run("ingest", folder).code == 0
    shown = run("retrieve", "apple")
    assert "\x1b" not in shown.out
    assert "\\x1b[2J" in shown.out
    passages = [each for frame in run("retrieve", "apple", "--json").frames for each in frame.get("snippets", ())]
    assert passages[0]["payload"] == {"kind": "TextPassage", "text": "apple \x1b[2J\x1b]0;gone\x07 pie"} | {
        "highlights": [{"start": 0, "end": 5}]
    }


def test_words_of_the_command_line_are_utf_8_in_any_locale() -> None:
    furnish()
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = run_alone("metric", "売上高", "アクメ", "FY2024", **plain)
    assert ran.code == 0
    assert "1234.50 USD_M" in ran.out
    narrow = run_alone("metric", "売上高", "アクメ", "FY2024", "--json", PYTHONIOENCODING="latin-1")
    assert narrow.code == 0
    assert narrow.out.isascii()
    assert narrow.frames[1]["outcomes"][0]["query"]["metric"] == "売上高"


@pytest.mark.parametrize("words", [("models", "list"), ("--help",)])
def test_output_that_nobody_reads(words: tuple[str, ...]) -> None:
    process = spawn(*words)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    ran = finish(process)
    assert ran.code in (141, 1)
    assert ran.err == ""


def test_output_that_cannot_be_written() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "models", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert (done.returncode, done.stderr) == (1, "Error: the output cannot be written: No space left on device\n")


def test_closed_streams_are_not_filled_with_a_database(tmp_path: Path) -> None:
    furnish()
    script = f"{' '.join(COMMAND)} metric revenue Acme FY2024 >&- 2>&-"
    assert subprocess.run(["sh", "-c", script], cwd=tmp_path, env=os.environ, check=False, timeout=60).returncode == 0
