"""All stages of one retrieval, over all of its libraries (semantics 2 to 4)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import Cause
from groundwire_server.evidence import Call, Degradation, Filter, PlanStep, QueryVariant, StageTiming
from groundwire_server.narrative.concurrent import Task
from groundwire_server.narrative.exit import Found
from groundwire_server.narrative.fusion import RRF_K, make_fusion, rrf_fuse
from groundwire_server.narrative.parts import RetrievalParts
from groundwire_server.narrative.reach import Reach
from groundwire_server.narrative.request import RetrievalMode
from groundwire_server.narrative.restrict import readable_count, restrict, restrict_detail
from groundwire_server.narrative.stages import dense_stages, fuse_stages, lexical_stages
from groundwire_server.narrative.state import Lazy, Search, Stage, run_stages
from groundwire_server.narrative.vectors import (
    embed_or_explain,
    model_name,
    partial_degradation,
    shortlist_for,
    vector_degradation,
    vector_fault,
)

if TYPE_CHECKING:
    from groundwire_server.dense import Embedder
    from groundwire_server.library import Snapshot

__all__ = ["Order", "Outcome", "search_libraries"]


@dataclass(frozen=True, slots=True)
class Order:
    """What to search for, and how. An empty `fusion`, and `variants` None, are each library's own."""

    query: str
    top_k: int
    mode: RetrievalMode
    fusion: str
    variants: bool | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found, best first, and how."""

    found: Sequence[Found]
    candidates: int
    hint: Filter | None
    variants: tuple[QueryVariant, ...]
    plan: tuple[PlanStep, ...]
    timings: tuple[StageTiming, ...]
    degradations: tuple[Degradation, ...]


@dataclass(frozen=True, slots=True)
class _Progress:
    """One library between two groups of stages: its plan so far, its times, its search."""

    search: Search
    plan: tuple[PlanStep, ...]
    timings: tuple[StageTiming, ...]


def search_libraries(order: Order, call: Call, reach: Reach, parts: RetrievalParts) -> Outcome:
    """Restrict all libraries, search each by itself, put their lists together.

    Raises:
        FailedPrecondition: vectors are asked for and not there, or a degradation is forbidden.
        Unavailable: no library answers.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    started = _Clock()
    restricted = restrict(reach, call)
    readable = reach.each(lambda snapshot: readable_count(snapshot, call))
    restrict_time = started.elapsed()
    coverage, degradations = _coverage(order, call, reach, parts, restricted.candidates)
    embedding = _Embedding(parts.embedder, order.query) if coverage and parts.embedder is not None else None

    detail = restrict_detail(call, restricted.hint)
    progress = reach.each(
        lambda snapshot: _begin(snapshot, order, call, parts, restricted.candidates[snapshot.library_id], coverage)
    )
    vector: NDArray[np.float32] | None = None
    embed: tuple[PlanStep, StageTiming] | None = None
    if embedding is not None:
        outcome, embed = embedding.finish()
        if isinstance(outcome, Cause):
            degradations += [
                vector_degradation(call, order.mode, library_id, outcome, parts.no_embedder) for library_id in coverage
            ]
            coverage, embed = {}, None
        else:
            vector = outcome
    progress = reach.each(lambda snapshot: _finish(progress[snapshot.library_id], order, parts, vector, coverage))

    plan: list[PlanStep] = []
    timings: list[StageTiming] = []
    for library_id, reached in progress.items():
        plan.append(PlanStep("restrict", "columns", detail, library_id))
        kept = reached.search.candidate_count()
        timings.append(StageTiming("restrict", restrict_time, readable[library_id], kept, library_id))
    if embed is not None:
        plan.append(embed[0])
        timings.append(embed[1])
    for reached in progress.values():
        plan += reached.plan
        timings += reached.timings
    started = _Clock()
    found = _join([reached.search for reached in progress.values()])
    if len(progress) > 1:
        plan.append(PlanStep("join", "rrf", f"k={RRF_K},w=1"))
        listed = sum(len(reached.search.hits) for reached in progress.values())
        timings.append(StageTiming("join", started.elapsed(), listed, len(found)))
    return Outcome(
        found,
        sum(reached.search.candidate_count() for reached in progress.values()),
        restricted.hint,
        tuple(dict.fromkeys(variant for reached in progress.values() for variant in reached.search.variants)),
        tuple(plan),
        tuple(timings),
        (*restricted.degradations, *degradations),
    )


class _Clock:
    def __init__(self) -> None:
        self._started = time.perf_counter()

    def elapsed(self) -> timedelta:
        return timedelta(seconds=time.perf_counter() - self._started)


