"""BM25: building and asking, against bm25s (numpy) on the same texts, engines in turn in one process.

    python benchmarks/lexical.py [--sizes 10000,100000] [--shared ../shared] [--no-peer]

Prints one JSON line per result and a table. Corpora come from `make_corpus.py` of the shared data, questions from its
sets (English, Japanese, Chinese in equal parts). Times are wall times; under load only ratios mean anything.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from groundwire_server.lexical import LexicalDirectory, LexicalIndex, top
from groundwire_server.text import tokenize

ROOT = Path(__file__).resolve().parent.parent
QUESTION_SETS = ("scifact", "jaquad", "drcd")
TOP = 50
T = TypeVar("T")


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with tools/ and data/")
    options.add_argument("--questions", type=int, default=50, help="of each set")
    options.add_argument("--no-peer", action="store_true", help="leave bm25s out")
    chosen = options.parse_args()
    if not (chosen.shared / "tools" / "make_corpus.py").exists():
        say(f"No corpus: {chosen.shared}/tools/make_corpus.py is not there. Name the folder with --shared DIR.")
        return 2
    questions = list(read_questions(chosen.shared / "data", chosen.questions))
    results: list[dict[str, Any]] = []
    for size in map(int, chosen.sizes.split(",")):
        texts = read_texts(corpus(chosen.shared, size))
        results += measure(texts, questions, with_peer=not chosen.no_peer)
    load = f"load {os.getloadavg()[0]:.1f}"
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {load}, Python {platform.python_version()}"
    for result in results:
        say(json.dumps({**result, "commit": commit(), "machine": machine}))
    say(f"\n{'what':<34}{'chunks':>9}{'groundwire':>13}{'bm25s':>11}{'ratio':>8}")
    for result in results:
        peer, ratio = (f"{result[key]:.2f}" if result[key] is not None else "-" for key in ("peer", "ratio"))
        say(f"{result['name'] + ', ' + result['unit']:<34}{result['n']:>9}{result['value']:>13.2f}{peer:>11}{ratio:>8}")
    return 0


def measure(texts: list[str], questions: list[str], *, with_peer: bool) -> Iterator[dict[str, Any]]:
    """Results of one size; `ratio` is how many times better than the peer."""
    n = len(texts)
    with tempfile.TemporaryDirectory() as folder:
        directory = LexicalDirectory(Path(folder) / "index")
        seconds, index = timed(lambda: directory.load(n, lambda start, stop: texts[start:stop]))
        disk = sum(path.stat().st_size for path in directory.path.iterdir())
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start, _ = timed(lambda: LexicalDirectory(directory.path).load(n, lambda start, stop: texts[start:stop]))
        appends = []
        for at in range(0, 400, 20):
            more = texts[at : at + 20]
            took, index = timed(lambda: directory.append(more))  # noqa: B023
            appends.append(took * 1e3)
        index = LexicalDirectory(directory.path).load(n, lambda start, stop: texts[start:stop])
    peer_seconds, ask_peer = build_peer(texts) if with_peer else (None, None)
    everything = np.ones(n, dtype=np.bool_)
    some = np.random.default_rng(0).random(n) < 0.01
    times: dict[str, list[float]] = {"ours": [], "filtered": [], "peer": []}
    for question in questions:
        took, _ = timed(lambda: ask(index, question, everything))  # noqa: B023
        times["ours"].append(took * 1e3)
        took, _ = timed(lambda: ask(index, question, some))  # noqa: B023
        times["filtered"].append(took * 1e3)
        if ask_peer is not None:
            took, _ = timed(lambda: ask_peer(question))  # noqa: B023
            times["peer"].append(took * 1e3)

    def result(name: str, unit: str, value: float, peer: float | None = None, *, more: bool = False) -> dict[str, Any]:
        ratio = None if peer is None else (value / peer if more else peer / value)
        return {"name": name, "unit": unit, "value": value, "peer": peer, "ratio": ratio, "n": n}

    yield result("build, tokenizing and disk", "chunks/s", n / seconds, peer_seconds and n / peer_seconds, more=True)
    for name, key, share in (("p50", "ours", 50), ("p95", "ours", 95), ("1 % filter p50", "filtered", 50)):
        peer = float(np.percentile(times["peer"], share)) if times["peer"] and key == "ours" else None
        yield result(f"top {TOP}, {name}", "ms", float(np.percentile(times[key], share)), peer)
    yield result("append 20 chunks, p50", "ms", statistics.median(appends))
    yield result("open, checksums verified", "ms", start * 1e3)
    yield result("on disk", "bytes/chunk", disk / n)
    yield result("peak memory of the process", "MB", memory)


def ask(index: LexicalIndex, question: str, candidates: np.ndarray[Any, np.dtype[np.bool_]]) -> list[int]:
    """The best rows, from the words of a question."""
    return top(index.search(tokenize(question), candidates, depth=TOP), TOP, int)


def build_peer(texts: list[str]) -> tuple[float, Callable[[str], Any]]:
    """bm25s with numpy, over the same tokens; its time to build has ours to tokenize in it, as it brings no tokenizer
    for Chinese and Japanese."""
    import bm25s  # type: ignore[import-untyped]

    peer = bm25s.BM25(method="lucene", k1=1.5, b=0.75, backend="numpy")
    seconds, _ = timed(lambda: peer.index([tokenize(text) for text in texts], show_progress=False))
    return seconds, lambda question: peer.retrieve([tokenize(question)], k=TOP, show_progress=False, n_threads=0)


def corpus(shared: Path, size: int) -> Path:
    """The corpus of a size, made once."""
    path = ROOT / ".cache" / "bench" / f"corpus-{size}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(shared / "tools" / "make_corpus.py"), "--n", str(size), "--out", f"{path}.tmp"]
        subprocess.run(command, check=True)
        Path(f"{path}.tmp").rename(path)
    return path


def read_texts(path: Path) -> list[str]:
    """Title and text of each chunk."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        return [f"{row['title']}\n{row['text']}" for row in map(json.loads, lines)]


def read_questions(data: Path, count: int) -> Iterator[str]:
    """The first questions of each set."""
    for name in QUESTION_SETS:
        with open(data / name / "queries.jsonl", encoding="utf-8", newline="\n") as lines:
            for _, line in zip(range(count), lines, strict=False):
                yield json.loads(line)["text"]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    value = work()
    return time.perf_counter() - start, value


def commit() -> str:
    """The commit measured."""
    return subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    ).stdout.strip()


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
