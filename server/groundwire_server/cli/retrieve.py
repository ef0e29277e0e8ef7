"""`groundwire retrieve`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from groundwire import Frame, Retrieval, RetrievalTuning, Stream
from groundwire_server.cli.bounds import bound_options, bounds
from groundwire_server.cli.explanation import explain_option
from groundwire_server.cli.options import COUNT, WORDS, call_options, mode_option, reading_options
from groundwire_server.cli.output import show
from groundwire_server.cli.session import Session
from groundwire_server.cli.stages import stage_options

__all__ = ["command"]


@click.command(name="retrieve")
@click.argument("query", type=WORDS)
@click.option("--top-k", type=COUNT, help="Passages wanted. [10]")
@click.option("--pages", type=COUNT, help="How often so many are asked for, one page behind the other. [1]")
@click.option(
    "--fusion",
    type=WORDS,
    metavar="FUSION",
    default="",
    help="How lexical and vector lists are joined: linear or rrf. [the library's]",
)
@click.option(
    "--graph",
    is_flag=True,
    help="Follow relations from what is found and from names in QUERY; how they lead to a passage is shown behind.",
)
@click.option(
    "--transform",
    type=WORDS,
    metavar="TRANSFORM",
    default="",
    help="What a language model makes of QUERY to search with beside it: hyde, rag_fusion, step_back, or none. "
    "[the library's]",
)
@stage_options
@mode_option
@explain_option
@bound_options
@reading_options
@click.pass_obj
def command(
    session: Session,
    query: str,
    top_k: int | None,
    pages: int | None,
    fusion: str,
    graph: bool,
    transform: str,
    stages: RetrievalTuning,
    mode: str,
    explain: str,
    filters: tuple[str, ...],
    known_at: str | None,
    valid_at: str | None,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Find the passages for QUERY, best first, each with its place in the source.

    \b
    groundwire retrieve "causes of the dispute" --top-k 5 --mode lexical
    groundwire retrieve "energy" --filter 'year>=2020' --filter 'doc_id=reports/2024.md'
    groundwire retrieve "energy" --known-at 2026-06-30
    groundwire retrieve "energy" --explain trace
    groundwire retrieve "energy" --top-k 20 --pages 3
    groundwire retrieve "Who founded the firm that built the Eiffel Tower?" --graph
    groundwire retrieve "Why did Acme close the mill in 2023?" --filter-extractor glossary --corrective
    """
    with session.client(embedder=mode != "lexical") as client:
        stream = client.retrieve(
            query,
            top_k=top_k or 0,
            mode=mode.upper(),
            tuning=_tuning(stages, fusion, transform, graph),
            **call_options(libraries, language, strict, explain),
            **bounds(client, libraries, filters, known_at, valid_at),
        )
        show(_paged(stream, pages or 1), as_json_lines=as_json)


def _paged(stream: Stream[Retrieval], pages: int) -> Iterator[Frame]:
    """The frames of so many pages, or of all that there are."""
    yield from stream
    for _ in range(pages - 1):  # asked for when it is wanted: each is a call
        page = stream.more()
        if page is None:
            return
        stream = page
        yield from stream


def _tuning(stages: RetrievalTuning, fusion: str, transform: str, graph: bool) -> RetrievalTuning | None:
    tuning = replace(stages, fusion=fusion, query_transform=transform, graph=graph or None)
    return tuning if tuning != RetrievalTuning() else None
