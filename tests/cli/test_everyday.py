"""docs/commands.md, run from top to bottom as a new user would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_task_of_the_document_works(tmp_path: Path) -> None:
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    script = "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert len(re.findall(r"^groundwire ", script, re.MULTILINE)) > 35
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/groundwire"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -W error -m groundwire_server.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    done = subprocess.run(
        ["bash", "-eu"],
        input=script,
        cwd=folder,
        env=os.environ | {"PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    for said in (
        "1 would be stored",
        "Revenue of Acme Corporation for FY2024: 1234.50 USD_M.",
        "none of the words of the query stands in it",
        "reports/2024.md revision 2, 1 chunks",
        "reports/2024.md is withdrawn; its last revision was 2",
        "minutes is deleted",
    ):
        assert said in done.stdout, said
    assert (folder / "tools.json").stat().st_size > 1000
