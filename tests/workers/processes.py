"""`groundwire serve --workers N` as it is run: real processes, killed and stopped from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc

from groundwire.v1 import admin_pb2, admin_pb2_grpc, ingest_pb2_grpc, narrative_pb2, narrative_pb2_grpc
from tests.rpc.house import Documents, document_part, finish, start
from tests.support.eventually import eventually

__all__ = ["Caller", "Served", "served", "to_each"]

_LONG = 60.0


class Served:
    """The supervisor's process, and what all of them write to standard error."""

    def __init__(self, data: Path, workers: int, *words: str, port: int = 0) -> None:
        command = ["env", "--default-signal=INT", sys.executable, "-W", "error", "-m", "groundwire_server.cli", "serve"]
        command += ["--workers", str(workers), "--port", str(port), "--data", str(data), *words]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDWIRE_")}
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment | {"GROUNDWIRE_SERVER_DRAIN_SECONDS": "2"},
        )  # fmt: skip
        self.data = data
        self.written: list[str] = []
        self._listener = threading.Thread(target=lambda: self.written.extend(self.process.stderr or ()), daemon=True)
        self._listener.start()
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        self.address = self.said.partition(" on ")[2].partition(",")[0]

    def log(self, **fields: Any) -> list[dict[str, Any]]:
        """Lines that hold these fields."""
        found = []
        for line in list(self.written):
            with suppress(ValueError):
                told = json.loads(line)
                if all(told.get(name) == value for name, value in fields.items()):
                    found.append(told)
        return found

    @property
    def pids(self) -> dict[str, int]:
        """Process ids by name, as the supervisor tells of them."""
        (first,) = self.log(process="supervisor", event="serving")
        known = {name: pid for name, pid in first.items() if name == "writer" or name.startswith("reader-")}
        for line in self.log(process="supervisor", event="process started"):
            known[line["started"]] = line["pid"]
        return known

    def answering(self, name: str) -> int:
        """How often a process of a name has come to answer."""
        return len(self.log(process=name, event="serving"))

    def kill(self, name: str) -> None:
        """Kill one of the processes, as it stands, and wait until another one answers in its place."""
        before = self.answering(name)
        os.kill(self.pids[name], signal.SIGKILL)
        assert eventually(lambda: self.answering(name) > before, _LONG), self.written

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait. Gives the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(_LONG)
        self._listener.join(_LONG)
        return code

    def end(self) -> None:
        """Leave nothing behind, whatever happened."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._listener.join(_LONG)  # the pipe is closed when the last of the processes has ended
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


@contextmanager
def served(data: Path, workers: int = 2, *words: str) -> Iterator[Served]:
    """Serve until the block ends."""
    here = Served(data, workers, "--lexical", *words)
    try:
        assert here.address, here.written
        assert eventually(lambda: bool(here.log(process="supervisor", event="serving")), _LONG)
        yield here
        if here.process.poll() is None:
            assert here.stop() == 0, here.written
    finally:
        here.end()


class Caller:
    """One connection, which stays with one process for as long as that lives."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.insecure_channel(
            address,
            [
                ("grpc.use_local_subchannel_pool", 1),
                ("grpc.initial_reconnect_backoff_ms", 50),
                ("grpc.max_reconnect_backoff_ms", 200),
            ],
        )
        self._narrative = narrative_pb2_grpc.NarrativeServiceStub(self.channel)
        self._ingest = ingest_pb2_grpc.IngestServiceStub(self.channel)
        self.admin = admin_pb2_grpc.AdminServiceStub(self.channel)

    def found(self, query: str) -> list[str]:
        """Documents that answer a query."""
        request = narrative_pb2.NarrativeRetrieveRequest(query=query, top_k=100)
        frames = self._narrative.NarrativeRetrieve(request, timeout=20)
        return [each.lineage.doc_id for frame in frames if frame.HasField("batch") for each in frame.batch.snippets]

    def store(self, texts: dict[str, str], ingest_id: str = "") -> list[Any]:
        """Ingest texts; all frames."""
        parts = [
            Documents(part=document_part(seq, doc_id, text.encode()))
            for seq, (doc_id, text) in enumerate(texts.items(), 1)
        ]
        frames = iter([start(Documents, ingest_id=ingest_id), *parts, finish(Documents, len(parts))])
        return list(self._ingest.IngestDocuments(frames, timeout=60))

    @property
    def process(self) -> str:
        """Which of the processes answers here."""
        components = self.admin.GetServerInfo(admin_pb2.GetServerInfoRequest(), timeout=20).components
        (name,) = [each.name for each in components if each.kind == "process" and each.name != "writer"]
        return str(name)

    def close(self) -> None:
        """End the connection."""
        self.channel.close()


def to_each(address: str, names: set[str]) -> dict[str, Caller]:
    """A connection to each of the processes: the system spreads them, so some are made until all are met."""
    callers: dict[str, Caller] = {}

    def met() -> bool:
        caller = Caller(address)
        name = caller.process
        if name in callers:
            caller.close()
        else:
            callers[name] = caller
        return set(callers) == names

    assert eventually(met, _LONG)
    return callers
