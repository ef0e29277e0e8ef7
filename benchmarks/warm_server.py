"""A server in a process of its own over a stored library, with all that it loads in the background loaded.

`started(data, models)` gives a `WarmServer` to ask over a loopback socket; it tells its CPU time and memory. Engines
and kernels are those of `groundwire serve`; only the warming comes before the first answer here, so that no program
measures a server that is still compiling.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from report import say
from server_process import ServerProcess, channel_to, server_process

__all__ = ["Answer", "WarmServer", "started"]

METHOD = "/groundwire.v1.NarrativeService/NarrativeRetrieve"
READY_SECONDS = 120
LONGEST_CALL_SECONDS = 600  # the first ones on a cold disk, beside other work


class Answer:
    """One answer: its frames, milliseconds to the first and the last one, and CPU milliseconds of the server."""

    def __init__(self, frames: list[bytes], first_ms: float, last_ms: float, cpu_ms: float) -> None:
        self.frames = frames
        self.first_ms = first_ms
        self.last_ms = last_ms
        self.cpu_ms = cpu_ms


class WarmServer(ServerProcess):
    """A process and a channel to it."""

    def __init__(self, server: ServerProcess, channel: grpc.Channel) -> None:
        super().__init__(server.process, server.address)
        self._call: Any = channel.unary_stream(METHOD)

    def memory(self) -> dict[str, int]:
        """Bytes resident: RssAnon is the process's own, RssFile are mapped files, which the system may drop."""
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss")}

    def ask(self, request: bytes) -> Answer:
        """One question, read to its end."""
        spent, begun = self.cpu_seconds(), time.perf_counter()
        stream = self._call(request)
        frames = [next(stream)]
        first = time.perf_counter()
        frames += stream
        last = time.perf_counter()
        return Answer(frames, (first - begun) * 1e3, (last - begun) * 1e3, (self.cpu_seconds() - spent) * 1e3)


@contextmanager
def started(data: Path, models: Path | None) -> Iterator[WarmServer]:
    """A server over a data folder; without `models` it searches by words alone."""
    words = [] if models is None else ["--models", models]
    with server_process(__file__, data, *words) as server, channel_to(server.address) as channel:
        yield WarmServer(server, channel)


def main() -> int:
    """In the process of the server: write the address when all is loaded, go when the input ends."""
    import uvloop

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--models", type=Path)
    given = options.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(given.data, given.models))
    return 0


async def _serve(data: Path, models: Path | None) -> None:
    from groundwire_server import kernels
    from groundwire_server.rpc.lifecycle import listening
    from groundwire_server.rpc.log import make_log
    from groundwire_server.settings import load_settings

    chosen: dict[str, Any] = {"data": data, "server.port": 0, "log.level": "info", "log.format": "json"}
    chosen["limits.max_call_seconds"] = LONGEST_CALL_SECONDS
    chosen |= {"embedding.backend": "none"} if models is None else {"models": models}
    settings = load_settings(chosen, environ={})
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        async with listening(settings, make_log(settings.log, nowhere)) as server:
            await asyncio.to_thread(kernels.load_now)
            await asyncio.to_thread(server.engine.wait_for_embedder, READY_SECONDS)
            say(server.address)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    sys.exit(main())
