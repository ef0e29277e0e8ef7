"""Writes the vectors, from the oracles and nothing of the server: `python -m tests.conformance.make`.

`periods.json` is the exception: what people write was collected by hand; the oracle checks its days (`test_vectors`)
and adds the forms that it can write itself. Cases of `chunks.json` that are there stay, with chunks made anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from tests.chunking.oracle import paragraph_chunks
from tests.conformance import inputs
from tests.conformance.chunk_cases import BY_HAND, VECTORS, ChunkCase
from tests.conformance.oracles.filters import faults, keeps
from tests.conformance.oracles.rankings import ranking
from tests.conformance.oracles.rrf import rrf
from tests.glossary.period_oracle import WRITERS, Case
from tests.lexical.oracle import bm25
from tests.text.oracle import tokens

__all__ = ["FOLDER", "MADE", "read"]

FOLDER = Path(__file__).parent


def _tokens() -> dict[str, Any]:
    cases = [{"name": name, "text": text, "tokens": tokens(text)} for name, text in inputs.TOKENIZED.items()]
    return {"about": "Tokens of a text, in order (semantics 1).", "cases": cases}


def _bm25() -> dict[str, Any]:
    rows = [tokens(text) for text in inputs.CORPUS]
    cases = []
    for search in inputs.SEARCHES:
        case = {"candidates": list(range(len(rows))), "k1": 1.5, "b": 0.75, **search}
        found = bm25(tokens(case["query"]), rows, case["candidates"], case["k1"], case["b"])
        cases.append({**case, "expected": [{"row": row, "score": score} for row, score in found]})
    about = "Okapi BM25 over the candidates among the rows (semantics 2): rows with a score above 0, ascending by row."
    return {"about": about, "rows": inputs.CORPUS, "cases": cases}


def _rrf() -> dict[str, Any]:
    cases = []
    for each in inputs.RANKED:
        case = {"k": 60, **each}
        fused = rrf(case["rankings"], case["weights"], case["k"])
        cases.append({**case, "order": [name for name, _ in fused], "scores": [score for _, score in fused]})
    about = (
        "Reciprocal rank fusion: score += weight / (k + rank), ranks from 1, lists in order, an id counts once a list."
        " Scores are IEEE doubles, added in the order of the lists; equal scores are ordered by id, by code point."
    )
    return {"about": about, "cases": cases}


def _chunks() -> dict[str, Any]:
    cases = []
    for each in (*read("chunks.json")["paragraph"], *_new_chunks()):
        spans = paragraph_chunks(each["text"], each["max_chars"], each["overlap_chars"])
        cases.append({**each, "chunks": [[start, end, each["text"][start:end]] for start, end in spans]})
    about = (
        "Chunks (semantics 5) by chunker; offsets in Unicode code points, ends exclusive, text == source[start:end]."
        " paragraph: [start, end, text]. The others were written down by hand; vectors are what the model of the"
        " semantic cases gives for each sentence."
    )
    by_hand = {name: [_placed(case) for case in written] for name, written in BY_HAND.items()}
    return {"about": about, "paragraph": cases, **by_hand, "vectors": VECTORS}


def _placed(case: ChunkCase) -> dict[str, Any]:
    """A case with the places of its chunks, each looked for behind the beginning of the one before."""
    name, max_chars, overlap_chars, text, chunks = case
    placed: list[dict[str, Any]] = []
    for chunk, heading, parent_id, parent in chunks:
        start = text.index(chunk, placed[-1]["start"] + 1 if placed else 0)
        end = start + len(chunk)
        first = text.rfind(parent, 0, start + len(parent)) if parent else -1
        placed.append(
            {
                "start": start,
                "end": end,
                "text": chunk,
                "heading": heading,
                "parent_id": parent_id,
                "parent": [first, first + len(parent)] if parent else None,
            }
        )
    return {"name": name, "text": text, "max_chars": max_chars, "overlap_chars": overlap_chars, "chunks": placed}


def _new_chunks() -> list[dict[str, Any]]:
    known = {each["name"] for each in read("chunks.json")["paragraph"]}
    return [
        {"name": name, "text": text, "max_chars": max_chars, "overlap_chars": overlap_chars}
        for name, max_chars, overlap_chars, text in inputs.CHUNKED
        if name not in known
    ]


def _filters() -> dict[str, Any]:
    cases: list[dict[str, Any]] = []
    for name, tree in inputs.FILTERS.items():
        found = faults(tree, inputs.FAMILIES)
        case = {"name": name, "filter": tree}
        if found:
            case["faults"] = [{"field": field, "reason": reason} for field, reason in found]
        else:
            case["rows"] = [place for place, row in enumerate(inputs.ROWS) if keeps(tree, row)]
        cases.append(case)
    about = "Which rows of attributes a filter keeps, by their place, or all of its faults (semantics 3)."
    return {"about": about, "families": inputs.FAMILIES, "rows": inputs.ROWS, "cases": cases}


def _rankings() -> dict[str, Any]:
    cases = [
        {"name": name, "text": text, "candidates": candidates, "order": ranking(text, candidates)}
        for name, text, candidates in inputs.JUDGED
    ]
    about = "The order that a listwise judge's text gives to candidates 0 .. n-1 (semantics 8); null: it gives none."
    return {"about": about, "cases": cases}


def _periods() -> dict[str, Any]:
    kept = read("periods.json")
    by_hand = [vector for vector in kept["vectors"] if not vector.get("written")]
    known = {(vector["text"], vector.get("fiscal_year_start", "01-01")) for vector in by_hand}
    written: list[dict[str, Any]] = []
    for numbers in inputs.WRITTEN:
        case = Case(*numbers)
        for write, days in WRITERS:
            text, start = write(case), f"{case.start:02}-01"
            if (text, start) not in known:
                known.add((text, start))
                first, last = (date(*day).isoformat() for day in days(case))
                vector = {"text": text, "first": first, "last": last, "written": True}
                written.append({**vector, "fiscal_year_start": start} if case.start > 1 else vector)
    return {**kept, "vectors": [*by_hand, *written]}


MADE: dict[str, Callable[[], dict[str, Any]]] = {
    "tokens.json": _tokens,
    "bm25.json": _bm25,
    "rrf.json": _rrf,
    "chunks.json": _chunks,
    "filters.json": _filters,
    "rankings.json": _rankings,
    "periods.json": _periods,
}
"""Each file and what makes it."""


def read(name: str) -> Any:
    """A file of vectors as it stands."""
    return json.loads((FOLDER / name).read_text("utf-8"))


def _written(content: dict[str, Any], *, plain: bool) -> str:
    """JSON with one case a line. Unless `plain`, ASCII alone: no editor or checkout changes a hostile character."""
    lines = []
    for name, value in content.items():
        if isinstance(value, list):
            members = ",\n".join("    " + json.dumps(each, ensure_ascii=not plain) for each in value)
            lines.append(f'  "{name}": [\n{members}\n  ]')
        else:
            lines.append(f'  "{name}": {json.dumps(value, ensure_ascii=not plain)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Write all files."""
    for name, make in MADE.items():
        text = _written(make(), plain=name == "periods.json")  # people write in it
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
