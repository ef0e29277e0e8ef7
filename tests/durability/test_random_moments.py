"""SIGKILL at any moment, from outside: what was acknowledged is there, nothing is there by halves."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from tests.durability.selection import SEED, some_now
from tests.durability.server import ServerProcess, free_port
from tests.durability.trial import Reference, Trial
from tests.durability.workload import CHANGE

_MOMENTS = 60


@pytest.mark.parametrize("number", some_now(range(_MOMENTS), 4, "moments"))
def test_killed_at_some_moment(number: int, base_folder: Path, base: Reference, changed: Reference) -> None:
    """The n-th moment lies in the n-th part of the time that the whole takes when nobody disturbs it."""
    share = (number + random.Random(f"{SEED} {number}").random()) / _MOMENTS
    survives = number % 4 == 1
    port = free_port() if survives else 0
    trial = Trial(base_folder, CHANGE, base, changed, survives=survives)
    with ServerProcess(base_folder, port=port) as victim:
        killer = threading.Timer(share * changed.seconds, victim.kill)
        trial.go_on(victim, killer.start)
        assert victim.wait_killed() == ""
    with ServerProcess(base_folder, port=port) as server:
        trial.finish(server)
    trial.clear()
