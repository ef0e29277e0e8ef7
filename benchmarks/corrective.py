"""The corrective loop: how often questions are refused that the library answers, and that it knows nothing of.

    python benchmarks/corrective.py [--queries 200] [--shared ../shared]

Questions are put to their own texts, told apart by whether a text that answers is among the best five, which is what is
judged; and to the texts of other sets of the same language, which know nothing of them (sets from one encyclopedia
overlap a little). Which questions are taken goes by a hash of their ids. Words judge; words alone are searched, one
document a chunk, through `narrative.retrieve` as the server runs it. Prints one JSON line per row and a table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from question_sets import read_lines, set_library
from report import SHARED, say

from groundwire_server.evidence import Call, Snippets, Summary
from groundwire_server.library import Snapshot
from groundwire_server.narrative import RetrievalMode, RetrievalTuning, RetrieveRequest, retrieve
from groundwire_server.security import local_principal

SETS = {
    "en": ("scifact", "tatqa", "qmsum", "musique", "hotpotqa", "2wiki"),
    "ja": ("jaquad", "jsquad"),
    "zh": ("drcd", "cmrc2018", "dureader"),
}
ENCYCLOPEDIA = {"musique", "hotpotqa", "2wiki"}  # one source: what one asks the other may well answer
JUDGED = 5


@dataclass(frozen=True)
class Asked:
    """Questions of a set, and which documents answer them."""

    name: str
    questions: list[dict[str, Any]]
    relevant: dict[str, set[str]]


def main() -> int:
    """Run and print; 2 when the data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--queries", type=int, default=200, help="questions of each set")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with data/")
    chosen = options.parse_args()
    data = chosen.shared / "data"
    if not data.exists():
        say("Needed: the shared data (--shared DIR).")
        return 2
    rows: list[dict[str, Any]] = []
    for language, names in SETS.items():
        sets = {name: read_questions(data / name, chosen.queries) for name in names}
        with ExitStack() as open_libraries:
            for name in names:
                snapshot = open_libraries.enter_context(set_library(data / name))
                own = sets[name]
                others = [
                    each
                    for other in names
                    if other != name and not {name, other} <= ENCYCLOPEDIA
                    for each in sets[other].questions[: chosen.queries // 4]
                ]
                rows.append(measure(language, own, others, snapshot))
                say(json.dumps(rows[-1]))
    heading = (("answer found", 17), ("not found", 14), ("foreign", 12))
    say(f"\n{'texts':<10}" + "".join(f"{kind + ': n':>{width}}{'refused':>9}" for kind, width in heading))
    for row in rows:
        cells = [f"{row['name'].split()[1]:<10}"]
        for kind, width in (("found", 17), ("missed", 14), ("foreign", 12)):
            cells.append(f"{row[kind]:>{width}}{share(row[kind + '_refused']):>9}")
        say("".join(cells))
    return 0


def measure(language: str, own: Asked, others: list[dict[str, Any]], snapshot: Snapshot) -> dict[str, Any]:
    """Shares of questions that are refused, by kind."""
    refused: dict[str, list[bool]] = {"found": [], "missed": [], "foreign": []}
    for query in own.questions:
        best = ask(query["text"], snapshot, corrective=False)[0][:JUDGED]
        kind = "found" if own.relevant[query["query_id"]] & set(best) else "missed"
        refused[kind].append(ask(query["text"], snapshot, corrective=True)[1])
    refused["foreign"] = [ask(query["text"], snapshot, corrective=True)[1] for query in others]
    row: dict[str, Any] = {"name": f"corrective {own.name}", "unit": "share refused", "language": language}
    for kind, verdicts in refused.items():
        row[kind] = len(verdicts)
        row[f"{kind}_refused"] = sum(verdicts) / len(verdicts) if verdicts else None
    return row


def ask(question: str, snapshot: Snapshot, *, corrective: bool) -> tuple[list[str], bool]:
    """The documents that come, best first, and whether the question was refused."""
    request = RetrieveRequest(question, mode=RetrievalMode.LEXICAL, tuning=RetrievalTuning(corrective=corrective))
    frames = list(retrieve(request, Call(local_principal()), [snapshot]))
    summary = frames[-1]
    assert isinstance(summary, Summary)
    found = [one.lineage.doc_id for frame in frames if isinstance(frame, Snippets) for one in frame.snippets]
    return found, summary.refusal is not None


def read_questions(folder: Path, count: int) -> Asked:
    """So many questions that something in the set answers, by a hash of their ids."""
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query_id, doc_id, grade = line.split("\t")
        if float(grade) > 0:
            relevant.setdefault(query_id, set()).add(doc_id)
    questions = [each for each in read_lines(folder / "queries.jsonl") if each["query_id"] in relevant]
    questions.sort(key=lambda each: hashlib.sha256(each["query_id"].encode()).digest())
    return Asked(folder.name, questions[:count], relevant)


def share(value: float | None) -> str:
    """Three digits; a dash where there is nothing to share."""
    return "-" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    sys.exit(main())
