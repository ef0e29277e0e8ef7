"""`groundwire ingest` over a folder of hostile files and of what only a file system can do to one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.commands import Ran, run_alone
from tests.hostile.corpus import CORPUS, good_files

# Of each kind a few: the command reads them all as the server does, and that is tested beside.
_EACH = 13


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hostile files, good ones, links, pipes, and names that hide."""
    root = Path(tmp_path_factory.mktemp("folder"))
    for name, raw in good_files().items():
        (root / name).write_bytes(raw)
    for case in CORPUS[::_EACH]:
        (root / f"hostile-{case.name}").write_bytes(case.make())
    (root / "nowhere.md").symlink_to("gone.md")
    (root / "circle-a.md").symlink_to("circle-b.md")
    (root / "circle-b.md").symlink_to("circle-a.md")
    (root / "itself").symlink_to(root)
    os.mkfifo(root / "pipe.txt")
    (root / "folder.pdf").mkdir()
    (root / "line\nbreak.md").write_text("Behind a name with a line break.", encoding="utf-8")
    (root / "bell\x07\x1b[31m.md").write_text("Behind a name that paints.", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(root) + b"/no-utf8-\xff.md")).write_text("Behind no UTF-8.", encoding="utf-8")
    (root / f"{'x' * 250}.md").write_text("Behind a long name.", encoding="utf-8")
    (root / "device.md").symlink_to("/dev/zero")
    (root / "$(touch pwned).md").write_text("Behind a name for a shell.", encoding="utf-8")
    (root / "#page=1,a@b?%.md").write_text("Behind a name of reserved characters.", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def ran(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The command, as a process of its own."""
    data = Path(tmp_path_factory.mktemp("data"))
    return run_alone("--data", data, "ingest", "--verbose", folder, GROUNDWIRE_EMBEDDING_BACKEND="none")


def test_the_run_goes_on_and_good_files_are_stored(ran: Ran) -> None:
    assert ran.code == 3
    for name in good_files():
        assert f"{'good-line' if name == 'good.jsonl' else name} revision 1" in ran.out
    for name in ("$(touch pwned).md", "#page=1,a@b?%.md", "x" * 250):
        assert name in ran.out


@pytest.mark.parametrize(
    "name",
    ["nowhere.md", "circle-a.md", "itself", "pipe.txt", "device.md", "line\\nbreak.md", "bell\\x07", "no-utf8-"],
)
def test_what_a_file_system_does_is_named(ran: Ran, name: str) -> None:
    assert [line for line in ran.err.splitlines() if line.startswith("refused ") and name in line]


def test_nothing_that_paints_reaches_the_terminal(ran: Ran) -> None:
    assert not [char for char in ran.out + ran.err if not char.isprintable() and char != "\n"]


def test_each_hostile_file_is_told_of(ran: Ran) -> None:
    told = ran.out + ran.err
    for case in CORPUS[::_EACH]:
        assert f"hostile-{case.name}" in told or case.name.endswith((".jsonl", ".gz"))
