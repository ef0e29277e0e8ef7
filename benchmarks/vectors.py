"""Vectors to search: real ones of a prepared model, kept in a file, and more of their kind.

    python benchmarks/vectors.py FILE.npy [--wanted 50000] [--data ../shared/data] [--variant int8]

Embeds chunks of the corpora in `--data` until FILE holds `--wanted` of them. It may be broken off at any time and goes
on where it stopped: rows are embedded in a fixed order and written in parts of 500, next to FILE, which stand for as
long as the model and the corpora do; FILE itself is put together at the end of each run from the parts that are there.

`fitted` makes as many more as are wanted, each a real vector's cluster centre with noise fitted to that cluster: they
are not real, and whoever measures with them says so.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["fitted", "texts"]

PART = 500
CLUSTERS = 200
ROUNDS = 6


def main() -> int:
    """Embed; 2 when the model or the data is not there."""
    from groundwire_server.dense import OnnxEmbedder, find_model

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path)
    options.add_argument("--wanted", type=int, default=50_000)
    options.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    options.add_argument("--models", type=Path)
    options.add_argument("--variant", default="int8")
    given = options.parse_args()
    model = find_model("multilingual-e5-small", given.variant, given.models)
    if model is None or not given.data.is_dir():
        print("needs a prepared model (groundwire models prepare) and --data", file=sys.stderr)
        return 2
    embedder = OnnxEmbedder(model)
    folder = given.file.with_suffix(f".{embedder.version[:16]}.parts")
    folder.mkdir(parents=True, exist_ok=True)
    found = texts(given.data)
    for start in range(0, given.wanted, PART):
        part = list(islice(found, min(PART, given.wanted - start)))
        path = folder / f"{start:07}-{len(part)}.npy"
        if part and not path.exists():
            rows = np.stack([embedder.embed_passage(text) for text in part])
            fresh = path.with_suffix(".new")
            with fresh.open("wb") as file:
                np.save(file, rows)
            fresh.replace(path)
            print(f"{start + len(part)} of {given.wanted}", flush=True)
    parts = [np.load(path) for path in sorted(folder.glob("*.npy"))]
    np.save(given.file, np.concatenate(parts))
    return 0


def texts(data: Path) -> Iterator[str]:
    """Chunks of all corpora, those of the sets in turn, each text once."""
    from groundwire_server.chunking import make_chunker

    chunker = make_chunker("paragraph")
    corpora = sorted(path for path in data.glob("*/corpus.jsonl*"))
    open_sets = [_documents(path) for path in corpora]
    seen: set[str] = set()
    while open_sets:
        for documents in tuple(open_sets):
            text = next(documents, None)
            if text is None:
                open_sets.remove(documents)
                continue
            for chunk in chunker.chunk(text):
                if chunk.text not in seen:
                    seen.add(chunk.text)
                    yield chunk.text


def _documents(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            yield f"{document.get('title', '')}\n{document['text']}".strip()


def fitted(real: NDArray[np.float32], rows: int, seed: int = 7) -> NDArray[np.float32]:
    """The real vectors and, up to `rows` in all, unit vectors drawn around the clusters that they form.

    A drawn vector is the centre of the cluster of a real one, plus a Gaussian mixture of that cluster's own residuals:
    it has the cluster's covariance.
    """
    rng = np.random.default_rng(seed)
    if rows <= len(real):
        return real[np.sort(rng.choice(len(real), rows, replace=False))]
    members = _clusters(real, rng)
    made = np.empty((rows, real.shape[1]), np.float32)
    made[: len(real)] = real
    drawn = rng.integers(0, len(real), rows - len(real))
    order = len(real) + rng.permutation(rows - len(real))
    at = 0
    for cluster in range(members.max() + 1):
        own = real[members == cluster]
        count = int(np.count_nonzero(members[drawn] == cluster))
        centre = own.mean(axis=0)
        residuals = (own - centre) / np.sqrt(len(own))
        for start in range(0, count, 20_000):
            size = min(20_000, count - start)
            points = centre + rng.standard_normal((size, len(own)), np.float32) @ residuals
            made[order[at : at + size]] = points / np.linalg.norm(points, axis=1, keepdims=True)
            at += size
    return made


def _clusters(real: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.int64]:
    centres = real[rng.choice(len(real), min(CLUSTERS, len(real)), replace=False)]
    for _ in range(ROUNDS):
        members = np.argmax(real @ centres.T - 0.5 * np.square(centres).sum(axis=1), axis=1)
        centres = np.stack(
            [real[members == c].mean(axis=0) if (members == c).any() else centres[c] for c in range(len(centres))]
        ).astype(np.float32)
    _, dense = np.unique(
        np.argmax(real @ centres.T - 0.5 * np.square(centres).sum(axis=1), axis=1), return_inverse=True
    )
    return dense.astype(np.int64)


if __name__ == "__main__":
    raise SystemExit(main())
