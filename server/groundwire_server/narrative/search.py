"""All stages of one retrieval, over all of its libraries (semantics 2 to 4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import Cause
from groundwire_server.evidence import (
    Call,
    Degradation,
    DegradationKind,
    Filter,
    ModelUsage,
    PlanStep,
    QueryVariant,
    Snippet,
    StageTiming,
)
from groundwire_server.narrative.concurrent import Failed, run_all
from groundwire_server.narrative.embedding import QueryEmbedding
from groundwire_server.narrative.exit import Found
from groundwire_server.narrative.fuse import fuse, fusion_for
from groundwire_server.narrative.fusion import RRF_K, Fusion, make_fusion
from groundwire_server.narrative.graph_leg import GRAPH_DEPTH, Followed, follow_relations
from groundwire_server.narrative.hints import Hints
from groundwire_server.narrative.legs import search_dense, search_lexical
from groundwire_server.narrative.parts import RetrievalParts
from groundwire_server.narrative.reach import Reach
from groundwire_server.narrative.request import RetrievalMode
from groundwire_server.narrative.restrict import Restricted, restrict, restrict_detail
from groundwire_server.narrative.stages import dense_stages, fuse_stages, lexical_stages
from groundwire_server.narrative.state import Lazy, Search, Stage, run_stages
from groundwire_server.narrative.transform import (
    PROBE_DEPTH,
    Probe,
    Probes,
    make_probes,
    merge,
    merge_step,
    probe_also,
)
from groundwire_server.narrative.vectors import (
    model_name,
    partial_degradation,
    shortlist_for,
    vector_degradation,
    vector_fault,
)

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Order", "Outcome", "search_libraries"]

_NO_HINTS = Hints()


@dataclass(frozen=True, slots=True)
class Order:
    """What to search for, and how. Empty `fusion` and `transform`, and `variants` and `graph` None, are each library's.

    graph: whether relations are followed from what is found. transform: what makes other texts of the query to search.
    wanted: passages that this call and those before it are owed together, where it goes on with their stream. What they
    have sent must stand at the head of what is found: only a list that is not put together from others grows with it.
    rewritten: texts that are searched beside the query whatever else is.
    """

    query: str
    top_k: int
    mode: RetrievalMode
    fusion: str
    variants: bool | None
    graph: bool | None = None
    transform: str = ""
    wanted: int = 0
    rewritten: tuple[QueryVariant, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found, best first, and how.

    searches: the whole of each library's, by library id. probes: what a transform made, for the next search of it.
    """

    found: Sequence[Found]
    candidates: int
    hint: Filter | None
    variants: tuple[QueryVariant, ...]
    plan: tuple[PlanStep, ...]
    timings: tuple[StageTiming, ...]
    degradations: tuple[Degradation, ...]
    paths: Mapping[str, Callable[[str], Snippet | None]] = field(default_factory=dict)
    model_usage: tuple[ModelUsage, ...] = ()
    searches: tuple[Search, ...] = ()
    probes: Probes | None = None

    def path(self, library_id: str, doc_id: str) -> Snippet | None:
        """The chain of relations that leads to a document, where they were followed and one does."""
        return self.paths[library_id](doc_id) if library_id in self.paths else None


