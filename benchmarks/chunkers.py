"""Retrieval by chunker, through the wire: what cut of a text brings the most of what answers into a prompt.

    python benchmarks/chunkers.py [--shared ../shared] [--part lexical,meeting,hybrid,some,header]
                                  [--meetings ES2011a,IS1003a] [--out docs/chunkers.jsonl]

qmsum has whole meetings with the stretches that answer each question, so that any chunker can be scored by `groundwire
eval retrieval`: gold_at_N is the share of answering text in the first N characters that one gets to read. Parts:

    lexical   words alone, all 28 meetings together
    meeting   words alone, the meeting given by a filter
    hybrid    words and vectors, some meetings alone (--meetings): embedding takes its time
    some      words alone on these meetings, beside hybrid
    header    the contextual header on sets whose passages have an entity or a period of their own

Prints one JSON line a result (name, unit, value, peer, ratio, n, commit, machine) and a table; the peer is the default
chunker in the same part, with the header the same without one. With --out, lines of the parts that ran replace those
that stand there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MEASURES = ("gold_at_2000", "gold_at_4000", "gold_at_8000", "mrr_at_10")


@dataclass(frozen=True, slots=True)
class Cut:
    """A row of the table: its name and the options that make it."""

    name: str
    options: tuple[str, ...]


PARAGRAPH = Cut("paragraph", ("--chunker", "paragraph"))
LARGE = Cut("paragraph, 1920 characters", ("--chunker", "paragraph", "--chunk-chars", "1920"))
HEADER = Cut("paragraph, contextual header", ("--chunker", "paragraph", "--contextual"))
CHILDREN = Cut("parent_child", ("--chunker", "parent_child"))
SMALL = Cut(
    "parent_child, 160 characters", ("--chunker", "parent_child", "--chunk-chars", "160", "--overlap-chars", "0")
)
WINDOW = Cut("sentence_window", ("--chunker", "sentence_window"))
SEMANTIC = Cut("semantic", ("--chunker", "semantic"))
OTHERS = tuple(Cut(name, ("--chunker", name)) for name in ("layout", "qa", "book", "laws"))

LEXICAL = (PARAGRAPH, HEADER, LARGE, CHILDREN, SMALL, WINDOW, *OTHERS)
HYBRID = (PARAGRAPH, CHILDREN, LARGE, WINDOW, SEMANTIC, SMALL)
MEETINGS = "ES2011a,ES2011c,IS1003a,IS1003b,IS1003c"
MEETING = (PARAGRAPH, HEADER, LARGE, CHILDREN, SMALL, WINDOW)
HEADED = ("financebench",)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with data/")
    arguments.add_argument("--part", default="lexical,meeting,header")
    arguments.add_argument("--meetings", default=MEETINGS, help="meetings of the parts hybrid and some")
    arguments.add_argument("--out", type=Path, help="also write the JSON lines here")
    given = arguments.parse_args()
    parts = given.part.split(",")
    data = (given.shared / "data").resolve()
    kept = []
    if given.out is not None and given.out.exists():
        lines = [json.loads(line) for line in given.out.read_text(encoding="utf-8").splitlines()]
        kept = [line for line in lines if line["part"] not in parts]
    results = []
    for part in parts:
        for result in run_part(part, data, given.meetings.split(",")):
            print(json.dumps(result), flush=True)
            results.append(result)
            if given.out is not None:
                text = "".join(json.dumps(each) + "\n" for each in [*kept, *results])
                given.out.write_text(text, encoding="utf-8")
    print(table([*kept, *results]))


def run_part(part: str, data: Path, meetings: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of one part, in turn."""
    if part == "header":
        for name in HEADED:
            with tempfile.TemporaryDirectory() as folder:
                for what, source in ((name, data / name), (f"{name} without titles", untitled(data / name, folder))):
                    plain = evaluate(source)
                    yield header_row(what, "no header", plain, plain)
                    yield header_row(what, "contextual header", evaluate(source, "--contextual"), plain)
        return
    with tempfile.TemporaryDirectory() as folder:
        options: tuple[str, ...] = ()
        source, cuts = data / "qmsum", LEXICAL
        if part == "meeting":
            options, cuts = ("--filter-by", "meeting=doc_id"), MEETING
        if part in ("hybrid", "some"):
            source, cuts = some_meetings(source, Path(folder), meetings), HYBRID
            options = ("--mode", "hybrid" if part == "hybrid" else "lexical")
        peer: dict[str, Any] | None = None
        for cut in cuts:
            totals = evaluate(source, *cut.options, *options)
            peer = peer or totals
            yield row(part, cut.name, totals, peer)


