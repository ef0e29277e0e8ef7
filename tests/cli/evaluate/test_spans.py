"""`groundwire eval retrieval --chunker` on whole documents with the stretches that answer, worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundwire import Lineage, Snippet, Span, TextPassage, Trust
from groundwire_server.cli.evaluate.spans import SpanSet, score_passages
from tests.cli.commands import run, write, write_lines

# Lines of 40 characters, so that a budget of 40 makes each a chunk of its own; 😀 is one code point.
LINES = [f"{word} ".ljust(39, "x") + "😀" for word in ("apple", "pear", "plum", "fig", "quince", "melon")]
TEXT = "\n".join(LINES)
GOLD = [[0, 40], [41, 61]]  # the first line and half of the second


def folder(spans: list[dict[str, Any]] | None = None) -> Path:
    root = write("set", {})
    write_lines(root / "docs.jsonl", [{"doc_id": "d", "title": "", "text": TEXT}])
    write_lines(root / "queries.jsonl", [{"query_id": "q", "text": "pear apple"}, {"query_id": "other", "text": "fig"}])
    write_lines(root / "spans.jsonl", spans or [{"query_id": "q", "doc_id": "d", "spans": GOLD}])
    return root


def evaluate(root: Path, *words: str) -> tuple[dict[str, Any], list[list[str]]]:
    ran = run("eval", "retrieval", root, *words, "--run", "out/run.tsv", "--json", "out/totals.json")
    assert ran.code == 0, ran
    lines = Path("out/run.tsv").read_text(encoding="utf-8").splitlines()
    return json.loads(Path("out/totals.json").read_text(encoding="utf-8")), [line.split("\t") for line in lines]


def test_a_chunker_is_scored_by_the_answering_text_that_is_read() -> None:
    totals, lines = evaluate(folder(), "--chunker", "paragraph", "--chunk-chars", "40", "--overlap-chars", "0")
    assert sorted(line[:4] for line in lines) == [["q", "d", "0", "40"], ["q", "d", "41", "81"]]
    assert totals["queries"] == 1
    assert (totals["documents"], totals["chunks"]) == (1, 6)
    assert totals["gold_at_2000"] == totals["gold_at_8000"] == 1.0
    assert totals["mrr_at_10"] == 1.0
    assert totals["options"] == {
        "mode": "lexical",
        "fusion": "",
        "reranker": "",
        "chunker": "paragraph",
        "filter_by": "",
        "limit": None,
        "chunk_chars": 40,
        "overlap_chars": 0,
    }


def test_a_window_is_read_in_place_of_its_sentence() -> None:
    totals, lines = evaluate(folder(), "--chunker", "sentence_window", "--contextual")
    assert [line[2:4] for line in lines] == [["41", "81"], ["0", "40"]] or len(lines) == 2
    assert totals["gold_at_2000"] == 1.0
    assert totals["options"]["contextual"] is True
    assert totals["plan"][-1]["detail"] == "rows_once,parents_once"


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ([{"query_id": "q", "doc_id": "e", "spans": GOLD}], "'e' of 'q' is not in docs.jsonl"),
        ([{"query_id": "q", "doc_id": "d", "spans": [[0, 9999]]}], "the spans of 'q' lie outside of their document"),
        ([{"query_id": "q", "doc_id": "d", "spans": [7]}], "the spans of 'q' are no pairs of numbers"),
        ([{"query_id": "q", "doc_id": "d"}], "the spans of 'q' are no pairs of numbers"),
        ([{"query_id": "nobody", "doc_id": "d", "spans": GOLD}], "answers none of the queries"),
    ],
)
def test_a_malformed_set_says_where(spans: list[dict[str, Any]], why: str) -> None:
    ran = run("eval", "retrieval", folder(spans), "--chunker", "paragraph")
    assert ran.code == 1
    assert why in ran.err


LONG = "".join(chr(0x4E00 + place) for place in range(10_000))  # every stretch of it is another


def passage(start: int, end: int, *, prompt: tuple[int, int] | None = None, parent: str = "") -> Snippet:
    lineage = Lineage("l", doc_id="d", span=Span(start, end), parent_locator=parent)
    payload = TextPassage(LONG[start:end], prompt_text="" if prompt is None else LONG[prompt[0] : prompt[1]])
    return Snippet("s", 1, lineage, Trust.CITABLE, payload)


def scored(*snippets: Snippet, gold: list[tuple[int, int]]) -> dict[str, float]:
    dataset = SpanSet(Path("docs.jsonl"), {"q": {}}, {"q": ("d", gold)}, {"d": LONG})
    return {name: values["q"] for name, values in score_passages(dataset, {"q": snippets}).items()}


def test_each_character_is_counted_once_and_only_what_is_read_counts() -> None:
    long = [(0, 6000)]
    assert scored(gold=long) == {"gold_at_2000": 0, "gold_at_4000": 0, "gold_at_8000": 0, "mrr_at_10": 0}
    twice = scored(passage(0, 1000), passage(0, 1000), gold=long)
    assert (twice["gold_at_2000"], twice["gold_at_4000"], twice["mrr_at_10"]) == (0.5, 0.25, 1.0)
    cut = scored(passage(7000, 8500), passage(0, 1000), gold=long)
    assert (cut["gold_at_2000"], cut["mrr_at_10"]) == (0.25, 0.5)


def test_a_parent_is_read_once_and_its_children_by_it() -> None:
    parent = scored(
        passage(100, 110, prompt=(100, 2100), parent="d#line=1"),
        passage(120, 130, parent="d#line=1"),
        passage(5000, 5010),
        gold=[(100, 2100), (5000, 5010)],
    )
    assert parent["gold_at_2000"] == 1.0
    assert parent["gold_at_4000"] == 1.0
