"""Figures over relations: sums of all that is below, and entities side by side (semantics 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import (
    Call,
    Filter,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricOutcome,
    Period,
    Refusal,
    RefusalReason,
    Snippet,
    make_refusal,
)
from groundwire_server.glossary import Ambiguous, Resolution, Resolved
from groundwire_server.graph.budget import Budget
from groundwire_server.graph.edges import EdgeTest
from groundwire_server.graph.kept_below import KeptBelow, kept_below
from groundwire_server.graph.nodes import ENTITY
from groundwire_server.graph.opened import OpenGraph
from groundwire_server.graph.operations import PARENT_OF
from groundwire_server.graph.reach import Reach, reach
from groundwire_server.graph.request import Direction, Rollup
from groundwire_server.metric import (
    Below,
    Key,
    LibraryView,
    RolledUp,
    Unread,
    add_up,
    asking_of,
    conflicts_of_parts,
    is_additive,
    library_view,
    not_found_text,
    read_query,
    unrecognized,
)

__all__ = ["Added", "RollupOrder", "roll_up"]

_USUAL_OPERANDS = 100


@dataclass(frozen=True, slots=True)
class RollupOrder:
    """What the relations of all libraries are walked for.

    figures_call: the call as figures are read by it: its filter and its hint test edges.
    valid_in: what the request says; None: the days of the figure itself.
    """

    operation: Rollup
    call: Call
    figures_call: Call
    valid_in: Period | None
    include_unverified: bool


@dataclass(frozen=True, slots=True)
class Added:
    """What came of it. `more`: there are operands that are not sent. `unlike_days`: of some sum they are of such."""

    outcome: MetricOutcome
    snippets: tuple[Snippet, ...] = ()
    more: bool = False
    unlike_days: bool = False


def roll_up(order: RollupOrder, graphs: Sequence[OpenGraph], hint: Filter | None, budget: Budget) -> Added | Refusal:
    """The outcome and its snippets: the sum in each library that has one, then the operands; or why there is none."""
    query = order.operation.query
    asking = asking_of(query, order.figures_call)
    doubts: list[Unread] = []
    results: list[RolledUp] = []
    for graph in graphs:
        view = library_view(graph.snapshot, order.figures_call)
        key = _key(order, graph, view)
        if isinstance(key, Unread):
            doubts.append(key)
            continue
        if not is_additive(key.metric, graph.snapshot.glossary):
            return make_refusal(RefusalReason.NOT_ADDITIVE, asking.language)
        below = _below(order, graph, key, hint, budget)
        result = add_up(query, key, below, view, asking, order.call.cancel, cut=bool(budget.cut))
        if isinstance(result, Refusal):
            return result
        results.append(result)
    if not results:
        return Added(MetricOutcome(0, query, unrecognized(query, doubts)))
    figures = [result.figure for result in results if result.figure is not None]
    if not figures:
        nothing = MetricNotFound(results[0].key, not_found_text(results[0].key.period, asking.language))
        return Added(MetricOutcome(0, query, nothing))
    key_found = next(result.key for result in results if result.figure is not None)
    found_ids = tuple(figure.snippet_id for figure in figures)
    clashing = conflicts_of_parts(results)
    room = (order.operation.max_operands or _USUAL_OPERANDS) * order.call.options.pages
    shown: dict[str, Snippet] = {}
    for result in results:
        operands = result.part_snippets(asking.language, 0, max(0, room - len(shown)))
        shown |= {each.snippet_id: each for each in operands}
    for name in clashing & shown.keys():
        payload = shown[name].payload
        if isinstance(payload, MetricFact):
            shown[name] = replace(shown[name], payload=replace(payload, conflicting=True))
    outcome = MetricOutcome(0, query, MetricFound(key_found, found_ids, bool(clashing)))
    count = sum(len(result.parts) for result in results)
    unlike_days = any(result.unlike_days for result in results)
    return Added(outcome, (*figures, *shown.values()), len(shown) < count, unlike_days)


def _key(order: RollupOrder, graph: OpenGraph, view: LibraryView) -> Key | Unread:
    """What the query means here. The entity above may be one that only relations know."""
    query = order.operation.query
    nodes = graph.names.find(query.entity) if query.entity.strip() else ()
    codes = tuple(code for kind, code in nodes if kind == ENTITY)
    meant: Resolution | None = Resolved(codes[0]) if len(codes) == 1 else Ambiguous(codes) if codes else None
    reading = read_query(query, view.vocabulary, asking_of(query, order.figures_call), meant)
    if isinstance(reading, Unread):
        return reading
    return reading.keys[0] if reading.doubt is None else reading.doubt


def _below(order: RollupOrder, graph: OpenGraph, key: Key, hint: Filter | None, budget: Budget) -> Sequence[Below]:
    """What lies below, in the order of ids."""
    operation, call = order.operation, order.call
    days = order.valid_in or (key.period if call.options.valid_at is None else None)
    test = EdgeTest.of(call, days, hint, include_unverified=order.include_unverified)
    ways = graph.relations.ways([operation.relation or PARENT_OF], Direction.OUT)
    ground = graph.ground(call, test)
    asked = key.entity, ways, operation.max_depth
    kept = None if test.filters else kept_below(ground.sight)
    known = None if kept is None else kept.get(asked)
    if known is not None and budget.pay(known.nodes, known.edges):
        return known.below
    room = budget.left
    found = reach(ground, [(ENTITY, key.entity)], ways, operation.max_depth, budget)
    numbers = ground.in_order(found.found)
    nodes = zip(ground.nodes(numbers), _stand_for_others(found, numbers).tolist(), strict=True)
    below = [Below(code, kind == ENTITY, stands) for (kind, code), stands in nodes]
    if kept is not None and not budget.cut:
        kept.put(asked, KeptBelow(below, room[0] - budget.left[0], room[1] - budget.left[1]))
    return below


def _stand_for_others(found: Reach, below: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool[below]: whether a way down from a node ends somewhere."""
    by_number = np.sort(below)
    inside = np.isin(found.near, by_number)
    near, far = np.searchsorted(by_number, found.near[inside]), np.searchsorted(by_number, found.far[inside])
    ends = np.ones(len(below), np.bool_)
    ends[near] = False
    stands = np.zeros(len(below), np.bool_)
    while True:
        more = near[(ends | stands)[far]]
        if stands[more].all():
            return stands[np.searchsorted(by_number, below)]
        stands[more] = True
