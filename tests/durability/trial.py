"""One library whose server is killed and comes back, held to one that was never killed."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from groundwire import Client, GroundwireError
from tests.durability.reading import answers, assert_exact, assert_whole, look, wait_embedded
from tests.durability.server import ServerProcess
from tests.durability.state import State
from tests.durability.steps import Step
from tests.durability.witness import Told, Witness

__all__ = ["Reference", "Trial", "undisturbed"]


@dataclass(frozen=True)
class Reference:
    """A library that went through steps undisturbed.

    Attributes:
        folder: data folder of the server, which was stopped.
        state: that it is in.
        chunks: of every revision that it ever had.
        told: all that its client was told.
        answers: canonical streams.
        start_seconds: until the server answered.
        seconds: that the steps took, until everything had its vector.
    """

    folder: Path
    state: State
    chunks: Mapping[tuple[str, int], int]
    told: Told
    answers: Mapping[str, bytes]
    start_seconds: float
    seconds: float


def undisturbed(folder: Path, steps: Sequence[Step], before: Reference | None) -> Reference:
    """Go through steps with a server that is not killed, on a copy of the folder of `before`."""
    if before is not None:
        shutil.copytree(before.folder, folder)
    witness = Witness(steps, before.state if before else State())
    began = time.monotonic()
    with ServerProcess(folder) as server:
        address = server.address()
        assert address is not None, server.log()
        start_seconds = time.monotonic() - began
        began = time.monotonic()
        assert witness.go_on(address), witness.failure
        with Client(address) as client:
            assert wait_embedded(client, server.wait_dead)
            seconds = time.monotonic() - began
            seen = look(client)
            assert not seen.differences(witness.final)
            assert_whole(seen, witness.final, witness.told.chunks)
            assert_exact(seen, client)
        found = answers(address)
        server.stop()
        assert not server.faults()
    chunks = {**(before.chunks if before else {}), **witness.told.chunks}
    return Reference(folder, witness.final, chunks, witness.told, found, start_seconds, seconds)


class Trial:
    """Steps on a folder, by a client that outlives its servers.

    Args:
        folder: data folder; made where it is not there.
        before: what the folder is a copy of; None: an empty library.
        target: what all must be like in the end.
    """

    def __init__(
        self,
        folder: Path,
        steps: Sequence[Step],
        before: Reference | None,
        target: Reference,
        *,
        survives: bool = False,
    ) -> None:
        self.folder = folder
        self.witness = Witness(steps, before.state if before else State(), survives=survives)
        self.witness.told.chunks.update(before.chunks if before else {})
        self._target = target

    def go_on(self, address: str, server: ServerProcess) -> None:
        """Until all is done and embedded, or the server is gone."""
        if not self.witness.go_on(address):
            assert server.wait_dead(30), f"the server lives: {self.witness.failure}"
            return
        try:
            with Client(address) as client:
                wait_embedded(client, server.wait_dead)
        except GroundwireError:
            if not server.wait_dead(30):
                raise

    def look_again(self, address: str, server: ServerProcess) -> None:
        """Whether the server shows what was acknowledged, and nothing by halves."""
        possible = self.witness.possible()
        with Client(address) as client:
            _wait_reached(client, server)
            seen = look(client)
            differences = {parts: seen.differences(state) for parts, state in possible.items()}
            shown = {parts for parts, found in differences.items() if not found}
            assert shown, f"{self.witness.acknowledged} parts were acknowledged; by parts: {differences}"
            assert_whole(seen, possible[min(shown)], self.witness.told.chunks)
            assert_exact(seen, client)
        self.witness.shows(shown)

    def finish(self, server: ServerProcess) -> None:
        """Look, do what is left, and compare all that can be read with the server that was never killed."""
        address = server.address()
        assert address is not None, server.log()
        self.look_again(address, server)
        self.complete(address, server)
        server.stop()
        assert not server.faults()
        _assert_tidy(self.folder)

    def complete(self, address: str, server: ServerProcess) -> None:
        """Do what is left, and compare."""
        assert self.witness.go_on(address), self.witness.failure
        with Client(address) as client:
            assert wait_embedded(client, server.wait_dead)
            seen = look(client)
            assert not seen.differences(self.witness.final)
            assert_whole(seen, self.witness.final, self._target.chunks)
        found = answers(address)
        assert found.keys() == self._target.answers.keys()
        assert [name for name in found if found[name] != self._target.answers[name]] == []
        told, expected = self.witness.told, self._target.told
        assert (told.summaries, told.rejected) == (expected.summaries, expected.rejected)

    def clear(self) -> None:
        """Remove what is not needed to look into a failure."""
        self.witness.close()
        shutil.rmtree(self.folder)


def _wait_reached(client: Client, server: ServerProcess) -> None:
    """Clients of one process share what gRPC knows of an address: when one has just found nobody there, others wait."""
    while True:
        try:
            client.health()
        except GroundwireError as error:
            if error.status != "UNAVAILABLE" or server.wait_dead(0.05):
                raise
        else:
            return


def _assert_tidy(folder: Path) -> None:
    """The stores are sound, and nothing lies about that nobody needs."""
    for path in (folder / "server.sqlite", *folder.glob("libraries/*/store.sqlite")):
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as store:
            assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert store.execute("PRAGMA foreign_key_check").fetchall() == []
            if path.name == "store.sqlite":
                assert store.execute("SELECT count(*) FROM ingest_spool").fetchone() == (0,)
    left_over = [path for path in folder.rglob("*") if path.suffix in (".tmp", ".new")]
    assert not left_over
    assert len(list(folder.glob("libraries/*/index/vectors/*.f32"))) == 1
