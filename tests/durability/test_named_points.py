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
_ATTEMPTS = 4
_FIRST_KILL = "lexical: before rows are appended"


def test_there_are_enough_points_and_no_name_twice() -> None:
    assert max(Counter(point.name for point in POINTS).values()) == 1
    assert sum(point.scene in ("first", "change") for point in POINTS) >= 40


def _kill(trial: Trial, point: str, port: int = 0) -> None:
    assert _passed(trial, point, port, 30), f"the point {point!r} was not passed: what is it called now?"


def _passed(trial: Trial, point: str, port: int, seconds: float) -> bool:
    """Whether the server came to the point, and killed itself there."""
    with ServerProcess(trial.folder, port=port, point=point) as victim:
        address = victim.address()
        if address is not None:
            trial.go_on(address, victim)
        if victim.alive and not victim.wait_dead(seconds):
            return False
        assert victim.wait_killed() == point
        return True


@pytest.mark.parametrize("point", some_now([p for p in POINTS if p.scene == "change"], 5, "change"))
def test_killed_while_a_library_changes(point: Point, tmp_path: Path, base: Reference, changed: Reference) -> None:
    survives = POINTS.index(point) % 4 == 0
    port = free_port() if survives else 0
    # Whether files are merged, and old ones go, depends on how many writes one saving behind them takes in.
    for attempt in range(_ATTEMPTS):
        trial = Trial(tmp_path / f"data{attempt}", CHANGE, base, changed, survives=survives)
        shutil.copytree(base.folder, trial.folder)
        if _passed(trial, point.name, port, 10):
            break
        trial.clear()
    else:
        raise AssertionError(f"the point {point.name!r} was not passed: what is it called now?")
    with ServerProcess(trial.folder, port=port) as server:
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
