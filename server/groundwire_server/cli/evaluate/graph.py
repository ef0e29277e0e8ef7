"""`groundwire eval graph`: load relations, ask every case, compare paths, closures, counts and sums."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundwire import Client, ErrorReason, FactFile, GroundwireError, Library, Setting
from groundwire_server.cli.evaluate.fresh import LIBRARY, fresh_server
from groundwire_server.cli.evaluate.graph_answers import Answer, ask_graph
from groundwire_server.cli.evaluate.graph_set import GraphCase, GraphSet, read_graph_set
from groundwire_server.cli.evaluate.results import check_results, write_results
from groundwire_server.cli.evaluate.rows import store_rows
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say
from groundwire_server.cli.terms import read_terms

__all__ = ["evaluate_graph"]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A case and what came of it. `fault`: the reason, where the server did not answer."""

    case: GraphCase
    answer: Answer
    fault: str = ""

    def line(self) -> dict[str, Any]:
        """The line of the run file."""
        return {self.case.id_field: self.case.case_id, "kind": self.case.kind, "answer": self.answer.answer}


def evaluate_graph(
    session: Session, folder: Path, limit: int | None, run_file: Path | None, json_file: Path | None
) -> None:
    """Measure, print, and write the run and the totals where asked.

    Raises:
        click.ClickException: the folder or a result file is wrong.
        GroundwireError: of client or server.
    """
    graph = read_graph_set(folder, limit)
    check_results(run_file, json_file)
    with fresh_server(session, embedder="none") as client:
        refused = _load(client, graph)
        judged = list(_ask(client, graph))
    write_results(run_file, "".join(json.dumps(each.line(), ensure_ascii=False) + "\n" for each in judged))
    totals = {
        "set": folder.resolve().name,
        **_totals(judged),
        "relations": len(graph.triples),
        "relations_of_cases_alone": graph.added,
        "refused_rows": refused,
    }
    write_results(json_file, json.dumps(totals, ensure_ascii=False, indent=1) + "\n")
    _print(totals)


def _load(client: Client, graph: GraphSet) -> int:
    """Glossary and figures, where there are some, and the relations. Returns how many rows were refused."""
    client.save_library(Library(LIBRARY, settings=(Setting("ambiguous", "report"),)))
    if graph.glossary is not None:
        client.update_glossary(read_terms(graph.glossary), library=LIBRARY, replace_all=True)
    mapping = "".join(f"{json.dumps(name)} = {json.dumps(name)}\n" for name in graph.attributes)
    mapping = f"[attributes]\n{mapping}" if mapping else ""
    files = [FactFile(graph.name, graph.content, form="relations_jsonl", mapping_toml=mapping)]
    if graph.facts is not None:
        files.append(FactFile.from_file(graph.facts))
    return store_rows(client, files)


def _ask(client: Client, graph: GraphSet) -> Iterator[_Judged]:
    """Every case in order. What the server does not do, or refuses, is an answer that is not right."""
    line = ProgressLine("asking", "cases", len(graph.cases))
    for number, case in enumerate(graph.cases):
        line.update(number)
        try:
            yield _Judged(case, ask_graph(client, graph, case))
        except GroundwireError as error:
            if error.reason not in (ErrorReason.NOT_IMPLEMENTED, ErrorReason.INVALID_REQUEST):
                raise
            yield _Judged(case, Answer(None, right=False), error.reason.name)
    line.finish(len(graph.cases))


def _totals(judged: Sequence[_Judged]) -> dict[str, Any]:
    asked = Counter(each.case.kind for each in judged)
    right = Counter(each.case.kind for each in judged if each.answer.right)
    faults = Counter(f"{each.case.kind}: {each.fault}" for each in judged if each.fault)
    return {
        "n": len(judged),
        "right": right.total(),
        "by_kind": {kind: {"n": asked[kind], "right": right[kind]} for kind in sorted(asked)},
        "not_answered": dict(sorted(faults.items())),
    }


def _print(totals: dict[str, Any]) -> None:
    say(f"{totals['set']}: {totals['right']} of {totals['n']} right, {totals['relations']} relations")
    for kind, counts in totals["by_kind"].items():
        say(f"  {kind:<20} {counts['right']} of {counts['n']}")
    for what, count in totals["not_answered"].items():
        say(f"  not answered: {what} ({count})")
    if totals["relations_of_cases_alone"]:
        note(f"{totals['relations_of_cases_alone']} relations stand in the cases alone and were loaded from there")
