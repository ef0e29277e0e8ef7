"""A disk that takes no more: a typed error, a server that goes on answering, nothing by halves; then room again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundwire import Client, ErrorReason, HealthStatus
from tests.durability.server import ServerProcess
from tests.durability.trial import Reference, Trial
from tests.durability.workload import CHANGE

pytestmark = pytest.mark.timeout(400)  # many servers start here, and each slowly where others work
_DISK_MIB = 16


def _fill_and_free(trial: Trial, server: ServerProcess, fill: Callable[[], None], free: Callable[[], None]) -> None:
    """Go on while the disk is full, until it is refused; look; make room; go on with the same server."""
    address = server.address()
    assert address is not None, server.log()
    fill()
    for _ in range(2):  # the second attempt meets what the first one left
        assert not trial.witness.go_on(address), "there was room for everything"
        assert trial.witness.failure is not None
        assert trial.witness.failure.reason is ErrorReason.STORAGE_FULL, trial.witness.failure
        assert trial.witness.failure.status == "RESOURCE_EXHAUSTED"
        assert server.alive
        with Client(address) as client:
            assert client.health() is HealthStatus.SERVING
            for mode in ("lexical", "hybrid"):
                assert client.retrieve("winter timetable", mode=mode).collect().snippets
        trial.look_again(address, server)
    free()
    trial.complete(address, server)


@pytest.mark.parametrize(
    "room", [90_000, pytest.param(300_000, marks=pytest.mark.slow), pytest.param(900_000, marks=pytest.mark.slow)]
)
def test_files_may_grow_no_longer(room: int, base_folder: Path, base: Reference, changed: Reference) -> None:
    trial = Trial(base_folder, CHANGE, base, changed)
    with ServerProcess(base_folder) as server:
        _fill_and_free(trial, server, lambda: server.limit_files(room), lambda: server.limit_files(-1))
        server.stop()
    trial.clear()


@contextmanager
def _small_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MIB}m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("only root may mount a small disk here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def _fill(place: Path, room: int) -> None:
    """Leave so many bytes free."""
    status = os.statvfs(place)
    (place / "ballast").write_bytes(bytes(max(0, status.f_bavail * status.f_frsize - room)))


@pytest.mark.parametrize(
    "room", [0, pytest.param(200_000, marks=pytest.mark.slow), pytest.param(1_000_000, marks=pytest.mark.slow)]
)
def test_a_full_disk(room: int, tmp_path: Path, base: Reference, changed: Reference) -> None:
    with _small_disk(tmp_path / "disk") as disk:
        shutil.copytree(base.folder, disk / "data")
        trial = Trial(disk / "data", CHANGE, base, changed)
        with ServerProcess(disk / "data", log=tmp_path / "log") as server:
            _fill_and_free(trial, server, lambda: _fill(disk, room), (disk / "ballast").unlink)
            server.stop()
        trial.clear()
