"""Several callers in one pass: each sees every part once, whoever comes, goes or fails."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from groundwire_server.dense.shared_pass import SharedPass


class Gone(Exception):
    """The caller went away."""


class Watched:
    """A pass that notes who went through which part, and holds its driver at the first part until it may go on."""

    def __init__(self, parts: int, *, lanes: int = 1, most: int = 16) -> None:
        self.parts = parts
        self.seen: list[tuple[int, tuple[str, ...]]] = []
        self.go_on = threading.Event()
        self.held = threading.Event()
        self.broken: BaseException | None = None
        self.shared: SharedPass[str] = SharedPass(parts, self._advance, lanes=lanes, most=most)

    def _advance(self, part: int, members: Sequence[str]) -> None:
        self.seen.append((part, tuple(members)))
        self.held.set()
        assert self.go_on.wait(60)
        broken, self.broken = self.broken, None
        if broken is not None:
            raise broken

    def of(self, member: str) -> list[int]:
        """Parts that a member went through."""
        return [part for part, members in self.seen if member in members]


def nothing() -> None:
    """The caller stays."""


class Waits:
    """A check that tells that its caller waits, and raises once the caller has gone."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.gone = threading.Event()

    def __call__(self) -> None:
        self.asked.set()
        if self.gone.is_set():
            raise Gone


def join(pool: ThreadPoolExecutor, watched: Watched, member: str) -> tuple[Future[None], Waits]:
    """Start a caller and wait until it waits."""
    waits = Waits()
    future = pool.submit(watched.shared.run, member, waits)
    assert waits.asked.wait(60)
    return future, waits


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(32) as threads:
        yield threads


def test_alone() -> None:
    watched = Watched(3)
    watched.go_on.set()
    watched.shared.run("a", nothing)
    watched.shared.run("b", nothing)
    assert watched.seen == [(part, (member,)) for member in "ab" for part in (0, 1, 2)]


def test_who_comes_later_gets_on_at_the_next_part_and_drives_the_rest(pool: ThreadPoolExecutor) -> None:
    watched = Watched(3)
    first = pool.submit(watched.shared.run, "a", nothing)
    assert watched.held.wait(60)
    second, _ = join(pool, watched, "b")
    watched.go_on.set()
    first.result(60)
    second.result(60)
    assert watched.seen == [(0, ("a",)), (1, ("a", "b")), (2, ("a", "b")), (0, ("b",))]


def test_a_second_lane_waits_for_nobody(pool: ThreadPoolExecutor) -> None:
    watched = Watched(2, lanes=2)
    first = pool.submit(watched.shared.run, "a", nothing)
    assert watched.held.wait(60)
    watched.held.clear()
    second = pool.submit(watched.shared.run, "b", nothing)
    assert watched.held.wait(60)  # it drives, while the first one is held
    watched.go_on.set()
    first.result(60)
    second.result(60)
    assert sorted(watched.seen) == [(0, ("a",)), (0, ("b",)), (1, ("a",)), (1, ("b",))]


def test_first_come_first_served(pool: ThreadPoolExecutor) -> None:
    watched = Watched(2, most=2)
    futures = [pool.submit(watched.shared.run, "a", nothing)]
    assert watched.held.wait(60)
    futures += [join(pool, watched, member)[0] for member in "bcd"]
    watched.go_on.set()
    for future in futures:
        future.result(60)
    assert watched.seen == [(0, ("a",)), (1, ("a", "b")), (0, ("b", "c")), (1, ("c", "d")), (0, ("d",))]


def test_a_caller_that_goes_away_while_it_waits(pool: ThreadPoolExecutor) -> None:
    watched = Watched(3)
    first = pool.submit(watched.shared.run, "a", nothing)
    assert watched.held.wait(60)
    second, goes = join(pool, watched, "b")
    third, _ = join(pool, watched, "c")
    goes.gone.set()
    with pytest.raises(Gone):
        second.result(60)
    watched.go_on.set()
    first.result(60)
    third.result(60)
    assert watched.of("b") == []
    assert watched.of("a") == [0, 1, 2]
    assert watched.of("c") == [1, 2, 0]


def test_a_driver_that_goes_away_hands_on(pool: ThreadPoolExecutor) -> None:
    watched = Watched(3)
    goes = Waits()
    first = pool.submit(watched.shared.run, "a", goes)
    assert watched.held.wait(60)
    second, _ = join(pool, watched, "b")
    goes.gone.set()
    watched.go_on.set()
    with pytest.raises(Gone):
        first.result(60)
    second.result(60)
    assert watched.of("a") == [0]
    assert watched.of("b") == [1, 2, 0]


def test_a_fault_reaches_those_who_were_there_and_nobody_else(pool: ThreadPoolExecutor) -> None:
    watched = Watched(2, most=1)
    first = pool.submit(watched.shared.run, "a", nothing)
    assert watched.held.wait(60)
    second, _ = join(pool, watched, "b")
    watched.broken = MemoryError()
    watched.go_on.set()
    with pytest.raises(MemoryError):
        first.result(60)
    second.result(60)
    assert watched.of("b") == [1, 0]


@pytest.mark.parametrize(("lanes", "most"), [(1, 4), (2, 16), (3, 1)])
def test_crowds(lanes: int, most: int, pool: ThreadPoolExecutor) -> None:
    parts, callers = 7, 40
    counts: Counter[tuple[int, int]] = Counter()
    lock = threading.Lock()

    def advance(part: int, members: Sequence[int]) -> None:
        assert 1 <= len(members) <= most
        with lock:
            counts.update((member, part) for member in members)

    shared: SharedPass[int] = SharedPass(parts, advance, lanes=lanes, most=most)

    def check_of(caller: int) -> Callable[[], None]:
        polls = iter(range(1000))

        def check() -> None:
            if caller % 3 == 0 and next(polls) == caller % parts:
                raise Gone

        return check

    futures = [pool.submit(shared.run, caller, check_of(caller)) for caller in range(callers)]
    ends = [future.exception(60) for future in futures]
    for caller, end in enumerate(ends):
        own = [counts[caller, part] for part in range(parts)]
        if caller % 3:
            assert end is None
            assert own == [1] * parts
        else:
            assert end is None or isinstance(end, Gone)
            assert max(own) <= 1
    shared.run(callers, nothing)
    assert [counts[callers, part] for part in range(parts)] == [1] * parts
