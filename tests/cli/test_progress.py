"""The line of progress: redrawn within the terminal, now and then in a log."""

from __future__ import annotations

import re

import pytest

from groundwire_server.cli import progress
from groundwire_server.cli.progress import ProgressLine, time_left
from groundwire_server.cli.terminal import display_width
from tests.cli.commands import run_on_terminal, write


class Clock:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_log_gets_a_line_now_and_then(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine("embedding", "chunks", 100)
    line.update(0)
    for second in range(1, 11):
        clock.now += 1
        line.update(second * 10)
    line.finish(100)
    assert capsys.readouterr().err.splitlines() == [
        "embedding 0/100 chunks",
        "embedding 50/100 chunks, 10/s, 5 s left",
        "embedding 100/100 chunks, 10/s",
    ]


def test_what_was_done_before_counts_for_no_rate(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine("embedding", "chunks", 10_000)
    line.update(9_000)
    clock.now += 10
    line.update(9_010)
    assert capsys.readouterr().err.splitlines()[-1] == "embedding 9010/10000 chunks, 1/s, 16 min left"


def test_without_a_total_no_time_is_promised(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine("loading", "documents")
    line.update(0)
    clock.now += 10
    line.update(12_345)
    assert capsys.readouterr().err.splitlines()[-1] == "loading 12345 documents, 1,234/s"


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0 s"), (119, "119 s"), (120, "2 min"), (7200, "2.0 h")])
def test_the_time_that_is_left(seconds: float, words: str) -> None:
    assert time_left(seconds) == words


def test_a_narrow_terminal_is_drawn_over() -> None:
    write("mine", {f"{number}.txt": f"apples and pears {number}" for number in range(300)})
    shown = run_on_terminal("ingest", "mine", columns=30, GROUNDWIRE_EMBEDDING_BACKEND="deterministic")
    assert shown.code == 0
    drawn = re.findall(r"\r\x1b\[K([^\r\n]*)", shown.out)
    assert all(display_width(line) < 30 for line in drawn)
    assert "300 stored, 0 unchanged, 0 refused" in shown.out
