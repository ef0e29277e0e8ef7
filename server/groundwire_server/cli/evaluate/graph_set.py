"""A folder of relations with questions about them: what is loaded, what is asked, what is right (numbers.md)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from groundwire_server.cli.evaluate.dataset import json_lines
from groundwire_server.evidence import format_node_id, parse_node_id

__all__ = ["Chain", "GraphCase", "GraphSet", "read_graph_set"]

_RELATIONS = ("edges.jsonl", "triples.jsonl", "graph_edges.jsonl")
_CASES = ("graph_cases.jsonl", "rollup_cases.jsonl", "cases.jsonl")
_IDS = ("case_id", "question_id", "query_id")
_NEEDED = {
    "trace": ("start", "end", "shortest_path"),
    "no_path": ("start", "end"),
    "all_owners": ("start", "answer"),
    "rollup": ("start", "answer"),
    "filtered_count": ("start", "count", "answer"),
    "sum": ("metric", "node", "period", "value", "members", "missing"),
}
_FIELDS = {"subject", "relation", "object", "subject_type", "object_type", "valid_from", "valid_to", "label", "pct"}

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Chain:
    """Where to begin and which relations to follow, step by step; `told` are the triples that the case gives."""

    start: str
    relations: tuple[str, ...]
    told: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class GraphCase:
    """A question. kind: as the set calls it. form: how it is asked, a name of `_NEEDED` or "chains"."""

    id_field: str
    case_id: str
    kind: str
    form: str
    row: Mapping[str, Any]
    chains: tuple[Chain, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphSet:
    """What a folder holds. `content`: the relations as they are sent, those of the cases behind those of the file.

    attributes: keys of relations that cases ask by. facts, glossary: files, None where there is none.
    """

    name: str
    content: bytes
    triples: frozenset[Triple]
    attributes: tuple[str, ...]
    cases: tuple[GraphCase, ...]
    facts: Path | None = None
    glossary: Path | None = None
    added: int = 0
    _words: Mapping[str, str] = field(default_factory=dict)

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of the relations, sorted."""
        return tuple(sorted({relation for _, relation, _ in self.triples}))

    def word(self, node_id: str) -> str:
        """A node as the folder writes it."""
        _, code = parse_node_id(node_id)
        return self._words.get(_code(code), code)

    def spelled(self, name: str) -> str:
        """A name of the folder as `word` writes its node: the folder may write it in several ways."""
        return self.word(self.node(name))

    @staticmethod
    def node(name: str) -> str:
        """Id of the node that a name of the folder becomes."""
        return format_node_id("entity", _code(name))


def read_graph_set(folder: Path, limit: int | None) -> GraphSet:
    """Read relations and cases. Raises ClickException that says what is missing or malformed, and where."""
    relations = next((folder / name for name in _RELATIONS if (folder / name).exists()), None)
    asked = next((folder / name for name in _CASES if (folder / name).exists()), None)
    if relations is None or asked is None:
        wanted = " or ".join(_RELATIONS if relations is None else _CASES)
        raise click.ClickException(f"{folder} is no set of relations: {wanted} not found")
    rows = list(json_lines(relations, "subject", "relation", "object"))
    cases = _read_cases(asked)
    stated = {(row["subject"], row["relation"], row["object"]) for row in rows}
    added = [
        (number, triple)
        for number, case in enumerate(cases, start=1)
        for chain in case.chains
        for triple in chain.told
        if triple not in stated
    ]
    keys = {key for case in cases for key in case.row} & {key for row in rows for key in row} - _FIELDS
    triples = frozenset(stated | {triple for _, triple in added})
    return GraphSet(
        name=relations.name,
        content=relations.read_bytes() + b"\n" + _lines(asked.name, added),
        triples=triples,
        attributes=tuple(sorted(key for key in keys if any(isinstance(case.row.get(key), str) for case in cases))),
        cases=tuple(cases[:limit]),
        facts=_file(folder, "facts.jsonl"),
        glossary=_file(folder, "glossary.jsonl") or _file(folder, "glossary.toml"),
        added=len(dict.fromkeys(triple for _, triple in added)),
        _words={_code(name): name for subject, _, target in sorted(triples) for name in (target, subject)},
    )


def _read_cases(path: Path) -> list[GraphCase]:
    cases = []
    for number, row in enumerate(json_lines(path), start=1):
        id_field = next((name for name in _IDS if isinstance(row.get(name), str)), "")
        form = _form(row)
        lacking = [name for name in _NEEDED.get(form, ()) if name not in row]
        if not id_field or not form or lacking:
            why = f"none of {', '.join(_IDS)}" if not id_field else f"no {lacking[0]}" if lacking else "no known kind"
            raise click.ClickException(f"{path}, line {number}: {why}")
        kind = str(row.get("kind") or row.get("type") or "rollup")
        chains = tuple(_chains(_told(row))) if form == "chains" else ()
        cases.append(GraphCase(id_field, row[id_field], kind, form, row, chains))
    if not cases:
        raise click.ClickException(f"{path} is empty")
    return cases


def _form(row: Mapping[str, Any]) -> str:
    if isinstance(row.get("path"), list) or isinstance(row.get("triples"), list):
        return "chains"
    if "node" in row and "metric" in row:
        return "sum"
    kind = str(row.get("kind", ""))
    return kind if kind in _NEEDED else ""


def _told(row: Mapping[str, Any]) -> list[Triple]:
    if isinstance(row.get("triples"), list):
        return [(str(subject), str(relation), str(target)) for subject, relation, target in row["triples"]]
    return [
        (str(step["subject"]), str(step["relation"]), str(target)) for step in row["path"] for target in step["objects"]
    ]


def _chains(told: Sequence[Triple]) -> Iterable[Chain]:
    """The triples of a case as chains: from the first subject on, as far as an object is the subject of another one."""
    left = list(dict.fromkeys(told))
    while left:
        start, relation, _ = left[0]
        steps: list[Triple] = []
        relations: list[str] = []
        ends = {start}
        while relation:
            taken = [triple for triple in left if triple[0] in ends and triple[1] == relation]
            left = [triple for triple in left if triple not in taken]
            steps += taken
            relations.append(relation)
            ends = {target for _, _, target in taken}
            relation = next((each for subject, each, _ in left if subject in ends), "")
        yield Chain(start, tuple(relations), tuple(steps))


def _lines(name: str, added: Sequence[tuple[int, Triple]]) -> bytes:
    rows = [
        {"subject": subject, "relation": relation, "object": target, "source_doc": name, "locator": f"line={number}"}
        for number, (subject, relation, target) in added
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _file(folder: Path, name: str) -> Path | None:
    return folder / name if (folder / name).exists() else None


def _code(name: str) -> str:
    """The code that the server makes of the name of an entity."""
    return unicodedata.normalize("NFKC", name).strip()
