"""kill -9 of each process while others write and read: nothing that was acknowledged is lost, and reads come back."""

from __future__ import annotations

import os
import random
import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from tests.support.eventually import eventually
from tests.workers.processes import Caller, Served, served, to_each

READERS = {"reader-1", "reader-2"}
_BACK = 30.0  # on an idle machine it takes a second; here everything else runs beside it


class Load:
    """Threads that write documents of their own, each again until it is acknowledged, and threads that read."""

    def __init__(self, address: str, writers: int = 2, readers: int = 2) -> None:
        self.acknowledged: list[str] = []
        self.lost: list[str] = []
        self.answers = 0
        self.faults: list[BaseException] = []
        self._address = address
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(self._write, at)) for at in range(writers)]
        self._threads += [threading.Thread(target=self._run, args=(self._read, at)) for at in range(readers)]

    def end(self) -> None:
        """There is nobody any more to write to and to read from."""
        self._over.set()

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in self._threads:
                thread.join(120)
        assert not self.faults, self.faults

    def _run(self, work: object, number: int) -> None:
        caller = Caller(self._address)
        try:
            assert callable(work)
            work(caller, number)
        except BaseException as error:  # noqa: BLE001 - told in the thread of the test
            self.faults.append(error)
        finally:
            caller.close()

    def _write(self, caller: Caller, number: int) -> None:
        count = 0
        while not self._over.is_set():
            doc_id, ingest_id = f"w{number}n{count}", str(uuid.uuid4())
            texts = {f"{doc_id}.md": f"{doc_id} wombat ウォンバット"}
            while not self._over.is_set():
                try:
                    frames = caller.store(texts, ingest_id)
                except grpc.RpcError as error:
                    assert_typed(error)
                    self._over.wait(0.05)
                    continue
                assert frames[-1].summary.stored + frames[-1].summary.unchanged == 1
                self.acknowledged.append(doc_id)
                break
            count += 1
            self._over.wait(0.02)

    def _read(self, caller: Caller, _number: int) -> None:
        while not self._over.is_set():
            known = self.acknowledged[-1:]
            try:
                caller.found("wombat")
                for doc_id in known:
                    if not eventually(lambda doc_id=doc_id: self._is_found(caller, doc_id), _BACK):  # type: ignore[misc]
                        self.lost.append(doc_id)
            except grpc.RpcError as error:
                assert_typed(error)
                continue
            self.answers += 1

    def _is_found(self, caller: Caller, doc_id: str) -> bool:
        return self._over.is_set() or found_once(caller, doc_id)


def assert_typed(error: grpc.RpcError) -> None:
    """What a client may see of a process that dies: it is told to come again, or its connection is gone."""
    assert isinstance(error, grpc.Call)
    assert error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED), error


def found_once(caller: Caller, doc_id: str) -> bool:
    try:
        return caller.found(doc_id) == [f"{doc_id}.md"]
    except grpc.RpcError:
        return False


def kill_under_load(here: Served, load: Load, name: str) -> None:
    """Kill a process once there is something to lose; reads and writes come back."""
    writes, reads = len(load.acknowledged), load.answers
    assert eventually(lambda: len(load.acknowledged) > writes + 2 and load.answers > reads, _BACK)
    before = here.answering(name)
    os.kill(here.pids[name], signal.SIGKILL)
    reads = load.answers
    assert eventually(lambda: load.answers > reads + 2, _BACK), "reads are back"
    assert eventually(lambda: here.answering(name) > before, 60), "another one is there"
    writes = len(load.acknowledged)
    assert eventually(lambda: len(load.acknowledged) > writes + 2, _BACK), "writes are back"


def assert_nothing_lost(address: str, load: Load) -> None:
    assert load.lost == []
    callers = to_each(address, READERS)
    for caller in callers.values():
        for doc_id in load.acknowledged:
            assert eventually(lambda caller=caller, doc_id=doc_id: found_once(caller, doc_id)), doc_id  # type: ignore[misc]
        caller.close()


def trial(data: Path, names: list[str]) -> None:
    load: Load
    with served(data) as here:
        load = Load(here.address)
        with load.running():
            for name in names:
                kill_under_load(here, load, name)
        assert_nothing_lost(here.address, load)
    with served(data) as again:
        assert_nothing_lost(again.address, load)


def test_each_process_is_killed_under_load(tmp_path: Path) -> None:
    trial(tmp_path / "data", ["writer", "reader-1"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_process_is_killed_at_any_moment(tmp_path: Path, seed: int) -> None:
    drawn = random.Random(seed)
    trial(tmp_path / "data", drawn.choices(["writer", "writer", "reader-1", "reader-2"], k=6))


@pytest.mark.slow
def test_the_supervisor_is_killed_under_load(tmp_path: Path) -> None:
    """Nobody starts it again here; whoever does finds everything that was acknowledged."""
    data = tmp_path / "data"
    with served(data) as here:
        load = Load(here.address)
        with load.running():
            assert eventually(lambda: len(load.acknowledged) > 5 and load.answers > 5, _BACK)
            here.process.kill()
            here.process.wait()
            load.end()
    with served(data) as again:
        assert_nothing_lost(again.address, load)


@pytest.mark.slow
def test_a_stop_under_load_ends_every_call_with_a_status(tmp_path: Path) -> None:
    with served(tmp_path / "data") as here:
        load = Load(here.address)
        with load.running():
            assert eventually(lambda: len(load.acknowledged) > 3 and load.answers > 3, _BACK)
            assert here.stop() == 0
            load.end()
        assert {line["code"] for line in here.log(event="call")} <= {"OK", "UNAVAILABLE", "CANCELLED"}
    with served(tmp_path / "data") as again:
        assert_nothing_lost(again.address, load)
