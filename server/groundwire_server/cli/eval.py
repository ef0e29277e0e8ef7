"""`groundwire eval`."""

from __future__ import annotations

from pathlib import Path

import click

from groundwire_server.cli.session import Session

__all__ = ["command"]

_folder = click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
_run_file = click.option(
    "--run", "run_file", type=click.Path(dir_okay=False, path_type=Path), help="One line a question."
)
_json_file = click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="The totals.")
_limit = click.option("--limit", type=click.IntRange(min=1), help="Only the first questions.")


@click.group(name="eval")
def command() -> None:
    """Measure quality on a folder of questions with known answers, through a real server.

    The folder is loaded into a fresh library that is thrown away afterwards.
    """


@command.command(name="retrieval")
@_folder
@click.option("--mode", type=click.Choice(["lexical", "hybrid", "vector"]), default="lexical", show_default=True)
@click.option("--fusion", default="", help="linear or rrf. [the server's]")
@click.option("--reranker", default="", help="Reranker by name. [none]")
@click.option("--chunker", default="whole", show_default=True, help="whole: one document, one chunk.")
@click.option(
    "--filter-by", metavar="QUERY_FIELD=CORPUS_FIELD", help="Bind each query to documents with the same attribute."
)
@_limit
@_run_file
@_json_file
@click.pass_obj
def retrieval(
    session: Session,
    folder: Path,
    mode: str,
    fusion: str,
    reranker: str,
    chunker: str,
    filter_by: str | None,
    limit: int | None,
    run_file: Path | None,
    json_file: Path | None,
) -> None:
    """nDCG@10, Recall@100, MRR@10 on FOLDER: corpus.jsonl(.gz), queries.jsonl, qrels.tsv.

    A line of the corpus is one document. The run file has query_id, doc_id and score, 100 a query.
    """
    from groundwire_server.cli.evaluate.retrieval import RetrievalRun, evaluate_retrieval

    run = RetrievalRun(folder, mode, fusion, reranker, chunker, filter_by, limit)
    evaluate_retrieval(session, run, run_file, json_file)


@command.command(name="metric")
@_folder
@click.option(
    "--by",
    type=click.Choice(["params", "question"]),
    required=True,
    help="params: QueryMetric with the parameters given; question: Ask, from its words alone.",
)
@_limit
@_run_file
@_json_file
@click.pass_obj
def metric(
    session: Session, folder: Path, by: str, limit: int | None, run_file: Path | None, json_file: Path | None
) -> None:
    """Outcomes right and figures wrong on FOLDER: facts.jsonl, glossary.jsonl, structured_questions.jsonl."""
    from groundwire_server.cli.evaluate.metric import evaluate_metric

    evaluate_metric(session, folder, by, limit, run_file, json_file)
