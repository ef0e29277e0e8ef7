"""What it costs a server to be watched: CPU of a NarrativeRetrieve stream with metrics, with traces, with neither.

    python benchmarks/telemetry.py [--size 2000] [--rounds 9] [--calls 200] [--shared ../shared]

Servers of the same library, each a `groundwire serve` of its own, are called in turn over a loopback socket with the
same requests (lexical, 10 snippets, EN, JA and ZH):

- unwatched: neither;
- metrics: counted, the page read once a round;
- traces, none sampled: every caller says in its traceparent that its call is not to be traced;
- traces, all sampled: a span a call and one a stage, sent to a collector in this process, which counts them.

CPU is that of the whole server process by the kernel's clock, that of the exporter's thread and of scrapes included.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
from house import corpus_file
from report import CACHE, SHARED, Report, has_corpus, questions
from server_process import channel_to, cpu_seconds
from wire import METHOD, load, request

TOP_K = 10
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
KINDS = ("unwatched", "metrics", "traces, none sampled", "traces, all sampled")


@dataclass
class Watched:
    """A server process and what a call cost it, a figure a round."""

    process: subprocess.Popen[str]
    channel: grpc.Channel
    metrics: str
    traceparent: str
    cpu_us: list[float] = field(default_factory=list)

    def cpu_seconds(self) -> float:
        """CPU time of the process so far."""
        return cpu_seconds(self.process.pid)

    def settle(self) -> None:
        """Until it does nothing by itself any more: compiled searches are loaded behind the first answers."""
        before = -1.0
        while (now := self.cpu_seconds()) - before > 0.02:
            before = now
            time.sleep(1)

    def measure(self, requests: list[bytes], calls: int) -> None:
        """One round; ends when what it leaves to a thread has had its time, too."""
        method: Any = self.channel.unary_stream(METHOD)
        metadata = (("traceparent", self.traceparent),) if self.traceparent else ()
        before = self.cpu_seconds()
        for number in range(calls):
            for _ in method(requests[number % len(requests)], metadata=metadata):
                pass
        if self.metrics:
            with urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=10) as page:
                page.read()
        if self.traceparent.endswith("-01"):
            time.sleep(0.3)
        self.cpu_us.append((self.cpu_seconds() - before) / calls * 1e6)


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=2000, help="chunks")
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--calls", type=int, default=200, help="calls a round")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored corpora")
    chosen = options.parse_args()
    if not has_corpus(chosen.shared):
        return 2
    report = Report("telemetry")
    requests = [request(question, TOP_K) for question in questions(chosen.shared, 10)]
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as temporary, ExitStack() as after:
        folder = Path(temporary)
        load(folder / KINDS[0], corpus_file(chosen.cache, chosen.shared, chosen.size))
        for kind in KINDS[1:]:
            shutil.copytree(folder / KINDS[0], folder / kind)
        collector, received = after.enter_context(collecting())
        servers = {kind: after.enter_context(started(kind, folder / kind, collector)) for kind in KINDS}
        for server in servers.values():  # what the first calls load
            server.measure(requests, 3 * len(requests))
            server.settle()
            server.measure(requests, 3 * len(requests))
            server.cpu_us.clear()
        for _ in range(chosen.rounds):
            for server in servers.values():
                server.measure(requests, chosen.calls)
    bare = servers["unwatched"].cpu_us
    for kind, server in servers.items():
        peer = None if kind == "unwatched" else ("unwatched", statistics.median(bare))
        report.add(
            f"server CPU of a stream, {TOP_K} snippets, {kind}",
            "us",
            statistics.median(server.cpu_us),
            n=chosen.size,
            peer=peer,
        )
    for kind in KINDS[1:]:
        more = [ours - theirs for ours, theirs in zip(servers[kind].cpu_us, bare, strict=True)]
        report.add(f"of that, beyond the unwatched one, {kind}", "us", statistics.median(more), n=chosen.size)
    report.add(
        "bytes a call sends to the collector", "bytes", received[0] / (chosen.rounds * chosen.calls), n=chosen.size
    )
    for name, us in observed_alone().items():
        report.add(f"of a stream of 4 messages and 6 stages, in the loop, {name}", "us", us, n=0)
    report.table()
    return 0


def observed_alone(calls: int = 2000, rounds: int = 7) -> dict[str, float]:
    """CPU of what is told of one call, in one thread and nothing else: the median of the rounds, by who is told."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
    from prometheus_client import CollectorRegistry

    from groundwire_server.rpc.observer import Unobserved
    from groundwire_server.rpc.telemetry import Telemetry
    from groundwire_server.rpc.telemetry.call_metrics import CallMetrics
    from groundwire_server.rpc.telemetry.call_spans import CallSpans

    class Metrics:
        def __init__(self) -> None:
            self.calls = CallMetrics(CollectorRegistry())

    watchers: dict[str, Any] = {
        "unwatched": Unobserved(),
        "metrics": Telemetry(Metrics(), None),  # type: ignore[arg-type]
        "traces, none sampled": Telemetry(None, CallSpans(TracerProvider(ALWAYS_OFF, shutdown_on_exit=False))),
        "traces, all sampled": Telemetry(None, CallSpans(TracerProvider(shutdown_on_exit=False))),
    }
    times: dict[str, list[float]] = {name: [] for name in watchers}
    for _ in range(rounds):
        for name, watcher in watchers.items():
            began = time.thread_time()
            for _ in range(calls):
                _tell_of_one_call(watcher)
            times[name].append((time.thread_time() - began) / calls * 1e6)
    bare = statistics.median(times.pop("unwatched"))
    return {name: statistics.median(each) - bare for name, each in times.items()}


