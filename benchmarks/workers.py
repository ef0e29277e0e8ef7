"""One process against several on one port: throughput, CPU, memory, how soon a write is seen, how soon a death is over.

    python benchmarks/workers.py [--size 10000] [--seconds 10] [--workers 2] [--deaths 3] [--shared DIR]

`groundwire serve`, lexical, over a stored library, as it is started by people: once with one process, once with
`--workers`. Clients are two processes of their own with eight connections each, in a closed loop, on the same machine:
they take CPU from the server, so that beside the calls a second stand the CPU of server and clients a call, and how
many cores the server had. A connection stays with one process; the system spreads them.

- seen: from the acknowledgement of a write by one process until another one answers with it.
- back: from kill -9 until a client that was connected to that process is answered again, by whichever is there; for the
  process that writes until a write is acknowledged.
- memory: proportional set size, in which a page that several processes map counts once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from house import stored
from report import CACHE, ROOT, SHARED, Report, has_corpus, questions, say
from server_process import cpu_seconds

CLIENTS = 2
CONNECTIONS = 8
CALLS_A_CONNECTION = 4
WARM_SECONDS = 3.0
WRITES = 40
TOP_K = 10
METHOD = "/groundwire.v1.NarrativeService/NarrativeRetrieve"


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=10_000, help="chunks of the library")
    options.add_argument("--seconds", type=float, default=10, help="of each measurement of throughput")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--deaths", type=int, default=3, help="of each kind of process")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored corpora")
    options.add_argument("--client", nargs=2, metavar=("ADDRESS", "SECONDS"), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.client:
        return client(chosen.client[0], float(chosen.client[1]))
    if not has_corpus(chosen.shared):
        return 2
    report = Report("workers")
    data = stored(chosen.cache, chosen.shared, chosen.size, ROOT / ".cache" / "no-models")
    requests = json.dumps([retrieval(each).hex() for each in questions(chosen.shared, 10)])
    measured: dict[int, dict[str, float]] = {}
    for workers in (1, chosen.workers):
        with served(data, workers) as server:
            measured[workers] = throughput(server, requests, chosen.seconds)
            measured[workers]["memory"] = server.memory_mib()
            if workers > 1:
                visibility(report, server, chosen.size)
                deaths(report, server, chosen.size, chosen.deaths)
    compare(report, measured, chosen)
    report.table()
    return 0


def retrieval(question: str) -> bytes:
    """A request by words."""
    from groundwire.v1 import narrative_pb2

    lexical = narrative_pb2.RETRIEVAL_MODE_LEXICAL
    return narrative_pb2.NarrativeRetrieveRequest(query=question, top_k=TOP_K, mode=lexical).SerializeToString()


# ---- the server ------------------------------------------------------------------------------------------------------


class Server:
    """`groundwire serve`, from outside."""

    def __init__(self, process: subprocess.Popen[str], workers: int) -> None:
        self.process = process
        self.workers = workers
        self._lines: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()
        assert process.stdout is not None
        self.address = process.stdout.readline().partition(" on ")[2].partition(",")[0]
        wait(lambda: bool(self.told(event="serving", process="supervisor")) or workers == 1)

    def _listen(self) -> None:
        for line in self.process.stderr or ():
            with suppress(ValueError):
                self._lines.append(json.loads(line))

    def told(self, **fields: str) -> list[dict[str, Any]]:
        """Lines of the log that hold these."""
        return [line for line in list(self._lines) if all(line.get(key) == value for key, value in fields.items())]

    def pids(self) -> dict[str, int]:
        """Of all processes that answer or write, by name."""
        if self.workers == 1:
            return {"server": self.process.pid}
        (first, *_) = self.told(event="serving", process="supervisor")
        known = {key: each for key, each in first.items() if key == "writer" or key.startswith("reader-")}
        for line in self.told(event="process started"):
            known[line["started"]] = line["pid"]
        return known

    def cpu_seconds(self) -> float:
        """Of all processes so far; the clock's id is made of a process's as clock_getcpuclockid(3) does."""
        return sum(cpu_seconds(pid) for pid in {self.process.pid, *self.pids().values()})

    def memory_mib(self) -> float:
        """Proportional set size of all processes together."""
        pids = {self.process.pid, *self.pids().values()}
        lines = [line for pid in pids for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024

    def kill(self, name: str) -> None:
        """Kill one of the processes."""
        os.kill(self.pids()[name], signal.SIGKILL)


@contextmanager
def served(data: Path, workers: int) -> Iterator[Server]:
    """Serve a data folder."""
    command = [sys.executable, "-m", "groundwire_server.cli", "serve", "--workers", str(workers), "--port", "0"]
    command += ["--data", str(data), "--lexical"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield Server(process, workers)
    finally:
        process.terminate()
        process.wait(60)


def wait(holds: Callable[[], bool], seconds: float = 60.0) -> float:
    """Seconds until it holds. Raises TimeoutError."""
    began = time.perf_counter()
    while not holds():
        if time.perf_counter() - began > seconds:
            raise TimeoutError
        time.sleep(0.002)
    return time.perf_counter() - began


# ---- throughput ------------------------------------------------------------------------------------------------------


def throughput(server: Server, requests: str, seconds: float) -> dict[str, float]:
    """Calls a second and what they cost."""
    run_clients(server.address, requests, WARM_SECONDS)
    spent = server.cpu_seconds()
    told = run_clients(server.address, requests, seconds)
    spent = server.cpu_seconds() - spent
    calls = sum(each["calls"] for each in told)
    return {
        "rate": calls / seconds,
        "server_us": spent / calls * 1e6,
        "client_us": sum(each["cpu"] for each in told) / calls * 1e6,
        "cores": spent / seconds,
        "p50": statistics.median(each["p50"] for each in told),
        "p99": max(each["p99"] for each in told),
    }


def run_clients(address: str, requests: str, seconds: float) -> list[dict[str, float]]:
    """All clients at once; what each tells."""
    command = [sys.executable, __file__, "--client", address, str(seconds)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(CLIENTS)
    ]
    for each in started:  # they begin together: when all have loaded what they need
        assert each.stdout is not None
        each.stdout.readline()
    for each in started:
        assert each.stdin is not None
        each.stdin.write(requests + "\n")
        each.stdin.flush()
    return [json.loads(each.communicate()[0].strip().splitlines()[-1]) for each in started]


def client(address: str, seconds: float) -> int:
    """In a process of its own: calls in a closed loop over some connections."""
    import uvloop

    say("ready")
    requests = [bytes.fromhex(each) for each in json.loads(sys.stdin.readline())]
    times: list[float] = []
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        began = time.process_time()
        runner.run(in_closed_loop(address, requests, seconds, times))
    times.sort()
    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    say(json.dumps({"calls": len(times), "cpu": time.process_time() - began, "p50": p50 * 1e3, "p99": p99 * 1e3}))
    return 0


async def in_closed_loop(address: str, requests: list[bytes], seconds: float, times: list[float]) -> None:
    """So many calls at a time on each connection; seconds of each."""
    import grpc

    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.aio.insecure_channel(address, options=options) for _ in range(CONNECTIONS)]
    until = time.perf_counter() + seconds

    async def one(channel: Any, number: int) -> None:
        method = channel.unary_stream(METHOD)
        while (began := time.perf_counter()) < until:
            async for _ in method(requests[number % len(requests)]):
                pass
            times.append(time.perf_counter() - began)
            number += 1

    await asyncio.gather(*(one(each, 7 * at) for at, each in enumerate(channels * CALLS_A_CONNECTION)))
    for channel in channels:
        await channel.close()


def compare(report: Report, measured: dict[int, dict[str, float]], chosen: argparse.Namespace) -> None:
    """One process beside several."""
    one, several, n = measured[1], measured[chosen.workers], chosen.size
    what = f"{chosen.workers} workers"
    cores = {"server_cores": round(several["cores"], 2), "server_cores_of_one": round(one["cores"], 2)}
    rate, alone = several["rate"], one["rate"]
    report.add(f"calls, {what}", "calls/s", rate, n=n, peer=("1 process", alone), **cores)
    pairs = {"server CPU a call": ("server_us", "us"), "client CPU a call": ("client_us", "us")}
    pairs |= {"call p50": ("p50", "ms"), "call p99": ("p99", "ms"), "memory of all processes": ("memory", "MiB")}
    for name, (key, unit) in pairs.items():
        report.add(f"{name}, {what}", unit, several[key], n=n, peer=("1 process", one[key]))
    # What the processes could do if clients had a machine of their own, by their CPU a call; not measured.
    bound = min(chosen.workers, os.cpu_count() or 1) / several["server_us"] * 1e6
    name = f"calls by server CPU alone (computed), {what}"
    report.add(name, "calls/s", bound, n=n, peer=("1 process", 1e6 / one["server_us"]))


# ---- what is seen, and what comes back -------------------------------------------------------------------------------


class Caller:
    """One connection."""

    def __init__(self, address: str) -> None:
        import grpc

        from groundwire.v1 import admin_pb2_grpc, ingest_pb2_grpc, narrative_pb2_grpc

        backoff = [("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 100)]
        self.channel = grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1), *backoff])
        self._narrative = narrative_pb2_grpc.NarrativeServiceStub(self.channel)
        self._ingest = ingest_pb2_grpc.IngestServiceStub(self.channel)
        self._admin = admin_pb2_grpc.AdminServiceStub(self.channel)

    def process(self) -> str:
        """Which process answers here."""
        from groundwire.v1 import admin_pb2

        info = self._admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
        (name,) = [each.name for each in info.components if each.kind == "process" and each.name != "writer"]
        return str(name)

    def finds(self, word: str) -> bool:
        """Whether a document answers; False where nobody does."""
        import grpc

        from groundwire.v1 import narrative_pb2

        lexical = narrative_pb2.RETRIEVAL_MODE_LEXICAL
        request = narrative_pb2.NarrativeRetrieveRequest(query=word, top_k=1, mode=lexical)
        try:
            return any(frame.HasField("batch") for frame in self._narrative.NarrativeRetrieve(request, timeout=5))
        except grpc.RpcError:
            return False

    def stores(self, word: str) -> bool:
        """Whether a document with a word is acknowledged."""
        import grpc

        from groundwire.v1 import ingest_pb2

        frame = ingest_pb2.IngestDocumentsRequest
        head = ingest_pb2.DocumentHead(doc_id=f"{word}.md")
        part = ingest_pb2.DocumentPart(seq=1, head=head, content=f"{word} is here".encode(), last_part=True)
        started = ingest_pb2.IngestStart(ingest_id=str(uuid.uuid4()), library_id="default")
        frames = [frame(start=started), frame(part=part), frame(finish=ingest_pb2.IngestFinish(last_seq=1))]
        try:
            return any(each.HasField("summary") for each in self._ingest.IngestDocuments(iter(frames), timeout=20))
        except grpc.RpcError:
            return False


def one_of_each(address: str, workers: int) -> dict[str, Caller]:
    """A connection to each process that reads."""
    found: dict[str, Caller] = {}
    while len(found) < workers:
        caller = Caller(address)
        found.setdefault(caller.process(), caller)
    return found


def visibility(report: Report, server: Server, n: int) -> None:
    """Write through one process, look through another."""
    one, other, *_ = one_of_each(server.address, server.workers).values()
    times = []
    for number in range(WRITES):
        word = f"seen{uuid.uuid4().hex[:8]}{number}"
        if not one.stores(word) or not one.finds(word):
            raise AssertionError("a write is not seen by who made it")
        times.append(wait(lambda word=word: other.finds(word)) * 1e3)  # type: ignore[misc]
    report.add("a write is seen by another process, p50", "ms", statistics.median(times), n=n, goal=1000)
    report.add("a write is seen by another process, longest", "ms", max(times), n=n, goal=1000, writes=WRITES)


def deaths(report: Report, server: Server, n: int, count: int) -> None:
    """Kill each kind of process and wait until calls are answered."""
    word = "seenbefore"
    one_of_each(server.address, server.workers)["reader-1"].stores(word)
    reads, during, writes = [], [], []
    for number in range(count):
        reader, other = (one_of_each(server.address, server.workers)[f"reader-{which}"] for which in (1, 2))
        reads.append(_back(server, "reader-1", lambda reader=reader: reader.finds(word)))  # type: ignore[misc]
        during.append(_back(server, "writer", lambda other=other: other.finds(word), settle=False))  # type: ignore[misc]
        writes.append(wait(lambda other=other, number=number: other.stores(f"after{number}")) * 1e3)  # type: ignore[misc]
    report.add("reads back after kill -9 of their process, longest", "ms", max(reads), n=n, goal=2000, deaths=count)
    report.add("reads after kill -9 of the writer, longest", "ms", max(during), n=n, goal=2000, deaths=count)
    report.add("writes back after kill -9 of the writer, longest", "ms", max(writes), n=n, deaths=count)


def _back(server: Server, name: str, answers: Callable[[], bool], *, settle: bool = True) -> float:
    """Milliseconds from the death of a process until something is answered; another process is there afterwards."""
    before = len(server.told(event="serving", process=name))
    server.kill(name)
    took = wait(answers) * 1e3
    if settle:
        wait(lambda: len(server.told(event="serving", process=name)) > before)
    return took


if __name__ == "__main__":
    sys.exit(main())
