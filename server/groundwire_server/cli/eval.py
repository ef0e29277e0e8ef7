"""`groundwire eval`."""

from __future__ import annotations

from pathlib import Path

import click

from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import COUNT, WORDS, config_option
from groundwire_server.cli.session import Session

__all__ = ["command"]

_folder = click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
_run_file = click.option(
    "--run",
    "run_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write one line a question, for independent scoring.",
)
_json_file = click.option(
    "--json",
    "json_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the totals.",
)
_limit = click.option("--limit", type=COUNT, help="Only the first questions; the totals count those alone.")


@click.group(name="eval", cls=CommandGroup)
def command() -> None:
    """Measure quality on a folder of questions with known answers, through a real server.

    \b
    groundwire eval retrieval ./scifact --mode hybrid
    groundwire eval metric ./sec_facts --by params
    groundwire eval routes ./routes_multi/routes.jsonl
    groundwire eval graph ./company_graph

    The folder is loaded into a fresh library of a server of its own, and both are gone afterwards.
    """


@command.command(name="retrieval")
@_folder
@click.option("--mode", type=click.Choice(["lexical", "hybrid", "vector"]), default="lexical", show_default=True)
@click.option("--fusion", type=WORDS, metavar="FUSION", default="", help="linear or rrf. [linear]")
@click.option("--reranker", type=WORDS, metavar="RERANKER", default="", help="Reranker by name. [none]")
@click.option(
    "--chunker",
    type=WORDS,
    metavar="CHUNKER",
    default="whole",
    show_default=True,
    help="whole: one document, one chunk. Else a document scores by its best chunk, and a FOLDER with spans.jsonl by "
    "the text that one gets to read.",
)
@click.option("--chunk-chars", type=COUNT, help="Budget of a chunk. [480]")
@click.option("--overlap-chars", type=click.IntRange(0, 2**31 - 1), help="Overlap of two chunks. [80]")
@click.option("--budget-unit", type=WORDS, metavar="UNIT", default="", help="What both count. [characters]")
@click.option("--contextual", is_flag=True, help="Index title, entity, period and heading before each chunk.")
@click.option("--graph", is_flag=True, help="Follow relations from what is found and from names in the query.")
@click.option(
    "--filter-by",
    type=WORDS,
    metavar="QUERY_FIELD=CORPUS_FIELD",
    help="Search for each query only the documents whose attribute is that of the query, e.g. meeting=parent.",
)
@_limit
@_run_file
@_json_file
@config_option
@click.pass_obj
def retrieval(
    session: Session,
    folder: Path,
    mode: str,
    fusion: str,
    reranker: str,
    chunker: str,
    chunk_chars: int | None,
    overlap_chars: int | None,
    budget_unit: str,
    contextual: bool,
    graph: bool,
    filter_by: str | None,
    limit: int | None,
    run_file: Path | None,
    json_file: Path | None,
) -> None:
    """nDCG@10, Recall@100, MRR@10 on FOLDER: corpus.jsonl(.gz), queries.jsonl, qrels.tsv.

    A line of the corpus is one document with doc_id, title, text and meta, a line of the queries one with query_id and
    text. qrels.tsv has a heading, then query_id, doc_id and relevance with tabs between them. The run file has
    query_id, doc_id and score, up to 100 documents a query in the order of the answer; scores that tie are told apart
    by the least that every evaluator sees.

    With docs.jsonl and spans.jsonl in FOLDER and a chunker, the whole documents are cut, and gold_at_N is the share of
    answering text in the first N characters to read: parents and windows once each, else the passages. Intervals are
    95 % bootstrap over queries, with the same resamples for every run on a folder.

    \b
    groundwire eval retrieval ./scifact --mode hybrid --run run.tsv --json totals.json
    """
    from groundwire_server.cli.evaluate.retrieval import RetrievalRun, evaluate_retrieval

    run = RetrievalRun(
        folder,
        mode,
        fusion,
        reranker,
        chunker,
        filter_by,
        limit,
        chunk_chars,
        overlap_chars,
        budget_unit,
        contextual,
        graph,
    )
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
@config_option
@click.pass_obj
def metric(
    session: Session, folder: Path, by: str, limit: int | None, run_file: Path | None, json_file: Path | None
) -> None:
    """Outcomes right and figures wrong on FOLDER: facts.jsonl, glossary.jsonl, structured_questions.jsonl.

    \b
    groundwire eval metric ./sec_facts --by params
    """
    from groundwire_server.cli.evaluate.metric import evaluate_metric

    evaluate_metric(session, folder, by, limit, run_file, json_file)


@command.command(name="routes")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--load",
    metavar="FOLDER",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the glossary and facts that the router may know; may be repeated. [that of FILE and of its "
    "origins]",
)
@_limit
@_run_file
@_json_file
@config_option
@click.pass_obj
def routes(
    session: Session,
    file: Path,
    load: tuple[Path, ...],
    limit: int | None,
    run_file: Path | None,
    json_file: Path | None,
) -> None:
    """Right routes on FILE (routes.jsonl): three-way, two-way (figures or not), and evidence covered.

    \b
    groundwire eval routes routes.jsonl --run run.jsonl --json totals.json
    groundwire eval routes routes.jsonl --load ../sec_facts

    A line is {"question": "Why did costs fall?", "route": "narrative", "language": "en"}; routes are narrative,
    structured and composite. The router reads the names of a glossary and of facts: those of FILE's own folder, and of
    the folders beside it that the questions name as `origin`. Evidence is covered when the route brings all that the
    question needs; composite brings everything, and its share is told beside. A question that is refused counts as
    wrong.
    """
    from groundwire_server.cli.evaluate.routes import evaluate_routes

    evaluate_routes(session, file, load, limit, run_file, json_file)


@command.command(name="graph")
@_folder
@_limit
@_run_file
@_json_file
@config_option
@click.pass_obj
def graph(session: Session, folder: Path, limit: int | None, run_file: Path | None, json_file: Path | None) -> None:
    """Paths, closures, counts and sums right on FOLDER: relations, cases, and facts and a glossary where it has them.

    \b
    groundwire eval graph ./company_graph --run run.jsonl --json totals.json

    Relations stand in edges.jsonl, triples.jsonl or graph_edges.jsonl; cases in graph_cases.jsonl, rollup_cases.jsonl
    or cases.jsonl. A case gives start, end and kind; or a metric, a node and a period to add up; or triples, of which
    the first subject and the chain of relations are asked. Triples that only cases state are loaded with the others.
    """
    from groundwire_server.cli.evaluate.graph import evaluate_graph

    evaluate_graph(session, folder, limit, run_file, json_file)
