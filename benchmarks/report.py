"""One JSON line a result, in one form for all programs, and a table at the end.

A line has: program, name, unit, value, n (chunks), peer and its value where there is one, ratio, goal, commit,
machine, load (average of one minute) and calibration_ms (a fixed loop of plain Python). A ratio over 1 means that ours
is better: less time than the peer's, or more chunks a second. `goal` is what the design asks for (numbers.md), in the
same unit.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from json import dumps, loads
from pathlib import Path
from typing import Any

__all__ = [
    "CACHE",
    "ROOT",
    "SHARED",
    "Report",
    "calibration_ms",
    "commit",
    "digits",
    "has_corpus",
    "machine",
    "questions",
    "say",
]

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
# Corpora, libraries and indexes that take long to make; may be deleted at any time.
CACHE = Path(os.environ.get("BENCH_FOLDER", ROOT / ".cache" / "bench"))
QUESTION_SETS = ("scifact", "jaquad", "drcd")
# Units of which more is better.
RATES = ("calls/s", "chunks/s", "rows/s")


class Report:
    """The results of one program, printed as they come."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._lines: list[dict[str, Any]] = []

    @property
    def lines(self) -> list[dict[str, Any]]:
        """All results so far."""
        return list(self._lines)

    def add(
        self,
        name: str,
        unit: str,
        value: float,
        *,
        n: int,
        peer: tuple[str, float] | None = None,
        goal: float | None = None,
        **more: Any,
    ) -> None:
        """One result.

        Args:
            peer: name of what ours is put beside, and its value in the same unit.
            more: further fields of the line.
        """
        line = {"program": self._program, "name": name, "unit": unit, "value": value, "n": n}
        if peer is not None:
            line |= {"peer": peer[0], "peer_value": peer[1], "ratio": ratio(unit, value, peer[1])}
        if goal is not None:
            line["goal"] = goal
        line |= more | {"commit": commit(), "machine": machine(), "load": round(os.getloadavg()[0], 1)}
        line["calibration_ms"] = round(calibration_ms())
        self._lines.append(line)
        say(dumps(line, ensure_ascii=False))

    def table(self) -> None:
        """Everything once more, for the eye."""
        say(f"\n{'what':<62}{'chunks':>9}{'value':>12}{'goal':>10}{'peer':>12}{'ratio':>8}")
        for line in self._lines:
            peer, times, goal = (digits(line.get(key)) for key in ("peer_value", "ratio", "goal"))
            what = f"{line['name']}, {line['unit']}"
            say(f"{what:<62}{line['n']:>9}{digits(line['value']):>12}{goal:>10}{peer:>12}{times:>8}")


def ratio(unit: str, value: float, peer: float) -> float:
    """Over 1: ours is better."""
    return value / peer if unit.startswith(RATES) else peer / value


def digits(value: float | None) -> str:
    """Three digits that count; nothing for None."""
    if value is None:
        return ""
    if abs(value) >= 100 or isinstance(value, int):
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def has_corpus(shared: Path) -> bool:
    """Whether the maker of corpora is among the shared data; says so where it is not."""
    if (shared / "tools" / "make_corpus.py").exists():
        return True
    say(f"No corpus: {shared}/tools/make_corpus.py is not there. Name the folder with --shared DIR.")
    return False


@cache
def commit() -> str:
    """The commit measured, with a plus sign where files of the server differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout

    changed = git("status", "--porcelain", "--untracked-files=no", "server")
    return git("rev-parse", "--short", "HEAD").strip() + ("+" if changed.strip() else "")


def machine() -> str:
    """What it ran on."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def calibration_ms() -> float:
    """A fixed loop of plain Python, to compare machines and their load by."""
    start = time.perf_counter()
    total = 0
    for number in range(1_000_000):
        total += number & 7
    return (time.perf_counter() - start) * 1e3


def questions(shared: Path, count: int) -> list[str]:
    """The first questions of each set (English, Japanese, Chinese), the sets in turn."""

    def of(name: str) -> Iterator[str]:
        with (shared / "data" / name / "queries.jsonl").open(encoding="utf-8", newline="\n") as lines:
            for _, line in zip(range(count), lines, strict=False):
                yield loads(line)["text"]

    return [each for some in zip(*map(of, QUESTION_SETS), strict=False) for each in some]
