"""Updates: a document of twenty chunks replaced, durable and found, in a library of a size.

    python benchmarks/updates.py [--sizes 10000,100000] [--rounds 30] [--cache .cache/bench] [--models .cache/models]

Each round replaces one document with a new revision and searches for a word that it alone has: the time is by the
clock, from the call to the answer, the disk's included, with CPU time beside it. The document is withdrawn at the end.
What goes on behind an answer (segments saved and merged by a thread) is waited for in each round: it is no part of the
time by the clock, but of our CPU time, and of nobody else's turn. The peer is tantivy where it is installed and
`lexical.py` has made its index of that size: the twenty rows deleted and added, committed, loaded anew and searched, in
a copy of that index, in turn. What its threads merge later falls where it falls.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from house import DOCUMENT_CHUNKS, corpus_file, document_id, stored, upload
from report import CACHE, ROOT, SHARED, Report, has_corpus

GOAL_MS = 10.0
NUMBER = 999_999  # of the document, beyond those of the library
Replace = Callable[[int, list[dict[str, Any]]], None]


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--rounds", type=int, default=30)
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored libraries")
    options.add_argument("--models", type=Path, default=ROOT / ".cache" / "models", help="folder of prepared models")
    given = options.parse_args()
    if not has_corpus(given.shared):
        return 2
    report = Report("updates")
    for size in map(int, given.sizes.split(",")):
        data = stored(given.cache, given.shared, size, given.models)
        rows = first_rows(corpus_file(given.cache, given.shared, size))
        with ours(data) as (replace, settle), tantivy(given.cache / f"tantivy-{size}") as theirs:
            wall: dict[str, list[float]] = {"ours": [], "tantivy": []}
            cpu: dict[str, list[float]] = {"ours": [], "tantivy": []}
            engines = {"ours": replace} | ({"tantivy": theirs} if theirs else {})
            for round_number in range(given.rounds + 2):
                for name, engine in engines.items():
                    begun, spent = time.perf_counter(), time.process_time()
                    engine(round_number, rows)
                    took = time.perf_counter() - begun
                    if name == "ours":
                        settle()
                    if round_number > 1:  # the first ones load what the others have at hand
                        cpu[name].append((time.process_time() - spent) * 1e3)
                        wall[name].append(took * 1e3)
        for unit, times, goal in (("ms", wall, GOAL_MS), ("ms CPU", cpu, None)):
            peer = ("tantivy", statistics.median(times["tantivy"])) if theirs else None
            what = f"replace a document of {DOCUMENT_CHUNKS} chunks, durable and found"
            report.add(what, unit, statistics.median(times["ours"]), n=size, peer=peer, goal=goal)
    report.table()
    return 0


def first_rows(lines: Path) -> list[dict[str, Any]]:
    """The chunks of a document."""
    with lines.open(encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in islice(file, DOCUMENT_CHUNKS)]


def word(number: int) -> str:
    """One that no text has."""
    return f"zzmark{number}zz"


@contextmanager
def ours(data: Path) -> Iterator[tuple[Replace, Callable[[], None]]]:
    """Our library: a write transaction, and a search in the snapshot that it published; what waits for the rest."""
    from groundwire_server import kernels
    from groundwire_server.evidence import Call, CallOptions
    from groundwire_server.lexical import top
    from groundwire_server.library import DataFolder
    from groundwire_server.security import local_principal
    from groundwire_server.text import tokenize

    kernels.load_now()
    with DataFolder(data) as folder:
        library = folder.library(folder.list()[0])
        call = Call(local_principal(), CallOptions())

        def replace(number: int, rows: list[dict[str, Any]]) -> None:
            changed = [row | {"text": f"{row['text']} {word(number)}"} for row in rows]
            with library.writing() as writer:
                writer.replace_document(upload(NUMBER, changed))
            snapshot = library.snapshot()
            found = snapshot.lexical.search(tokenize(word(number)), snapshot.candidates(call), depth=50)
            assert len(top(found, 50, int)) == len(rows)

        try:
            yield replace, library.settle
        finally:
            with library.writing() as writer:
                writer.withdraw_document(document_id(NUMBER))


@contextmanager
def tantivy(made: Path) -> Iterator[Replace | None]:
    """tantivy, in a copy of the index that `lexical.py` made; None where there is none."""
    if find_spec("tantivy") is None or not made.exists():
        yield None
        return
    import tantivy as engine

    from groundwire_server.text import tokenize

    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as temporary:
        shutil.copytree(made, f"{temporary}/index")
        index = engine.Index.open(f"{temporary}/index")
        blanks = engine.TextAnalyzerBuilder(engine.Tokenizer.whitespace()).build()
        index.register_tokenizer("ws", blanks)
        writer = index.writer(64 << 20, 1)

        def replace(number: int, rows: list[dict[str, Any]]) -> None:
            for place, row in enumerate(rows):
                writer.delete_documents_by_term("id", NUMBER * 100 + place)
                document = engine.Document()
                document.add_text("body", " ".join(tokenize(f"{row['text']} {word(number)}")))
                document.add_unsigned("id", NUMBER * 100 + place)
                document.add_unsigned("ent", 0)
                document.add_unsigned("ten", 0)
                writer.add_document(document)
            writer.commit()
            index.reload()
            wanted = engine.Query.term_query(index.schema, "body", word(number), "freq")
            assert len(index.searcher().search(wanted, 50, count=False).hits) == len(rows)

        yield replace


if __name__ == "__main__":
    sys.exit(main())
