"""A writer and readers of one data folder, in this process, called through the generated stubs."""

from __future__ import annotations

import io
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from groundwire.v1 import admin_pb2
from groundwire_server.rpc import Running, running
from groundwire_server.rpc.log import make_log
from groundwire_server.rpc.workers import Reader, Writer
from groundwire_server.settings import Settings, load_settings
from groundwire_server.store import FolderLock
from tests.rpc.house import House

__all__ = ["Team", "team", "writer_of"]


@dataclass
class Team:
    """The houses of the readers, and that of the writer, which answers on its socket alone."""

    readers: list[House]
    settings: Settings
    writer_stack: ExitStack
    lock: FolderLock
    written: io.StringIO
    writer: Running = field(init=False)

    def stop_writer(self) -> None:
        self.writer_stack.close()

    def start_writer(self) -> None:
        """Another one in its place."""
        self.writer_stack = ExitStack()
        log = make_log(self.settings.log.model_copy(update={"format": "json"}), self.written)
        role = Writer(self.settings.data, _handed_on(self.lock))
        self.writer = self.writer_stack.enter_context(running(self.settings, log, role=role))


def _handed_on(lock: FolderLock) -> int:
    return os.dup(lock.descriptor)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def team(data: Path, readers: int = 1, **settings: object) -> Iterator[Team]:
    """Serve a data folder until the block ends. Settings as `house` takes them; each reader has a port of its own."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    base: dict[str, object] = {
        "data": data,
        "embedding.backend": "none",
        "server.drain_seconds": 1,
        "log.level": "debug",
        **named,
    }
    data.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        lock = FolderLock(data / "lock")
        stack.callback(lock.release)
        chosen = load_settings({**base, "server.port": 0}, environ={})
        made = Team([], chosen, ExitStack(), lock, io.StringIO())
        made.start_writer()
        stack.callback(made.stop_writer)
        for number in range(1, readers + 1):
            own = load_settings({**base, "server.port": free_port()}, environ={})
            written = io.StringIO()
            log = make_log(own.log.model_copy(update={"format": "json"}), written)
            channel = grpc.insecure_channel(f"127.0.0.1:{own.server.port}")
            stack.callback(channel.close)  # once the server is gone: a stop is seen by the calls that run
            server = stack.enter_context(running(own, log, role=Reader(data, number)))
            made.readers.append(House(server, channel, written))
        yield made


def writer_of(here: House) -> Any:
    """What a reader says of the process that writes."""
    components = here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest()).components
    processes = {each.name: each for each in components if each.kind == "process"}
    assert len(processes) == 2
    assert any(name.startswith("reader-") for name in processes)
    return processes["writer"]
