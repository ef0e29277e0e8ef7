"""`groundwire ingest DIR --sync` as one runs it: rate, memory, and what a run costs when little or nothing has changed.

    python benchmarks/folder.py [--rows 10000,130000] [--shared ../shared] [--cache .cache/bench]

Rows of `make_corpus.py` become Markdown files of twenty paragraphs, a hundred files a folder; 130,000 rows make some
103,000 chunks. Each run is a process of
its own with a server of its own inside, without embedding:

- all new: every file is read, cut, stored and indexed;
- nothing changed: the same command again;
- one file in a hundred changed: again, after that.

CPU time is of the process and its children, both cores counted; the peak of memory is that of the process, the server
in it included. PDF files: the same few pages many times over, read by one process and by one a core.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from house import DOCUMENT_CHUNKS, corpus_file
from report import CACHE, ROOT, SHARED, Report, has_corpus

FILES_A_FOLDER = 100
PDF_FILES = 200


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", default="10000,130000", help="rows of the corpus, comma-separated")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of corpora")
    given = options.parse_args()
    if not has_corpus(given.shared):
        return 2
    report = Report("folder")
    for rows in map(int, given.rows.split(",")):
        measure_texts(report, corpus_file(given.cache, given.shared, rows), rows)
    measure_pages(report)
    report.table()
    return 0


def measure_texts(report: Report, lines: Path, rows: int) -> None:
    """The three runs over a folder of text."""
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as place:
        folder, data = Path(place) / "mine", Path(place) / "data"
        files = list(write_files(lines, rows, folder))
        first = ingest(folder, data)
        n = first["chunks"]
        report.add("all new", "chunks/s", n / first["cpu_s"], n=n, files=len(files), **first)
        report.add("all new, by the clock", "chunks/s", n / first["wall_s"], n=n)
        report.add("all new, peak memory of command and server", "MB", first["peak_mb"], n=n)
        again = ingest(folder, data)
        report.add("nothing changed", "s CPU", again["cpu_s"], n=n, files=len(files), **again)
        for path in files[::100]:
            with path.open("a", encoding="utf-8") as file:
                file.write("\n\nOne more paragraph.\n")
        some = ingest(folder, data)
        report.add("one file in a hundred changed", "s CPU", some["cpu_s"], n=n, files=len(files), **some)


def measure_pages(report: Report) -> None:
    """The same PDF files on one core's worth of readers and on all."""
    source = next(iter(sorted((ROOT / "tests/readers/files").rglob("*.pdf"))), None)
    if source is None:
        return
    raw = source.read_bytes()
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as place:
        folder = Path(place) / "mine"
        folder.mkdir()
        for number in range(PDF_FILES):
            (folder / f"{number:04}.pdf").write_bytes(raw + b"\n%% " + str(number).encode())
        one = ingest(folder, Path(place) / "one", cores={0})
        all_of_them = ingest(folder, Path(place) / "all")
        rates = [found["chunks"] / found["wall_s"] for found in (all_of_them, one)]
        report.add(
            f"PDF files ({source.name}), by the clock",
            "chunks/s",
            rates[0],
            n=one["chunks"],
            peer=("one core", rates[1]),
        )


def write_files(lines: Path, rows: int, folder: Path) -> Iterator[Path]:
    """Twenty rows a file, a paragraph each."""
    with lines.open(encoding="utf-8", newline="\n") as opened:
        texts = (json.loads(line)["text"].replace("\n", " ") for line in islice(opened, rows))
        number = 0
        while some := list(islice(texts, DOCUMENT_CHUNKS)):
            path = folder / f"{number // FILES_A_FOLDER:04}" / f"{number:06}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n\n".join(some) + "\n", encoding="utf-8")
            yield path
            number += 1


def ingest(folder: Path, data: Path, cores: set[int] | None = None) -> dict[str, Any]:
    """One run of the command, with what it took."""
    environment = os.environ | {"GROUNDWIRE_EMBEDDING_BACKEND": "none"}
    words = [
        sys.executable,
        "-m",
        "groundwire_server.cli",
        "--data",
        str(data),
        "ingest",
        str(folder),
        "--sync",
        "--json",
    ]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        begun = time.perf_counter()
        process = subprocess.Popen(words, env=environment, stdout=out)
        if cores is not None:
            os.sched_setaffinity(process.pid, cores)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"the command ended with {process.returncode}")
        out.seek(0)
        frames = map(json.loads, out)
        chunks = sum(frame.get("chunks", 0) for frame in frames if frame["frame"] == "DocumentOutcome")
    return {
        "chunks": chunks,
        "cpu_s": round(used.ru_utime + used.ru_stime, 2),
        "wall_s": round(wall, 2),
        "peak_mb": round(used.ru_maxrss / 1024),
    }


if __name__ == "__main__":
    sys.exit(main())
