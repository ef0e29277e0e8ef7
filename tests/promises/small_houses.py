"""Houses for small worlds: in memory, furnished once and copied, under a clock of their own."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from groundwire.v1 import admin_pb2
from tests.promises.direct import DirectHouse, direct_house
from tests.promises.questions import BEGIN
from tests.promises.worlds import begin

__all__ = ["Clock", "Workshop", "wait_for_vectors", "workshop"]

_MEMORY = Path("/dev/shm")
_WAIT_SECONDS = 120.0


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        return self.now


class Workshop:
    """Makes houses. One secret for all, so that equal content has equal snapshots.

    Args:
        root: a folder for all of them, best in memory: then nothing waits for a disk.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._loop = asyncio.new_event_loop()
        for libraries in (("default",), ("default", "side")):
            with direct_house(root / f"furnished-{len(libraries)}", self._loop, Clock(), secret="s") as here:
                for library_id in libraries:
                    begin(here, library_id)

    def folder(self, libraries: int = 1) -> Path:
        """A data folder with so many libraries, each with its glossary and nothing else.

        It is always the same one, made anew: its name stands among the settings that GetServerInfo shows.
        """
        path = self._root / "house"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self._root / f"furnished-{libraries}", path)
        return path

    @contextmanager
    def house(self, folder: Path, clock: Clock, **settings: object) -> Iterator[DirectHouse]:
        """Answer from a folder."""
        with direct_house(folder, self._loop, clock, secret="s", **settings) as here:
            yield here

    def close(self) -> None:
        """Delete all folders."""
        self._loop.close()
        shutil.rmtree(self._root, ignore_errors=True)


@contextmanager
def workshop() -> Iterator[Workshop]:
    """A workshop until the block ends."""
    made = Workshop(Path(tempfile.mkdtemp(prefix="groundwire-", dir=_MEMORY if _MEMORY.is_dir() else None)))
    try:
        yield made
    finally:
        made.close()


def wait_for_vectors(here: DirectHouse) -> None:
    """Until all that can be read has its vector, and no job that can be seen is at work."""
    here.engine.wait_for_embedder()
    until = time.monotonic() + _WAIT_SECONDS
    while not _is_done(here):
        assert time.monotonic() < until, "no vectors"
        time.sleep(0.002)


def _is_done(here: DirectHouse) -> bool:
    libraries = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    if any(each.embedding_coverage != 1.0 for each in libraries):
        return False
    jobs = here.admin.ListJobs(admin_pb2.ListJobsRequest()).jobs
    return all(job.state >= admin_pb2.JOB_STATE_SUCCEEDED for job in jobs)
