"""Folders that cannot be kept in step as one asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.conftest import Tell
from tests.bad_input.table import of_command
from tests.cli.commands import run_alone, write


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_BACKEND", "none")


@pytest.mark.parametrize(
    "words",
    [
        ("mine", "--attributes-from", "reports/*"),
        ("mine", "--attributes-from", "{year:number}/*"),
        ("mine", "--label-for", "secret/**=CONFIDENTAL"),
        ("mine", "--refuse-warning", "NOISE"),
        ("mine/a.md", "--sync"),
        ("mine", "--watch", "--dry-run"),
    ],
    ids=["no_place", "type_of_a_place", "label_by_path", "kind_of_warning", "sync_of_a_file", "watch_without_change"],
)
def test_a_folder_with_wrong_options(alone: Path, told: Tell, words: tuple[str, ...]) -> None:
    write(alone / "mine", {"a.md": "A text."})
    told(of_command(run_alone("ingest", *words)))


def test_a_folder_that_is_suddenly_empty(alone: Path, told: Tell) -> None:
    folder = write(alone / "mine", {"a.md": "A text.", "b.md": "Another text."})
    assert run_alone("ingest", "mine", "--sync").code == 0
    for path in folder.iterdir():
        path.unlink()
    told(of_command(run_alone("ingest", "mine", "--sync")))


def test_a_label_that_would_be_lowered(alone: Path, told: Tell) -> None:
    write(alone / "mine", {"a.md": "A text."})
    assert run_alone("ingest", "mine", "--label", "confidential").code == 0
    told(of_command(run_alone("ingest", "mine")))


def test_a_path_that_holds_no_day(alone: Path, told: Tell) -> None:
    write(alone / "mine", {"2024-02-30/a.md": "A text."})
    told(of_command(run_alone("ingest", "mine", "--attributes-from", "{day:date}/*")))
