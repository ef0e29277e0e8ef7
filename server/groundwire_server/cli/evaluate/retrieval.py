"""`groundwire eval retrieval`: load a corpus, ask every query, score the ranking."""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

import groundwire
from groundwire import (
    CallOptions,
    Client,
    DocumentOutcome,
    DocumentUpload,
    EndReason,
    Filter,
    IndexSettings,
    Library,
    Retrieval,
    RetrievalTuning,
    Setting,
    Snippet,
)
from groundwire_server.chunking import needs_model
from groundwire_server.cli.embeddings import await_embeddings
from groundwire_server.cli.evaluate.dataset import RetrievalSet, lines_of, read_retrieval_set
from groundwire_server.cli.evaluate.fresh import LIBRARY, MOST_PASSAGES, fresh_server
from groundwire_server.cli.evaluate.ranking import DEPTH, rank_documents
from groundwire_server.cli.evaluate.results import check_results, write_results
from groundwire_server.cli.evaluate.scores import check_evaluator, score_run, summarize
from groundwire_server.cli.evaluate.spans import TOP_K, SpanSet, passage_lines, read_span_set, score_passages
from groundwire_server.cli.output import as_plain
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say

__all__ = ["RetrievalRun", "evaluate_retrieval"]

_LINES_AN_UPLOAD = 64
_WHOLE = "whole"
# With several passages a document: how many are asked for at first, and how much more when they were too few.
_FIRST_PASSAGES = 4 * DEPTH
_GROWTH = 4


@dataclass(frozen=True, slots=True)
class RetrievalRun:
    """What is measured, as the options of the command say it."""

    folder: Path
    mode: str
    fusion: str = ""
    reranker: str = ""
    chunker: str = _WHOLE
    filter_by: str | None = None
    limit: int | None = None
    chunk_chars: int | None = None
    overlap_chars: int | None = None
    budget_unit: str = ""
    contextual: bool = False
    graph: bool = False

    @property
    def index(self) -> IndexSettings:
        """How the library of the measurement is cut."""
        return IndexSettings(
            chunker=self.chunker,
            chunk_chars=self.chunk_chars,
            overlap_chars=self.overlap_chars,
            contextual_header=self.contextual,
        )

    @property
    def cutting(self) -> dict[str, Any]:
        """What of the cut is not as it is by default, for the totals."""
        said = {"chunk_chars": self.chunk_chars, "overlap_chars": self.overlap_chars, "budget_unit": self.budget_unit}
        return {name: value for name, value in said.items() if value not in (None, "")} | (
            {"contextual": True} if self.contextual else {}
        )


