"""Files of figures end the same however they come: cut anywhere, resumed, repeated, the server killed on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.ingest import Ack, IngestEvent, IngestLimits, IngestSummary, RejectedRow, RowsRejected
from groundwire_server.library import Library
from tests.ingest.dying_facts import PARTS, send_rest
from tests.ingest.fact_stream import FILES, LIMITS, held, opened_facts, parts_of
from tests.ingest.support import OTHER_INGEST, make_library

STREAM = "groundwire_server.ingest.fact_ingest:FactIngest"
STORE = "groundwire_server.store.sqlite"
POINTS = [
    (f"{STREAM}._write_gathered", "before"),
    (f"{STREAM}._write_gathered", "after"),
    (f"{STREAM}._finish_part", "after"),
    (f"{STREAM}._commit", "after"),
    (f"{STORE}.writer:SqliteWriter.spool", "after"),
    (f"{STORE}.writer:SqliteWriter.put_facts", "after"),
    (f"{STORE}.store:SqliteStore._commit", "before"),
    (f"{STORE}.store:SqliteStore._commit", "after"),
]
Told = tuple[list[RejectedRow], list[IngestSummary]]


def _heard(events: list[IngestEvent], rejected: dict[tuple[int, int, str, str], RejectedRow]) -> int:
    """Note what was refused; the highest part that is acknowledged."""
    for event in events:
        for row in event.rows if isinstance(event, RowsRejected) else ():
            known = rejected.setdefault((row.seq, row.row, row.column, row.message), row)
            assert known == row
    return max((event.durable_seq for event in events if isinstance(event, Ack)), default=0)


def _straight(library: Library, lengths: list[int]) -> tuple[list[IngestEvent], int]:
    parts = parts_of(FILES, lengths)
    with opened_facts(library) as (ingest, events):
        for seq, (head, content, last) in enumerate(parts, 1):
            events += ingest.feed_file(seq, head, content, last)
        events += ingest.finish(len(parts))
    return events, len(parts)


@settings(max_examples=5, deadline=None)
@given(
    st.lists(st.integers(1, 3000), min_size=1, max_size=4),
    st.lists(st.integers(0, 12), max_size=5),
    st.sampled_from([1, 3, 128]),
    st.booleans(),
)
def test_the_end_is_the_same(lengths: list[int], breaks: list[int], group_parts: int, restarts: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = make_library(Path(folder), "whole")
        events, _ = _straight(whole, [0])
        expected: dict[tuple[int, int, str, str], RejectedRow] = {}
        _heard(events, expected)
        torn = make_library(Path(folder), "torn")
        parts = parts_of(FILES, lengths)
        limits = IngestLimits(group_parts=group_parts)
        rejected: dict[tuple[int, int, str, str], RejectedRow] = {}
        acknowledged = 0
        for steps in (*breaks, len(parts)):
            with opened_facts(torn, limits, resume_after_seq=acknowledged) as (ingest, more):
                acknowledged = max(acknowledged, _heard(more, rejected))
                at = ingest.durable_seq
                for seq, (head, content, last) in enumerate(parts[at : at + steps], at + 1):
                    acknowledged = max(acknowledged, _heard(ingest.feed_file(seq, head, content, last), rejected))
                if steps == len(parts):
                    end = ingest.finish(len(parts))
                    _heard(end, rejected)
            if restarts:
                torn.close()
                torn = make_library(Path(folder), "torn")
        assert held(torn) == held(whole)
        assert end[-1] == events[-1]
        of_rows = [(row.file, row.row, row.column, row.value, row.reason, row.message) for row in rejected.values()]
        assert sorted(of_rows, key=str) == sorted(
            [(row.file, row.row, row.column, row.value, row.reason, row.message) for row in expected.values()], key=str
        )
        whole.close()
        torn.close()


def test_a_repeated_run_changes_nothing(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    first, _ = _straight(library, [0])
    before, snapshot = held(library), library.snapshot().generation
    parts = parts_of(FILES, [0])
    with opened_facts(library, ingest_id=OTHER_INGEST) as (ingest, events):
        for seq, (head, content, last) in enumerate(parts, 1):
            events += ingest.feed_file(seq, head, content, last)
        events += ingest.finish(len(parts))
    one, two = first[-1], events[-1]
    assert isinstance(one, IngestSummary)
    assert isinstance(two, IngestSummary)
    assert (two.stored, two.unchanged, two.failed) == (0, one.stored, one.failed)
    assert held(library) == before
    assert library.snapshot().generation >= snapshot


@pytest.mark.parametrize(("point", "moment"), POINTS[1::3])
def test_killed_at_the_second_call(tmp_path: Path, point: str, moment: str) -> None:
    _kill_and_resume(tmp_path, point, moment, 2)


@pytest.mark.slow
@pytest.mark.parametrize("call", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(("point", "moment"), POINTS)
def test_killed_at_any_call(tmp_path: Path, point: str, moment: str, call: int) -> None:
    _kill_and_resume(tmp_path, point, moment, call)


def _kill_and_resume(tmp_path: Path, point: str, moment: str, call: int) -> None:
    program = [sys.executable, "-m", "tests.ingest.dying_facts", str(tmp_path / "torn"), point, moment, str(call)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    if done.returncode == 0:
        assert "survived" in done.stdout  # there are fewer calls than that
        return
    assert done.returncode == -signal.SIGKILL, done.stderr
    said = [line.partition(" ") for line in done.stdout.splitlines()]
    acknowledged = max((int(rest) for word, _, rest in said if word == "ack"), default=0)
    told = {rest for word, _, rest in said if word == "row"}

    whole = make_library(tmp_path, "whole")
    straight, _ = _straight(whole, [0])
    torn = make_library(tmp_path / "torn")
    with opened_facts(torn, LIMITS) as (ingest, events):
        assert ingest.durable_seq >= acknowledged
        more: list[IngestEvent] = [*events]
        rows = [row for event in more if isinstance(event, RowsRejected) for row in event.rows]
        assert told <= {f"{row.seq} {row.row} {row.column}" for row in rows}
        ends: list[IngestEvent] = []
        send_rest(ingest, ends)
    assert len(PARTS) > 10
    assert ends[-1] == straight[-1]
    assert held(torn) == held(whole)
    whole.close()
    torn.close()
