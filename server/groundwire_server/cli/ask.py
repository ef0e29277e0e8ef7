"""`groundwire ask`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import click

from groundwire import RetrievalTuning
from groundwire_server.cli.bounds import bound_options, bounds
from groundwire_server.cli.explanation import explain_option
from groundwire_server.cli.options import COUNT, WORDS, call_options, mode_option, reading_options
from groundwire_server.cli.output import show
from groundwire_server.cli.session import Session
from groundwire_server.cli.stages import stage_options

__all__ = ["command"]


@click.command(name="ask")
@click.argument("question", type=WORDS)
@click.option(
    "--route",
    type=click.Choice(["structured", "narrative", "composite"]),
    help="Take this route instead of deciding.",
)
@click.option(
    "--writer",
    type=click.Choice(["model", "extractive", "none"]),
    help="Who writes the narrative part: the server's language model behind the guards, the sources in their own words,"
    " or nobody. [model where the server has one, else extractive]",
)
@click.option(
    "--decompose",
    type=WORDS,
    metavar="DECOMPOSITION",
    default="",
    help="What cuts QUESTION into questions that are answered one by one: llm, the server's language model; rules; or "
    "none. [the library's]",
)
@click.option(
    "--adaptive",
    is_flag=True,
    help="Cut only what needs several steps; without --decompose by the language model where there is one, else by "
    "rules.",
)
@click.option("--top-k", type=COUNT, help="Passages for each narrative branch. [10]")
@click.option("--token-budget", type=COUNT, help="Most tokens of evidence; the rest is left out and named.")
@click.option("--soft-budget", type=click.FloatRange(0, 86_400), help="Seconds after which what is final is shown.")
@stage_options
@mode_option
@explain_option
@bound_options
@reading_options
@click.pass_obj
def command(
    session: Session,
    question: str,
    route: str | None,
    writer: str | None,
    decompose: str,
    adaptive: bool,
    stages: RetrievalTuning,
    top_k: int | None,
    token_budget: int | None,
    soft_budget: float | None,
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
    """Ask QUESTION and show what streams back: figures, passages, the cited answer.

    \b
    groundwire ask "What was the population of India in 2020?"
    groundwire ask "ニカラグアはなぜアメリカを提訴したのか？" --json
    groundwire ask "Who founded Acme, and when was the Cloud division sold?" --decompose rules
    """
    tuning = replace(stages, decomposition=decompose, adaptive=adaptive or None)
    options = call_options(libraries, language, strict, explain)
    if token_budget is not None:
        options["token_budget"] = token_budget
    if soft_budget is not None:
        options["soft_budget"] = timedelta(seconds=soft_budget)
    with session.client(embedder=mode != "lexical") as client:
        stream = client.ask(
            question,
            route=(route or "unspecified").upper(),
            writer=(writer or "unspecified").upper(),
            top_k=top_k or 0,
            mode=mode.upper(),
            tuning=None if tuning == RetrievalTuning() else tuning,
            **options,
            **bounds(client, libraries, filters, known_at, valid_at),
        )
        show(stream, as_json_lines=as_json)
