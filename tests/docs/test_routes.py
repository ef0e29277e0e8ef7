"""docs/routes.md: its commands run, and its table says what the training of the model measured."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from groundwire_server.router import route_model

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "routes.md").read_text(encoding="utf-8")
COLUMNS = ("two_way_accuracy", "accuracy", "evidence_covered", "evidence_reached", "composite_share")


def rows() -> list[str]:
    found = []
    for name, measured in sorted(route_model()["measured"].items(), reverse=True):
        for language, part in measured["by_language"].items():
            rates = [f"{part[each]['mean']:.3f} ({part[each]['worst']:.3f})" for each in COLUMNS]
            cells = [f"{name}, {language}", str(part["n"]), *(rate.replace("0.", ".") for rate in rates)]
            found.append(f"| {' | '.join(cells)} |")
    return found


def test_the_table_is_what_was_measured() -> None:
    table = PAGE.partition("| questions | n |")[2].partition("\n\n")[0].splitlines()[2:]
    assert table == rows(), "\n".join(rows())


def test_the_commands_work(tmp_path: Path) -> None:
    (shell,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=shell,
        cwd=tmp_path,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("accuracy 1.0000") == 4