def some_meetings(source: Path, folder: Path, meetings: list[str]) -> Path:
    """Some meetings of the set with their questions, in a folder of their own."""
    for name in ("docs.jsonl", "queries.jsonl", "spans.jsonl"):
        lines = [line for line in (source / name).read_text(encoding="utf-8").split("\n") if line]
        kept = [line for line in lines if meeting_of(json.loads(line)) in meetings]
        (folder / name).write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    return folder


def untitled(source: Path, folder: str) -> Path:
    """A set whose passages have no titles, as those of a file that was cut; entity and period stay in their meta."""
    made = Path(folder)
    for name in ("queries.jsonl", "qrels.tsv"):
        (made / name).write_bytes((source / name).read_bytes())
    with gzip.open(source / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) | {"title": ""} for line in lines]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (made / "corpus.jsonl").write_text(text, encoding="utf-8")
    return made


def meeting_of(line: dict[str, Any]) -> str:
    """The document that a question or its spans belong to."""
    return str(line.get("doc_id") or line["meta"]["meeting"])


def evaluate(folder: Path, *options: str) -> dict[str, Any]:
    """The totals of one `groundwire eval retrieval`."""
    with tempfile.TemporaryDirectory() as scratch:
        totals = Path(scratch) / "totals.json"
        command = [sys.executable, "-m", "groundwire_server.cli", "eval", "retrieval", str(folder), *options]
        subprocess.run([*command, "--json", str(totals)], check=True, stdout=subprocess.DEVNULL, cwd=scratch)
        found: dict[str, Any] = json.loads(totals.read_text(encoding="utf-8"))
        return found


def row(part: str, name: str, totals: dict[str, Any], peer: dict[str, Any]) -> dict[str, Any]:
    """A result on qmsum."""
    value, beside = totals["gold_at_4000"], peer["gold_at_4000"]
    return {
        "part": part,
        "name": f"qmsum {part}, {name}",
        "unit": "gold_at_4000",
        "value": round(value, 4),
        "low": round(totals["gold_at_4000_interval"][0], 4),
        "high": round(totals["gold_at_4000_interval"][1], 4),
        **{measure: round(totals[measure], 4) for measure in MEASURES},
        "chunks": totals["chunks"],
        "p50_ms": totals["p50_ms"],
        "peer": round(beside, 4),
        "ratio": round(value / beside, 4),
        "n": totals["queries"],
        **where(),
    }


def header_row(name: str, header: str, totals: dict[str, Any], peer: dict[str, Any]) -> dict[str, Any]:
    """A result of the header, on passages as the set cuts them."""
    value, beside = totals["ndcg_at_10"], peer["ndcg_at_10"]
    return {
        "part": "header",
        "name": f"{name}, {header}",
        "unit": "nDCG@10",
        "value": round(value, 4),
        "low": round(totals["ndcg_at_10_interval"][0], 4),
        "high": round(totals["ndcg_at_10_interval"][1], 4),
        "chunks": totals["chunks"],
        "peer": round(beside, 4),
        "ratio": round(value / beside, 4),
        "n": totals["queries"],
        **where(),
    }


def where() -> dict[str, str]:
    """Commit and machine of a result."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return {"commit": commit, "machine": f"{platform.machine()}, Python {platform.python_version()}"}


def table(results: list[dict[str, Any]]) -> str:
    """Markdown, for docs/chunkers.md."""
    spans = [each for each in results if each["part"] != "header"]
    headers = [each for each in results if each["part"] == "header"]
    lines = ["| cut | 2000 | 4000 | 8000 | 95 % at 4000 | MRR@10 | chunks | n |", "|---|---|---|---|---|---|---|---|"]
    for each in spans:
        figures = " | ".join(f"{each[name]:.3f}" for name in MEASURES[:3])
        interval = f"{each['low']:.3f} to {each['high']:.3f}"
        rest = f"{each['mrr_at_10']:.3f} | {each['chunks']} | {each['n']}"
        lines.append(f"| {each['name']} | {figures} | {interval} | {rest} |")
    if headers:
        lines += ["", "| set | nDCG@10 | 95 % | of without | n |", "|---|---|---|---|---|"]
    for each in headers:
        interval = f"{each['low']:.4f} to {each['high']:.4f}"
        lines.append(f"| {each['name']} | {each['value']:.4f} | {interval} | {each['ratio']:.3f} | {each['n']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