def _tell_of_one_call(watcher: Any) -> None:
    from groundwire_server.evidence import EndReason, StageTiming, Summary
    from groundwire_server.rpc.call import RpcCall

    call = RpcCall(_Context(), METHOD.removeprefix("/"), None)
    watcher.begun(call)
    for _ in range(4):
        watcher.frame(call, 2000)
    stages = ("restrict", "rewrite", "lexical", "fuse", "expand", "exit")
    timings = tuple(StageTiming(stage, timedelta(milliseconds=1), 100, 10, "default") for stage in stages)
    watcher.told(call, Summary(EndReason.TOP_K, timings=timings))
    call.outcome = ("OK", "")
    watcher.ended(call, "OK", "")


class _Context:
    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return (("traceparent", f"{PARENT}-01"), ("user-agent", "bench"))


@contextmanager
def collecting() -> Iterator[tuple[str, list[int]]]:
    """A collector that reads and forgets; gives its address and the bytes it has read so far."""
    received = [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received[0] += len(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/traces", received
        server.shutdown()


@contextmanager
def started(kind: str, data: Path, collector: str) -> Iterator[Watched]:
    """`groundwire serve` on a data folder, watched as its kind says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDWIRE_", "OTEL_"))}
    environment |= {"GROUNDWIRE_EMBEDDING_BACKEND": "none", "GROUNDWIRE_LOG_FORMAT": "json"}
    if kind == "metrics":
        environment["GROUNDWIRE_TELEMETRY_METRICS_PORT"] = "0"
    elif kind.startswith("traces"):
        environment |= {"GROUNDWIRE_TELEMETRY_TRACES_ENDPOINT": collector, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    command = [sys.executable, "-m", "groundwire_server.cli", "--data", str(data), "serve", "--port", "0"]
    log = data.with_name(f"{data.name}.log")
    with (
        log.open("w") as written,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=written, text=True, env=environment) as process,
    ):
        try:
            assert process.stdout is not None
            address = process.stdout.readline().partition(" answers on ")[2].partition(",")[0]
            sampled = {"traces, none sampled": f"{PARENT}-00", "traces, all sampled": f"{PARENT}-01"}
            with channel_to(address) as channel:
                yield Watched(process, channel, _metrics_of(log) if kind == "metrics" else "", sampled.get(kind, ""))
        finally:
            process.terminate()


def _metrics_of(log: Path) -> str:
    """Where the metrics are, as the log says."""
    while '"metrics": "' not in (said := log.read_text()):
        time.sleep(0.05)
    return said.partition('"metrics": "')[2].partition('"')[0]


if __name__ == "__main__":
    sys.exit(main())
