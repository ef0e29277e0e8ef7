"""Answers without a model: how often the quoted sentences hold the known answer, and how often nothing is quoted.

    python benchmarks/extractive.py [--queries 100] [--shared ../shared]

Two kinds of rows: questions put to their own texts (the answer should be quoted), and questions put to the texts of
another set, which know nothing of them (nothing should be quoted; sets from one encyclopedia overlap a little). Prints
one JSON line per row and a table. Words alone, one document a chunk, through `router.ask` as the server runs it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from question_sets import read_lines, set_library
from report import SHARED, say

from groundwire_server.evidence import Call
from groundwire_server.library import Snapshot
from groundwire_server.narrative import RetrievalMode
from groundwire_server.router import AnswerOrigin, AnswerPart, AskRequest, Route, ask
from groundwire_server.security import local_principal

OWN = ("hotpotqa", "2wiki", "jaquad", "jsquad", "drcd", "cmrc2018")
STRANGE = (
    ("hotpotqa", "tatqa"),
    ("hotpotqa", "scifact"),
    ("scifact", "hotpotqa"),
    ("cmrc2018", "drcd"),
    ("jaquad", "jsquad"),
    ("jsquad", "drcd"),
)


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--queries", type=int, default=100, help="the first so many of each set")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with data/")
    chosen = options.parse_args()
    data = chosen.shared / "data"
    if not data.exists():
        say(f"No data: {data} is not there. Name the folder with --shared DIR.")
        return 2
    say(f"{'questions':<12}{'texts':<12}{'n':>5}{'answer quoted':>15}{'something quoted':>18}")
    results = []
    for questions, texts in (*((name, name) for name in OWN), *STRANGE):
        asked = [
            query for query in read_lines(data / questions / "queries.jsonl") if answers(query) or questions != texts
        ]
        with set_library(data / texts) as snapshot:
            results.append(measure(questions, texts, asked[: chosen.queries], snapshot))
        row = results[-1]
        held = "-" if row["answer_quoted"] is None else f"{row['answer_quoted']:.3f}"
        say(f"{questions:<12}{texts:<12}{row['n']:>5}{held:>15}{row['quoted']:>18.3f}")
    for row in results:
        say(json.dumps(row))
    return 0


def measure(name: str, texts: str, asked: list[dict[str, Any]], snapshot: Snapshot) -> dict[str, Any]:
    """Shares of the questions whose answer is quoted, and for which anything is."""
    held = quoted = 0
    for query in asked:
        request = AskRequest(query["text"], force_route=Route.NARRATIVE, mode=RetrievalMode.LEXICAL)
        frames = [each.frame for each in ask(request, Call(local_principal()), [snapshot])]
        said = [part.text for part in frames if isinstance(part, AnswerPart) and part.origin is AnswerOrigin.QUOTATION]
        quoted += bool(said)
        held += any(folded(answer) in folded(" ".join(said)) for answer in answers(query))
    share = held / len(asked) if name == texts else None
    return {
        "name": f"extractive {name} on {texts}",
        "unit": "share",
        "answer_quoted": share,
        "quoted": quoted / len(asked),
        "n": len(asked),
    }


def answers(query: dict[str, Any]) -> list[str]:
    """Known answers that a text can hold."""
    given = query["meta"].get("answers") or query["meta"].get("answer") or []
    listed = [given] if isinstance(given, str) else given
    return [str(each) for each in listed if str(each).strip() and str(each).lower() not in ("yes", "no")]


def folded(text: str) -> str:
    """Text without blanks and case."""
    return "".join(text.lower().split())


if __name__ == "__main__":
    sys.exit(main())
