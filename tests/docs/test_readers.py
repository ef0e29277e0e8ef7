"""The numbers of docs/readers.md are those that the benchmarks printed (docs/readers.jsonl), the losing rows too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"


def lines(name: str) -> list[dict[str, Any]]:
    """What a benchmark printed."""
    read = [json.loads(line) for line in (DOCS / "readers.jsonl").read_text(encoding="utf-8").splitlines()]
    return [line for line in read if line["name"] == name]


def charset_table() -> list[str]:
    """Each row in which not every text was told."""
    names = ("n", "right", "doubt", "refused", "wrong")
    return [
        f"| {row['language']} | {row['charset']} | {row['length'] or 'any'} | "
        f"{' | '.join(str(row[name]) for name in names)} |"
        for row in lines("encoding")
        if row["right"] < row["n"]
    ]


def speed_table() -> list[str]:
    """Each kind of file."""
    return [
        f"| {row['file']} | {row['mb']} | {row['mb_per_cpu_second']} | {row['mchars_per_cpu_second']} | {row['peer']} "
        f"| {row['peer_mb_per_cpu_second']} | {row['ratio']} | {row['isolated_seconds']} |"
        for row in lines("reader")
    ]


def test_the_tables_are_what_was_measured() -> None:
    text = (DOCS / "readers.md").read_text(encoding="utf-8")
    for table in (charset_table(), speed_table()):
        assert len(table) > 5
        assert "\n".join(table) in text


def test_what_the_text_says_of_charsets_is_so() -> None:
    rows = lines("encoding")
    told = [row for row in rows if row["length"]]
    assert all(row["n"] >= 100 for row in told)
    assert all(row["right"] == row["n"] for row in told if row["length"] >= 100)
    assert all(row["wrong"] == 0 for row in told if row["length"] >= 20)
    assert all(row["refused"] == row["n"] for row in rows if not row["length"])
