"""One world: into a server, asked, and compared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import grpc

from tests.oracle.compare import differences
from tests.oracle.draw import OUTSIDE
from tests.oracle.oracle import Found, NotFound, Oracle, Refused
from tests.oracle.server import Served
from tests.oracle.wire import ask, make_library, put_terms, request_of, send_rows
from tests.oracle.world import World

__all__ = ["Verdict", "try_world"]

_numbers = itertools.count(1)


@dataclass
class Verdict:
    """What came of a world: how much was compared, and where the two differ."""

    calls: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    differences: list[tuple[int | None, str]] = field(default_factory=list)  # call (None: while it filled), what

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def add(self, other: Verdict) -> None:
        self.calls += other.calls
        for what, number in other.counts.items():
            self.count(what, number)


def try_world(served: Served, world: World) -> Verdict:
    """Fill libraries of a server as the world says, ask its calls, and compare."""
    verdict = Verdict()
    oracle = Oracle(world, OUTSIDE)
    libraries = [f"w{next(_numbers)}" for _ in world.libraries]
    used = {each.library for each in world.batches} | {number for each in world.calls for number in each.libraries}
    for number, (library, plan) in enumerate(zip(libraries, world.libraries, strict=True)):
        if number in used:
            make_library(served, library, plan)
    for number in range(len(world.batches) + 1):
        for place, (library, plan) in enumerate(zip(libraries, world.libraries, strict=True)):
            if place in used and min(plan.glossary_from, len(world.batches)) == number:
                put_terms(served, library, plan)
        if number < len(world.batches):
            verdict.differences += [(None, each) for each in _fill(served, world, oracle, libraries, number, verdict)]
    for number, _ in enumerate(world.calls):
        verdict.calls += 1
        verdict.differences += [(number, each) for each in _try_call(served, world, oracle, libraries, number, verdict)]
    return verdict


def _fill(
    served: Served, world: World, oracle: Oracle, libraries: Sequence[str], number: int, verdict: Verdict
) -> list[str]:
    batch = world.batches[number]
    refused = send_rows(served, libraries[batch.library], batch.rows)
    must = oracle.take(datetime.now(UTC))
    verdict.count("rows", len(batch.rows))
    verdict.count("rows refused", len(must))
    return [] if refused == must else [f"batch {number}: refused {refused}, must refuse {must}"]


def _try_call(
    served: Served, world: World, oracle: Oracle, libraries: Sequence[str], number: int, verdict: Verdict
) -> list[str]:
    call = world.calls[number]
    expected = oracle.answer(call, datetime.now(UTC))
    try:
        frames = ask(served, request_of(call, libraries, oracle.moments))
    except grpc.RpcError as error:
        return [f"the call fails: {error.code()} {error.details()}"]
    verdict.count("calls about outside names", expected.outside)
    for outcome in expected.outcomes:
        verdict.count("outcomes")
        if isinstance(outcome, Found):
            verdict.count("found, computed" if outcome.computed else "found, stored")
            verdict.count("found, conflicting", outcome.conflicting)
            verdict.count("found, though a name means several things", bool(outcome.decided))
        elif isinstance(outcome, NotFound):
            verdict.count("not found")
        else:
            verdict.count(f"unrecognized, {'ambiguous' if outcome.ambiguous else 'unknown'}")
    for computed in expected.calculations:
        verdict.count(f"calculations, {min(computed.reasons) if isinstance(computed, Refused) else 'computed'}")
    return differences(world, call, libraries, expected, frames)
