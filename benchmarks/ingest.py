"""Ingest without embedding: how many chunks a second become durable and can be found, and what memory that takes.

    python benchmarks/ingest.py [--sizes 10000,100000] [--shared ../shared] [--cache .cache/bench]

Chunks of `make_corpus.py` go into an empty library, committed in groups as a stream commits them:

- store and lexical index: documents of twenty chunks, cut already, through `Library.writing`;
- one chunk a document: the same chunks, each a document of its own (up to 100,000 of them);
- from files: the same documents as Markdown files in memory, through the reader, the chunker and the ingest stream;
- numpy alone: as the first, where numba is missing.

Merging and saving behind the writes is in the CPU time of each; `settled` is the clock until all of it is done. CPU
time counts both cores, so rates by it do not depend on what else the machine does. The peak of memory is that of a
process that does nothing else, above the peak before the first write. Each engine runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from house import DOCUMENT_CHUNKS, corpus_file, upload
from report import CACHE, ROOT, SHARED, Report, has_corpus, say

GOAL = 15_000.0
GROUP_DOCUMENTS = 100
WAYS = {
    "twenty": "store and lexical index",
    "single": "store and lexical index, one chunk a document",
    "files": "store and lexical index, from files",
    "numpy": "store and lexical index, numpy alone",
}
MOST = {"single": 100_000, "files": 100_000, "numpy": 100_000}


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of corpora")
    options.add_argument(
        "--models", type=Path, default=ROOT / ".cache" / "models", help="not used: nothing is embedded"
    )
    options.add_argument("--way", choices=sorted(WAYS), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.way:
        return run(given.way, int(given.sizes), corpus_file(given.cache, given.shared, int(given.sizes)))
    if not has_corpus(given.shared):
        return 2
    report = Report("ingest")
    for size in map(int, given.sizes.split(",")):
        corpus_file(given.cache, given.shared, size)
        for way, name in WAYS.items():
            if size > MOST.get(way, size):
                continue
            found = apart(way, size, given)
            goal = {"goal": GOAL} if way == "twenty" else {}
            more = {"cpu_s": found["cpu"], "wall_s": found["wall"], "settled_s": found["settled"]}
            report.add(name, "chunks/s", found["chunks"] / found["cpu"], n=size, **goal, **more)
            report.add(f"{name}, by the clock", "chunks/s", found["chunks"] / found["wall"], n=size)
            if way == "twenty":
                report.add("peak memory of ingest", "MB", found["peak_mb"], n=size)
    report.table()
    return 0


def apart(way: str, size: int, given: argparse.Namespace) -> dict[str, float]:
    """One way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--sizes", str(size)]
    command += ["--shared", str(given.shared), "--cache", str(given.cache)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(way: str, size: int, lines: Path) -> int:
    """Ingest into a fresh library and print what it took."""
    from groundwire_server import kernels
    from groundwire_server.library import DataFolder

    if way != "numpy" and not kernels.load_now():
        say("numba is not installed: numpy indexes.")
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as folder, DataFolder(Path(folder)) as data:
        library = data.create("default")
        before = peak_mb()
        cpu = wall = 0.0
        take = from_files if way == "files" else through_library
        for documents in groups(lines, size, 1 if way == "single" else DOCUMENT_CHUNKS):
            begun, spent = time.perf_counter(), time.process_time()
            take(library, documents)
            wall += time.perf_counter() - begun
            cpu += time.process_time() - spent
        begun, spent = time.perf_counter(), time.process_time()
        library.settle()
        found = {
            "chunks": library.snapshot().rows,
            "wall": wall,
            "cpu": cpu + time.process_time() - spent,
            "settled": wall + time.perf_counter() - begun,
            "peak_mb": peak_mb() - before,
        }
    say(json.dumps(found))
    return 0


def groups(lines: Path, size: int, chunks: int) -> Iterator[list[tuple[int, list[dict[str, Any]]]]]:
    """Rows of documents, numbered, so many documents as are committed together."""
    number = 0
    with lines.open(encoding="utf-8", newline="\n") as opened:
        rows = map(json.loads, islice(opened, size))
        while some := list(islice(rows, GROUP_DOCUMENTS * chunks)):
            yield [(number + at // chunks, some[at : at + chunks]) for at in range(0, len(some), chunks)]
            number += GROUP_DOCUMENTS


def through_library(library: Any, documents: list[tuple[int, list[dict[str, Any]]]]) -> None:
    """One transaction."""
    made = [upload(number, rows) for number, rows in documents]
    with library.writing() as writer:
        for document in made:
            writer.replace_document(document)


def from_files(library: Any, documents: list[tuple[int, list[dict[str, Any]]]]) -> None:
    """One stream: each document a file of Markdown, a paragraph a chunk."""
    from groundwire_server.ingest import DocumentHead, DocumentRules, IngestDesk, IngestOpening

    rules = DocumentRules.of(library.config)
    stream = IngestDesk(lambda: [library]).open_documents(library, IngestOpening(str(uuid.uuid4())), lambda: rules)
    with stream:
        for seq, (number, rows) in enumerate(documents, 1):
            content = "\n\n".join(row["text"].replace("\n", " ") for row in rows).encode()
            stream.feed(seq, DocumentHead(f"doc-{number:06}.md"), content, True)
        stream.finish(len(documents))


def peak_mb() -> float:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
