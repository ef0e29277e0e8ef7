"""docs/commands.md, run from top to bottom as a new user would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import server

ROOT = Path(__file__).resolve().parents[2]


TEXT = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
WITH_A_SERVER, _, WITHOUT = TEXT.partition("## Back up")


@pytest.mark.timeout(300)  # some sixty processes, one after the other
def test_every_task_beside_a_server_works(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    with server(folder / "groundwire-data") as address:
        said = follow(WITH_A_SERVER, folder, GROUNDWIRE_ADDRESS=address)
    for words in (
        "1 would be stored",
        "Revenue of Acme Corporation for FY2024: 1234.50 USD_M.",
        "none of the words of the query stands in it",
        "reports/2024.md revision 2, 1 chunks",
        "1 stored, 0 unchanged, 2 refused",
        "2 stored, 1 unchanged, 0 refused",
        "not found sales / Acme / FY1999",
        "unrecognized metric 'salse'; near: ",
        "reports/2024.md is withdrawn, with 1 figure from it; its last revision was 2",
        "EXACT\nSUPERSEDED\n",
        "  minutes: reports/2024.md#line=",
        "minutes is deleted",
    ):
        assert words in said, words


@pytest.mark.timeout(300)  # each command starts a server of its own
def test_every_task_without_a_server_works(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    assert WITHOUT
    first = WITH_A_SERVER.partition("## Put something in")[2].partition("\n## ")[0]
    said = follow(first + WITHOUT, folder)
    for words in ("ndcg_at_10                   1.0000", "accuracy 1.0000"):
        assert words in said, words
    assert (folder / "tools.json").stat().st_size > 1000


def follow(text: str, folder: Path, **environment: str) -> str:
    """Run every block of a text in a shell, which ends at the first command that fails; gives what they printed."""
    script = "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert "groundwire " in script
    commands = folder.parent / "bin"
    commands.mkdir(exist_ok=True)
    for name, words in (("groundwire", "-W error -m groundwire_server.cli"), ("python", "-W error")):
        (commands / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n', encoding="utf-8")
        (commands / name).chmod(0o755)
    done = subprocess.run(
        ["bash", "-eu"],
        input=script,
        cwd=folder,
        env=os.environ
        | {"PATH": f"{commands}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}
        | environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout
