"""One library's search on its way through the stages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import Call, PlanStep, QueryVariant, StageTiming

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Hit", "Lazy", "RankedList", "Search", "Stage", "run_stages"]


T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class RankedList:
    """What one leg found.

    Attributes:
        order: int64[n], rows, best first, cut at the leg's depth; each stands there once.
        scores_of: float64, the leg's score of each of some ascending rows, whether or not they are in `order`: 0 where
            no term is met, NaN where there is no vector.
    """

    order: NDArray[np.int64]
    scores_of: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    deeper: Callable[[int], RankedList] | None = None

    def __len__(self) -> int:
        return len(self.order)

    def ranks_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64, the place of each of `rows`, ascending, in `order` from 1; 0 where it is not in it."""
        ranks = np.zeros(len(rows), dtype=np.int64)
        if len(rows):
            places = np.searchsorted(rows, self.order)
            places[places == len(rows)] = 0
            here = np.flatnonzero(rows[places] == self.order)
            ranks[places[here]] = here + 1
        return ranks


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found. Scores and ranks are None where they do not apply."""

    row: int
    fused: float
    bm25: float | None = None
    cosine: float | None = None
    bm25_rank: int | None = None
    vector_rank: int | None = None
    graph: float | None = None
    graph_rank: int | None = None


class Lazy(Sequence[T]):
    """A sequence whose items are made when they are asked for: few of the rows that were fused are ever looked at.

    Args:
        count: how many there are.
        make: the item at a place, from 0.
    """

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._places = range(count)
        self._make = make

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> list[T]: ...

    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            return [self._make(each) for each in self._places[place]]
        return self._make(self._places[place])


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A query in one library. Each stage gives a new one with its own part filled in.

    Attributes:
        depth: where the lists of the legs are cut.
        candidates: bool[rows], what the caller may read and the filter keeps.
        candidate_count: how many those are.
        variants: the query itself, then what a rewriter made of it.
        hits: what the fusion put together, best first.
        ranking: int64, the rows of the hits, where something else than the fusion of both legs put them in order.
    """

    snapshot: Snapshot
    call: Call
    depth: int
    candidates: NDArray[np.bool_]
    candidate_count: int
    variants: tuple[QueryVariant, ...]
    lexical: RankedList | None = None
    dense: RankedList | None = None
    hits: Sequence[Hit] = ()
    ranking: NDArray[np.int64] | None = None

    @property
    def query(self) -> str:
        """The query as the caller wrote it."""
        return self.variants[0].text


@dataclass(frozen=True, slots=True)
class Stage:
    """A named step of the pipeline: how the plan shows it, and the callable that takes it.

    items_in and items_out count candidates or hits before and after it.
    """

    step: PlanStep
    run: Callable[[Search], Search]
    items_in: Callable[[Search], int]
    items_out: Callable[[Search], int]


def run_stages(stages: Sequence[Stage], search: Search) -> tuple[Search, tuple[StageTiming, ...]]:
    """Take the steps in order; the cancel token is asked before each.

    Raises:
        CallCancelled, DeadlineExceeded: the call is over.
    """
    timings: list[StageTiming] = []
    for stage in stages:
        search.call.cancel.check(stage.step.stage)
        started = time.perf_counter()
        entered = stage.items_in(search)
        search = stage.run(search)
        elapsed = timedelta(seconds=time.perf_counter() - started)
        step = stage.step
        timings.append(StageTiming(step.stage, elapsed, entered, stage.items_out(search), step.library_id))
    return search, tuple(timings)
