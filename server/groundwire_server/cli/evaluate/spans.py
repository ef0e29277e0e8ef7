"""Whole documents with the stretches of them that answer: whatever cuts them, it is measured by what one gets to read.

A set of this kind has docs.jsonl (doc_id, title, text) and spans.jsonl (query_id, doc_id, spans: pairs of offsets in
code points) beside its queries.jsonl. A chunk of any size is measured alike: what counts is how much of the text that
answers stands in the first so many characters that a prompt would hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from groundwire import Snippet, TextPassage
from groundwire_server.cli.evaluate.dataset import json_lines

__all__ = ["BUDGETS", "TOP_K", "SpanSet", "passage_lines", "read_span_set", "score_passages"]

BUDGETS = (2000, 4000, 8000)
"""Characters that a prompt would hold."""
TOP_K = 200
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class SpanSet:
    """Queries with the stretches that answer them.

    corpus: docs.jsonl. queries: query_id -> its line, of those that have spans. gold: query_id -> doc_id and spans.
    texts: doc_id -> text.
    """

    corpus: Path
    queries: dict[str, dict[str, Any]]
    gold: dict[str, tuple[str, list[tuple[int, int]]]]
    texts: dict[str, str]


def read_span_set(folder: Path, limit: int | None) -> SpanSet | None:
    """The set in a folder, with the first queries up to a limit; None where it has no spans.

    Raises ClickException that says what is malformed, and where.
    """
    corpus, spans = folder / "docs.jsonl", folder / "spans.jsonl"
    if not corpus.exists() or not spans.exists():
        return None
    texts = {row["doc_id"]: row["text"] for row in json_lines(corpus, "doc_id", "text")}
    judged: dict[str, tuple[str, list[tuple[int, int]]]] = {}
    for row in json_lines(spans, "query_id", "doc_id"):
        judged[row["query_id"]] = (row["doc_id"], _pairs(spans, row, texts))
    found = {row["query_id"]: row for row in json_lines(folder / "queries.jsonl", "query_id", "text")}
    kept = [query_id for query_id in found if query_id in judged][:limit]
    if not kept:
        raise click.ClickException(f"{spans} answers none of the queries")
    return SpanSet(corpus, {each: found[each] for each in kept}, {each: judged[each] for each in kept}, texts)


def _pairs(path: Path, row: dict[str, Any], texts: Mapping[str, str]) -> list[tuple[int, int]]:
    if row["doc_id"] not in texts:
        raise click.ClickException(f"{path}: {row['doc_id']!r} of {row['query_id']!r} is not in docs.jsonl")
    try:
        pairs = [(int(start), int(end)) for start, end in row["spans"]]
    except (KeyError, TypeError, ValueError):
        raise click.ClickException(f"{path}: the spans of {row['query_id']!r} are no pairs of numbers") from None
    if not pairs or any(not 0 <= start < end <= len(texts[row["doc_id"]]) for start, end in pairs):
        raise click.ClickException(f"{path}: the spans of {row['query_id']!r} lie outside of their document")
    return pairs


def score_passages(dataset: SpanSet, answers: Mapping[str, Iterable[Snippet]]) -> dict[str, dict[str, float]]:
    """Each measure of each query.

    gold_at_N: of the first N characters to read (parent or window where a passage has one, each once, else its text),
        the characters that answer, each counted once, by all that could: N, or all that there are.
    mrr_at_10: by the first passage of which at least half lies in what answers.
    """
    scores: dict[str, dict[str, float]] = {name: {} for name in (*(f"gold_at_{each}" for each in BUDGETS), "mrr_at_10")}
    for query_id, (doc_id, spans) in dataset.gold.items():
        gold = np.zeros(len(dataset.texts[doc_id]), np.bool_)
        for start, end in spans:
            gold[start:end] = True
        snippets = list(answers.get(query_id, ()))
        pieces = list(_pieces(dataset.texts, snippets))
        for budget in BUDGETS:
            best = min(budget, int(np.count_nonzero(gold)))
            scores[f"gold_at_{budget}"][query_id] = _read(pieces, doc_id, gold, budget) / best
        scores["mrr_at_10"][query_id] = _reciprocal_rank(snippets, doc_id, gold)
    return scores


def passage_lines(answers: Mapping[str, Iterable[Snippet]]) -> Iterator[str]:
    """A run for independent scoring: query_id, doc_id, start and end of the passage, rank; tabs between them."""
    for query_id, snippets in answers.items():
        for snippet in snippets:
            if (span := snippet.lineage.span) is not None:
                yield f"{query_id}\t{snippet.lineage.doc_id}\t{span.start}\t{span.end}\t{snippet.rank}\n"


def _pieces(texts: Mapping[str, str], snippets: Iterable[Snippet]) -> Iterator[tuple[str, int, int]]:
    """Document and stretch of what there is to read, in order."""
    for snippet in snippets:
        lineage, span = snippet.lineage, snippet.lineage.span
        if span is None or not isinstance(snippet.payload, TextPassage):
            continue
        prompt = snippet.payload.prompt_text
        if prompt:
            # The passage lies within it, so that it begins at most so far before the passage ends.
            start = texts[lineage.doc_id].find(prompt, max(0, span.end - len(prompt)))
            yield lineage.doc_id, start, start + len(prompt)
        elif not lineage.parent_locator:  # else an earlier passage has brought it
            yield lineage.doc_id, span.start, span.end


def _read(pieces: Iterable[tuple[str, int, int]], doc_id: str, gold: NDArray[np.bool_], budget: int) -> int:
    """Characters that answer among the first so many that are read."""
    seen = np.zeros(len(gold), np.bool_)
    for name, start, end in pieces:
        end = min(end, start + budget)
        budget -= end - start
        if name == doc_id:
            seen[start:end] = True
        if budget == 0:
            break
    return int(np.count_nonzero(seen & gold))


def _reciprocal_rank(snippets: Iterable[Snippet], doc_id: str, gold: NDArray[np.bool_]) -> float:
    for rank, snippet in enumerate(list(snippets)[:_DEPTH], 1):
        span = snippet.lineage.span
        if span is None or snippet.lineage.doc_id != doc_id:
            continue
        if 2 * int(np.count_nonzero(gold[span.start : span.end])) >= span.end - span.start:
            return 1 / rank
    return 0.0
