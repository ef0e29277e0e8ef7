"""Evaluation folders in the plain form of `../shared/data`: one JSON object a line, lines split on LF only."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

__all__ = ["RetrievalSet", "json_lines", "read_retrieval_set"]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Queries with their judgements; the corpus is read as a stream.

    qrels: query_id -> doc_id -> grade. hard: the quarter of the queries with the least word overlap.
    """

    folder: Path
    corpus: Path
    queries: dict[str, dict[str, Any]]
    qrels: dict[str, dict[str, int]]
    hard: frozenset[str]


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a .jsonl or .jsonl.gz file, figures as exact decimals.

    Raises click.ClickException naming the line that is no JSON object.
    """
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line, parse_float=Decimal)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise click.ClickException(f"{path}, line {number}: not a JSON object")
            yield row


def read_retrieval_set(folder: Path, limit: int | None) -> RetrievalSet:
    """Read queries.jsonl, qrels.tsv and hard.txt, and find corpus.jsonl or corpus.jsonl.gz.

    `limit` keeps the first queries that have a judgement; the corpus stays whole.
    """
    corpus = next((path for path in (folder / "corpus.jsonl", folder / "corpus.jsonl.gz") if path.exists()), None)
    missing = [name for name in ("queries.jsonl", "qrels.tsv") if not (folder / name).exists()]
    if corpus is None:
        missing.append("corpus.jsonl or corpus.jsonl.gz")
    if corpus is None or missing:
        raise click.ClickException(f"{folder} is no retrieval set: {', '.join(missing)} not found")
    qrels = _read_qrels(folder / "qrels.tsv")
    queries = {row["query_id"]: row for row in json_lines(folder / "queries.jsonl") if row["query_id"] in qrels}
    if limit is not None:
        queries = dict(list(queries.items())[:limit])
    hard = folder / "hard.txt"
    hard_lines = hard.read_text(encoding="utf-8").split("\n") if hard.exists() else []
    return RetrievalSet(
        folder=folder,
        corpus=corpus,
        queries=queries,
        qrels={query_id: qrels[query_id] for query_id in queries},
        hard=frozenset(line.split("\t")[0] for line in hard_lines if line) & queries.keys(),
    )


def _read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        try:
            query_id, doc_id, grade = line.split("\t")
            qrels.setdefault(query_id, {})[doc_id] = int(grade)
        except ValueError:
            raise click.ClickException(f"{path}, line {number}: not query_id, doc_id, relevance") from None
    return qrels
