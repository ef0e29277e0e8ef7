"""SIGKILL at every named point of the way in: what was acknowledged is there, nothing is there by halves."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.durability.points import POINTS, Point
from tests.durability.selection import some_now
from tests.durability.server import ServerProcess, free_port
from tests.durability.trial import Reference, Trial
from tests.durability.workload import BASE, CHANGE

pytestmark = pytest.mark.timeout(400)  # many servers start here, and each slowly where others work
_FIRST_KILL = "lexical: before rows are appended"


def test_there_are_enough_points_and_no_name_twice() -> None:
    assert max(Counter(point.name for point in POINTS).values()) == 1
    assert sum(point.scene in ("first", "change") for point in POINTS) >= 40


def _kill(trial: Trial, point: str, port: int = 0) -> None:
    with ServerProcess(trial.folder, port=port, point=point) as victim:
        address = victim.address()
        if address is not None:
            trial.go_on(address, victim)
        assert not victim.alive or victim.wait_dead(30), f"the point {point!r} was not passed: what is it called now?"
        assert victim.wait_killed() == point


@pytest.mark.parametrize("point", some_now([p for p in POINTS if p.scene == "change"], 5, "change"))
def test_killed_while_a_library_changes(point: Point, base_folder: Path, base: Reference, changed: Reference) -> None:
    survives = POINTS.index(point) % 4 == 0
    port = free_port() if survives else 0
    trial = Trial(base_folder, CHANGE, base, changed, survives=survives)
    _kill(trial, point.name, port)
    with ServerProcess(base_folder, port=port) as server:
        trial.finish(server)
    trial.clear()


@pytest.mark.parametrize("point", some_now([p for p in POINTS if p.scene == "first"], 1, "first"))
def test_killed_while_a_library_is_made(point: Point, folder: Path, base: Reference) -> None:
    trial = Trial(folder, BASE, None, base)
    _kill(trial, point.name)
    with ServerProcess(folder) as server:
        trial.finish(server)
    trial.clear()


@pytest.mark.parametrize("point", some_now([p for p in POINTS if p.scene == "catch-up"], 1, "catch-up"))
def test_killed_again_while_it_catches_up(point: Point, base_folder: Path, base: Reference, changed: Reference) -> None:
    trial = Trial(base_folder, CHANGE, base, changed)
    _kill(trial, _FIRST_KILL)
    _kill(trial, point.name)
    with ServerProcess(base_folder) as server:
        trial.finish(server)
    trial.clear()


@pytest.mark.parametrize("point", some_now([p for p in POINTS if p.scene == "rebuild"], 1, "rebuild"))
def test_killed_while_it_makes_its_indexes_anew(
    point: Point, base_folder: Path, base: Reference, changed: Reference
) -> None:
    shutil.rmtree(base_folder / "libraries" / "default" / "index")
    trial = Trial(base_folder, CHANGE, base, changed)
    _kill(trial, point.name)
    with ServerProcess(base_folder) as server:
        trial.finish(server)
    trial.clear()
