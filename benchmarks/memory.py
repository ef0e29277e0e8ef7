"""Memory of a server that searches by words alone, and what its index takes on disk, in bytes a chunk.

    python benchmarks/memory.py [--sizes 10000,100000] [--cache .cache/bench] [--models .cache/models]

A warm server answers questions with and without filters; what it then holds more than a server over an empty folder is
counted. Its own memory (RssAnon) and mapped files (RssFile, which the system drops when others need the room) apart.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from house import stored
from query import FILTERS, LEXICAL, request
from report import CACHE, ROOT, SHARED, Report, has_corpus, questions
from warm_server import started

QUESTIONS = 60
GOAL_BYTES = {1_000_000: 700.0}


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored libraries")
    options.add_argument("--models", type=Path, default=ROOT / ".cache" / "models", help="folder of prepared models")
    given = options.parse_args()
    if not has_corpus(given.shared):
        return 2
    report = Report("memory")
    asked = questions(given.shared, QUESTIONS)[:QUESTIONS]
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as empty, started(Path(empty), None) as server:
        bare = server.memory()
    for size in map(int, given.sizes.split(",")):
        data = stored(given.cache, given.shared, size, given.models)
        with started(data, None) as server:
            for text in asked:
                for name in FILTERS:
                    server.ask(request(text, LEXICAL, name))
            held = server.memory()
        more = {kind: (held[kind] - bare[kind]) / size for kind in ("RssAnon", "RssFile")}
        resident = held["RssAnon"] + held["RssFile"]
        report.add(
            "resident, over an empty server", "bytes/chunk", sum(more.values()), n=size, goal=GOAL_BYTES.get(size)
        )
        report.add("of that the process's own", "bytes/chunk", more["RssAnon"], n=size)
        report.add("of that mapped files", "bytes/chunk", more["RssFile"], n=size)
        report.add("resident, the whole process", "MiB", resident / 2**20, n=size)
        lexical = sum(file.stat().st_size for file in data.glob("libraries/*/index/lexical/*"))
        report.add("lexical index on disk", "bytes/chunk", lexical / size, n=size)
        store = sum(file.stat().st_size for file in data.glob("libraries/*/store.sqlite*"))
        report.add("store on disk, texts and vectors", "bytes/chunk", store / size, n=size)
    report.table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
