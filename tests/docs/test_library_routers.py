"""The router that docs/libraries.md shows is installed as the page says, and routes."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "libraries.md"
ASK = """
from groundwire_server.narrative import library_routers, make_library_router

descriptions = {"law": "", "people": ""}
print(*library_routers(), make_library_router("first").route("what do people say of law?", descriptions))
"""


def block(language: str) -> str:
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    return found[0]


def test_the_router_of_the_page_is_installed_as_it_says_and_routes(tmp_path: Path) -> None:
    (group,) = tomllib.loads(block("toml"))["project"]["entry-points"].items()
    metadata = tmp_path / "my_routers-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my_routers\nVersion: 1\n", "utf-8")
    lines = [f"[{group[0]}]", *(f"{name} = {target}" for name, target in group[1].items()), ""]
    (metadata / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    (tmp_path / "my_routers.py").write_text(block("python"), "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ASK],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == "first keyword {'law': 'the question names it'}\n"
