"""Dense search beside its peers, and the speed of embedding.

    python benchmarks/dense.py [ROWS ...] [--vectors FILE.npy ...] [--questions FILE.npy ...] [--centre FILE.npy]
                               [--models FOLDER] [--no-embedding] [--numpy]

One thread. The engines answer the same queries in turn within one process, and no two of them see the same query in a
row; a time is the median of the processor's time of the calling thread, which what else runs on the machine disturbs
less than the clock on the wall, and that is printed beside it. Callers at once are threads that each ask for all rows,
as those of a server do; their time is that of the whole process, by query. One JSON line a result, and a table at the
end.

Vectors: real ones of a prepared model (`benchmarks/vectors.py` makes a file of them) and, up to ROWS, more that are
fitted to their clusters; without a file, made-up clusters, which tell nothing about recall. Recall is the share of the
true first ten, or fifty, that an engine finds; that of the shortlists is measured with up to 300 questions.

Peers where they are installed: faiss IndexFlatIP, IndexBinaryFlat (its own Hamming order, no rescore) and usearch
(exact, over float32, int8 and signs). numpy is the float32 product and argpartition: not reproducible, not exact in its
ties.
"""

from __future__ import annotations

import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import argparse
import importlib
import json
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vectors import fitted

from groundwire_server.dense import OnnxEmbedder, VectorIndex, encode, find_model, model_centre, vector_index
from groundwire_server.kernels import load_now

DIM = 384
DEPTH = 50
QUERIES = 60
CALLERS = (1, 2, 16, 32)
ASKED_BY_ALL = 32
QUESTIONS = 300  # for recall
SHORTLISTS = (1024, 1600, 3200)
Search = Callable[[NDArray[np.float32]], NDArray[np.int64]]


