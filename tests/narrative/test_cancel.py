"""Work stops at the next poll of the cancel token, wherever it is, and leaves nothing behind.

All is real but the clock that the token reads: it counts its readings, and it lets time run out at one of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import DeadlineExceeded
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    Operator,
    Predicate,
    Summary,
)
from groundwire_server.glossary import Glossary
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.narrative import RetrievalMode, RetrievalParts, RetrieveRequest, retrieve
from groundwire_server.security import local_principal
from tests.support.libraries import Doc, embed_all, make_library, new_document

EMBEDDER = HashEmbedder()
PARTS = RetrievalParts(embedder=EMBEDDER)
GLOSSARY = """
[[metric]]
code = "REVENUE"
label = "revenue"
unit = "EUR"
synonyms = { en = ["turnover", "sales"], ja = ["売上高"] }
"""
WAIT = 60.0  # seconds after which a test gives up; nothing is measured by it


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> list[Snapshot]:
    folder = tmp_path_factory.mktemp("cancel")
    docs = [Doc(f"{at}.md", f"revenue 売上高 {at}", attributes=(Attribute("at", at),)) for at in range(130)]
    found = []
    for name in ("alpha", "beta"):
        config = LibraryConfig(vector_depth=10)
        glossary = Glossary.from_toml(GLOSSARY)
        library = make_library(folder, library_id=name, glossary=glossary, embedder=EMBEDDER, config=config)
        with library.writing() as writer:  # at once, so that the index of words is of one piece
            for doc in docs:
                writer.replace_document(new_document(doc))
        embed_all(library, EMBEDDER)
        found.append(library.snapshot())
    return found


class Clock:
    """Stands still, until its `last` reading: from there on the time is over."""

    def __init__(self, last: int | None = None, before: Callable[[int], None] = lambda reading: None) -> None:
        self._last = last
        self._before = before
        self._lock = threading.Lock()
        self.readings = 0
        self.threads: set[int] = set()

    def __call__(self) -> float:
        with self._lock:
            self.readings += 1
            reading = self.readings
            self.threads.add(threading.get_ident())
        self._before(reading)
        return 1.0 if self._last is not None and reading >= self._last else 0.0


def ask(snapshots: list[Snapshot], token: CancelToken, mode: RetrievalMode = RetrievalMode.HYBRID) -> Summary:
    options = CallOptions(
        library_ids=tuple(snapshot.library_id for snapshot in snapshots),
        filter=Predicate("at", Operator.GTE, (3,)),
    )
    call = Call(local_principal(), options, token)
    *_, summary = retrieve(RetrieveRequest("revenue 売上高 rose", 120, mode), call, snapshots, PARTS)
    assert isinstance(summary, Summary)
    return summary


def polls(snapshots: list[Snapshot], mode: RetrievalMode) -> int:
    clock = Clock()
    ask(snapshots, CancelToken(0.5, clock), mode)
    return clock.readings


def some_of(count: int) -> list[int]:
    """Places from 1 to `count`: all of them, or about forty from first to last."""
    return sorted({*range(1, count + 1, -(-count // 40)), count})


@pytest.mark.parametrize("mode", RetrievalMode)
def test_at_whatever_poll_the_time_runs_out_nothing_goes_on_behind_it(
    snapshots: list[Snapshot], mode: RetrievalMode
) -> None:
    count = polls(snapshots, mode)
    assert count >= 2 * 4 + 3  # of each library restrict, fuse and a poll in each leg at least; rows in three parts
    for last in some_of(count):
        clock = Clock(last)
        with pytest.raises(DeadlineExceeded) as raised:
            ask(snapshots, CancelToken(0.5, clock), mode)
        assert raised.value.details["stage"] in ("restrict", "rewrite", "lexical", "dense", "fuse", "exit")
        # Two libraries with two legs each may be at work; each asks once more at most.
        assert last <= clock.readings < last + 4
    assert polls(snapshots, mode) == count


def test_legs_are_searched_at_the_same_time(snapshots: list[Snapshot]) -> None:
    """Each leg waits at its first poll until the other one is there too; one after the other they would never meet."""
    meeting = threading.Barrier(2)
    met: dict[int, bool] = {}

    def before(reading: int) -> None:
        if reading > restricted and threading.get_ident() not in met:
            met[threading.get_ident()] = True
            if len(met) <= 2:
                meeting.wait(WAIT)

    restricted = 1
    clock = Clock(before=before)
    summary = ask(snapshots[:1], CancelToken(0.5, clock))
    assert len(clock.threads) == 2
    assert [timing.stage for timing in summary.timings] == [
        "restrict", "embed", "rewrite", "lexical", "dense", "fuse", "exit"
    ]  # fmt: skip


def test_libraries_are_searched_at_the_same_time(snapshots: list[Snapshot]) -> None:
    meeting = threading.Barrier(2)
    seen: set[int] = set()

    def before(reading: int) -> None:
        if threading.get_ident() not in seen and len(seen) < 2:
            seen.add(threading.get_ident())
            meeting.wait(WAIT)

    ask(snapshots, CancelToken(0.5, Clock(before=before)), RetrievalMode.LEXICAL)
    assert len(seen) == 2


@pytest.fixture
def idle_helpers() -> Iterator[None]:
    before = {thread.name for thread in threading.enumerate()}
    yield
    left = {thread.name for thread in threading.enumerate()} - before
    assert all(name.startswith("groundwire-leg") for name in left)  # kept for the next call, at no work


@pytest.mark.usefixtures("idle_helpers")
def test_who_goes_away_in_the_middle_is_noticed_at_the_next_poll(snapshots: list[Snapshot]) -> None:
    count = polls(snapshots, RetrievalMode.HYBRID)
    for gone in some_of(count - 1):
        token: list[CancelToken] = []
        clock = Clock(before=lambda reading, gone=gone, token=token: reading == gone and token[0].cancel())  # type: ignore[misc]
        token.append(CancelToken(0.5, clock))
        with pytest.raises(CallCancelled):
            ask(snapshots, token[0])
        # A poll of one that is cancelled does not look at the clock any more.
        assert gone <= clock.readings < gone + 4
