"""`groundwire eval retrieval`: load a corpus, ask every query, score the ranking."""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from groundwire import (
    Client,
    DocumentOutcome,
    DocumentUpload,
    IndexSettings,
    Library,
    Retrieval,
    RetrievalTuning,
    field,
)
from groundwire_server.cli.evaluate.dataset import RetrievalSet, read_retrieval_set
from groundwire_server.cli.evaluate.fresh import LIBRARY, fresh_server, write_results
from groundwire_server.cli.evaluate.scores import mean_with_interval, score_run
from groundwire_server.cli.ingest import await_embeddings
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session

__all__ = ["RetrievalRun", "evaluate_retrieval"]

_DOCUMENTS = 100
_MAX_TOP_K = 200
_LINES_AN_UPLOAD = 64


@dataclass(frozen=True, slots=True)
class RetrievalRun:
    """What is measured, as the options of the command say it."""

    folder: Path
    mode: str
    fusion: str
    reranker: str
    chunker: str
    filter_by: str | None
    limit: int | None


def evaluate_retrieval(session: Session, run: RetrievalRun, run_file: Path | None, json_file: Path | None) -> None:
    """Measure, print, and write the run and the totals where asked."""
    dataset = read_retrieval_set(run.folder, run.limit)
    query_field, corpus_field = _filter_fields(run.filter_by)
    with fresh_server(session, embedder="none" if run.mode == "lexical" else "onnx") as client:
        client.save_library(Library(LIBRARY, index=IndexSettings(chunker=run.chunker)))
        _load(client, dataset.corpus)
        if run.mode != "lexical":
            await_embeddings(client, LIBRARY)
        ranked: dict[str, dict[str, float]] = {}
        seconds: list[float] = []
        plan: list[str] = []
        line = ProgressLine("asking", "queries", len(dataset.queries))
        for number, (query_id, query) in enumerate(dataset.queries.items()):
            line.update(number)
            began = time.perf_counter()
            options = _filter(query, query_field, corpus_field)
            result = _ask(client, query["text"], run, options)
            seconds.append(time.perf_counter() - began)
            ranked[query_id] = result[0]
            plan = plan or [f"{step.stage}: {step.backend} {step.detail}".strip() for step in result[1].header.plan]
        line.finish(len(dataset.queries))
    write_results(run_file, "".join(_run_lines(ranked)))
    totals = _totals(dataset, ranked, seconds, plan)
    write_results(json_file, json.dumps(totals, ensure_ascii=False, indent=1) + "\n")
    _print(totals)


def _filter_fields(filter_by: str | None) -> tuple[str, str]:
    if filter_by is None:
        return "", ""
    query_field, equals, corpus_field = filter_by.partition("=")
    if not (equals and query_field and corpus_field):
        raise click.BadParameter(f"{filter_by!r} is not QUERY_FIELD=CORPUS_FIELD", param_hint="--filter-by")
    return query_field, corpus_field


def _filter(query: dict[str, Any], query_field: str, corpus_field: str) -> dict[str, Any]:
    if not query_field:
        return {}
    value = query.get("meta", {}).get(query_field, query.get(query_field))
    if value is None:
        raise click.ClickException(f"query {query['query_id']} has no {query_field!r}")
    return {"filter": field(corpus_field) == value}


def _load(client: Client, corpus: Path) -> None:
    line = ProgressLine("loading", "documents")
    done = 0
    with client.ingest_documents(_uploads(corpus), library=LIBRARY) as events:
        for event in events:
            if isinstance(event, DocumentOutcome):
                if event.error is not None:
                    raise click.ClickException(f"{event.doc_id}: {event.error.message}")
                done += 1
                line.update(done)
    line.finish(done)


def _uploads(corpus: Path) -> Iterator[DocumentUpload]:
    """Some lines of the corpus at a time; the server reads each line as a document."""
    import gzip

    with gzip.open(corpus, "rb") if corpus.suffix == ".gz" else corpus.open("rb") as lines:
        for number in itertools.count():
            some = b"".join(itertools.islice(lines, _LINES_AN_UPLOAD))
            if not some:
                return
            yield DocumentUpload(f"corpus-{number}.jsonl", some)


def _ask(client: Client, text: str, run: RetrievalRun, options: dict[str, Any]) -> tuple[dict[str, float], Retrieval]:
    """Up to 100 distinct documents, each with the score of its best chunk; more passages are asked for as needed."""
    tuning = RetrievalTuning(fusion=run.fusion, reranker=run.reranker)
    top_k = _DOCUMENTS if run.chunker == "whole" else _MAX_TOP_K
    result = client.retrieve(
        text, top_k=top_k, mode=run.mode.upper(), tuning=tuning, libraries=[LIBRARY], **options
    ).collect()
    documents: dict[str, float] = {}
    for snippet in result.snippets:
        scores = snippet.scores
        if scores is not None and len(documents) < _DOCUMENTS:
            ordering = (scores.rerank, scores.fused, scores.vector, scores.bm25)
            best = next((score for score in ordering if score is not None), -float(snippet.rank))
            documents.setdefault(snippet.lineage.doc_id, best)
    return documents, result


def _run_lines(ranked: dict[str, dict[str, float]]) -> Iterable[str]:
    for query_id, documents in ranked.items():
        for doc_id, score in documents.items():
            yield f"{query_id}\t{doc_id}\t{score!r}\n"


def _totals(
    dataset: RetrievalSet, ranked: dict[str, dict[str, float]], seconds: list[float], plan: list[str]
) -> dict[str, Any]:
    scores = score_run(dataset.qrels, ranked)
    totals: dict[str, Any] = {"set": dataset.folder.name, "queries": len(dataset.queries)}
    for name, by_query in scores.items():
        totals[name] = asdict(mean_with_interval(by_query.values()))
        if dataset.hard:
            totals[f"hard_{name}"] = asdict(mean_with_interval(by_query[query] for query in sorted(dataset.hard)))
    totals["p50_ms"] = statistics.median(seconds) * 1000 if seconds else 0.0
    totals["plan"] = plan
    return totals


def _print(totals: dict[str, Any]) -> None:
    click.echo(f"{totals['set']}: {totals['queries']} queries, p50 {totals['p50_ms']:.1f} ms")
    for name, value in totals.items():
        if isinstance(value, dict):
            click.echo(f"  {name:<20} {value['mean']:.4f}  [{value['low']:.4f}, {value['high']:.4f}]")
    click.echo("  plan: " + "; ".join(totals["plan"]))
