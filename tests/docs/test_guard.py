"""docs/guard.md: its snippet runs, its faults are those that there are, its counts are those of the cases."""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from pathlib import Path

from groundwire_server.guard import FaultKind
from tests.guard.support import read_cases

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guard.md").read_text(encoding="utf-8")


def test_the_snippet_prints_what_is_shown() -> None:
    code, shown = re.search(r"^```python\n(.*?)^```\n\n```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL).groups()  # type: ignore[union-attr]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    assert out.getvalue() == shown


def test_every_fault_is_told_of() -> None:
    told = set(re.findall(r"`(\w+)`", PAGE.split("| fault |")[1].split("\n\n")[0]))
    assert told == {kind.value for kind in FaultKind}


def test_the_counts_are_those_of_the_cases() -> None:
    cases = read_cases(ROOT / "tests" / "guard" / "mutated.jsonl")
    counted = Counter((case["class"], case["language"]) for case in cases)
    rows = re.findall(r"^\| ([\w, *]+) \| 0 of (\d+) \| 0 of (\d+) \| 0 of (\d+) \|$", PAGE, re.MULTILINE)
    for names, *counts in rows:
        classes = ["right"] if "right" in names else names.split(", ")
        for language, count in zip(("en", "ja", "zh"), counts, strict=True):
            assert sum(counted[name, language] for name in classes) == int(count), names
    assert len(rows) == 5


def test_the_counts_are_those_of_the_unseen_sentences() -> None:
    cases = list(read_cases(ROOT / "tests" / "guard" / "unseen.jsonl"))
    rows = dict(re.findall(r"^\| ([\w ]+1,\d{3}, now) \| (.*) \|$", PAGE, re.MULTILINE))
    for name, part in (("the last 1,200, now", cases[-1200:]), ("all 1,893, now", cases)):
        cells = re.findall(r"\d+ of (\d+)", rows[name])
        wrong = [sum(case["language"] == each and not case["right"] for case in part) for each in ("en", "ja", "zh")]
        assert cells == [str(count) for count in (*wrong, sum(case["right"] for case in part))]
    assert len(cases) == 1893
