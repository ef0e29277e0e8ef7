"""A stored library of a size, made once and kept: `stored(cache, shared, n)`.

    python benchmarks/house.py [--sizes 10000,100000] [--cache .cache/bench] [--models .cache/models]

Chunks of `make_corpus.py`, twenty a document, with the attributes `pct` (0 to 99, so that a filter keeps what share of
the documents it likes) and `lang`. Vectors, where a model is prepared: real ones of its own for the first chunks and,
up to n, such as are fitted to their clusters (`vectors.fitted`); they cost what real ones do to open and to search,
and say nothing about recall. May be broken off and goes on where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import CACHE, ROOT, SHARED, say
from vectors import fitted

__all__ = ["DOCUMENT_CHUNKS", "corpus_file", "document_id", "has_model", "stored", "upload"]

DOCUMENT_CHUNKS = 20
DOCUMENTS_A_WRITE = 2_000
VECTORS_A_WRITE = 20_000
REAL_VECTORS = 1_000
WHOLE = "whole"


def main() -> int:
    """Make what is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--models", type=Path, default=ROOT / ".cache" / "models", help="folder of prepared models")
    given = options.parse_args()
    for size in map(int, given.sizes.split(",")):
        say(f"{stored(given.cache, given.shared, size, given.models)}")
    return 0


def stored(cache: Path, shared: Path, n: int, models: Path) -> Path:
    """The data folder of a server with n chunks in its default library."""
    from groundwire_server.dense import DEFAULT_MODEL, OnnxEmbedder, find_model
    from groundwire_server.library import DataFolder, LibraryConfig

    folder = cache / f"house-{n}"
    model = find_model(DEFAULT_MODEL, folder=models)
    mark = folder / (f"{WHOLE}-{model.version[:8]}" if model else f"{WHOLE}-lexical")
    if mark.exists():
        return folder
    begun = time.perf_counter()
    lines = corpus_file(cache, shared, n)
    with DataFolder(folder) as data:
        found = data.list()
        library = data.library(found[0]) if found else data.create("default", LibraryConfig(description="a benchmark"))
        _store(library, lines, n)
        if model is not None:
            embedder = OnnxEmbedder(model)
            library.use_embedder(embedder)
            _embed(library, lines, n, real_vectors(cache, lines, embedder))
    mark.touch()
    say(f"stored {n:,} chunks in {time.perf_counter() - begun:.0f} s")
    return folder


def has_model(models: Path) -> bool:
    """Whether the default model is prepared."""
    from groundwire_server.dense import DEFAULT_MODEL, find_model

    return find_model(DEFAULT_MODEL, folder=models) is not None


def corpus_file(cache: Path, shared: Path, n: int) -> Path:
    """The lines of a corpus of n chunks, made once."""
    import subprocess

    path = cache / f"corpus-{n}.jsonl"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        command = [sys.executable, str(shared / "tools" / "make_corpus.py"), "--n", str(n), "--out", str(fresh)]
        subprocess.run(command, check=True)
        fresh.rename(path)
    return path


def document_id(number: int) -> str:
    """Name of a document."""
    return f"doc-{number:06}.md"


def upload(number: int, rows: list[dict[str, Any]]) -> Any:
    """The document of some chunks, as a library takes it."""
    from groundwire_server.evidence import Attribute, Label, Span
    from groundwire_server.store import NewChunk, NewDocument

    doc_id = document_id(number)
    chunks, at = [], 0
    for place, row in enumerate(rows):
        span = Span(at, at + len(row["text"]))
        chunks.append(NewChunk(span, f"{doc_id}#line={place + 1}"))
        at = span.end + 1
    text = "\n".join(row["text"] for row in rows)
    raw = text.encode()
    return NewDocument(
        doc_id=doc_id,
        title=rows[0]["title"],
        media_type="text/plain",
        text=text,
        raw_sha256=hashlib.sha256(raw).digest(),
        raw_bytes=len(raw),
        chunker="whole",
        chunks=tuple(chunks),
        label=Label.INTERNAL,
        attributes=(Attribute("lang", rows[0]["meta"]["lang"]), Attribute("pct", number % 100)),
    )


def documents(lines: Path, start: int) -> Iterator[Any]:
    """Documents from a number on."""
    with lines.open(encoding="utf-8", newline="\n") as file:
        for _ in islice(file, start * DOCUMENT_CHUNKS):
            pass
        number = start
        while rows := [json.loads(line) for line in islice(file, DOCUMENT_CHUNKS)]:
            yield upload(number, rows)
            number += 1


def _store(library: Any, lines: Path, n: int) -> None:
    there = library.snapshot().rows
    waiting = documents(lines, there // DOCUMENT_CHUNKS)
    while some := list(islice(waiting, DOCUMENTS_A_WRITE)):
        with library.writing() as writer:
            for document in some:
                writer.replace_document(document)
        say(f"{library.snapshot().rows:,} of {n:,} chunks stored")


def real_vectors(cache: Path, lines: Path, embedder: Any) -> NDArray[np.float32]:
    """Vectors of the first chunks, made once for each model."""
    path = cache / f"vectors-{embedder.version[:16]}.npy"
    if not path.exists():
        with lines.open(encoding="utf-8", newline="\n") as file:
            texts = [json.loads(line)["text"] for line in islice(file, REAL_VECTORS)]
        np.save(path, np.stack([embedder.embed_passage(text) for text in texts]))
    made: NDArray[np.float32] = np.load(path)
    return made


def _embed(library: Any, lines: Path, n: int, real: NDArray[np.float32]) -> None:
    waiting = [row for row, _ in library.rows_without_embedding()]
    if not waiting:
        return
    made = fitted(real, n)[n - len(waiting) :]
    for start in range(0, len(waiting), VECTORS_A_WRITE):
        stop = start + VECTORS_A_WRITE
        library.add_vectors(zip(waiting[start:stop], made[start:stop], strict=False))
        say(f"{min(stop, len(waiting)):,} of {len(waiting):,} vectors stored")


if __name__ == "__main__":
    sys.exit(main())
