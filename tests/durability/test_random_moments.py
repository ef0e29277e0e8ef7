"""SIGKILL at any moment, from outside, again and again: what was acknowledged is there, nothing is there by halves."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from tests.durability.selection import SEED, some_now
from tests.durability.server import ServerProcess, free_port
from tests.durability.trial import Reference, Trial
from tests.durability.workload import CHANGE

pytestmark = pytest.mark.timeout(400)  # many servers start here, and each slowly where others work
_LIBRARIES = 20
_KILLS = 3  # of each library while it changes, and one more while its server starts


@pytest.mark.parametrize("number", some_now(range(_LIBRARIES), 1, "moments"))
def test_killed_at_any_moment(number: int, base_folder: Path, base: Reference, changed: Reference) -> None:
    """The first kill lies in the n-th part of the time that the whole takes undisturbed, the others in what is left."""
    chosen = random.Random(f"{SEED} {number}")
    survives = number % 4 == 1
    port = free_port() if survives else 0
    trial = Trial(base_folder, CHANGE, base, changed, survives=survives)
    left, share = 1.0, (number + chosen.random()) / _LIBRARIES
    for kill in range(_KILLS):
        with ServerProcess(base_folder, port=port) as victim:
            address = victim.address()
            assert address is not None, victim.log()
            trial.look_again(address, victim)
            _kill_after(share * changed.seconds, victim)
            trial.go_on(address, victim)
            assert victim.wait_killed() == ""
        left -= share
        share = left * chosen.random()
        if kill == 0:
            with ServerProcess(base_folder, port=port) as starting:
                _kill_after(chosen.random() * base.start_seconds, starting)
                assert starting.wait_killed() == ""
    with ServerProcess(base_folder, port=port) as server:
        trial.finish(server)
    trial.clear()


def _kill_after(seconds: float, victim: ServerProcess) -> None:
    killer = threading.Timer(seconds, victim.kill)
    killer.daemon = True
    killer.start()
