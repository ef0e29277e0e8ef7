"""Many worlds against servers of every clearance: what was compared, and the first differences made small."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import grpc

from tests.oracle.draw import OUTSIDE, draw_world
from tests.oracle.server import Served, serving
from tests.oracle.shrink import shrink, source_of
from tests.oracle.trial import Verdict, try_world
from tests.oracle.world import World

__all__ = ["Houses", "Report", "houses", "run"]

CALLS_A_WORLD = 25
_WORLDS_A_SERVER = 150  # then a new one, on an empty folder


@dataclass
class Report:
    """What came of a run."""

    verdict: Verdict = field(default_factory=Verdict)
    different: list[tuple[int, int | None, str]] = field(default_factory=list)  # seed, call, what
    small: list[str] = field(default_factory=list)  # the first differences, as worlds that show them

    def text(self) -> str:
        """The counts, a line each, and the differences."""
        lines = [f"{self.verdict.calls:8} calls", f"{len(self.different):8} differences"]
        lines += [f"{number:8} {what}" for what, number in sorted(self.verdict.counts.items())]
        lines += [f"seed {seed}, call {call}: {what}" for seed, call, what in self.different[:20]]
        return "\n".join([*lines, *self.small])


class Houses:
    """A server for each clearance, started when it is first needed."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self._folder = folder
        self._opened = opened
        self._servers: dict[str, Served] = {}

    def of(self, clearance: str) -> Served:
        if clearance not in self._servers:
            data = self._folder / clearance.lower()
            self._servers[clearance] = self._opened.enter_context(serving(data, clearance, OUTSIDE))
        return self._servers[clearance]

    def try_world(self, world: World) -> Verdict:
        return try_world(self.of(world.clearance), world)


@contextmanager
def houses() -> Iterator[Houses]:
    """Servers on a fresh folder until the block ends."""
    with tempfile.TemporaryDirectory(prefix="groundwire-oracle-") as folder, ExitStack() as opened:
        yield Houses(Path(folder), opened)


def run(
    seeds: Iterable[int],
    *,
    calls: int = CALLS_A_WORLD,
    smaller: int = 3,
    tell: Callable[[Report], object] = lambda _: None,
) -> Report:
    """Try the worlds of these numbers; `tell` hears of the report now and then.

    The first `smaller` differences are shrunk to worlds that fit on a screen.
    """
    report = Report()
    left = list(seeds)
    while left:
        now, left = left[:_WORLDS_A_SERVER], left[_WORLDS_A_SERVER:]
        with houses() as servers:
            for seed in now:
                world = draw_world(seed, calls)
                verdict = servers.try_world(world)
                report.verdict.add(verdict)
                report.different += [(seed, call, what) for call, what in verdict.differences]
                if verdict.differences and len(report.small) < smaller:
                    report.small.append(_small(servers, world, verdict))
            tell(report)
    return report


def _small(servers: Houses, world: World, verdict: Verdict) -> str:
    call, what = verdict.differences[0]
    alone = replace(world, calls=() if call is None else (world.calls[call],))
    kind = _kind(what)

    def differs(candidate: World) -> bool:
        try:
            return any(_kind(each) == kind for _, each in servers.try_world(candidate).differences)
        except grpc.RpcError:
            return False  # no world at all: a parent is missing, an attribute is not known

    made = shrink(alone, differs) if differs(alone) else world
    told = [f"    {each}" for _, each in servers.try_world(made).differences]
    return "\n".join([f"shrunk: {source_of(made)}", *told])


def _kind(what: str) -> str:
    """The beginning of a difference: what it is of, and the words that tell its kind."""
    letters = "".join(each for each in what.partition(": ")[2] or what if not each.isdigit())
    return letters[:16]
