"""BM25: building and asking, against tantivy, bm25s (numpy and numba) and a plain scan, engines in turn in one process.

    python benchmarks/lexical.py [--sizes 10000,100000] [--shared ../shared] [--without bm25s,tantivy,scan]

Prints one JSON line per result and a table. Corpora come from `make_corpus.py` of the shared data, questions from its
sets (English, Japanese, Chinese in equal parts). All engines get the same tokens. Times are medians of the CPU time of
the calling thread, in which each of the engines does its work; `wall` has the same by the clock. `ratio` is how many
times as much the peer takes. Filters keep every hundredth or tenth row: ours counts its statistics over those rows,
anew for each question; the peers' stay those of all rows. Indexes are kept in --cache, so a run can be taken up again;
bm25s is left out beyond 100,000 chunks, where it needs more memory than there is, and the scan beyond 10,000. A chart
of growth takes the lines "all against tantivy", "tantivy top 50", "bm25s numba top 50" and "1 % against all" by `n`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from groundwire_server import kernels
from groundwire_server.lexical import LexicalDirectory, LexicalIndex, top
from groundwire_server.text import tokenize

ROOT = Path(__file__).resolve().parent.parent
QUESTION_SETS = ("scifact", "jaquad", "drcd")
TOP = 50
MOST_BM25S, MOST_SCAN = 100_000, 10_000
SCANNED = 3  # questions; a scan takes seconds
T = TypeVar("T")
Ask = Callable[[list[str]], Any]


class NumpyOnly(LexicalIndex):
    """Answers as where numba is missing."""

    def _compiled_search(self) -> None:
        return None


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=ROOT / ".cache" / "bench", help="folder of corpora and indexes")
    options.add_argument("--questions", type=int, default=50, help="of each set")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--without", default="", help="peers to leave out, comma-separated: bm25s, tantivy, scan")
    chosen = options.parse_args()
    if not (chosen.shared / "tools" / "make_corpus.py").exists():
        say(f"No corpus: {chosen.shared}/tools/make_corpus.py is not there. Name the folder with --shared DIR.")
        return 2
    questions = [tokenize(text) for text in read_questions(chosen.shared / "data", chosen.questions)]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    results: list[dict[str, Any]] = []
    for size in map(int, chosen.sizes.split(",")):
        path = corpus(chosen.shared, size, chosen.cache)
        for result in measure(path, size, questions, chosen):
            line = {**result, "n": size, "commit": commit(), "machine": f"{machine}, load {os.getloadavg()[0]:.1f}"}
            say(json.dumps(line))
            results.append(line)
    say(f"\n{'what':<46}{'chunks':>9}{'value':>12}{'peer':>12}{'ratio':>8}")
    for result in results:
        peer, ratio = (f"{result[key]:.3f}" if result[key] is not None else "-" for key in ("peer", "ratio"))
        say(f"{result['name'] + ', ' + result['unit']:<46}{result['n']:>9}{result['value']:>12.3f}{peer:>12}{ratio:>8}")
    return 0


def measure(path: Path, n: int, questions: list[list[str]], chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Results of one size."""
    without = set(chosen.without.split(","))
    folder = chosen.cache / f"lexical-{n}"
    fresh = not folder.exists()
    directory = LexicalDirectory(folder)
    stored = Stored(path)
    seconds, index = timed(lambda: settled(directory, n, stored))
    if fresh:
        yield line("build, tokenizing and disk", "chunks/s CPU", n / seconds)
    else:
        yield line("open, checksums verified", "ms CPU", seconds * 1e3)
    yield line("on disk", "bytes/chunk", sum(each.stat().st_size for each in folder.iterdir()) / n)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield line("append 20 chunks", "ms", statistics.median(append_times(read_texts(path, 0, 2000))))
    kernels.load_now()
    if kernels.compiled("groundwire_server.lexical.kernels") is None:
        say("numba is not there: the numpy-only search is measured alone.")

    engines = dict(ours(index))
    if "tantivy" not in without:
        engines |= tantivy_engines(chosen.cache / f"tantivy-{n}", path)
    if "bm25s" not in without and n <= MOST_BM25S:
        engines |= bm25s_engines(chosen.cache / f"bm25s-{n}", path)
    cpu, wall = in_turn(engines, questions, chosen.rounds)
    peers = {"1 %": "tantivy 1 %", "10 %": "tantivy 10 %"}
    for name in engines:
        if name.startswith(("tantivy", "bm25s")):
            yield line(f"{name} top {TOP}", "ms CPU", cpu[name], wall=wall[name])
            continue
        for peer in [peers.get(name, "tantivy"), "bm25s numba", "bm25s numpy"]:
            if peer in cpu and (name in ("all", "numpy only") or peer.startswith("tantivy")):
                yield line(f"{name} against {peer}", "ms CPU", cpu[name], cpu[peer], wall=wall[name])
        if name != "all":
            yield line(f"{name} against all", "ms CPU", cpu[name], cpu["all"], wall=wall[name])
    if "scan" not in without and n <= MOST_SCAN:
        rows = [Counter(tokenize(text)) for text in read_texts(path, 0, n)]
        took = statistics.median(timed(lambda: scan(tokens, rows))[0] for tokens in questions[:SCANNED])  # noqa: B023
        yield line("all against a plain scan", "ms CPU", cpu["all"], took * 1e3)
    yield line("resident after opening", "MB", resident)


