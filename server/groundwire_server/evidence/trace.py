"""What was lost on the way of a read, and why (stream.proto, TraceEntry)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain

__all__ = ["MAX_TRACE_ENTRIES", "NO_TRACE", "LossReason", "Trace", "TraceEntry"]

MAX_TRACE_ENTRIES = 1000
"""Entries that one answer tells of; the others are counted."""


class LossReason(IntEnum):
    """Why a candidate was lost, those that came least far first; numbers are those of `groundwire.v1.LossReason`."""

    NO_MATCH = 1
    DEPTH = 2
    TOP_K = 3
    DUPLICATE = 4
    BUDGET = 5
    WEAK = 6


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """A candidate that was lost. `rank` from 1 and `score` are those before its stage; 0 and None: it had none.

    chunk_id: empty for figures and relations. snippet_id: of one of which a snippet was made; else empty.
    """

    stage: str
    reason: LossReason
    chunk_id: str = ""
    rank: int = 0
    score: float | None = None
    library_id: str = ""
    snippet_id: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """What was lost, in the order of the stages, and how many others there are.

    >>> far, near = TraceEntry("exit", LossReason.TOP_K, rank=11), TraceEntry("lexical", LossReason.DEPTH, rank=201)
    >>> [each.rank for each in Trace.of([near, far], most=1).entries]
    [11]
    """

    entries: tuple[TraceEntry, ...] = ()
    omitted: int = 0

    @classmethod
    def of(cls, entries: Sequence[TraceEntry], omitted: int = 0, *, most: int = MAX_TRACE_ENTRIES) -> Trace:
        """At most so many entries: those that came furthest, by reason and then by rank, in the order given."""
        if len(entries) <= most:
            return cls(tuple(entries), omitted)
        furthest = sorted(range(len(entries)), key=lambda place: _nearness(entries[place]))[:most]
        return cls(tuple(entries[place] for place in sorted(furthest)), omitted + len(entries) - most)

    @classmethod
    def joined(cls, traces: Iterable[Trace]) -> Trace:
        """Those of several parts of one answer, as one."""
        parts = [each for each in traces if each != NO_TRACE]
        entries = list(chain.from_iterable(each.entries for each in parts))
        return cls.of(entries, sum(each.omitted for each in parts))


NO_TRACE = Trace()
"""Nothing was lost, or nobody asked."""


def _nearness(entry: TraceEntry) -> tuple[int, float]:
    return -entry.reason, entry.rank or float("inf")
