"""What the wire costs: server CPU of a NarrativeRetrieve stream and time to its first frame, against a bare echo.

    python benchmarks/wire.py [--sizes 10000] [--rounds 5] [--calls 200] [--shared ../shared]

Three servers, each in a process of its own, are called in turn with the same requests over a loopback socket:

- whole: `groundwire serve` without embeddings, one chunk a document, EN, JA and ZH questions, mode lexical;
- wire: the same server over an engine that gives kept evidence again, so that retrieval costs nothing;
- echo: a bare grpc.aio server (uvloop as well) that streams the very bytes of the answers, kept beforehand.

CPU is that of the whole server process, all of its threads, by the kernel's clock. Each figure is the median over the
rounds; under load only ratios mean anything.
"""

from __future__ import annotations

import argparse
import asyncio
import pickle
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import grpc
import uvloop
from house import corpus_file
from report import CACHE, SHARED, Report, has_corpus, questions, say
from server_process import ServerProcess, channel_to, server_process

METHOD = "/groundwire.v1.NarrativeService/NarrativeRetrieve"
TOP_KS = (10, 100)
CPU_GOAL_US = 400  # numbers.md, for 10 snippets
LINES_AN_UPLOAD = 1000
Frames = dict[bytes, list[bytes]]


@dataclass
class Server:
    """A server process, a channel to it, and what was measured: by top_k, a figure a round or a call."""

    process: ServerProcess
    channel: grpc.Channel
    cpu_us: dict[int, list[float]] = field(default_factory=lambda: {top_k: [] for top_k in TOP_KS})
    first_ms: dict[int, list[float]] = field(default_factory=lambda: {top_k: [] for top_k in TOP_KS})
    last_ms: dict[int, list[float]] = field(default_factory=lambda: {top_k: [] for top_k in TOP_KS})

    def __post_init__(self) -> None:
        method: Any = self.channel.unary_stream(METHOD)
        self.call: Callable[[bytes], Iterator[bytes]] = method

    def measure(self, requests: list[bytes], top_k: int, calls: int) -> None:
        """One round."""
        before = self.process.cpu_seconds()
        for number in range(calls):
            start = time.perf_counter()
            answer = self.call(requests[number % len(requests)])
            next(answer)
            self.first_ms[top_k].append((time.perf_counter() - start) * 1e3)
            for _ in answer:
                pass
            self.last_ms[top_k].append((time.perf_counter() - start) * 1e3)
        self.cpu_us[top_k].append((self.process.cpu_seconds() - before) / calls * 1e6)


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000", help="chunks, comma-separated")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--calls", type=int, default=200, help="calls a round")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored corpora")
    options.add_argument("--serve", nargs=2, metavar=("KIND", "PATH"), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.serve:
        serve(chosen.serve[0], Path(chosen.serve[1]))
        return 0
    if not has_corpus(chosen.shared):
        return 2
    report = Report("wire")
    for size in map(int, chosen.sizes.split(",")):
        measure(report, size, questions(chosen.shared, 10), chosen)
    report.table()
    return 0


def measure(report: Report, size: int, asked: list[str], chosen: argparse.Namespace) -> None:
    """The three servers in turn."""
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as temporary, ExitStack() as after:
        folder = Path(temporary)
        load(folder / "whole", corpus_file(chosen.cache, chosen.shared, size))
        shutil.copytree(folder / "whole", folder / "wire")
        requests = {top_k: [request(question, top_k) for question in asked] for top_k in TOP_KS}
        servers = {kind: after.enter_context(started(kind, folder / kind)) for kind in ("whole", "wire")}
        frames: Frames = {each: list(servers["wire"].call(each)) for some in requests.values() for each in some}
        (folder / "echo").write_bytes(pickle.dumps(frames))
        servers["echo"] = after.enter_context(started("echo", folder / "echo"))
        for server in servers.values():
            for top_k in TOP_KS:
                for each in requests[top_k]:
                    # A batch closes 5 ms after its first snippet: beside other work there can be more of them.
                    assert len(list(server.call(each))) >= 3 <= len(frames[each])
        for _ in range(chosen.rounds):
            for top_k in TOP_KS:
                for server in servers.values():
                    server.measure(requests[top_k], top_k, chosen.calls)
    for top_k in TOP_KS:
        add_lines(report, servers, top_k, size, frames[requests[top_k][0]])


def add_lines(report: Report, servers: dict[str, Server], top_k: int, size: int, example: list[bytes]) -> None:
    """What was measured with answers of so many snippets."""
    echo, whole, wire = (servers[kind] for kind in ("echo", "whole", "wire"))
    size_of = {"frames": len(example), "kib": round(sum(map(len, example)) / 1024, 1)}

    def add(name: str, unit: str, values: list[float], peers: list[float], **more: Any) -> None:
        peer = ("bare grpc.aio echo", statistics.median(peers))
        report.add(f"{name}, {top_k} snippets", unit, statistics.median(values), n=size, peer=peer, **size_of, **more)

    beyond = [ours - bare for ours, bare in zip(wire.cpu_us[top_k], echo.cpu_us[top_k], strict=True)]
    goal = {"goal": CPU_GOAL_US} if top_k == 10 else {}
    add("server CPU of a stream, retrieval aside", "us", wire.cpu_us[top_k], echo.cpu_us[top_k], **goal)
    what = f"of that, beyond the bare server, {top_k} snippets"
    report.add(what, "us", statistics.median(beyond), n=size)
    add("server CPU of a stream, retrieval too", "us", whole.cpu_us[top_k], echo.cpu_us[top_k])
    add("first frame, retrieval too, p50", "ms", whole.first_ms[top_k], echo.first_ms[top_k])
    add("last frame, retrieval too, p50", "ms", whole.last_ms[top_k], echo.last_ms[top_k])


def request(question: str, top_k: int) -> bytes:
    from groundwire.v1 import narrative_pb2

    lexical = narrative_pb2.RETRIEVAL_MODE_LEXICAL
    return narrative_pb2.NarrativeRetrieveRequest(query=question, top_k=top_k, mode=lexical).SerializeToString()


def load(data: Path, lines: Path) -> None:
    """Store a corpus, a line a document and a document a chunk."""
    from groundwire import Client, DocumentUpload
    from groundwire_server.rpc import running_server

    def uploads() -> Iterator[DocumentUpload]:
        with lines.open("rb") as corpus_lines:
            while some := b"".join(islice(corpus_lines, LINES_AN_UPLOAD)):
                yield DocumentUpload(f"corpus-{corpus_lines.tell()}.jsonl", some)

    start = time.perf_counter()
    with (
        running_server(settings(data, "error")) as address,
        Client(address) as client,
        client.ingest_documents(uploads()) as events,
    ):
        for _ in events:
            pass
    print(f"stored {lines.name} in {time.perf_counter() - start:.1f} s", file=sys.stderr)


def settings(data: Path, log_level: str = "info") -> Any:
    from groundwire_server.settings import load_settings

    given = {"data": data, "server.port": 0, "embedding.backend": "none", "ingest.chunker": "whole"}
    return load_settings({**given, "log.level": log_level, "log.format": "json"}, environ={})


@contextmanager
def started(kind: str, path: Path) -> Iterator[Server]:
    """A server in a process of its own; it writes its address, and goes when its input ends."""
    with (
        server_process(__file__, "--serve", kind, path, quiet=True) as process,
        channel_to(process.address) as channel,
    ):
        yield Server(process, channel)


def serve(kind: str, path: Path) -> None:
    """In the process of a server."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run({"whole": serve_whole, "wire": serve_wire, "echo": serve_echo}[kind](path))


async def until_input_ends(address: str) -> None:
    say(address)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def serve_whole(data: Path) -> None:
    from groundwire_server.rpc.lifecycle import listening
    from groundwire_server.rpc.log import make_log

    chosen = settings(data)
    async with listening(chosen, make_log(chosen.log)) as server:
        await until_input_ends(server.address)


class KeptEvidence:
    """An engine that retrieves once for each request and gives the same frames ever after."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._kept: dict[tuple[str, int], list[Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def retrieve(self, asked: Any, call: Any) -> Iterator[Any]:
        key = (asked.query, asked.top_k)
        if key not in self._kept:
            self._kept[key] = list(self._engine.retrieve(asked, call))
        return iter(self._kept[key])


async def serve_wire(data: Path) -> None:
    from groundwire_server.engine import Engine
    from groundwire_server.rpc.guard import Guard
    from groundwire_server.rpc.log import make_log
    from groundwire_server.rpc.server import WireServer
    from groundwire_server.rpc.services import build_methods
    from groundwire_server.rpc.work import WorkPool

    chosen = settings(data)
    engine = await asyncio.to_thread(Engine, chosen)
    pool = WorkPool(chosen.reading_threads)
    guard = Guard(lambda _context: engine.local_principal, make_log(chosen.log), chosen.limits.max_call_seconds)
    kept: Any = KeptEvidence(engine)
    server = WireServer(build_methods(kept, pool, asyncio.Event()), guard, chosen.server)
    await until_input_ends(await server.start())
    await server.stop(0)
    await asyncio.to_thread(pool.shutdown)
    await asyncio.to_thread(engine.close)


class EchoMethod(grpc.GenericRpcHandler):
    """One method, which streams kept bytes."""

    def __init__(self, frames: Frames) -> None:
        async def stream(asked: bytes, context: Any) -> None:
            for frame in frames[asked]:
                await context.write(frame)

        self._handler: Any = grpc.unary_stream_rpc_method_handler(stream)

    def service(self, handler_call_details: Any) -> Any:
        return self._handler if handler_call_details.method == METHOD else None


async def serve_echo(path: Path) -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((EchoMethod(pickle.loads(path.read_bytes())),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    await until_input_ends(f"127.0.0.1:{port}")
    await server.stop(0)


if __name__ == "__main__":
    sys.exit(main())