def main() -> None:
    """Run everything and print the lines."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("rows", nargs="*", type=int, default=[100_000])
    options.add_argument("--vectors", nargs="*", type=Path, default=[])
    options.add_argument("--questions", nargs="*", type=Path, default=[])
    options.add_argument("--centre", type=Path, help="the model's centre, where no model is prepared")
    options.add_argument("--models", type=Path)
    options.add_argument("--no-embedding", action="store_true")
    options.add_argument("--numpy", action="store_true", help="measure what answers where numba is missing")
    given = options.parse_args()
    if given.numpy:
        vector_index.compiled = lambda _: None  # type: ignore[assignment]
    elif not load_now():
        print("numba is not there: numpy answers", file=sys.stderr)
    table: list[tuple[str, ...]] = []
    for rows in given.rows:
        table += size_lines(rows, given)
    print_table(table)
    if not given.no_embedding:
        embedding_lines()


def size_lines(rows: int, given: argparse.Namespace) -> list[tuple[str, ...]]:
    """All that is measured over so many vectors."""
    matrix, queries, kind = load(rows, given.vectors, given.questions)
    centre = np.load(given.centre) if given.centre else find_centre(matrix, given.models)
    present = np.ones(rows, np.bool_)
    started = time.thread_time()
    codes = encode(matrix, present, centre)
    assert codes.signs is not None
    report("encode", "rows/s", rows / (time.thread_time() - started), n=rows, note=kind)
    for name, arrays in (
        ("bytes", (codes.rows.codes, codes.rows.steps)),
        ("signs", (codes.signs.bits, codes.signs.marks)),
    ):
        held = sum(array.nbytes for array in arrays) / rows
        note = "beside 1536 of the vector, which stays a map; signs are made from 100,000 vectors on"
        report(f"memory: codes, {name}", "bytes a row", held, n=rows, note=note)
    index = VectorIndex(matrix, present, "benchmark", 1.001, codes)
    if given.vectors:
        recall_lines(index, queries, kind)
    caller_lines(index, queries, kind)
    table: list[tuple[str, ...]] = []
    for share in (1.0, 0.1, 0.01):
        table += search_lines(index, matrix, queries[:QUERIES], share, kind)
    return table


def recall_lines(index: VectorIndex, queries: NDArray[np.float32], kind: str) -> None:
    """What shortlists of some sizes miss."""
    everything = np.ones(index.rows, np.bool_)
    truth = [index.search(query, everything, DEPTH, int).rows for query in queries]
    for size in SHORTLISTS:
        if size > index.rows // 8:
            continue
        found = [index.search(query, everything, DEPTH, int, shortlist=size).rows for query in queries]
        for first in (10, 50):
            shares = [
                len(np.intersect1d(own[:first], hits[:first])) / first for own, hits in zip(truth, found, strict=True)
            ]
            name, note = f"recall of the first {first}, rescore {size}", f"{len(queries)} questions; {kind}"
            report(name, "share", statistics.mean(shares), n=index.rows, note=note)


def caller_lines(index: VectorIndex, queries: NDArray[np.float32], kind: str) -> None:
    """Exact searches of several threads at once."""
    everything = np.ones(index.rows, np.bool_)
    for callers in CALLERS:
        measured = []
        for _ in range(3):
            together = threading.Barrier(callers)

            def ask(caller: int, callers: int = callers, together: threading.Barrier = together) -> None:
                together.wait()
                for number in range(caller, ASKED_BY_ALL, callers):
                    index.search(queries[number % len(queries)], everything, DEPTH, int)

            threads = [threading.Thread(target=ask, args=(caller,)) for caller in range(callers)]
            wall, started = time.perf_counter(), time.process_time()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            measured.append((time.process_time() - started, time.perf_counter() - wall))
        used, wall = (1e3 * value / ASKED_BY_ALL for value in min(measured))
        note = f"processor time a query, best of 3; wall {wall:.2f} ms; {kind}"
        report(f"exact, {callers} callers at once", "ms a query", used, n=index.rows, note=note)


def load(rows: int, vectors: list[Path], questions: list[Path]) -> tuple[NDArray[np.float32], NDArray[np.float32], str]:
    """Vectors to search, queries, and what they are."""
    if not vectors:
        return *clustered(rows), "made-up clusters"
    real = np.concatenate([np.load(path) for path in vectors])
    if questions:
        asked = np.concatenate([some[:: max(1, len(some) // 28)][:28] for some in map(np.load, questions)])
    else:
        asked = real[:: max(1, len(real) // QUERIES)]
    asked = asked[np.random.default_rng(3).permutation(len(asked))[:QUESTIONS]]
    kind = f"{min(rows, len(real))} real, {max(0, rows - len(real))} fitted"
    return fitted(real, rows), np.ascontiguousarray(asked), kind


def find_centre(matrix: NDArray[np.float32], models: Path | None) -> NDArray[np.float32]:
    """That of the model; where none is prepared, the mean of the vectors, and said so."""
    model = find_model("multilingual-e5-small", None, models)
    if model is None:
        print("no model is prepared: the centre is the mean of the vectors", file=sys.stderr)
        return matrix[:: max(1, len(matrix) // 10_000)].mean(axis=0).astype(np.float32)
    return model_centre(OnnxEmbedder(model))


def clustered(rows: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit vectors around 2000 centres and one common direction: cosines between .7 and .95, as e5 gives them."""
    rng = np.random.default_rng(5)
    common = rng.standard_normal(DIM)
    centres = rng.standard_normal((2000, DIM))

    def draw(count: int) -> NDArray[np.float32]:
        made = 2 * common + 0.6 * centres[rng.integers(0, 2000, count)] + 0.6 * rng.standard_normal((count, DIM))
        unit: NDArray[np.float32] = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
        return unit

    matrix = np.empty((rows, DIM), np.float32)
    for start in range(0, rows, 20_000):
        matrix[start : start + 20_000] = draw(min(20_000, rows - start))
    return matrix, draw(QUERIES)