@dataclass(slots=True)
class _Answers:
    """What came back. plan: of the first query. lessened: kinds of degradation and refusal, with how many queries.

    ranked: of documents; snippets: of sets that are measured by stretches of text.
    """

    ranked: dict[str, dict[str, float]] = field(default_factory=dict)
    snippets: dict[str, list[Snippet]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    plan: list[dict[str, Any]] = field(default_factory=list)
    lessened: Counter[str] = field(default_factory=Counter)


def evaluate_retrieval(session: Session, run: RetrievalRun, run_file: Path | None, json_file: Path | None) -> None:
    """Measure, print, and write the run and the totals where asked.

    Raises:
        click.ClickException: the folder, an option or a result file is wrong.
        GroundwireError: of client or server.
    """
    filters = _FilterBy.parse(run.filter_by)
    spans = read_span_set(run.folder, run.limit) if run.chunker != _WHOLE else None
    dataset = read_retrieval_set(run.folder, run.limit) if spans is None else spans
    wanted = {query_id: filters.of(query) for query_id, query in dataset.queries.items()}
    check_evaluator()
    check_results(run_file, json_file)
    asks_model = run.mode != "lexical" or needs_model(run.chunker, run.budget_unit)
    with fresh_server(session, embedder="onnx" if asks_model else "none") as client:
        index = run.index if run.mode != "lexical" else replace(run.index, embedder="none")
        settings = (Setting("budget_unit", run.budget_unit),) if run.budget_unit else ()
        client.save_library(Library(LIBRARY, index=index, settings=settings))
        _check_options(client, run)
        loaded, refused = _load(client, dataset)
        if run.mode != "lexical" and not await_embeddings(client, LIBRARY):
            raise click.ClickException("not every document has its vector, so that the figures would be of nothing")
        answers = _ask_all(client, run, dataset, wanted)
        libraries = list(client.list_libraries())
    chunks = next(each.active_chunks for each in libraries if each.library_id == LIBRARY)
    write_results(run_file, "".join(_run_lines(answers.ranked) if spans is None else passage_lines(answers.snippets)))
    totals = {
        "set": run.folder.resolve().name,
        **(_scores(dataset, answers) if isinstance(dataset, RetrievalSet) else _span_scores(dataset, answers)),
        "p50_ms": round(statistics.median(answers.seconds) * 1000, 3),
        "plan": answers.plan,
        "options": {
            "mode": run.mode,
            "fusion": run.fusion,
            "reranker": run.reranker,
            "chunker": run.chunker,
            "filter_by": run.filter_by or "",
            "limit": run.limit,
            **({"graph": True} if run.graph else {}),
            **run.cutting,
        },
        "documents": loaded,
        "chunks": chunks,
        "refused_documents": refused,
        "lessened_queries": dict(sorted(answers.lessened.items())),
    }
    write_results(json_file, json.dumps(totals, ensure_ascii=False, indent=1) + "\n")
    _print(totals)


@dataclass(frozen=True, slots=True)
class _FilterBy:
    """--filter-by: an attribute of the query that an attribute of the documents must equal."""

    query_field: str = ""
    corpus_field: str = ""

    @classmethod
    def parse(cls, text: str | None) -> _FilterBy:
        if text is None:
            return cls()
        query_field, equals, corpus_field = text.partition("=")
        if not (equals and query_field and corpus_field):
            raise click.UsageError(f"--filter-by {text!r} is not QUERY_FIELD=CORPUS_FIELD.")
        return cls(query_field, corpus_field)

    def of(self, query: dict[str, Any]) -> Filter | None:
        """The filter of one query; None when there is none at all."""
        if not self.query_field:
            return None
        meta = query.get("meta")
        value = {**query, **(meta if isinstance(meta, dict) else {})}.get(self.query_field)
        if value is None:
            raise click.ClickException(f"query {query['query_id']!r} has no {self.query_field!r} to filter by")
        if isinstance(value, list | dict):
            raise click.ClickException(f"query {query['query_id']!r}: {self.query_field!r} is no single value")
        wanted: Filter = groundwire.field(self.corpus_field) == value
        return wanted


def _check_options(client: Client, run: RetrievalRun) -> None:
    """One question to the empty library: a stage that is not there is an error now and not after the loading."""
    _retrieve(client, "?", run, None, top_k=1)


def _load(client: Client, dataset: RetrievalSet | SpanSet) -> tuple[int, int]:
    """Ingest the corpus. Returns how many documents are stored, and how many were refused."""
    line = ProgressLine("loading", "documents")
    refusals: list[str] = []
    stored: set[str] = set()
    with client.ingest_documents(_uploads(dataset.corpus), library=LIBRARY) as events:
        for event in events:
            if isinstance(event, DocumentOutcome):
                if event.error is not None:
                    refusals.append(f"{event.doc_id}: {event.error.message}")
                else:
                    stored.add(event.doc_id)
                line.update(len(stored) + len(refusals))
    line.finish(len(stored) + len(refusals))
    if not stored:
        raise click.ClickException(f"{dataset.corpus}: no document could be read; {(refusals or ['it is empty'])[0]}")
    if refusals:
        note(f"{len(refusals)} documents were refused and cannot be found, e.g. {refusals[0]}")
    judged = _judged(dataset)
    if absent := sorted(judged - stored):
        note(f"{len(absent)} relevant documents are not in the corpus and cannot be found, e.g. {absent[0]}")
    return len(stored), len(refusals)


def _judged(dataset: RetrievalSet | SpanSet) -> set[str]:
    """Documents that answer a query."""
    if isinstance(dataset, SpanSet):
        return {doc_id for doc_id, _ in dataset.gold.values()}
    return {doc_id for grades in dataset.qrels.values() for doc_id, grade in grades.items() if grade > 0}


def _uploads(corpus: Path) -> Iterator[DocumentUpload]:
    """Some lines of the corpus at a time; the server reads each line as a document."""
    lines = lines_of(corpus)
    for number in itertools.count():
        some = b"".join(itertools.islice(lines, _LINES_AN_UPLOAD))
        if not some:
            return
        if some.strip():
            yield DocumentUpload(f"corpus-{number}.jsonl", some)


def _ask_all(
    client: Client, run: RetrievalRun, dataset: RetrievalSet | SpanSet, wanted: dict[str, Filter | None]
) -> _Answers:
    answers = _Answers()
    line = ProgressLine("asking", "queries", len(dataset.queries))
    for number, (query_id, query) in enumerate(dataset.queries.items()):
        line.update(number)
        began = time.perf_counter()
        if isinstance(dataset, SpanSet):
            result = _retrieve(client, query["text"], run, wanted[query_id], TOP_K)
            answers.snippets[query_id] = list(result.snippets)
        else:
            result = _ask(client, query["text"], run, wanted[query_id])
            answers.ranked[query_id] = rank_documents(result.snippets)
        answers.seconds.append(time.perf_counter() - began)
        answers.plan = answers.plan or [as_plain(step) for step in result.header.plan]
        answers.lessened.update({degradation.kind.name for degradation in result.summary.degradations})
        answers.lessened.update({"REFUSED"} if result.summary.end_reason is EndReason.REFUSED else ())
    line.finish(len(dataset.queries))
    return answers


def _ask(client: Client, text: str, run: RetrievalRun, wanted: Filter | None) -> Retrieval:
    """Passages of 100 distinct documents, or all that there are; more passages are asked for as long as it takes."""
    top_k = DEPTH if run.chunker == _WHOLE else _FIRST_PASSAGES
    while True:
        result = _retrieve(client, text, run, wanted, top_k)
        enough = len(rank_documents(result.snippets)) == DEPTH
        if enough or len(result.snippets) < top_k or top_k == MOST_PASSAGES:
            return result
        top_k = min(top_k * _GROWTH, MOST_PASSAGES)


def _retrieve(client: Client, text: str, run: RetrievalRun, wanted: Filter | None, top_k: int) -> Retrieval:
    options: CallOptions = {"libraries": [LIBRARY]}
    if wanted is not None:
        options["filter"] = wanted
    tuning = RetrievalTuning(fusion=run.fusion, reranker=run.reranker, graph=run.graph or None)
    return client.retrieve(text, top_k=top_k, mode=run.mode.upper(), tuning=tuning, **options).collect()


def _run_lines(ranked: dict[str, dict[str, float]]) -> Iterable[str]:
    for query_id, documents in ranked.items():
        for doc_id, score in documents.items():
            yield f"{query_id}\t{doc_id}\t{score!r}\n"


def _scores(dataset: RetrievalSet, answers: _Answers) -> dict[str, Any]:
    scores = score_run(dataset.qrels, answers.ranked)
    totals = summarize(scores, dataset.queries)
    if dataset.hard:
        totals["hard"] = summarize(scores, dataset.hard)
    return totals


def _span_scores(dataset: SpanSet, answers: _Answers) -> dict[str, Any]:
    return summarize(score_passages(dataset, answers.snippets), dataset.queries)


def _print(totals: dict[str, Any]) -> None:
    size = f"{totals['queries']} queries on {totals['documents']} documents"
    say(f"{totals['set']}: {size}, p50 {totals['p50_ms']:.1f} ms")
    for title, part in (("", totals), ("hard quarter, ", totals.get("hard"))):
        if part is None:
            continue
        for name in (name for name in part if f"{name}_interval" in part):
            low, high = part[f"{name}_interval"]
            say(f"  {f'{title}{name}':<28} {part[name]:.4f}  [{low:.4f}, {high:.4f}]")
    steps = [f"{step['stage']} {step['backend']} {step.get('detail', '')}".strip() for step in totals["plan"]]
    say(f"  plan: {'; '.join(steps)}")
    for kind, count in totals["lessened_queries"].items():
        say(f"  {kind}: {count} queries")