class _Embedding:
    """The query's vector, on its way beside the lexical search. One for all libraries."""

    def __init__(self, embedder: Embedder, query: str) -> None:
        self._step = PlanStep("embed", model_name(embedder))
        self._clock = _Clock()
        self._elapsed = timedelta()
        self._task = Task(lambda: self._embed(embedder, query))

    def _embed(self, embedder: Embedder, query: str) -> NDArray[np.float32] | Cause:
        outcome = embed_or_explain(lambda: embedder.embed_query(query))
        self._elapsed = self._clock.elapsed()
        return outcome

    def finish(self) -> tuple[NDArray[np.float32] | Cause, tuple[PlanStep, StageTiming]]:
        """Wait for it; the vector or why there is none, and the stage."""
        outcome = self._task.result()
        return outcome, (self._step, StageTiming("embed", self._elapsed, 1, 0 if isinstance(outcome, Cause) else 1))


def _coverage(
    order: Order, call: Call, reach: Reach, parts: RetrievalParts, candidates: dict[str, NDArray[np.bool_]]
) -> tuple[dict[str, float], list[Degradation]]:
    """Libraries that can be searched by meaning, with the share of candidates that have a vector; the others told."""
    coverage: dict[str, float] = {}
    degradations: list[Degradation] = []
    if order.mode is RetrievalMode.LEXICAL:
        return coverage, degradations
    for snapshot in reach.snapshots:
        library_id = snapshot.library_id
        fault = vector_fault(snapshot, parts)
        if fault is not None:
            degradations.append(vector_degradation(call, order.mode, library_id, fault, parts.no_embedder))
            continue
        coverage[library_id] = snapshot.coverage(candidates[library_id])
        if coverage[library_id] < 1:
            degradations.append(partial_degradation(call, library_id, coverage[library_id]))
    return coverage, degradations


def _begin(
    snapshot: Snapshot,
    order: Order,
    call: Call,
    parts: RetrievalParts,
    candidates: NDArray[np.bool_],
    coverage: dict[str, float],
) -> _Progress:
    """The stages that need no vector."""
    both = snapshot.library_id in coverage and order.mode is not RetrievalMode.VECTOR
    # One more than is asked for tells whether anything is left.
    depth = max(snapshot.config.vector_depth, order.top_k + 1) if both else order.top_k + 1
    search = Search(
        snapshot=snapshot,
        call=call,
        depth=depth,
        complete=both,
        candidates=candidates,
        variants=(QueryVariant(order.query, "caller"),),
    )
    if order.mode is RetrievalMode.VECTOR:
        return _Progress(search, (), ())
    variants = snapshot.config.glossary_variants if order.variants is None else order.variants
    variants = variants and len(snapshot.glossary) > 0
    return _run(_Progress(search, (), ()), lexical_stages(snapshot.library_id, parts.gate, variants=variants))


def _finish(
    progress: _Progress,
    order: Order,
    parts: RetrievalParts,
    vector: NDArray[np.float32] | None,
    coverage: dict[str, float],
) -> _Progress:
    """The dense leg, where there is one, and the fusion."""
    snapshot = progress.search.snapshot
    library_id = snapshot.library_id
    legs = 0 if order.mode is RetrievalMode.VECTOR else 1
    if vector is not None and library_id in coverage and parts.embedder is not None:
        legs += 1
        model, depth = model_name(parts.embedder), progress.search.depth
        shortlist = shortlist_for(progress.search)
        progress = _run(progress, dense_stages(library_id, model, vector, depth, shortlist, coverage[library_id]))
    fusion = make_fusion(order.fusion or snapshot.config.fusion)
    return _run(progress, fuse_stages(library_id, fusion, legs))


def _run(progress: _Progress, stages: Sequence[Stage]) -> _Progress:
    search, timings = run_stages(stages, progress.search)
    steps = tuple(stage.step for stage in stages)
    return _Progress(search, (*progress.plan, *steps), (*progress.timings, *timings))


def _join(searches: Sequence[Search]) -> Sequence[Found]:
    """The hits of one library as they are; those of several by reciprocal ranks, as their scores do not compare."""
    if len(searches) == 1:
        (alone,) = searches
        return Lazy(len(alone.hits), lambda place: Found(alone.snapshot, alone.hits[place]))
    scores = rrf_fuse([(number, row) for row in search.hit_rows] for number, search in enumerate(searches))
    order = sorted(
        (-scores[number, row], search.snapshot.library_id, search.snapshot.tie_key(row), number, place)
        for number, search in enumerate(searches)
        for place, row in enumerate(search.hit_rows)
    )

    def found(at: int) -> Found:
        negative, _, _, number, place = order[at]
        return Found(searches[number].snapshot, replace(searches[number].hits[place], fused=-negative))

    return Lazy(len(order), found)