def search_lines(
    index: VectorIndex, matrix: NDArray[np.float32], queries: NDArray[np.float32], share: float, kind: str
) -> list[tuple[str, ...]]:
    """Top 50 of all rows, or of a share of them."""
    assert index.codes is not None
    assert index.codes.signs is not None
    rows = len(matrix)
    candidates = np.random.default_rng(1).random(rows) < share
    allowed = np.flatnonzero(candidates)

    def numpy_search(query: NDArray[np.float32]) -> NDArray[np.int64]:
        scores = matrix @ query if share == 1 else matrix[allowed] @ query
        best = np.argpartition(scores, len(scores) - DEPTH)[-DEPTH:]
        best = best[np.argsort(-scores[best])]
        return best if share == 1 else allowed[best]

    shortlist = index.shortlist(candidates, DEPTH) or (1024 if share == 1 else 0)
    engines: dict[str, Search] = {
        "groundwire exact": lambda query: index.search(query, candidates, DEPTH, int).rows,
        "numpy float32": numpy_search,
        **faiss_engines(matrix, index, allowed, share),
        **(usearch_engines(matrix, index.codes.signs.centre) if share == 1 else {}),
    }
    if shortlist:
        engines[f"groundwire signs, rescore {shortlist}"] = lambda query: (
            index.search(query, candidates, DEPTH, int, shortlist=shortlist).rows
        )
    found: dict[str, list[NDArray[np.int64]]] = {name: [] for name in engines}
    times: dict[str, list[float]] = {name: [] for name in engines}
    walls: dict[str, list[float]] = {name: [] for name in engines}
    for search in engines.values():
        search(queries[0])
    for number in range(len(queries)):
        for place, (name, search) in enumerate(engines.items()):  # in turn: what disturbs one disturbs all
            query = queries[(number + place) % len(queries)]
            wall, started = time.perf_counter(), time.thread_time()
            answer = search(query)
            times[name].append(1e3 * (time.thread_time() - started))
            walls[name].append(1e3 * (time.perf_counter() - wall))
            found[name].append(answer)
    truth = found["groundwire exact"]
    ours = statistics.median(times["groundwire exact"])
    lines = []
    for place, name in enumerate(engines):
        value, wall = statistics.median(times[name]), statistics.median(walls[name])
        recalls = [
            statistics.mean(
                len(np.intersect1d(truth[(number + place) % len(queries)][:k], found[name][number][:k])) / k
                for number in range(len(queries))
            )
            for k in (10, 50)
        ]
        what = f"{name}, top {DEPTH}, {share:.0%} of rows"
        note = f"recall@10 {recalls[0]:.4f}, @50 {recalls[1]:.4f}; wall {wall:.2f} ms; {kind}"
        report(what, "ms p50", value, peer="groundwire exact", ratio=value / ours, n=rows, note=note)
        lines.append(
            (
                what,
                str(rows),
                f"{value:.2f}",
                f"{wall:.2f}",
                f"{value / ours:.2f}",
                *(f"{each:.4f}" for each in recalls),
            )
        )
    return lines


def faiss_engines(
    matrix: NDArray[np.float32], index: VectorIndex, allowed: NDArray[np.int64], share: float
) -> dict[str, Search]:
    """faiss over the same rows, flat and over the same signs; none where it is not installed."""
    try:
        faiss: Any = importlib.import_module("faiss")
    except ImportError:
        return {}
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexFlatIP(DIM)
    flat.add(matrix)
    parameters = None if share == 1 else faiss.SearchParameters(sel=faiss.IDSelectorBatch(allowed))
    engines: dict[str, Search] = {
        "faiss IndexFlatIP": lambda query: flat.search(query[None], DEPTH, params=parameters)[1][0]
    }
    if share == 1:
        assert index.codes is not None
        assert index.codes.signs is not None
        centre = index.codes.signs.centre
        binary = faiss.IndexBinaryFlat(DIM)
        for start in range(0, len(matrix), 50_000):
            binary.add(np.packbits(matrix[start : start + 50_000] > centre, axis=1))
        engines["faiss IndexBinaryFlat, no rescore"] = lambda query: binary.search(
            np.packbits(query > centre)[None], DEPTH
        )[1][0].astype(np.int64)
    return engines


