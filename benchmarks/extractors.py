"""What relations found in texts cost an ingest: the same documents without an extractor and with one, in turn.

Names are the titles of the documents, so that a real text is full of them. Both times are CPU times of one process.

python benchmarks/extractors.py [--sets 2wiki,hotpotqa] [--documents N] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.report import SHARED, Report
from groundwire_server.evidence import Label
from groundwire_server.glossary import EntityTerm, Glossary
from groundwire_server.ingest import DocumentHead, DocumentRules, IngestDesk, IngestOpening
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.relations.extractors import make_extractor

NOTE = re.compile(r"\s*\([^()]*\)$")
INGEST = "11111111-1111-4111-8111-111111111111"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default="2wiki,hotpotqa,jaquad")
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    report = Report("extractors")
    for name in asked.sets.split(","):
        with (SHARED / "data" / name / "corpus.jsonl").open(encoding="utf-8", newline="\n") as lines:
            rows = [json.loads(line) for line in islice(lines, asked.documents)]
        titles = sorted({title for row in rows if (title := NOTE.sub("", row["title"]).strip())})
        glossary = Glossary([EntityTerm(f"T{n}", title) for n, title in enumerate(titles)], ambiguous="report")
        spent: dict[str, list[float]] = {"none": [], "co_occurrence": []}
        edges = chunks = 0
        for _ in range(asked.rounds):
            for extractor, times in spent.items():
                seconds, chunks, found = ingest(rows, glossary, extractor)
                times.append(seconds)
                edges = max(edges, found)
        without, found_too = (median(times) for times in spent.values())
        report.add(
            f"{name}, co-occurrence of {len(titles)} names",
            "chunks/s",
            chunks / found_too,
            n=chunks,
            peer=("no extractor", chunks / without),
            sources_of_edges=edges,
            us_a_chunk=round((found_too - without) / chunks * 1e6),
        )
    report.table()
    return 0


def ingest(rows: list[dict[str, Any]], glossary: Glossary, extractor: str) -> tuple[float, int, int]:
    """CPU seconds of the ingest, chunks, and sources of edges."""
    with tempfile.TemporaryDirectory() as folder:
        config = replace(LibraryConfig(), relation_extractor=extractor, relations_from="none", ambiguous="report")
        library = Library(Path(folder) / "bench", "bench", secret=b"", config=config)
        library.set_glossary(glossary)
        rules = DocumentRules.of(library.config, None, make_extractor(extractor, library.snapshot().glossary))
        glossary.find_terms("")  # the finder is made once a glossary, not once an ingest
        library.snapshot().glossary.find_terms("")
        begun = time.process_time()
        desk = IngestDesk(lambda: [library])
        with desk.open_documents(library, IngestOpening(INGEST), lambda: rules) as stream:
            for seq, row in enumerate(rows, 1):
                stream.feed(seq, DocumentHead(f"{row['doc_id']}.txt", title=row["title"]), row["text"].encode(), True)
            stream.finish(len(rows))
        spent = time.process_time() - begun
        reader = library.store.reader()
        found = sum(len(edge) for edge in reader.edge_page(Label.CONFIDENTIAL, after=None, limit=10**7))
        chunks = library.snapshot().rows
        library.close()
    return spent, chunks, found


if __name__ == "__main__":
    sys.exit(main())
