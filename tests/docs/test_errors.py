"""docs/errors.md: its snippet runs; its table is compared by tests/rpc/test_error_examples.py."""

from __future__ import annotations

import re
from pathlib import Path

from groundwire import Client
from groundwire_server.rpc.errors import MAX_DETAILS_BYTES, MAX_MESSAGE_BYTES, MAX_TRAILER_CHARS, SHOWN_VIOLATIONS
from tests.rpc.house import house

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")


def test_bounds_are_those_of_the_code() -> None:
    assert f"at most {MAX_MESSAGE_BYTES >> 10} KiB, all details together {MAX_DETAILS_BYTES >> 10} KiB" in PAGE
    assert f"over the wire {MAX_TRAILER_CHARS >> 10} KiB" in PAGE
    assert f"first {SHOWN_VIOLATIONS} stand there" in PAGE


def test_the_snippet_runs(tmp_path: Path) -> None:
    (snippet,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    said: list[tuple[object, ...]] = []
    with house(tmp_path / "data") as here, Client(here.server.address) as client:
        exec(snippet, {"client": client, "print": lambda *words: said.append(words)})
    assert said == [
        ("INVALID_ARGUMENT", "INVALID_REQUEST"),
        ("top_k", "VALUE_OUT_OF_RANGE", "-1 is not in 0..200"),
    ]
