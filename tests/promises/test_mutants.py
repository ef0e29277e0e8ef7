"""The two properties of small worlds see what they are for: each of these faults of a server is found.

A fault is put in the place of a part of the server, and the property must fail within some hundred examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from groundwire_server.evidence import Label, Principal
from groundwire_server.jobs import Job, JobBoard
from groundwire_server.library import Snapshot
from tests.promises import small_houses, test_noninterference, test_sameness_of_worlds
from tests.promises.questions import QUESTIONS
from tests.promises.small_houses import Workshop, workshop

_EXAMPLES = 400
_MOST = 9
_QUESTIONS = 6
_SERVER = "groundwire_server"
_page = JobBoard.page


def _all_rows(snapshot: Snapshot, clearance: Label) -> Any:
    return np.ones(snapshot.columns.rows, dtype=np.bool_)


def _by_row(snapshot: Snapshot, row: int) -> tuple[str, int, int]:
    return ("", row, 0)


def _coverage_of_all(snapshot: Snapshot, candidates: Any) -> float:
    return float(np.mean(snapshot.vectors.present)) if snapshot.vectors is not None and snapshot.rows else 1.0


def _counts_all(snapshot: Snapshot, principal: Principal) -> str:
    return f"{snapshot.generation}"


def _jobs_of_all(board: JobBoard, principal: Principal, **named: Any) -> tuple[list[Job], bool]:
    found: list[Job] = []
    for clearance in (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL):
        found += _page(board, Principal(principal.name, clearance), **named)[0]
    return found, False


def _chained(book: Any, label: Label, event: bytes) -> None:
    book._sums[label] = (book._sums.get(label, 1) * 31 + int.from_bytes(event, "big")) % 2**256


def _digest_of_all(connection: Any, clearance: Label, generation: int) -> bytes:
    rows = connection.execute("SELECT value FROM digest WHERE generation <= ?", (generation,)).fetchall()
    return bytes(np.bitwise_xor.reduce([np.frombuffer(value, np.uint8) for (value,) in rows], axis=0)) if rows else b""


# What is put in the place of what, where a reader then sees of hidden rows; and the method by which it sees them.
LEAKS: dict[str, tuple[str, Callable[..., object], str]] = {
    "the store gives rows of every label": ("store.sqlite.reader.readable_labels", lambda clearance: 4, "ListFacts"),
    "every row is a candidate": ("library.snapshot.Snapshot._readable_rows", _all_rows, "NarrativeRetrieve"),
    "coverage is that of all rows": ("library.snapshot.Snapshot.coverage", _coverage_of_all, "ListLibraries"),
    "a snapshot id counts writes": ("library.snapshot.Snapshot.snapshot_id", _counts_all, "Route"),
    "the digest is that of all labels": ("store.sqlite.reader.read_digest", _digest_of_all, "ListLibraries"),
    "jobs are those of all callers": ("jobs.JobBoard.page", _jobs_of_all, "ListJobs"),
    "withdrawing tells of hidden rows": ("store.sqlite.writer.readable_labels", lambda clearance: 4, "GetServerInfo"),
}
# The same, where equal histories then give other bytes.
ORDERS: dict[str, tuple[str, Callable[..., object], str]] = {
    "ties go by row": ("library.snapshot.Snapshot.tie_key", _by_row, "NarrativeRetrieve"),
    "the digest knows the order": ("store.sqlite.digest.DigestBook._add", _chained, "ListLibraries"),
    "a snapshot id counts writes": ("library.snapshot.Snapshot.snapshot_id", _counts_all, "ListLibraries"),
}


@pytest.fixture(scope="module")
def shop() -> Iterator[Workshop]:
    with workshop() as made:
        yield made


def _is_found(shop: Workshop, module: Any, method: str) -> bool:
    """Whether a property fails in worlds that are larger than elsewhere, asked by a method alone. Nothing is shrunk."""

    @settings(
        max_examples=_EXAMPLES,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=module.cases(most=_MOST))
    def holds(case: Any) -> None:
        vectors = case.vectors or method in ("ListJobs", "ListLibraries")
        module.compare(shop, replace(case, vectors=vectors, questions=QUESTIONS[method][:_QUESTIONS]))

    try:
        holds()
    except Exception:  # noqa: BLE001 - whatever it fails with, it has been seen
        return True
    return False


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_found(shop: Workshop, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    target, value, method = LEAKS[name]
    monkeypatch.setattr(f"{_SERVER}.{target}", value)
    monkeypatch.setattr(small_houses, "_WAIT_SECONDS", 10.0)  # for what never comes then
    assert _is_found(shop, test_noninterference, method)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ORDERS)
def test_a_lost_order_is_found(shop: Workshop, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    target, value, method = ORDERS[name]
    monkeypatch.setattr(f"{_SERVER}.{target}", value)
    assert _is_found(shop, test_sameness_of_worlds, method)