def ours(index: LexicalIndex) -> Iterator[tuple[str, Ask]]:
    """Our searches. Filters come as new masks, as a server makes them; a clearance's mask stays."""
    n = index.rows
    rows = np.arange(n)
    everything = np.ones(n, dtype=np.bool_)
    readable = np.random.default_rng(5).random(n) < 0.98
    for mask in (everything, readable):
        mask.setflags(write=False)
    plain = NumpyOnly(index.segments, index.lengths)
    masks = {"all": everything, "98 % readable": readable, "1 %": rows % 100 == 7, "10 %": rows % 10 == 7}
    for name, mask in masks.items():
        yield name, lambda tokens, mask=mask: top(index.search(tokens, mask, depth=TOP), TOP, int)
    yield "numpy only", lambda tokens: top(plain.search(tokens, everything, depth=TOP), TOP, int)
    yield "numpy only, 1 %", lambda tokens: top(plain.search(tokens, masks["1 %"], depth=TOP), TOP, int)


def tantivy_engines(folder: Path, path: Path) -> dict[str, Ask]:
    """tantivy over the same tokens, without and with filters on numbers."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="ws", index_option="freq")
    builder.add_unsigned_field("id", stored=True, indexed=True, fast=True)
    for name in ("ent", "ten"):
        builder.add_unsigned_field(name, stored=False, indexed=True, fast=True)
    schema = builder.build()
    fresh = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    index = tantivy.Index(schema, path=str(folder))
    blanks = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("ws", blanks)
    if fresh:
        writer = index.writer(256 << 20, 1)
        for row, text in enumerate(read_texts(path, 0, None)):
            document = tantivy.Document()
            document.add_text("body", " ".join(tokenize(text)))
            document.add_unsigned("id", row)
            document.add_unsigned("ent", row % 100)
            document.add_unsigned("ten", row % 10)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
    searcher = index.searcher()
    query, occur = tantivy.Query, tantivy.Occur

    def ask(tokens: list[str], field: str = "", value: int = 7) -> Any:
        wanted = query.boolean_query(
            [(occur.Should, query.term_query(schema, "body", each, "freq")) for each in tokens]
        )
        if field:
            kept = query.const_score_query(query.term_query(schema, field, value), 0.0)
            wanted = query.boolean_query([(occur.Must, wanted), (occur.Must, kept)])
        return searcher.search(wanted, TOP, count=False).hits

    return {
        "tantivy": ask,
        "tantivy 1 %": lambda tokens: ask(tokens, "ent"),
        "tantivy 10 %": lambda tokens: ask(tokens, "ten"),
    }


def bm25s_engines(folder: Path, path: Path) -> dict[str, Ask]:
    """bm25s over the same tokens: scores made beforehand, in single precision."""
    import bm25s  # type: ignore[import-untyped]

    if not folder.exists():
        made = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        made.index([tokenize(text) for text in read_texts(path, 0, None)], show_progress=False)
        made.save(folder)
    engines: dict[str, Ask] = {}
    for backend in ("numba", "numpy"):
        peer = bm25s.BM25.load(folder)
        peer.backend = backend
        if backend == "numba":
            peer.activate_numba_scorer()
        engines[f"bm25s {backend}"] = lambda tokens, peer=peer: peer.retrieve(
            [tokens], k=TOP, show_progress=False, n_threads=0
        )
    return engines


def scan(tokens: list[str], rows: Sequence[Counter[str]]) -> list[tuple[float, int]]:
    """The formula over every row, without an index."""
    df = {term: sum(term in row for row in rows) for term in set(tokens)}
    lengths = [row.total() for row in rows]
    average = sum(lengths) / len(rows)
    found = []
    for number, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        score = 0.0
        for term in dict.fromkeys(tokens):
            if term in row:
                idf = math.log(1 + (len(rows) - df[term] + 0.5) / (df[term] + 0.5))
                damping = 1.5 * (0.25 + 0.75 * length / average)
                score += ((tokens.count(term) * idf) * row[term] * 2.5) / (row[term] + damping)
        if score:
            found.append((-score, number))
    return sorted(found)[:TOP]


def append_times(texts: Iterable[str]) -> list[float]:
    """Milliseconds by the clock to add 20 chunks durably, again and again, to an index of a thousand."""
    given = list(texts)
    with tempfile.TemporaryDirectory() as folder:
        directory = LexicalDirectory(Path(folder) / "index")
        settled(directory, 1000, lambda start, stop: given[start:stop])
        times = []
        for at in range(1000, 1600, 20):
            begun = time.perf_counter()
            directory.append(given[at : at + 20])
            directory.settle()
            times.append((time.perf_counter() - begun) * 1e3)
        directory.close()
    return times


def settled(directory: LexicalDirectory, rows: int, texts: Callable[[int, int], Iterable[str]]) -> LexicalIndex:
    """The index, when all that is done behind a load is done too: saved, merged, checked."""
    index = directory.load(rows, texts)
    directory.settle()
    return index


def in_turn(
    engines: dict[str, Ask], questions: list[list[str]], rounds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Medians over all questions of CPU and wall milliseconds; the engines take turns, in another order each time."""
    for ask in engines.values():
        for tokens in questions[::10]:
            ask(tokens)
    cpu: dict[str, list[float]] = {name: [] for name in engines}
    wall: dict[str, list[float]] = {name: [] for name in engines}
    turns = random.Random(1)
    for _ in range(rounds):
        for tokens in questions:
            for name, ask in turns.sample(list(engines.items()), len(engines)):
                begun, spent = time.perf_counter(), time.thread_time()
                ask(tokens)
                cpu[name].append((time.thread_time() - spent) * 1e3)
                wall[name].append((time.perf_counter() - begun) * 1e3)
    cpu_ms, wall_ms = ({name: statistics.median(each) for name, each in times.items()} for times in (cpu, wall))
    return cpu_ms, wall_ms


