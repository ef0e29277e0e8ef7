"""`groundwire eval routes`: route every question, compare with the route that its evidence needs (numbers.md)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from groundwire import Client, FactFile, Library, Route, Setting
from groundwire_server.cli.evaluate.dataset import json_lines
from groundwire_server.cli.evaluate.fresh import LIBRARY, fresh_server
from groundwire_server.cli.evaluate.results import check_results, write_results
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say
from groundwire_server.cli.terms import read_terms

__all__ = ["evaluate_routes", "folders_of", "load_names", "read_questions"]

_GLOSSARIES = ("glossary.jsonl", "glossary.toml")
_FACTS = "facts.jsonl"
_SAID = {
    "accuracy": "accuracy",
    "two_way_accuracy": "two-way",
    "evidence_covered": "evidence covered",
    "evidence_reached": "reached",
    "composite_share": "composite",
}
_ROUTES = ("structured", "narrative", "composite")


@dataclass(frozen=True, slots=True)
class _Routed:
    """A question's expected route, the one that was decided and why."""

    question_id: str
    language: str
    expected: str
    route: str
    reason: str

    @property
    def right(self) -> bool:
        return self.route == self.expected

    @property
    def right_two_way(self) -> bool:
        """Whether figures are needed at all."""
        return (self.route == "narrative") == (self.expected == "narrative")

    @property
    def covered(self) -> bool:
        """Whether the route brings all evidence that the question needs: composite brings everything."""
        return self.route in (self.expected, "composite")

    @property
    def reached(self) -> bool:
        """Whether it brings some of it: of a question that needs figures and text either is some."""
        return self.covered or self.expected == "composite"


def evaluate_routes(
    session: Session,
    file: Path,
    load: Sequence[Path],
    limit: int | None,
    run_file: Path | None,
    json_file: Path | None,
) -> None:
    """Measure, print, and write the run and the totals where asked.

    The learned classifier was trained on some sets. For such a file the totals are in-sample, and those that the
    training measured on folds that it had not seen (mean and worst) come beside them as `out_of_fold`.

    Args:
        load: folders with the glossary and the facts that the router may know; none: that of the file, and those
            beside it that its questions name as their origin.

    Raises:
        click.ClickException: a file is wrong.
        GroundwireError: of client or server.
    """
    questions = read_questions(file)[:limit]
    folders = list(load) or folders_of(file, questions)
    for folder in folders:
        if not any((folder / name).exists() for name in (*_GLOSSARIES, _FACTS)):
            raise click.ClickException(f"{folder} has neither a glossary nor {_FACTS}")
    check_results(run_file, json_file)
    with fresh_server(session, embedder="none") as client:
        client.save_library(Library(LIBRARY, settings=(Setting("ambiguous", "report"),)))
        for folder in folders:
            load_names(client, folder)
        routed = list(_route_all(client, questions))
    write_results(run_file, "".join(map(_run_line, routed)))
    totals = {
        "set": file.resolve().parent.name,
        "loaded": [folder.resolve().name for folder in folders],
        **_totals(routed),
        "by_language": {
            language: _totals([each for each in routed if each.language == language])
            for language in sorted({each.language for each in routed})
        },
    }
    if session.settings().retrieval.route_classifier == "learned" and (measured := _out_of_fold(file)):
        totals["out_of_fold"] = measured
    write_results(json_file, json.dumps(totals, ensure_ascii=False, indent=1) + "\n")
    _print(totals)


def read_questions(file: Path) -> list[dict[str, Any]]:
    """The questions of a routes.jsonl, each with an id, a language ("": none said) and its route.

    Raises:
        click.ClickException: the file is wrong.
    """
    questions = []
    for number, row in enumerate(json_lines(file, "question", "route"), start=1):
        if row["route"] not in _ROUTES:
            raise click.ClickException(f"{file}: route {row['route']!r} is none of {', '.join(_ROUTES)}")
        questions.append({"question_id": f"question {number}", "lang": "", **row})
    if not questions:
        raise click.ClickException(f"{file} is empty")
    return questions


def folders_of(file: Path, questions: Sequence[dict[str, Any]]) -> list[Path]:
    """The folder of the file and those of the origins, as far as they have names or figures."""
    here = file.resolve().parent
    origins = sorted({str(row["origin"]) for row in questions if row.get("origin")})
    folders = [here, *(here.parent / origin for origin in origins if Path(origin).name == origin)]
    return [each for each in folders if any((each / name).exists() for name in (*_GLOSSARIES, _FACTS))]


def load_names(client: Client, folder: Path) -> None:
    """Names and figures that the router may know: glossary and facts of a folder, whichever it has."""
    glossary = next((folder / name for name in _GLOSSARIES if (folder / name).exists()), None)
    if glossary is not None:
        client.update_glossary(read_terms(glossary), library=LIBRARY)
    if not (folder / _FACTS).exists():
        return
    with client.ingest_facts([FactFile.from_file(folder / _FACTS)], library=LIBRARY) as events:
        refused = events.collect().summary.failed
    if refused:
        note(f"{refused} rows of {folder / _FACTS} were refused")


def _route_all(client: Client, questions: Sequence[dict[str, Any]]) -> Iterator[_Routed]:
    line = ProgressLine("routing", "questions", len(questions))
    for number, row in enumerate(questions):
        line.update(number)
        decision = client.route(row["question"], libraries=[LIBRARY])
        route = "refused" if decision.route is Route.UNSPECIFIED else decision.route.name.lower()
        yield _Routed(row["question_id"], row["lang"], row["route"], route, decision.reason)
    line.finish(len(questions))


def _run_line(each: _Routed) -> str:
    line = {"question_id": each.question_id, "route": each.route, "reason": each.reason}
    return json.dumps(line, ensure_ascii=False) + "\n"


def _totals(routed: Sequence[_Routed]) -> dict[str, Any]:
    n = len(routed)
    sent = Counter(each.route for each in routed)
    return {
        "n": n,
        "accuracy": round(sum(each.right for each in routed) / n, 6),
        "two_way_accuracy": round(sum(each.right_two_way for each in routed) / n, 6),
        "evidence_covered": round(sum(each.covered for each in routed) / n, 6),
        "evidence_reached": round(sum(each.reached for each in routed) / n, 6),
        "composite_share": round(sent["composite"] / n, 6),
        "routes": dict(sorted(sent.items())),
    }


def _out_of_fold(file: Path) -> dict[str, Any] | None:
    """What the training of the classifier measured on this very file; None: it was not trained on it."""
    from groundwire_server.router import route_model

    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    measured = (dict(each) for each in route_model()["measured"].values())
    return next((each for each in measured if each.pop("sha256") == digest), None)


def _print(totals: dict[str, Any]) -> None:
    say(f"names and figures of: {', '.join(totals['loaded']) or 'nothing, by the words alone'}")
    parts = {f"{totals['set']}": totals, **{f"  {name or '?'}": part for name, part in totals["by_language"].items()}}
    for name, part in parts.items():
        say(f"{name}: {part['n']} questions, " + ", ".join(f"{said} {part[key]:.4f}" for key, said in _SAID.items()))
    held_out = totals.get("out_of_fold")
    if held_out is None:
        return
    say("the classifier was trained on these questions; on folds that it had not seen, mean and worst:")
    parts = {f"{totals['set']}": held_out, **{f"  {name}": part for name, part in held_out["by_language"].items()}}
    for name, part in parts.items():
        rates = (f"{said} {part[key]['mean']:.4f} {part[key]['worst']:.4f}" for key, said in _SAID.items())
        say(f"{name}: {', '.join(rates)}")
