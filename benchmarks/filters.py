"""Filters read out of questions: nDCG@10 without, with what the glossary reads, and with what a person would set.

    python benchmarks/filters.py [--shared ../shared]

FinanceBench: pages of filings of a few companies, each with the attributes `entity` and `period`, and questions that
name a company and mostly a year. The glossary has one entity for each value of `entity`, by that name alone. Words are
searched, one page a chunk, through `narrative.retrieve` as the server runs it. Prints one JSON line a row and a table.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from question_sets import read_lines, stored_texts, whole_document
from report import SHARED, say

from groundwire_server.evidence import (
    Attribute,
    Call,
    CallOptions,
    Filter,
    Header,
    Operator,
    Predicate,
    Snippets,
)
from groundwire_server.glossary import EntityTerm, Glossary
from groundwire_server.library import Snapshot
from groundwire_server.narrative import RetrievalMode, RetrievalTuning, RetrieveRequest, retrieve
from groundwire_server.security import local_principal
from groundwire_server.store import NewDocument

Query = dict[str, Any]


def main() -> int:
    """Run and print; 2 when the data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with data/")
    folder = options.parse_args().shared / "data" / "financebench"
    if not folder.exists():
        say("Needed: the shared data (--shared DIR).")
        return 2
    queries, relevant = read_lines(folder / "queries.jsonl"), read_qrels(folder / "qrels.tsv")

    def equal(name: str, key: str) -> Callable[[Query], Filter]:
        return lambda query: Predicate(name, Operator.EQ, (query["meta"][key],))

    rows: list[dict[str, Any]] = []
    with library(folder) as snapshot:
        for name, extractor, given in (
            ("no filter", "none", None),
            ("glossary", "glossary", None),
            ("company given", "none", equal("entity", "company")),
            ("document given", "none", equal("parent", "doc_name")),
        ):
            scores, narrowed = [], 0
            for query in queries:
                found, hinted = ask(query, snapshot, extractor, given)
                scores.append(ndcg(found, relevant[query["query_id"]]))
                narrowed += hinted
            mean = sum(scores) / len(scores)
            rows.append(
                {"name": f"filters {name}", "unit": "nDCG@10", "value": mean, "narrowed": narrowed, "n": len(queries)}
            )
            say(json.dumps(rows[-1]))
    say(f"\n{'filter':<18}{'narrowed':>10}{'of':>5}{'nDCG@10':>9}")
    for row in rows:
        say(f"{row['name'].removeprefix('filters '):<18}{row['narrowed']:>10}{row['n']:>5}{row['value']:>9.4f}")
    return 0


def ask(
    query: Query, snapshot: Snapshot, extractor: str, given: Callable[[Query], Filter] | None
) -> tuple[list[str], bool]:
    """The documents that come, best first, and whether a filter or a hint narrowed the search."""
    options = CallOptions(filter=None if given is None else given(query))
    request = RetrieveRequest(
        query["text"], mode=RetrievalMode.LEXICAL, tuning=RetrievalTuning(filter_extractor=extractor)
    )
    frames = list(retrieve(request, Call(local_principal(), options), [snapshot]))
    header = frames[0]
    assert isinstance(header, Header)
    found = [one.lineage.doc_id for frame in frames if isinstance(frame, Snippets) for one in frame.snippets]
    return found, header.hint_applied is not None or given is not None


def ndcg(found: list[str], relevant: dict[str, float]) -> float:
    """nDCG of the first ten."""
    gained = sum(relevant.get(doc_id, 0.0) / math.log2(rank + 1) for rank, doc_id in enumerate(found[:10], start=1))
    ideal = sorted(relevant.values(), reverse=True)[:10]
    return gained / sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, start=1))


def library(folder: Path) -> AbstractContextManager[Snapshot]:
    """The pages of the set in a library of their own, with a glossary of the companies."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    companies = sorted({line["meta"]["entity"] for line in lines})
    glossary = Glossary([EntityTerm(f"E{n}", label=name) for n, name in enumerate(companies)])
    return stored_texts(map(page, lines), glossary)


def page(line: dict[str, Any]) -> NewDocument:
    """One chunk, the whole page, with what is known of it."""
    attributes = [Attribute(name, line["meta"][name]) for name in ("entity", "parent", "period")]
    return whole_document(line["doc_id"], line["title"], line["text"], attributes)


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Grades above 0 by question and document."""
    found: dict[str, dict[str, float]] = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        query_id, doc_id, grade = line.split("\t")
        if float(grade) > 0:
            found.setdefault(query_id, {})[doc_id] = float(grade)
    return found


if __name__ == "__main__":
    sys.exit(main())
