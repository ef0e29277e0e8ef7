"""docs/folders.md, run from top to bottom as a new user would; its figures are those of the measured lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_everyday import follow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/folders.md").read_text(encoding="utf-8")


@pytest.mark.timeout(300)  # some twenty processes, one after the other
def test_the_tour(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    said = follow(
        PAGE, folder, GROUNDWIRE_EMBEDDING_BACKEND="none", XDG_STATE_HOME=str(tmp_path / "state")
    ).splitlines()
    assert said[:3] == [
        "4 would be stored (4 new, 0 changed), 0 unchanged, 0 refused",
        "4 stored, 0 unchanged, 0 refused",
        "0 stored, 4 unchanged, 0 refused",
    ]
    for line in (
        "2 would be stored (1 new, 1 changed), 2 unchanged, 0 refused, 1 vanished",
        "bridges.md revision 1, 1 chunks",
        "costs.txt revision 2, 1 chunks",
        "議事録.md withdrawn",
        "2 stored, 2 unchanged, 0 refused, 1 withdrawn",
    ):
        assert line in said, (line, said)
    assert said[-1].endswith(" refused")


def test_the_figures_of_the_page() -> None:
    lines = map(json.loads, (ROOT / "docs/folders.jsonl").read_text(encoding="utf-8").splitlines())
    for line in lines:
        value = f"{line['value']:,.0f}" if line["value"] >= 10 else f"{line['value']:.2f}"
        assert f"| {line['name']}, {line['unit']} | {line['n']:,} | {value} |" in PAGE, line["name"]
