"""`groundwire eval metric`: load facts and glossary, ask every question, compare outcome and figure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from groundwire import Client, FactFile, Library, MetricQuery, Setting
from groundwire_server.cli.evaluate.dataset import json_lines
from groundwire_server.cli.evaluate.figures import Got, got_by_ask, got_by_query
from groundwire_server.cli.evaluate.fresh import LIBRARY, fresh_server
from groundwire_server.cli.evaluate.results import check_results, write_results
from groundwire_server.cli.evaluate.rows import store_rows
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import say
from groundwire_server.cli.terms import read_terms

__all__ = ["evaluate_metric"]

_BATCH = 100
_OUTCOMES = ("found", "not_found", "unrecognized_param")


@dataclass(frozen=True, slots=True)
class Judged:
    """What came back for one question, what was expected, and the verdict."""

    got: Got
    expect: str
    right: bool
    wrong_figure: bool


def evaluate_metric(
    session: Session, folder: Path, by: str, limit: int | None, run_file: Path | None, json_file: Path | None
) -> None:
    """Measure, print, and write the run and the totals where asked.

    Raises:
        click.ClickException: the folder or a result file is wrong.
        GroundwireError: of client or server.
    """
    missing = [name for name in ("facts.jsonl", "structured_questions.jsonl") if not (folder / name).exists()]
    if missing:
        raise click.ClickException(f"{folder} is no set of figures: {', '.join(missing)} not found")
    questions = _read_questions(folder / "structured_questions.jsonl", by)[:limit]
    first_fact = next(json_lines(folder / "facts.jsonl", "metric", "entity", "period"), None)
    if first_fact is None:
        raise click.ClickException(f"{folder / 'facts.jsonl'} is empty")
    check_results(run_file, json_file)
    # From the words alone a narrative branch may be searched too; there is nothing in it, and so no use for vectors.
    with fresh_server(session, embedder="none") as client:
        refused = _load(client, folder)
        asking = _by_params(client, questions, first_fact) if by == "params" else _by_question(client, questions)
        judged = [_judge(question, got) for question, got in zip(questions, asking, strict=True)]
    write_results(run_file, "".join(json.dumps(each.got.line(), ensure_ascii=False) + "\n" for each in judged))
    totals = {"set": folder.resolve().name, "by": by, **_totals(judged), "refused_rows": refused}
    write_results(json_file, json.dumps(totals, ensure_ascii=False, indent=1) + "\n")
    _print(totals)


def _read_questions(path: Path, by: str) -> list[dict[str, Any]]:
    questions = list(json_lines(path, "question_id", "expect"))
    for question in questions:
        why = _fault(question, by)
        if why:
            raise click.ClickException(f"{path}, question {question['question_id']!r}: {why}")
    if not questions:
        raise click.ClickException(f"{path} is empty")
    return questions


def _fault(question: dict[str, Any], by: str) -> str:
    if question["expect"] not in _OUTCOMES:
        return f"expect is {question['expect']!r}, and none of {', '.join(_OUTCOMES)}"
    if by == "question" and not isinstance(question.get("question"), str):
        return "it has no 'question'"
    params = question.get("params")
    if by == "params" and params is None and not {"bad_param", "bad_value"} <= question.keys():
        return "it has neither 'params' nor 'bad_param' and 'bad_value'"
    if by == "params" and params is not None and not {"metric", "entity", "period"} <= params.keys():
        return "'params' has not metric, entity and period"
    if question["expect"] == "found" and _decimal(question.get("value")) is None:
        return "it expects a figure, and 'value' is none"
    return ""


def _decimal(value: object) -> Decimal | None:
    try:
        return None if value in (None, "") else Decimal(str(value))
    except InvalidOperation:
        return None


def _load(client: Client, folder: Path) -> int:
    """Glossary, where there is one, and figures. Returns how many rows were refused."""
    client.save_library(Library(LIBRARY, settings=(Setting("ambiguous", "report"),)))
    glossary = next((path for path in (folder / "glossary.jsonl", folder / "glossary.toml") if path.exists()), None)
    if glossary is not None:
        client.update_glossary(read_terms(glossary), library=LIBRARY, replace_all=True)
    return store_rows(client, [FactFile.from_file(folder / "facts.jsonl")])


def _by_params(client: Client, questions: Sequence[dict[str, Any]], first_fact: dict[str, Any]) -> Iterator[Got]:
    """QueryMetric with the given parameters, some hundred a call."""
    line = ProgressLine("asking", "questions", len(questions))
    for start in range(0, len(questions), _BATCH):
        some = questions[start : start + _BATCH]
        figures = client.query_metric([_query(each, first_fact) for each in some], libraries=[LIBRARY]).collect()
        for question, outcome in zip(some, figures.outcomes, strict=True):
            yield got_by_query(question["question_id"], outcome, figures.of(outcome))
        line.update(start + len(some))
    line.finish(len(questions))


def _query(question: dict[str, Any], first_fact: dict[str, Any]) -> MetricQuery:
    """The parameters of a question; where it names only a bad one, the others are those of the first fact."""
    params = question.get("params") or {
        **{name: first_fact.get(name, "") for name in ("metric", "entity", "period", "channel")},
        question["bad_param"]: question["bad_value"],
    }
    return MetricQuery(params["metric"], params["entity"], params["period"], params.get("channel", ""))


def _by_question(client: Client, questions: Sequence[dict[str, Any]]) -> Iterator[Got]:
    """Ask, from the words of the question alone."""
    line = ProgressLine("asking", "questions", len(questions))
    for number, question in enumerate(questions):
        line.update(number)
        yield got_by_ask(question["question_id"], client.ask(question["question"], libraries=[LIBRARY]).collect())
    line.finish(len(questions))


def _judge(question: dict[str, Any], got: Got) -> Judged:
    """Right: the outcome that was expected, with that figure, unit and source and no other figure, or that bad name."""
    expect = question["expect"]
    wanted = _decimal(question.get("value")) if expect == "found" else None
    wrong_figure = any(figure.amount != wanted for figure in got.figures)
    right = got.outcome == expect and not wrong_figure
    if expect == "found":
        right = right and any(figure.agrees_with(question) for figure in got.figures)
    if expect == "unrecognized_param" and "bad_param" in question:
        right = right and got.param == question["bad_param"]
    return Judged(got, expect, right, wrong_figure)


def _totals(judged: Sequence[Judged]) -> dict[str, Any]:
    asked = Counter(each.expect for each in judged)
    right = Counter(each.expect for each in judged if each.right)
    return {
        "n": len(judged),
        "right": right.total(),
        "wrong_figures": sum(each.wrong_figure for each in judged),
        "by_outcome": {expect: {"n": asked[expect], "right": right[expect]} for expect in sorted(asked)},
    }


def _print(totals: dict[str, Any]) -> None:
    say(
        f"{totals['set']} by {totals['by']}: {totals['right']} of {totals['n']} right, "
        f"{totals['wrong_figures']} wrong figures"
    )
    for outcome, counts in totals["by_outcome"].items():
        say(f"  {outcome:<20} {counts['right']} of {counts['n']}")