def usearch_engines(matrix: NDArray[np.float32], centre: NDArray[np.float32]) -> dict[str, Search]:
    """usearch, exact over float32, int8 and signs; none where it is not installed."""
    try:
        usearch: Any = importlib.import_module("usearch.index")
    except ImportError:
        return {}
    scale = 127 / float(np.abs(matrix[:100_000]).max())
    small = np.empty(matrix.shape, np.int8)
    signs = np.empty((len(matrix), DIM // 8), np.uint8)
    for start in range(0, len(matrix), 50_000):
        part = matrix[start : start + 50_000]
        small[start : start + 50_000] = np.clip(np.rint(part * scale), -127, 127)
        signs[start : start + 50_000] = np.packbits(part > centre, axis=1)

    def search(held: NDArray[Any], asked: NDArray[Any], metric: Any, **more: Any) -> NDArray[np.int64]:
        found = usearch.search(held, asked, DEPTH, metric, exact=True, threads=1, **more)
        return np.asarray(found.keys, np.int64)

    def by_bytes(query: NDArray[np.float32]) -> NDArray[np.int64]:
        asked = np.clip(np.rint(query * scale), -127, 127).astype(np.int8)
        return search(small, asked, usearch.MetricKind.IP)

    def by_signs(query: NDArray[np.float32]) -> NDArray[np.int64]:
        return search(signs, np.packbits(query > centre), usearch.MetricKind.Hamming)

    return {
        "usearch float32": lambda query: search(matrix, query, usearch.MetricKind.IP),
        "usearch int8, one scale": by_bytes,
        "Hamming by usearch, no rescore": by_signs,
    }


def print_table(lines: list[tuple[str, ...]]) -> None:
    """What was measured, once more."""
    header = ("engine", "rows", "ms", "wall", "x ours", "recall@10", "recall@50")
    widths = [max(len(line[at]) for line in (header, *lines)) for at in range(len(header))]
    for line in (header, *lines):
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def embedding_lines() -> None:
    """Chunks of about 480 characters a second, one text a run, one thread; a short query."""
    for variant in ("int8", "q4"):
        model = find_model("multilingual-e5-small", variant)
        if model is None:
            print(f"{variant}: not prepared (groundwire models prepare multilingual-e5-small)", file=sys.stderr)
            continue
        embedder = OnnxEmbedder(model)
        chunks = [chunk(number) for number in range(30)]
        tokens = statistics.mean(map(embedder.token_count, chunks))
        embedder.embed_passage(chunks[0])
        started = time.perf_counter()
        for text in chunks:
            embedder.embed_passage(text)
        rate = len(chunks) / (time.perf_counter() - started)
        report(f"embed {variant}, {tokens:.0f} tokens a chunk, 1 thread", "chunks/s", rate, n=len(chunks))
        measured = []
        for number in range(30):
            started = time.perf_counter()
            embedder.embed_query(f"How many people lived in Japan in {1990 + number}?")
            measured.append(1e3 * (time.perf_counter() - started))
        report(f"embed {variant}, a short query", "ms p50", statistics.median(measured), n=len(measured))


def chunk(number: int) -> str:
    """A passage of about 480 characters, English, Japanese or Chinese in turn."""
    sentences = (
        f"In {1950 + number} the country counted {number + 3} million people, most of them in towns near the coast. ",
        f"{1950 + number}年の人口は{number + 3}百万人で、その大半は海岸に近い都市に住んでいた。",
        f"{1950 + number}年该国有{number + 3}百万人口，其中大多数居住在沿海城市。",
    )
    return (sentences[number % 3] * 12)[: (480, 240, 240)[number % 3]]


def report(
    name: str, unit: str, value: float, *, peer: str = "", ratio: float | None = None, n: int, note: str = ""
) -> None:
    """One JSON line."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    line = {
        "name": name,
        "unit": unit,
        "value": round(value, 3),
        "peer": peer,
        "ratio": None if ratio is None else round(ratio, 2),
        "n": n,
        "note": note,
        "commit": commit.stdout.strip(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": round(os.getloadavg()[0], 2),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
