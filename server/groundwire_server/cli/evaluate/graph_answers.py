"""Questions about relations, asked of a server and judged by what the folder states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from groundwire import (
    AllOf,
    Client,
    DerivedFigure,
    Direction,
    GraphEdge,
    GraphPath,
    MetricFact,
    Predicate,
    Trace,
)
from groundwire_server.cli.evaluate.fresh import LIBRARY
from groundwire_server.cli.evaluate.graph_set import Chain, GraphCase, GraphSet

__all__ = ["Answer", "ask_graph"]

_ALL_OPERANDS = 10_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, in the words of the folder: a path, a list, a count, a value, or None; and the verdict."""

    answer: Any
    right: bool


def ask_graph(client: Client, graph: GraphSet, case: GraphCase) -> Answer:
    """Ask a case of the server.

    Raises:
        GroundwireError: of the server.
    """
    return _FORMS[case.form](client, graph, case)


def _trace(client: Client, graph: GraphSet, case: GraphCase) -> Answer:
    """The shortest path up, each step with its source; of several as short ones any is right."""
    found = _owners_between(client, graph, case)
    if not found:
        return Answer(None, case.row["shortest_path"] is None)
    path, names = found
    gold = list(case.row["shortest_path"])
    right = len(names) == len(gold) and (names[0], names[-1]) == (gold[0], gold[-1])
    right = right and all(edge.sources for edge in path.edges)
    for above, below in zip(names[1:], names, strict=False):
        right = right and any((below, relation, above) in graph.triples for relation in graph.relations)
    if names == gold and "sources" in case.row:
        cited = [{(each.doc_id, each.source_locator) for each in edge.sources} for edge in path.edges]
        right = right and all(tuple(source) in here for source, here in zip(case.row["sources"], cited, strict=True))
    return Answer(names, right)


def _no_path(client: Client, graph: GraphSet, case: GraphCase) -> Answer:
    found = _owners_between(client, graph, case)
    return Answer(found[1] if found else None, found is None)


def _owners_between(client: Client, graph: GraphSet, case: GraphCase) -> tuple[GraphPath, list[str]] | None:
    start, end = graph.node(case.row["start"]), graph.node(case.row["end"])
    relations = list(graph.relations)
    walked = client.paths(start, end, relations=relations, direction=Direction.OUT, libraries=[LIBRARY]).collect()
    for path in _paths(walked):
        return path, [graph.word(node_id) for node_id in path.node_ids]
    return None


def _all_owners(client: Client, graph: GraphSet, case: GraphCase) -> Answer:
    found = _reached(client, graph, case, Direction.OUT)
    return Answer(found, found == sorted(case.row["answer"]))


def _owned(client: Client, graph: GraphSet, case: GraphCase) -> Answer:
    found = _reached(client, graph, case, Direction.IN)
    return Answer(found, found == sorted(case.row["answer"]))


def _filtered_count(client: Client, graph: GraphSet, case: GraphCase) -> Answer:
    asked = [name for name in graph.attributes if isinstance(case.row.get(name), str)]
    narrowed = AllOf(tuple(Predicate(name, "eq", (case.row[name],)) for name in asked))
    found = _reached(client, graph, case, Direction.IN, filter=narrowed)
    right = len(found) == case.row["count"] and found == sorted(case.row["answer"])
    return Answer(len(found), right)


def _reached(client: Client, graph: GraphSet, case: GraphCase, direction: Direction, **options: Any) -> list[str]:
    """Names of all that is reached, sorted. The relations of the set are read from the owned to the owner."""
    relations = list(graph.relations)
    start = [graph.node(case.row["start"])]
    walked = client.closure(start, relations, direction=direction, libraries=[LIBRARY], **options).collect()
    return sorted(graph.word(path.node_ids[-1]) for path in _paths(walked))


def _chains(client: Client, graph: GraphSet, case: GraphCase) -> Answer:
    """Every path from the first subject of each chain along its relations; right when they are just those stated."""
    found: list[list[str]] = []
    right = True
    for chain in case.chains:
        paths = _follow(client, graph, chain)
        stated = _stated(graph, chain)
        right = right and paths == stated and _told_paths(graph, chain) <= set(map(tuple, paths))
        found += paths
    return Answer(found[0] if len(found) == 1 else found or None, right)


def _follow(client: Client, graph: GraphSet, chain: Chain) -> list[list[str]]:
    """Step by step to every end, since an end is not known before; then each end's paths by the pattern, cited."""
    ends = [graph.node(chain.start)]
    for relation in chain.relations:
        around = client.neighborhood(ends, relations=[relation], direction=Direction.OUT, libraries=[LIBRARY]).collect()
        edges = [each.payload for each in around.snippets if isinstance(each.payload, GraphEdge)]
        ends = sorted({edge.target.node_id for edge in edges})
        if not ends:
            return []
    found: list[list[str]] = []
    for end in ends:
        pattern = list(chain.relations)
        start = graph.node(chain.start)
        walked = client.paths(
            start, end, pattern=pattern, direction=Direction.OUT, choice="all", max_paths=1000, libraries=[LIBRARY]
        )
        found += [[graph.word(node_id) for node_id in path.node_ids] for path in _paths(walked.collect())]
    return sorted(found)


def _stated(graph: GraphSet, chain: Chain) -> list[list[str]]:
    """The same from the triples of the folder alone."""
    return sorted(map(list, _paths_of(graph, chain, graph.triples)))


def _told_paths(graph: GraphSet, chain: Chain) -> set[tuple[str, ...]]:
    """Those that the case itself tells."""
    return _paths_of(graph, chain, chain.told)


def _paths_of(graph: GraphSet, chain: Chain, triples: Iterable[tuple[str, str, str]]) -> set[tuple[str, ...]]:
    spelled = [(graph.spelled(subject), name, graph.spelled(target)) for subject, name, target in triples]
    paths: set[tuple[str, ...]] = {(graph.spelled(chain.start),)}
    for relation in chain.relations:
        steps = [(subject, target) for subject, name, target in spelled if name == relation]
        paths = {(*path, far) for path in paths for near, far in steps if near == path[-1] and far not in path}
    return paths


def _sum(client: Client, graph: GraphSet, case: GraphCase) -> Answer:
    """The sum with every operand: value, members, missing ones and places as stated."""
    row = case.row
    walked = client.rollup(
        row["metric"], row["node"], row["period"], max_operands=_ALL_OPERANDS, libraries=[LIBRARY]
    ).collect()
    figures = [each.payload for each in walked.snippets if isinstance(each.payload, DerivedFigure)]
    if not figures:
        return Answer(None, False)
    figure = figures[0]
    operands = [each for each in walked.snippets if isinstance(each.payload, MetricFact)]
    members = sorted(each.payload.entity for each in operands if isinstance(each.payload, MetricFact))
    right = Decimal(figure.value) == Decimal(row["value"]) and members == sorted(row["members"])
    right = right and sorted(each.key.entity for each in figure.missing) == sorted(row["missing"])
    if "locators" in row:
        places = sorted(each.lineage.source_locator for each in operands)
        right = right and places == sorted(row["locators"])
    return Answer(figure.value, right)


def _paths(walked: Trace) -> Sequence[GraphPath]:
    return [each.payload for each in walked.snippets if isinstance(each.payload, GraphPath)]


_FORMS: dict[str, Callable[[Client, GraphSet, GraphCase], Answer]] = {
    "trace": _trace,
    "no_path": _no_path,
    "all_owners": _all_owners,
    "rollup": _owned,
    "filtered_count": _filtered_count,
    "chains": _chains,
    "sum": _sum,
}
