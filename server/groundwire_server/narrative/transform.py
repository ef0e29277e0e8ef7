"""The stages of a query transform: other texts made of the question, and what they find put beside what it finds.

The texts are made once for all libraries of a call that ask for them, from the question alone. Each is searched by the
legs that the question is searched by, and the lists, the question's first, are put together by reciprocal ranks
(semantics 7). A passage keeps the scores and ranks that the question gives it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import Cause, DeadlineExceeded, ErrorReason, GroundwireError
from groundwire_server.evidence import (
    Call,
    CallCancelled,
    Degradation,
    DegradationKind,
    ModelUsage,
    PlanStep,
    QueryVariant,
    StageTiming,
)
from groundwire_server.llm import Usage, model_usage
from groundwire_server.narrative.fuse import legs_over, make_hit, order_of
from groundwire_server.narrative.fusion import RRF_K, rrf_fuse
from groundwire_server.narrative.outside import gate_for
from groundwire_server.narrative.parts import RetrievalParts
from groundwire_server.narrative.state import Lazy, Search
from groundwire_server.narrative.vectors import embed_or_explain
from groundwire_server.query import COMPONENT, QueryText, Transform, Transformed, make_transform, skipped
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.dense import Embedder
    from groundwire_server.library import Snapshot

__all__ = [
    "PROBE_DEPTH",
    "Probe",
    "Probes",
    "apply_transform",
    "make_probes",
    "merge",
    "merge_step",
    "probe_also",
]

PROBE_DEPTH = 200
"""How deep lists that are put together are at least, so that the answer does not depend on how much is asked for."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A text that is searched beside the question; `vector` is None where no library is searched by meaning."""

    variant: QueryVariant
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """What was made for a call: the probes of each library by its id, and what is to be said of it.

    also: what is searched in all of them besides.
    """

    of: Mapping[str, tuple[Probe, ...]] = field(default_factory=dict)
    plan: tuple[PlanStep, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    model_usage: tuple[ModelUsage, ...] = ()
    also: tuple[Probe, ...] = ()

    def in_library(self, library_id: str) -> tuple[Probe, ...]:
        """What is searched beside the question in a library."""
        return (*self.of.get(library_id, ()), *self.also)


def make_probes(
    query: str, asked: str, call: Call, snapshots: Sequence[Snapshot], parts: RetrievalParts, embedder: Embedder | None
) -> Probes:
    """Have every transform that is asked for make its texts.

    Args:
        asked: the transform of the call; empty: each library's own; "none": none.
        embedder: what makes their vectors; None: they are searched by words alone.

    Raises:
        FailedPrecondition: a transform was skipped, and the call forbids that.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    wishes = {snapshot.library_id: asked or snapshot.config.query_transform for snapshot in snapshots}
    of: dict[str, tuple[Probe, ...]] = {}
    plan: list[PlanStep] = []
    timings: list[StageTiming] = []
    degradations: list[Degradation] = []
    used = Usage()
    for name in sorted(set(wishes.values()) - {"none"}):
        libraries = [library_id for library_id, wish in wishes.items() if wish == name]
        started = time.perf_counter()
        made = apply_transform(make_transform(name), query, call, snapshots, parts)
        probes, fault = _embed(made, name, call, embedder)
        elapsed = timedelta(seconds=time.perf_counter() - started)
        used += made.usage
        lost = made.degradation
        if fault is not None:
            lost = Degradation(DegradationKind.TRANSFORM_SKIPPED, f"{COMPONENT}:{name}", cause=fault)
        if lost is not None:
            told = ("",) if asked else libraries
            degradations += [call.accept(replace(lost, library_id=library_id)) for library_id in told]
        if made.purpose and parts.model is not None:
            plan.append(PlanStep("transform", name, _detail(made, len(probes), parts)))
            timings.append(StageTiming("transform", elapsed, 1, len(probes)))
        of |= dict.fromkeys(libraries, probes)
    told_usage = () if parts.model is None or used == Usage() else (model_usage(parts.model, used),)
    return Probes(of, tuple(plan), tuple(timings), tuple(degradations), told_usage)


def probe_also(probes: Probes, variants: Sequence[QueryVariant], call: Call, embedder: Embedder | None) -> Probes:
    """Further texts to search with in every library; one that has no vector is searched by words alone."""
    more: list[Probe] = []
    for variant in variants:
        call.cancel.check("transform")
        vector = None if embedder is None else embed_or_explain(partial(embedder.embed_query, variant.text))
        more.append(Probe(variant, None if isinstance(vector, Cause) else vector))
    return replace(probes, also=(*probes.also, *more))


def merge_step(library_id: str, lists: int) -> PlanStep:
    """How the plan shows `merge`."""
    return PlanStep("merge", "rrf", f"k={RRF_K},w=1,lists={lists}", library_id)


def merge(search: Search, others: Sequence[Search]) -> Search:
    """The hits of a question's search and of those of its probes, by (-sum of 1 / (k + rank), tie key)."""
    rankings = [[hit.row for hit in each.hits] for each in (search, *others)]
    scores = rrf_fuse(rankings)
    rows = np.array(sorted(scores), dtype=np.int64)
    fused = np.array([scores[row] for row in rows.tolist()], dtype=np.float64)
    legs = legs_over(search, rows)
    order = order_of(rows, fused, search.snapshot.tie_key)
    variants = (*search.variants, *(other.variants[0] for other in others))
    hits = Lazy(len(order), lambda place: make_hit(legs, order[place], fused, search))
    return replace(search, variants=variants, hits=hits, ranking=rows[np.array(order, dtype=np.int64)])


def apply_transform(
    transform: Transform, query: str, call: Call, snapshots: Sequence[Snapshot], parts: RetrievalParts
) -> Transformed:
    """What a transform makes; whatever goes wrong with it, the question is there."""
    asked = QueryText(query, detect_language(query))
    try:
        return transform.apply(
            asked, parts.model, gate_for(snapshots, parts.gate), partial(call.cancel.check, "transform")
        )
    except (CallCancelled, DeadlineExceeded):
        raise
    except GroundwireError as error:
        return skipped(transform.name, asked, error.cause())
    except Exception as error:  # noqa: BLE001 - whatever a model's client raises, the question is searched
        _log.warning("the query transform %s failed: %s", transform.name, type(error).__name__)
        return skipped(transform.name, asked, Cause(ErrorReason.MODEL_FAILED, "The query transform failed."))


def _embed(
    made: Transformed, name: str, call: Call, embedder: Embedder | None
) -> tuple[tuple[Probe, ...], Cause | None]:
    """The texts with their vectors; none of them, and why, where one has none that should."""
    texts = [(variant, False) for variant in made.variants[1:]]
    texts += [(QueryVariant(text, name), True) for text in made.probes]
    if embedder is None:
        return tuple(Probe(variant) for variant, _ in texts), None
    probes: list[Probe] = []
    for variant, passage in texts:
        call.cancel.check("transform")
        embed = embedder.embed_passage if passage else embedder.embed_query
        vector = embed_or_explain(partial(embed, variant.text))
        if isinstance(vector, Cause):
            return (), vector
        probes.append(Probe(variant, vector))
    return tuple(probes), None


def _detail(made: Transformed, texts: int, parts: RetrievalParts) -> str:
    assert parts.model is not None
    outside = f",outside={made.outside}" if made.outside else ""
    return f"{parts.model.name}:{parts.model.model},{made.purpose},texts={texts}{outside}"
