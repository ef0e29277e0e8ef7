"""Evaluation folders (formats.md, "eval folders"): one JSON object a line, lines split on LF only."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from groundwire_server.cli.files import read_text

__all__ = ["RetrievalSet", "json_lines", "lines_of", "read_retrieval_set"]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Queries with their judgements; the corpus is read as a stream.

    queries: query_id -> its line, in the order of the file; only those that have a judgement.
    qrels: query_id -> doc_id -> grade.
    hard: the quarter of the queries with the least word overlap (hard.txt), those of `queries` alone.
    """

    folder: Path
    corpus: Path
    queries: dict[str, dict[str, Any]]
    qrels: dict[str, dict[str, int]]
    hard: frozenset[str]


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, through gzip where its name ends in .gz. Raises ClickException when that is damaged."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            yield from lines
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise click.ClickException(f"{path}: the gzip file is damaged") from None


def json_lines(path: Path, *required: str) -> Iterator[dict[str, Any]]:
    """The objects of a .jsonl or .jsonl.gz file, figures as exact decimals.

    Raises ClickException naming the line that is no JSON object, or lacks a required text.
    """
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=Decimal)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise click.ClickException(f"{path}, line {number}: not a JSON object")
        for name in required:
            if not isinstance(row.get(name), str) or not row[name]:
                raise click.ClickException(f"{path}, line {number}: {name!r} is not there, or is no text")
        yield row


def read_retrieval_set(folder: Path, limit: int | None) -> RetrievalSet:
    """Read queries.jsonl, qrels.tsv and hard.txt, and find corpus.jsonl or corpus.jsonl.gz.

    `limit` keeps the first queries that have a judgement; the corpus stays whole.

    Raises ClickException that says what is missing or malformed, and where.
    """
    corpus = next((path for path in (folder / "corpus.jsonl", folder / "corpus.jsonl.gz") if path.exists()), None)
    missing = [name for name in ("queries.jsonl", "qrels.tsv") if not (folder / name).exists()]
    if corpus is None:
        missing.append("corpus.jsonl or corpus.jsonl.gz")
    if corpus is None or missing:
        raise click.ClickException(f"{folder} is no retrieval set: {', '.join(missing)} not found")
    qrels = _read_qrels(folder / "qrels.tsv")
    queries: dict[str, dict[str, Any]] = {}
    for row in json_lines(folder / "queries.jsonl", "query_id", "text"):
        if row["query_id"] in queries:
            raise click.ClickException(f"{folder / 'queries.jsonl'}: query_id {row['query_id']!r} stands twice")
        if row["query_id"] in qrels:
            queries[row["query_id"]] = row
    absent = [query_id for query_id in qrels if query_id not in queries]
    if absent:
        # An evaluator counts them as 0; here nobody would see why.
        raise click.ClickException(
            f"{folder}: {len(absent)} queries of qrels.tsv are not in queries.jsonl, e.g. {absent[0]!r}"
        )
    if not queries:
        raise click.ClickException(f"{folder}: qrels.tsv judges nothing")
    kept = dict(list(queries.items())[:limit])
    hard = folder / "hard.txt"
    hard_lines = read_text(hard).split("\n") if hard.exists() else []
    return RetrievalSet(
        folder=folder,
        corpus=corpus,
        queries=kept,
        qrels={query_id: qrels[query_id] for query_id in kept},
        hard=frozenset(line.split("\t")[0] for line in hard_lines if line) & kept.keys(),
    )


def _read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Behind a header: query_id, doc_id, relevance, with tabs between them."""
    qrels: dict[str, dict[str, int]] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            query_id, doc_id, grade = line.rstrip("\r").split("\t")
            relevance = int(grade)
        except ValueError:
            if number == 1:
                continue
            raise click.ClickException(f"{path}, line {number}: not query_id, doc_id, relevance") from None
        if number == 1:
            raise click.ClickException(f"{path}, line 1: a judgement stands where the header belongs")
        qrels.setdefault(query_id, {})[doc_id] = relevance
    return qrels
