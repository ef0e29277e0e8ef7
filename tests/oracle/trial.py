"""One world: into a server, asked, and compared."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import grpc

from tests.oracle.compare import differences
from tests.oracle.draw import OUTSIDE
from tests.oracle.oracle import Expected, Found, NotFound, Oracle, Refused
from tests.oracle.server import Served
from tests.oracle.shelf import Rejection
from tests.oracle.wire import ask, make_library, put_terms, request_of, send_rows
from tests.oracle.world import World

__all__ = ["Trial", "Verdict", "try_world"]

_numbers = itertools.count(1)


@dataclass
class Verdict:
    """What came of a world: how much was compared, and where the two differ."""

    calls: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    differences: list[tuple[int | None, str]] = field(default_factory=list)  # call (None: while it filled), what

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def count_expected(self, expected: Expected) -> None:
        """Of every kind of outcome how many there must be."""
        self.count("calls about outside names", expected.outside)
        self.count("outcomes", len(expected.outcomes))
        for outcome in expected.outcomes:
            if isinstance(outcome, Found):
                self.count("found, computed" if outcome.computed else "found, stored")
                self.count("found, conflicting", outcome.conflicting)
                self.count("found, though a name means several things", bool(outcome.decided))
            elif isinstance(outcome, NotFound):
                self.count("not found")
            else:
                self.count(f"unrecognized, {'ambiguous' if outcome.ambiguous else 'unknown'}")
        for computed in expected.calculations:
            self.count(f"calculations, {min(computed.reasons) if isinstance(computed, Refused) else 'computed'}")

    def add(self, other: Verdict) -> None:
        self.calls += other.calls
        for what, number in other.counts.items():
            self.count(what, number)


def try_world(served: Served, world: World) -> Verdict:
    """Fill libraries of a server as the world says, ask its calls, and compare."""
    trial = Trial(served, world)
    trial.fill()
    for number, _ in enumerate(world.calls):
        expected, frames = trial.ask(number)
        if isinstance(frames, str):
            trial.verdict.differences.append((number, frames))
            continue
        told = differences(world, world.calls[number], trial.libraries, expected, frames)
        trial.verdict.differences += [(number, each) for each in told]
    return trial.verdict


class Trial:
    """One world in one server, beside the oracle."""

    def __init__(self, served: Served, world: World) -> None:
        self.served = served
        self.world = world
        self.oracle = Oracle(world, OUTSIDE)
        self.libraries = [f"w{next(_numbers)}" for _ in world.libraries]
        self.verdict = Verdict()

    def fill(self) -> None:
        """Make the libraries and send what comes into them."""
        batches, calls = self.world.batches, self.world.calls
        used = {each.library for each in batches} | {number for each in calls for number in each.libraries}
        plans = [(self.libraries[number], self.world.libraries[number]) for number in sorted(used)]
        for library, plan in plans:
            make_library(self.served, library, plan)
        for number in range(len(batches) + 1):
            for library, plan in plans:
                if min(plan.glossary_from, len(batches)) == number:
                    put_terms(self.served, library, plan)
            if number < len(batches):
                self._send(number)

    def _send(self, number: int) -> None:
        batch = self.world.batches[number]
        refused = send_rows(self.served, self.libraries[batch.library], batch.rows)
        must = self.oracle.take(datetime.now(UTC))
        self.verdict.count("rows", len(batch.rows))
        self.verdict.count("rows refused", len(must))
        if _first_of_each_row(refused) != must:
            self.verdict.differences.append((None, f"batch {number}: refused {refused}, must refuse {must}"))

    def ask(self, number: int) -> tuple[Expected, list[Any] | str]:
        """What a call must be answered, and what it is answered: frames, or how it fails."""
        call = self.world.calls[number]
        expected = self.oracle.answer(call, datetime.now(UTC))
        self.verdict.calls += 1
        self.verdict.count_expected(expected)
        try:
            return expected, ask(self.served, request_of(call, self.libraries, self.oracle.moments))
        except grpc.RpcError as error:
            return expected, f"the call fails: {error.code()} {error.details()}"


def _first_of_each_row(refused: list[Rejection]) -> list[Rejection]:
    """Of a row with several faults the first: the oracle looks no further."""
    first: dict[int, Rejection] = {}
    for each in refused:
        first.setdefault(each.row, each)
    return list(first.values())
