"""The Makefile explains itself, and what it installs is locked by hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_every_target_has_its_line_of_help() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    declared = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert declared is not None
    assert re.findall(r"^([a-z-]+):.*## \S", text, re.MULTILINE) == declared[1].split()


@pytest.mark.parametrize("name", ["runtime", "dev", "proto", "lock"])
def test_every_locked_package_has_hashes(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", "")
    entries = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9][a-z0-9._-]*==\S+ .*--hash=sha256:[0-9a-f]{64}", entry), entry


def test_what_the_packages_ask_for_is_locked() -> None:
    locked = set(
        re.findall(r"^([a-z0-9._-]+)==", (ROOT / "requirements" / "runtime.txt").read_text("utf-8"), re.MULTILINE)
    )
    for project in (ROOT, ROOT / "clients" / "python"):
        asked = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
        names = {re.split(r"[<>=!~\[; ]", each)[0] for each in asked} - {"groundwire"}
        assert names <= locked


def test_the_client_depends_on_three_packages_alone() -> None:
    project = tomllib.loads((ROOT / "clients" / "python" / "pyproject.toml").read_text("utf-8"))["project"]
    names = [re.split(r"[<>=!~\[; ]", each)[0] for each in project["dependencies"]]
    assert names == ["grpcio", "protobuf", "googleapis-common-protos"]
