"""kill -9 while parts come in: what was acknowledged is durable, what was told stays true, nothing is half there."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire_server.ingest import DocumentOutcome, IngestEvent
from tests.ingest.dying_ingest import FILES, LIMITS, parts, send_rest
from tests.ingest.support import acks, make_library, opened, outcomes, summary, texts

STORE = "groundwire_server.store.sqlite"
STREAM = "groundwire_server.ingest.document_ingest:DocumentIngest"
POINTS = [
    (f"{STREAM}._write_gathered", "before"),
    (f"{STREAM}._write_gathered", "after"),
    (f"{STREAM}._finish_part", "after"),
    (f"{STREAM}._commit", "after"),
    (f"{STORE}.writer:SqliteWriter.spool", "after"),
    (f"{STORE}.writer:SqliteWriter.start_ingest", "after"),
    (f"{STORE}.writer:SqliteWriter.replace_document", "after"),
    (f"{STORE}.store:SqliteStore._commit", "before"),
    (f"{STORE}.store:SqliteStore._commit", "after"),
    ("groundwire_server.library.library:Library._publish", "before"),
]


@pytest.mark.parametrize(("point", "moment"), POINTS)
def test_killed_at_the_second_call(tmp_path: Path, point: str, moment: str) -> None:
    _kill_and_resume(tmp_path, point, moment, 1 if point.endswith("start_ingest") else 2)


@pytest.mark.slow
@pytest.mark.parametrize("call", [1, 3, 4, 5])
@pytest.mark.parametrize(("point", "moment"), [each for each in POINTS if not each[0].endswith("start_ingest")])
def test_killed_at_any_call(tmp_path: Path, point: str, moment: str, call: int) -> None:
    _kill_and_resume(tmp_path, point, moment, call)


def _kill_and_resume(tmp_path: Path, point: str, moment: str, call: int) -> None:
    program = [sys.executable, "-m", "tests.ingest.dying_ingest", str(tmp_path), point, moment, str(call)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == -signal.SIGKILL, done.stderr
    said = [line.partition(" ") for line in done.stdout.splitlines()]
    acknowledged = max((int(rest) for word, _, rest in said if word == "ack"), default=0)
    told = [json.loads(rest) for word, _, rest in said if word == "outcome"]

    library = make_library(tmp_path)
    whole = {doc_id: raw.decode() for doc_id, raw in FILES.items()} | {f"line {n}": "x" for n in range(20)}
    assert texts(library).items() <= whole.items()
    last_parts = [seq for seq, (_, _, last) in enumerate(parts(), 1) if last]
    with opened(library, resume_after_seq=0, limits=LIMITS) as (ingest, events):
        assert acks(events)[0] >= acknowledged
        kept = [_facts_of(outcome) for outcome in outcomes(events)]
        assert kept[: len(told)] == told
        assert {seq for seq, *_ in kept} == {seq for seq in last_parts if seq <= ingest.durable_seq}
        more: list[IngestEvent] = []
        send_rest(ingest, more)
    assert summary(more) == (23, 0, 1)
    assert texts(library) == {doc_id: text for doc_id, text in whole.items() if text and doc_id != "lines.jsonl"}
    assert {revision.revision for revision in library.store.reader().documents(clearance=None)} == {1}
    with opened(library) as (_, again):
        assert [_facts_of(outcome) for outcome in outcomes(again)][: len(kept)] == kept
    library.close()


def _facts_of(outcome: DocumentOutcome) -> list[object]:
    return [outcome.seq, outcome.doc_id, outcome.revision, outcome.chunks, outcome.error is None]
