"""A server in a process of its own that tells what is left in it: `started(data, **settings)`.

It is the one of `groundwire serve`, lexical only, with a log that is kept in place of written. Each line of its input
asks for its state: leftovers, tasks, descriptors, memory, and how long calls took that were refused.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from server_process import ServerProcess, server_process

__all__ = ["LoadedServer", "started"]


class LoadedServer(ServerProcess):
    """The process, seen from outside."""

    def state(self) -> dict[str, Any]:
        """What is in it now: leftovers by name, `tasks`, `descriptors`, `rss_mib`, `refused_ms` since the last time."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("state\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


@contextmanager
def started(data: Path, **settings: object) -> Iterator[LoadedServer]:
    """A server over a data folder. Settings by dotted name, dots written as two underscores."""
    given = {name.replace("__", "."): value for name, value in settings.items()}
    with server_process(__file__, data, json.dumps(given)) as server:
        yield LoadedServer(server.process, server.address)


class _Refusals:
    """In place of a file for the log: keeps how long refused calls took, in milliseconds."""

    def __init__(self) -> None:
        self.ms: list[float] = []

    def write(self, line: str) -> None:
        if "OVERLOADED" in line:
            self.ms.append(json.loads(line)["ms"])

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        return False


async def _serve(data: Path, given: dict[str, object]) -> None:
    from groundwire_server import kernels
    from groundwire_server.rpc.lifecycle import favour_the_loop, listening
    from groundwire_server.rpc.log import make_log
    from groundwire_server.settings import load_settings

    chosen = {"data": data, "server.port": 0, "embedding.backend": "none", "log.format": "json", **given}
    settings = load_settings(chosen, environ={})
    refusals: Any = _Refusals()
    async with listening(settings, make_log(settings.log, refusals)) as server:
        await asyncio.to_thread(kernels.load_now)
        favour_the_loop()  # as `groundwire serve` does
        print(server.address, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            gc.collect()
            state = {
                **server.leftovers,
                "tasks": len(asyncio.all_tasks()),
                "descriptors": len(os.listdir("/proc/self/fd")),
                "rss_mib": _resident_mib(),
                "refused_ms": refusals.ms[:],
            }
            refusals.ms.clear()
            print(json.dumps(state), flush=True)


def _resident_mib() -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(Path(sys.argv[1]), json.loads(sys.argv[2])))
