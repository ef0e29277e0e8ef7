"""Cold start: from the start of a server's process to its first answers.

    python benchmarks/cold_start.py [--chunks 10000] [--rounds 5] [--models .cache/models] [--shared ../shared]

`groundwire serve` is started anew on a stored corpus, once a round, and asked as soon as it names its address:

- first lexical answer: all frames of a LEXICAL question have come;
- hybrid: an AUTO question is answered without VECTOR_OFF, so the embedder has been loaded. Asked again until then; the
  first of these answers has to say VECTOR_OFF with the component `embedder:loading`, else that is printed.

Without a prepared model only the first is measured. The vectors of the corpus are made up (unit noise, one a chunk):
they cost what real ones do to open and to search. Bytecode is compiled beforehand, as an installer does. The peer is a
process that only imports the libraries that the server stands on. Each figure is the median over the rounds, the two
in turn; files are warm. Load and the time of a fixed loop are printed with each.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import numpy as np
from lexical import commit, corpus, read_questions, say
from numpy.typing import NDArray
from wire import METHOD, calibration_ms, load

from groundwire.v1 import narrative_pb2, stream_pb2

PEER = "import asyncio, grpc.aio, google.protobuf, numpy, pydantic, structlog, uvloop"
LEXICAL_GOAL, HYBRID_GOAL = 0.6, 2.0
VECTORS_A_WRITE = 5_000
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
    root = Path(__file__).resolve().parent.parent
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chunks", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--models", type=Path, default=root / ".cache" / "models", help="folder of prepared models")
    options.add_argument("--shared", type=Path, default=root.parent / "shared", help="folder with tools/ and data/")
    chosen = options.parse_args()
    if not (chosen.shared / "tools" / "make_corpus.py").exists():
        say(f"No corpus: {chosen.shared}/tools/make_corpus.py is not there. Name the folder with --shared DIR.")
        return 2
    question = next(read_questions(chosen.shared / "data", 1))
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as temporary:
        os.environ["PYTHONPYCACHEPREFIX"] = f"{temporary}/bytecode"
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        data = Path(temporary) / "data"
        load(data, corpus(chosen.shared, chosen.chunks))
        hybrid = make_up_vectors(data, chosen.models)
        if not hybrid:
            say("The default model is not prepared: `groundwire models prepare`. Only the lexical answer is measured.")
        start(data, chosen.models, question, hybrid)  # once for bytecode and files
        imports()
        starts: list[Start] = []
        peers: list[float] = []
        for _ in range(chosen.rounds):
            starts.append(start(data, chosen.models, question, hybrid))
            peers.append(imports())
    report(starts, peers, chosen.chunks)
    return 0


def report(starts: list[Start], peers: list[float], chunks: int) -> None:
    """JSON lines, then the table; `ratio` is how many times as long as the imports alone."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
    machine += f"calibration {calibration_ms():.0f} ms, Python {platform.python_version()}"
    figures: list[tuple[str, list[float], float | None]] = [
        ("process to listening", [each.listening for each in starts], None),
        ("process to first lexical answer", [each.lexical for each in starts], LEXICAL_GOAL),
    ]
    whole = [each.hybrid for each in starts if each.hybrid is not None]
    if whole:
        figures.append(("process to first hybrid answer", whole, HYBRID_GOAL))
    peer = statistics.median(peers)
    for name, values, goal in figures:
        value = statistics.median(values)
        line = {"name": f"cold start, {name}", "unit": "s", "value": value, "goal": goal, "all": values, "peer": peer}
        say(json.dumps(line | {"ratio": value / peer, "n": chunks, "commit": commit(), "machine": machine}))
    say(f"\n{'what':<40}{'s':>8}{'goal':>8}{'ratio':>8}")
    for name, values, goal in figures:
        value = statistics.median(values)
        say(f"{name:<40}{value:>8.3f}{goal or '':>8}{value / peer:>8.2f}")
    say(f"{'imports of the libraries alone':<40}{peer:>8.3f}")
    if whole:
        told = sum(each.said_loading for each in starts)
        say(f"VECTOR_OFF with embedder:loading until then: {told} of {len(starts)} starts")


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
        with grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)]) as channel:
            call = channel.unary_stream(METHOD)
            yield lambda asked: list(call(asked))
    finally:
        process.terminate()
        process.wait()


def request(question: str, mode: narrative_pb2.RetrievalMode) -> bytes:
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


class MadeUpVectors:
    """Stands for a model: unit noise under its version."""

    max_tokens = 0
    for_tests = True

    def __init__(self, name: str, version: str, dim: int) -> None:
        self.name, self.version, self.dim = name, version, dim
        self._noise = np.random.default_rng(7)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed_passage(text)

    def embed_passage(self, _text: str) -> NDArray[np.float32]:
        vector = self._noise.standard_normal(self.dim).astype(np.float32)
        return vector / np.linalg.norm(vector)

    def token_count(self, _text: str) -> int:
        return 0


def make_up_vectors(data: Path, models: Path) -> bool:
    """A vector for each chunk, of the version of the prepared model. False: none is prepared."""
    from groundwire_server.dense import DEFAULT_MODEL, find_model
    from groundwire_server.library import DataFolder

    model = find_model(DEFAULT_MODEL, folder=models)
    if model is None:
        return False
    embedder = MadeUpVectors(model.spec.name, model.version, model.spec.dim)
    folder = DataFolder(data)
    try:
        library = folder.library("default")
        library.use_embedder(embedder)
        while some := [row for row, _ in zip(library.rows_without_embedding(), range(VECTORS_A_WRITE), strict=False)]:
            library.add_vectors((row, embedder.embed_passage(text)) for row, text in some)
    finally:
        folder.close()
    return True


if __name__ == "__main__":
    sys.exit(main())