@dataclass(frozen=True, slots=True)
class _Progress:
    """One library on its way: its plan so far, its times, its search, and where its relations led."""

    search: Search
    plan: tuple[PlanStep, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    followed: Followed | None = None

    def run(self, stages: Sequence[Stage]) -> _Progress:
        search, timings = run_stages(stages, self.search)
        return _Progress(search, (*self.plan, *(stage.step for stage in stages)), (*self.timings, *timings))

    def follow(self, followed: Followed) -> _Progress:
        return _Progress(followed.search, (*self.plan, followed.step), (*self.timings, followed.timing), followed)


def search_libraries(
    order: Order,
    call: Call,
    reach: Reach,
    parts: RetrievalParts,
    hints: Hints = _NO_HINTS,
    made: Probes | None = None,
) -> Outcome:
    """Restrict all libraries, search each by itself, put their lists together.

    Args:
        hints: what was read out of the query.
        made: what a transform made of it in an earlier search; None: it is asked now.

    Raises:
        FailedPrecondition: vectors are asked for and not there, or a degradation is forbidden.
        Unavailable: no library answers.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    started = time.perf_counter()
    restricted = restrict(reach, call, hints.of)
    restrict_time, restrict_ended = timedelta(seconds=time.perf_counter() - started), time.monotonic()
    coverage, degradations = _coverage(order, call, reach, parts, restricted)
    embedding = QueryEmbedding(parts.embedder, order.query) if coverage and parts.embedder is not None else None
    embedder = None if embedding is None else embedding.embedder
    made = made or make_probes(order.query, order.transform, call, reach.snapshots, parts, embedder)
    probes = probe_also(made, order.rewritten, call, embedder)
    degradations += probes.degradations
    progress = reach.each(
        lambda snapshot: _search(
            snapshot, order, call, parts, restricted, coverage, embedding, probes.in_library(snapshot.library_id)
        )
    )
    embed = embedding.stage if embedding is not None else None
    if embedding is not None and isinstance(embedding.outcome(), Cause):
        cause = embedding.outcome()
        assert isinstance(cause, Cause)
        degradations += [vector_degradation(call, order.mode, name, cause, parts.no_embedder) for name in coverage]
        embed = None
    degradations += [
        call.accept(Degradation(kind, "graph", library_id))
        for library_id, reached in progress.items()
        for kind in _lessened(reached.followed)
    ]

    plan: list[PlanStep] = []
    timings: list[StageTiming] = []
    for library_id in progress:
        detail = restrict_detail(call, hinted=library_id in restricted.hinted)
        kept = restricted.kept[library_id]
        plan.append(PlanStep("restrict", "columns", detail, library_id))
        entered = restricted.readable[library_id]
        timings.append(StageTiming("restrict", restrict_time, entered, kept, library_id, ended=restrict_ended))
    plan += probes.plan
    timings += probes.timings
    if embed is not None:
        plan.append(embed[0])
        timings.append(embed[1])
    for reached in progress.values():
        plan += reached.plan
        timings += reached.timings
    started = time.perf_counter()
    found = _join([reached.search for reached in progress.values()])
    if len(progress) > 1:
        plan.append(PlanStep("join", "rrf", f"k={RRF_K},w=1"))
        elapsed = timedelta(seconds=time.perf_counter() - started)
        timings.append(StageTiming("join", elapsed, len(found), len(found)))
    return Outcome(
        found,
        sum(reached.search.candidate_count for reached in progress.values()),
        restricted.hint,
        tuple(dict.fromkeys(variant for reached in progress.values() for variant in reached.search.variants)),
        tuple(plan),
        tuple(timings),
        (*restricted.degradations, *degradations),
        {name: each.followed.path for name, each in progress.items() if each.followed is not None},
        probes.model_usage,
        tuple(reached.search for reached in progress.values()),
        made,
    )


def _lessened(followed: Followed | None) -> Iterator[DegradationKind]:
    """What to say of relations that were to be followed."""
    if followed is not None and followed.absent:
        yield DegradationKind.GRAPH_ABSENT
    if followed is not None and followed.cut:
        yield DegradationKind.BUDGET_CUT


def _coverage(
    order: Order, call: Call, reach: Reach, parts: RetrievalParts, restricted: Restricted
) -> tuple[dict[str, float], list[Degradation]]:
    """Libraries that can be searched by meaning, with the share of candidates that have a vector; the others told."""
    coverage: dict[str, float] = {}
    degradations: list[Degradation] = []
    if order.mode is RetrievalMode.LEXICAL:
        return coverage, degradations
    for snapshot in reach.snapshots:
        library_id = snapshot.library_id
        fault = vector_fault(snapshot, parts, call.principal.clearance)
        if fault is not None:
            degradations.append(vector_degradation(call, order.mode, library_id, fault, parts.no_embedder))
            continue
        coverage[library_id] = snapshot.coverage(restricted.candidates[library_id])
        if coverage[library_id] < 1:
            degradations.append(partial_degradation(call, library_id, coverage[library_id]))
    return coverage, degradations


def _search(
    snapshot: Snapshot,
    order: Order,
    call: Call,
    parts: RetrievalParts,
    restricted: Restricted,
    coverage: Mapping[str, float],
    embedding: QueryEmbedding | None,
    probes: Sequence[Probe],
) -> _Progress:
    """One library: words and meaning side by side, the fusion, then what other texts find and relations lead to."""
    library_id, config = snapshot.library_id, snapshot.config
    words, meaning = order.mode is not RetrievalMode.VECTOR, library_id in coverage and embedding is not None
    # One more than is asked for tells whether anything is left.
    depth = max(config.vector_depth, order.top_k + 1) if words and meaning else order.top_k + 1
    if _follows(order, snapshot, parts):
        depth = max(depth, GRAPH_DEPTH)
    if probes:
        depth = max(depth, PROBE_DEPTH)
    usual = depth
    if not (words and meaning) and not probes and not _follows(order, snapshot, parts):
        depth = max(depth, order.wanted + 1)
    candidates, kept = restricted.candidates[library_id], restricted.kept[library_id]
    search = Search(snapshot, call, depth, candidates, kept, (QueryVariant(order.query, "caller"),))

    def lexical() -> _Progress:
        wished = config.glossary_variants if order.variants is None else order.variants
        variants = wished and len(snapshot.glossary) > 0
        return _Progress(search).run(lexical_stages(library_id, parts.gate, variants=variants))

    def dense() -> _Progress | None:
        assert embedding is not None
        vector = embedding.outcome()
        if isinstance(vector, Cause):
            return None
        model, shortlist = model_name(embedding.embedder), shortlist_for(replace(search, depth=usual))
        return _Progress(search).run(dense_stages(library_id, model, vector, depth, shortlist, coverage[library_id]))

    legs = [leg for leg, wanted in ((dense, meaning), (lexical, words)) if wanted]
    reached = [each for each in map(_result, reversed(run_all(legs))) if each is not None]
    fusion = make_fusion(order.fusion or config.fusion)
    progress = _fuse(_Progress(search), reached, fusion)
    if probes:
        by_meaning = progress.search.dense is not None
        stage = _merge_stage(library_id, search, probes, words, by_meaning, fusion_for(fusion, len(reached)))
        progress = progress.run([stage])
    if parts.graph is None or not _follows(order, snapshot, parts):
        return progress
    return progress.follow(follow_relations(progress.search, fusion_for(fusion, len(reached)), parts.graph))


def _merge_stage(
    library_id: str, search: Search, probes: Sequence[Probe], words: bool, meaning: bool, fusion: Fusion
) -> Stage:
    """Search each probe by the legs that the query was searched by, and put all lists together."""

    def found(probe: Probe) -> Search:
        other = replace(search, variants=(probe.variant,))
        if words:
            other = search_lexical(other)
        if meaning and probe.vector is not None:
            other = search_dense(other, probe.vector, shortlist_for(other))
        return fuse(other, fusion)

    return Stage(
        merge_step(library_id, 1 + len(probes)),
        lambda own: merge(own, [found(probe) for probe in probes]),
        lambda own: len(own.hits),
        lambda own: len(own.hits),
    )


def _follows(order: Order, snapshot: Snapshot, parts: RetrievalParts) -> bool:
    """Whether relations are followed in a library: as the call says, else as the library does."""
    return parts.graph is not None and (snapshot.config.graph if order.graph is None else order.graph)


def _result(outcome: _Progress | Failed | None) -> _Progress | None:
    if isinstance(outcome, Failed):
        raise outcome.error
    return outcome


def _fuse(progress: _Progress, legs: Sequence[_Progress], fusion: Fusion) -> _Progress:
    """What the legs reached, those of words first, as one."""
    for leg in legs:
        search = leg.search if leg.search.dense is None else replace(progress.search, dense=leg.search.dense)
        progress = _Progress(search, (*progress.plan, *leg.plan), (*progress.timings, *leg.timings))
    return progress.run(fuse_stages(progress.search.snapshot.library_id, fusion, len(legs)))


def _join(searches: Sequence[Search]) -> Sequence[Found]:
    """The hits of one library as they are; those of several by reciprocal ranks, as their scores do not compare.

    A passage stands in the list of its own library alone, so that its score is 1 / (k + rank), and the passages of one
    rank come in the order of their libraries.
    """
    if len(searches) == 1:
        (alone,) = searches
        return Lazy(len(alone.hits), lambda place: Found(alone.snapshot, alone.hits[place]))
    lengths = np.array([len(search.hits) for search in searches], dtype=np.int64)
    libraries = np.repeat(np.arange(len(searches)), lengths)
    places = np.concatenate([np.zeros(0, np.int64), *map(np.arange, lengths)])
    order: NDArray[np.intp] = np.lexsort((libraries, places))

    def found(at: int) -> Found:
        search, place = searches[libraries[order[at]]], int(places[order[at]])
        return Found(search.snapshot, replace(search.hits[place], fused=1.0 / (RRF_K + place + 1)))

    return Lazy(len(order), found)