def line(name: str, unit: str, value: float, peer: float | None = None, **more: float) -> dict[str, Any]:
    """One result."""
    return {"name": name, "unit": unit, "value": value, "peer": peer, "ratio": peer and peer / value, **more}


def corpus(shared: Path, size: int, folder: Path = ROOT / ".cache" / "bench") -> Path:
    """The corpus of a size, made once."""
    path = folder / f"corpus-{size}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(shared / "tools" / "make_corpus.py"), "--n", str(size), "--out", f"{path}.tmp"]
        subprocess.run(command, check=True)
        Path(f"{path}.tmp").rename(path)
    return path


def read_texts(path: Path, start: int, stop: int | None) -> Iterator[str]:
    """Title and text of some chunks."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        for row in map(json.loads, islice(lines, start, stop)):
            yield f"{row['title']}\n{row['text']}"


class Stored:
    """Texts by row, as a store has them: found at once wherever they stand."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with open(path, "rb") as lines:
            self._places = np.cumsum([0, *map(len, lines)])

    def __call__(self, start: int, stop: int) -> Iterator[str]:
        with open(self._path, "rb") as lines:
            lines.seek(int(self._places[start]))
            for row in map(json.loads, islice(lines, stop - start)):
                yield f"{row['title']}\n{row['text']}"


def read_questions(data: Path, count: int) -> Iterator[str]:
    """The first questions of each set."""
    for name in QUESTION_SETS:
        with open(data / name / "queries.jsonl", encoding="utf-8", newline="\n") as lines:
            for _, line in zip(range(count), lines, strict=False):
                yield json.loads(line)["text"]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of the process, and what came of them."""
    start = time.process_time()
    value = work()
    return time.process_time() - start, value


def commit() -> str:
    """The commit measured."""
    return subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    ).stdout.strip()


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
