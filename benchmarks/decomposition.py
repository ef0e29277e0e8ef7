"""Questions cut by rules: what two questions in one find, cut and whole; and which are called ones of several steps.

    python benchmarks/decomposition.py [--sets drcd,jaquad] [--pairs 200] [--out FILE]

Two questions of a set are put into one text: neighbours, which mostly ask about one page, and such as stand half the
set apart. It is asked twice through gRPC, lexically, for ten passages
in all: whole, and cut by rules (ten for each of one to four parts; from each list in turn until there are ten). A pair
counts where a document of each of its questions is among them. Then every question of each set is read by the rule that
tells how many steps it needs. Prints one JSON line a result (name, unit, value, peer, n, commit, machine) and two
tables.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.quality import where  # noqa: E402
from groundwire import (  # noqa: E402
    AnswerWriter,
    Client,
    DocumentUpload,
    IndexSettings,
    Library,
    RetrievalTuning,
    Route,
    SnippetBatch,
    SubCall,
)
from groundwire_server.router.complexity import needs_several_steps  # noqa: E402
from groundwire_server.rpc import running  # noqa: E402
from groundwire_server.settings import load_settings  # noqa: E402
from groundwire_server.text import detect_language  # noqa: E402

PAIRED = ("hotpotqa", "scifact", "tatqa", "drcd", "cmrc2018", "jaquad", "jsquad")
SEVERAL, ONE = ("hotpotqa", "2wiki", "musique", "jemhopqa"), ("jaquad", "jsquad", "drcd", "cmrc2018", "qmsum", "tatqa")
TOP = 10


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with data/")
    arguments.add_argument("--sets", default=",".join(PAIRED))
    arguments.add_argument("--pairs", type=int, default=200)
    arguments.add_argument("--out", type=Path, help="also add the JSON lines here")
    given = arguments.parse_args()
    results = [
        result for name in given.sets.split(",") for result in pairs_of(given.shared / "data" / name, given.pairs)
    ]
    results += [steps_of(given.shared / "data" / name, several=name in SEVERAL) for name in (*SEVERAL, *ONE)]
    for result in results:
        print(json.dumps(result), flush=True)
        if given.out is not None:
            with given.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(result) + "\n")
    print(table([each for each in results if each["unit"] == "both found"]))
    print(steps_table([each for each in results if each["unit"] == "several steps"]))


def pairs_of(folder: Path, most: int) -> list[dict[str, Any]]:
    """How often both questions of a pair have a document of theirs among ten passages, cut and whole."""
    right: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query_id, *_, doc_id, grade = line.split("\t")
        if grade.isdigit() and int(grade) > 0:
            right.setdefault(query_id, set()).add(doc_id)
    queries = [each for each in rows(folder / "queries.jsonl") if each["query_id"] in right]
    half = len(queries) // 2
    kinds = {
        "neighbours": list(zip(queries[: 2 * most : 2], queries[1 : 2 * most : 2], strict=False)),
        "apart": list(zip(queries[: min(half, most)], queries[half:], strict=False)),
    }
    with tempfile.TemporaryDirectory(prefix="groundwire-pairs-") as place:
        options = {"data": Path(place) / "data", "server.host": "127.0.0.1", "server.port": 0, "log.level": "error"}
        settings = load_settings({**options, "embedding.backend": "none"}, environ={})
        with running(settings) as server, Client(server.address) as client:
            client.save_library(Library("pairs", index=IndexSettings(chunker="whole", embedder="none")))
            uploads = (
                DocumentUpload(each["doc_id"], text(each).encode(), media_type="text/plain")
                for each in rows(folder / "corpus.jsonl")
            )
            list(client.ingest_documents(uploads, library="pairs"))
            return [measure(client, f"{folder.name} {kind}", pairs, right) for kind, pairs in kinds.items()]


def measure(client: Client, name: str, pairs: Sequence[tuple[Any, Any]], right: dict[str, set[str]]) -> dict[str, Any]:
    """One kind of pairs."""
    found = {"none": 0, "rules": 0}
    cut = 0
    for one, two in pairs:
        first = one["text"].strip()
        asked = f"{first}{'' if first[-1] in '?？。.' else '?'} {two['text']}"
        for by in found:
            lists = lists_of(client, asked, by)
            cut += by == "rules" and len(lists) > 1
            kept = joined(lists)
            found[by] += all(kept & right[each["query_id"]] for each in (one, two))
    return {
        "name": name,
        "unit": "both found",
        "value": round(found["rules"] / len(pairs), 4),
        "peer": round(found["none"] / len(pairs), 4),
        "cut": round(cut / len(pairs), 4),
        "n": len(pairs),
        **where(),
    }


def lists_of(client: Client, question: str, by: str) -> list[list[str]]:
    """The documents that each part of a question finds, best first; what a part before it found counts for it too."""
    stream = client.ask(
        question,
        route=Route.NARRATIVE,
        writer=AnswerWriter.NONE,
        mode="LEXICAL",
        top_k=TOP,
        tuning=RetrievalTuning(decomposition=by),
    )
    lists: dict[int, list[str]] = {}
    for frame in stream:
        if isinstance(frame, SnippetBatch):
            lists.setdefault(frame.branch, []).extend(each.lineage.doc_id for each in frame.snippets)
        elif isinstance(frame, SubCall):
            lists.setdefault(frame.branch, [])
    return list(lists.values())


def joined(lists: Sequence[Sequence[str]]) -> set[str]:
    """Ten documents, from the lists in turn."""
    kept: dict[str, None] = {}
    for place in range(TOP):
        for each in lists:
            if place < len(each) and len(kept) < TOP:
                kept[each[place]] = None
    return set(kept)


def steps_of(folder: Path, *, several: bool) -> dict[str, Any]:
    """Which share of the questions of a set is called one of several steps."""
    file = folder / ("queries.jsonl" if (folder / "queries.jsonl").exists() else "cases.jsonl")
    questions = [each.get("text") or each["question"] for each in rows(file)]
    called = sum(needs_several_steps(each, detect_language(each)) for each in questions)
    return {
        "name": folder.name,
        "unit": "several steps",
        "value": round(called / len(questions), 4),
        "peer": float(several),
        "n": len(questions),
        **where(),
    }


def rows(file: Path) -> list[dict[str, Any]]:
    """The objects of a file, one a line."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def text(row: dict[str, Any]) -> str:
    """Title and text of a document."""
    return "\n\n".join(part for part in (row.get("title", ""), row["text"]) if part)


def table(results: Sequence[dict[str, Any]]) -> str:
    """Markdown, for docs/decomposition.md."""
    lines = ["| two questions of | cut | both found, whole | both found, by rules | n |", "|---|---|---|---|---|"]
    lines += [
        f"| {each['name']} | {each['cut']:.2f} | {each['peer']:.3f} | {each['value']:.3f} | {each['n']} |"
        for each in results
    ]
    return "\n".join(lines)


def steps_table(results: Sequence[dict[str, Any]]) -> str:
    """Markdown, for docs/decomposition.md."""
    lines = ["| questions of | steps | called several | n |", "|---|---|---|---|"]
    lines += [
        f"| {each['name']} | {'several' if each['peer'] else 'one'} | {each['value']:.2f} | {each['n']} |"
        for each in results
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
