"""`groundwire eval metric`: load facts and glossary, ask every question, compare outcome and figure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from groundwire import (
    Client,
    FactFile,
    Library,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricOutcome,
    MetricQuery,
    RowsRejected,
    Setting,
    Snippet,
    UnrecognizedParam,
)
from groundwire_server.cli.evaluate.dataset import json_lines
from groundwire_server.cli.evaluate.fresh import LIBRARY, fresh_server, write_results
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session
from groundwire_server.cli.terms import read_terms

__all__ = ["evaluate_metric"]

_BATCH = 100


@dataclass(frozen=True, slots=True)
class Line:
    """What came back for one question: a line of the run file."""

    question_id: str
    outcome: str
    param: str = ""
    value: str | None = None
    unit: str = ""
    source_doc: str = ""
    locator: str = ""


def evaluate_metric(
    session: Session, folder: Path, by: str, limit: int | None, run_file: Path | None, json_file: Path | None
) -> None:
    """Measure, print, and write the run and the totals where asked."""
    for name in ("facts.jsonl", "glossary.jsonl", "structured_questions.jsonl"):
        if not (folder / name).exists():
            raise click.ClickException(f"{folder} has no {name}")
    questions = list(json_lines(folder / "structured_questions.jsonl"))[:limit]
    with fresh_server(session, embedder="none") as client:
        _load(client, folder)
        first_fact = next(json_lines(folder / "facts.jsonl"), {})
        answered = _by_params(client, questions, first_fact) if by == "params" else _by_question(client, questions)
        judged = list(_judge(questions, answered))
    write_results(run_file, "".join(json.dumps(asdict(line), ensure_ascii=False) + "\n" for line, *_ in judged))
    totals = _totals(folder.name, by, judged)
    write_results(json_file, json.dumps(totals, ensure_ascii=False, indent=1) + "\n")
    _print(totals)


def _load(client: Client, folder: Path) -> None:
    client.save_library(Library(LIBRARY, settings=(Setting("ambiguous", "report"),)))
    terms = read_terms(folder / "glossary.jsonl")
    client.update_glossary(terms, library=LIBRARY, replace_all=True)
    refused = 0
    with client.ingest_facts([FactFile.from_file(folder / "facts.jsonl")], library=LIBRARY) as events:
        for event in events:
            if isinstance(event, RowsRejected):
                refused += len(event.rows)
    if refused:
        click.echo(f"{refused} fact rows were refused", err=True)


Answered = Iterable[tuple[MetricOutcome | None, tuple[Snippet, ...]]]


def _by_params(client: Client, questions: Sequence[dict[str, Any]], first_fact: dict[str, Any]) -> Answered:
    """QueryMetric with the given parameters, some hundred a call."""
    line = ProgressLine("asking", "questions", len(questions))
    for start in range(0, len(questions), _BATCH):
        queries = [_query(question, first_fact) for question in questions[start : start + _BATCH]]
        figures = client.query_metric(queries, libraries=[LIBRARY]).collect()
        for outcome in figures.outcomes:
            yield outcome, figures.of(outcome)
        line.update(start + len(queries))
    line.finish(len(questions))


def _query(question: dict[str, Any], first_fact: dict[str, Any]) -> MetricQuery:
    """The parameters of a question; where it names only a bad one, the others are those of the first fact."""
    params = question.get("params") or {
        **{name: first_fact.get(name, "") for name in ("metric", "entity", "period", "channel")},
        question["bad_param"]: question["bad_value"],
    }
    return MetricQuery(params["metric"], params["entity"], params["period"], params.get("channel", ""))


def _by_question(client: Client, questions: Sequence[dict[str, Any]]) -> Answered:
    """Ask, from the words of the question alone."""
    line = ProgressLine("asking", "questions", len(questions))
    for number, question in enumerate(questions):
        answer = client.ask(question["question"], libraries=[LIBRARY]).collect()
        facts = tuple(snippet for snippet in answer.snippets if isinstance(snippet.payload, MetricFact))
        yield (answer.outcomes[0] if answer.outcomes else None), facts
        line.update(number + 1)
    line.finish(len(questions))


def _judge(questions: Sequence[dict[str, Any]], answered: Answered) -> Iterator[tuple[Line, str, bool, bool]]:
    """The run line of each question, what was expected, whether it is right, and whether a wrong figure came."""
    for question, (outcome, snippets) in zip(questions, answered, strict=True):
        line = _line(question["question_id"], outcome, snippets)
        values = [Decimal(fact.value) for fact in _facts(snippets)]
        expected = Decimal(str(question["value"])) if question.get("value") not in (None, "") else None
        wrong_figure = any(value != expected for value in values)
        right = line.outcome == question["expect"] and not wrong_figure
        if question["expect"] == "found":
            right = right and bool(values)
        if question["expect"] == "unrecognized_param":
            right = right and line.param == question["bad_param"]
        yield line, question["expect"], right, wrong_figure


def _facts(snippets: Iterable[Snippet]) -> list[MetricFact]:
    return [snippet.payload for snippet in snippets if isinstance(snippet.payload, MetricFact)]


def _line(question_id: str, outcome: MetricOutcome | None, snippets: tuple[Snippet, ...]) -> Line:
    match outcome.outcome if outcome is not None else None:
        case MetricFound():
            facts = _facts(snippets)
            if not facts:
                return Line(question_id, "found")
            lineage = next(each.lineage for each in snippets if isinstance(each.payload, MetricFact))
            return Line(
                question_id,
                "found",
                value=facts[0].value,
                unit=facts[0].unit,
                source_doc=lineage.doc_id,
                locator=lineage.source_locator,
            )
        case MetricNotFound():
            return Line(question_id, "not_found")
        case UnrecognizedParam(param=param):
            return Line(question_id, "unrecognized_param", param=param)
        case _:
            return Line(question_id, "none")


def _totals(name: str, by: str, judged: Sequence[tuple[Line, str, bool, bool]]) -> dict[str, Any]:
    by_outcome: dict[str, dict[str, int]] = {}
    asked = Counter(expect for _, expect, _, _ in judged)
    for expect, count in sorted(asked.items()):
        right = sum(1 for _, wanted, good, _ in judged if wanted == expect and good)
        by_outcome[expect] = {"n": count, "right": right}
    return {
        "set": name,
        "by": by,
        "n": len(judged),
        "right": sum(good for _, _, good, _ in judged),
        "wrong_figures": sum(wrong for *_, wrong in judged),
        "by_outcome": by_outcome,
    }


def _print(totals: dict[str, Any]) -> None:
    click.echo(
        f"{totals['set']} by {totals['by']}: {totals['right']} of {totals['n']} right, "
        f"{totals['wrong_figures']} wrong figures"
    )
    for outcome, counts in totals["by_outcome"].items():
        click.echo(f"  {outcome:<20} {counts['right']} of {counts['n']}")
