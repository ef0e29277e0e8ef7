"""Cold start: from the start of a server's process to its first answers.

    python benchmarks/cold_start.py [--sizes 10000,100000] [--rounds 5] [--models .cache/models] [--cache .cache/bench]

`groundwire serve` is started anew on a stored library, once a round, and asked as soon as it names its address:

- first lexical answer: all frames of a LEXICAL question have come;
- hybrid: an AUTO question is answered without VECTOR_OFF, so the embedder has been loaded. Asked again until then; the
  first of these answers has to say VECTOR_OFF with the component `embedder:loading`, else that is printed.

Without a prepared model only the first is measured. Bytecode is compiled beforehand, as an installer does. The peer is
a process that only imports the libraries that the server stands on. Each figure is the median over the rounds, the two
in turn, by the clock; files are warm.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from house import has_model, stored
from report import CACHE, ROOT, SHARED, Report, has_corpus, questions, say
from server_process import channel_to
from warm_server import METHOD

from groundwire.v1 import narrative_pb2, stream_pb2

PEER = "import asyncio, grpc.aio, google.protobuf, numpy, pydantic, structlog, uvloop"
LEXICAL_GOAL, HYBRID_GOAL = 0.6, 2.0
PAUSE_SECONDS = 0.02


@dataclass
class Start:
    """Seconds of one start, and whether the first hybrid question was told that the embedder loads."""

    listening: float
    lexical: float
    hybrid: float | None
    said_loading: bool


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--models", type=Path, default=ROOT / ".cache" / "models", help="folder of prepared models")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored libraries")
    given = options.parse_args()
    if not has_corpus(given.shared):
        return 2
    question = questions(given.shared, 1)[0]
    report = Report("cold_start")
    for size in map(int, given.sizes.split(",")):
        data = stored(given.cache, given.shared, size, given.models)
        hybrid = has_model(given.models)
        if not hybrid:
            say("The default model is not prepared: `groundwire models prepare`. Only the lexical answer is measured.")
        with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as temporary:
            os.environ["PYTHONPYCACHEPREFIX"] = f"{temporary}/bytecode"
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            start(data, given.models, question, hybrid)  # once for bytecode and files
            imports()
            starts: list[Start] = []
            peers: list[float] = []
            for _ in range(given.rounds):
                starts.append(start(data, given.models, question, hybrid))
                peers.append(imports())
        add_lines(report, starts, peers, size)
    report.table()
    return 0


def add_lines(report: Report, starts: list[Start], peers: list[float], chunks: int) -> None:
    """The results of one size."""
    figures: list[tuple[str, list[float], float | None]] = [
        ("process to listening", [each.listening for each in starts], None),
        ("process to first lexical answer", [each.lexical for each in starts], LEXICAL_GOAL),
    ]
    whole = [each.hybrid for each in starts if each.hybrid is not None]
    if whole:
        figures.append(("process to first hybrid answer", whole, HYBRID_GOAL))
        told = sum(each.said_loading for each in starts)
        say(f"VECTOR_OFF with embedder:loading until then: {told} of {len(starts)} starts")
    peer = ("imports of the libraries alone", statistics.median(peers))
    for name, values, goal in figures:
        report.add(name, "s", statistics.median(values), n=chunks, peer=peer, goal=goal, all=values)


def start(data: Path, models: Path, question: str, hybrid: bool) -> Start:
    """One start of a server."""
    lexical_mode, auto_mode = narrative_pb2.RETRIEVAL_MODE_LEXICAL, narrative_pb2.RETRIEVAL_MODE_AUTO
    begun = time.perf_counter()
    with serving(data, models, hybrid) as ask:
        listening = time.perf_counter() - begun
        ask(request(question, lexical_mode))
        lexical = time.perf_counter() - begun
        if not hybrid:
            return Start(listening, lexical, None, False)
        first = off = vector_off(ask(request(question, auto_mode)))
        while off:
            time.sleep(PAUSE_SECONDS)  # whoever asks without end takes from the loading what it waits for
            off = vector_off(ask(request(question, auto_mode)))
        return Start(listening, lexical, time.perf_counter() - begun, first == "embedder:loading")


@contextmanager
def serving(data: Path, models: Path, hybrid: bool) -> Iterator[Callable[[bytes], list[bytes]]]:
    """`groundwire serve` in a process of its own; gives a function that asks it."""
    command = [sys.executable, "-m", "groundwire_server.cli", "serve", "--data", str(data), "--port", "0"]
    command += ["--log-level", "error", "--models", str(models), *([] if hybrid else ["--lexical"])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        if "answers on" not in said:
            raise RuntimeError("the server did not start")
        address = said.partition("answers on ")[2].partition(",")[0]
        with channel_to(address) as channel:
            call: Any = channel.unary_stream(METHOD)
            yield lambda asked: list(call(asked))
    finally:
        process.terminate()
        process.wait()


def request(question: str, mode: narrative_pb2.RetrievalMode.ValueType) -> bytes:
    return narrative_pb2.NarrativeRetrieveRequest(query=question, mode=mode).SerializeToString()


def vector_off(frames: list[bytes]) -> str:
    """The component that VECTOR_OFF names in the summary, "" where there is no such degradation."""
    summary = narrative_pb2.NarrativeRetrieveResponse.FromString(frames[-1]).summary
    named = [each.component for each in summary.degradations if each.kind == stream_pb2.DEGRADATION_KIND_VECTOR_OFF]
    return named[0] if named else ""


def imports() -> float:
    """The peer: seconds of a process that imports and ends."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", PEER], check=True)
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
