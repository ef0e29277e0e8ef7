"""Exact dense search beside its peers, and the speed of embedding: `python benchmarks/dense.py [ROWS]`.

One thread. The engines answer the same queries in turn within one process; a result is the median, with the load
average beside it. One JSON line a result; the peers are numpy (float32 product and argpartition: not reproducible, not
exact in its ties) and faiss (IndexFlatIP) where it is installed.
"""

from __future__ import annotations

import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import importlib
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense import OnnxEmbedder, VectorIndex, find_model

DIM = 384
DEPTH = 50
QUERIES = 40
Search = Callable[[NDArray[np.float32]], object]


def main() -> None:
    """Run everything and print the lines."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    matrix, queries = clustered(rows)
    for share in (1.0, 0.1, 0.01):
        search_lines(matrix, queries, share)
    embedding_lines()


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


def search_lines(matrix: NDArray[np.float32], queries: NDArray[np.float32], share: float) -> None:
    """Top 50 of all rows, or of a share of them."""
    rows = len(matrix)
    candidates = np.random.default_rng(1).random(rows) < share
    index = VectorIndex(matrix, np.ones(rows, np.bool_), "benchmark")
    allowed = np.flatnonzero(candidates)

    def numpy_search(query: NDArray[np.float32]) -> object:
        scores = matrix @ query if share == 1 else matrix[allowed] @ query
        best = np.argpartition(scores, len(scores) - DEPTH)[-DEPTH:]
        return best[np.argsort(-scores[best])]

    engines: dict[str, Search] = {
        "groundwire exact": lambda query: index.search(query, candidates, DEPTH, int),
        "numpy float32": numpy_search,
    }
    faiss_search = faiss_engine(matrix, allowed, share)
    if faiss_search is not None:
        engines["faiss IndexFlatIP"] = faiss_search
    times: dict[str, list[float]] = {name: [] for name in engines}
    for query in queries:
        for name, search in engines.items():  # in turn: what disturbs one disturbs all
            started = time.perf_counter()
            search(query)
            times[name].append(1e3 * (time.perf_counter() - started))
    ours = statistics.median(times["groundwire exact"])
    for name, measured in times.items():
        value = statistics.median(measured)
        report(
            f"{name}, top {DEPTH}, {share:.0%} of rows",
            "ms p50",
            value,
            peer="groundwire exact",
            ratio=value / ours,
            n=rows,
        )


def faiss_engine(matrix: NDArray[np.float32], allowed: NDArray[np.int64], share: float) -> Search | None:
    """faiss over the same rows, or None where it is not installed."""
    try:
        faiss: Any = importlib.import_module("faiss")
    except ImportError:
        return None
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexFlatIP(DIM)
    flat.add(matrix)
    parameters = None if share == 1 else faiss.SearchParameters(sel=faiss.IDSelectorBatch(allowed))
    return lambda query: flat.search(query[None], DEPTH, params=parameters)


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


def report(name: str, unit: str, value: float, *, peer: str = "", ratio: float | None = None, n: int) -> None:
    """One JSON line."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    line = {
        "name": name,
        "unit": unit,
        "value": round(value, 3),
        "peer": peer,
        "ratio": None if ratio is None else round(ratio, 2),
        "n": n,
        "commit": commit.stdout.strip(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": round(os.getloadavg()[0], 2),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
