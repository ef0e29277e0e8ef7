"""What GraphTrace is asked for, and what is wrong with it (graph.proto)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import IntEnum

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import Call, Period
from groundwire_server.glossary import PeriodError, parse_period

__all__ = [
    "OPERATIONS",
    "Direction",
    "Neighborhood",
    "TraceBudget",
    "TraceLimits",
    "TraceRequest",
    "check_trace",
    "read_valid_in",
]

OPERATIONS = ("neighborhood",)
"""Operations that work here, by their name in the contract."""

MAX_NODE_IDS = 1000


class Direction(IntEnum):
    """Ways to follow a relation; numbers are those of `groundwire.v1.Direction`."""

    OUT = 1
    IN = 2
    BOTH = 3


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Edges around nodes, nearest first. `node_ids`: ids, or names of the glossary. max_hops 0: 1."""

    node_ids: tuple[str, ...]
    relations: tuple[str, ...] = ()
    direction: Direction = Direction.BOTH
    max_hops: int = 0


@dataclass(frozen=True, slots=True)
class TraceBudget:
    """Bounds of a walk. 0: the server's."""

    max_nodes: int = 0
    max_edges: int = 0


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """What one walk may ask for."""

    max_hops: int = 6
    max_nodes: int = 10_000
    max_edges: int = 100_000


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """One operation; one that is not built here is given by its name.

    valid_in: only edges that hold on some day of this period; empty: all.
    """

    operation: Neighborhood | str
    include_unverified: bool = False
    valid_in: str = ""
    budget: TraceBudget = TraceBudget()


def check_trace(operation: Neighborhood, request: TraceRequest, call: Call, limits: TraceLimits) -> list[Violation]:
    """Everything that is wrong with a request at once; names aside, which need the graph."""
    found: list[Violation] = []
    nodes = operation.node_ids
    if not nodes:
        found.append(Violation("neighborhood.node_ids", ErrorReason.VALUE_REQUIRED, "needs at least one node"))
    elif len(nodes) > MAX_NODE_IDS:
        words = f"{len(nodes)} nodes, at most {MAX_NODE_IDS}"
        found.append(Violation("neighborhood.node_ids", ErrorReason.VALUE_OUT_OF_RANGE, words))
    found += [
        Violation(f"neighborhood.{name}[{place}]", ErrorReason.VALUE_REQUIRED, "must not be blank")
        for name, values in (("node_ids", nodes), ("relations", operation.relations))
        for place, value in enumerate(values)
        if not value.strip()
    ]
    found += [
        Violation(name, ErrorReason.VALUE_OUT_OF_RANGE, f"{value} is not in 0..{most}")
        for name, value, most in (
            ("neighborhood.max_hops", operation.max_hops, limits.max_hops),
            ("budget.max_nodes", request.budget.max_nodes, limits.max_nodes),
            ("budget.max_edges", request.budget.max_edges, limits.max_edges),
        )
        if not 0 <= value <= most
    ]
    if request.valid_in and call.options.valid_at is not None:
        found.append(Violation("valid_in", ErrorReason.CONTRADICTION, "cannot stand beside options.valid_at"))
    return found


def read_valid_in(raw: str, reference: date) -> tuple[Period | None, list[Violation]]:
    """The period that `valid_in` names, by the calendar year, or why it names none; neither where nothing is said."""
    if not raw:
        return None, []
    try:
        return parse_period(raw, reference=reference), []
    except PeriodError as error:
        choices = f"; it can be {', '.join(error.candidates)}" if error.candidates else ""
        words = f"{raw[:80]!r} cannot be read as a period{choices}"
        return None, [Violation("valid_in", ErrorReason.VALUE_MALFORMED, words)]
