"""Hints that are read out of a question, for each library that wants that (semantics 3).

A call that brings a hint of its own gets none beside it. What an extractor sees of a library is what the caller may
read of it, and what a language model sees also stays within the model's clearance.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from groundwire_server.errors import Cause, DeadlineExceeded, ErrorReason, GroundwireError
from groundwire_server.evidence import (
    Call,
    CallCancelled,
    Degradation,
    Filter,
    Label,
    ModelUsage,
    PlanStep,
    StageTiming,
)
from groundwire_server.llm import Usage, model_usage
from groundwire_server.narrative.outside import gate_for
from groundwire_server.narrative.parts import RetrievalParts
from groundwire_server.narrative.restrict import together
from groundwire_server.query import QueryText
from groundwire_server.query.filters import (
    Extracted,
    FilterExtractor,
    FilterSource,
    ValuesOf,
    extraction_skipped,
    make_filter_extractor,
)
from groundwire_server.security import SecurityGate
from groundwire_server.text import detect_language

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Hints", "make_hints", "suggest_filter"]

_MOST_VALUES = 2000
"""Distinct values of an attribute that are looked at; one that has more tells documents apart and groups none."""

_NO_GATE = SecurityGate()
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Hints:
    """What was read out of a question: the hint of each library that has one, by its id, and what is to be said."""

    of: Mapping[str, Filter] = field(default_factory=dict)
    plan: tuple[PlanStep, ...] = ()
    timings: tuple[StageTiming, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    model_usage: tuple[ModelUsage, ...] = ()


def make_hints(query: str, asked: str, call: Call, snapshots: Sequence[Snapshot], parts: RetrievalParts) -> Hints:
    """Have the extractors that are asked for read the question.

    Args:
        asked: the extractor of the call; empty: each library's own; "none": none.

    Raises:
        FailedPrecondition: an extraction was skipped, and the call forbids that.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    if call.options.hint is not None:
        return Hints()
    of: dict[str, Filter] = {}
    plan: list[PlanStep] = []
    timings: list[StageTiming] = []
    degradations: list[Degradation] = []
    used = Usage()
    for snapshot in snapshots:
        name = asked or snapshot.config.filter_extractor
        if name == "none":
            continue
        started = time.perf_counter()
        made = _extract(make_filter_extractor(name), query, call, snapshot, parts)
        elapsed = timedelta(seconds=time.perf_counter() - started)
        used += made.usage
        if made.degradation is not None:
            degradations.append(call.accept(replace(made.degradation, library_id=snapshot.library_id)))
        if made.hint is not None:
            of[snapshot.library_id] = made.hint
        if made.degradation is None or made.purpose:
            plan.append(PlanStep("extract", name, _detail(made, parts), snapshot.library_id))
            timings.append(StageTiming("extract", elapsed, 1, int(made.hint is not None), snapshot.library_id))
    told = () if parts.model is None or used == Usage() else (model_usage(parts.model, used),)
    return Hints(of, tuple(plan), tuple(timings), tuple(degradations), told)


def suggest_filter(
    query: str, call: Call, snapshots: Sequence[Snapshot], gate: SecurityGate = _NO_GATE
) -> Filter | None:
    """What the glossaries read out of a question, without outside names; no model is asked. None: nothing."""
    extractor = make_filter_extractor("glossary")
    parts = RetrievalParts(gate=gate)
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.library_id)
    return together([_extract(extractor, query, call, each, parts).hint for each in ordered])


def _extract(
    extractor: FilterExtractor, query: str, call: Call, snapshot: Snapshot, parts: RetrievalParts
) -> Extracted:
    """What an extractor makes; whatever goes wrong with it, there is no hint."""
    stop = partial(call.cancel.check, "extract")
    try:
        source = _source(extractor, query, call, snapshot, parts)
        return extractor.extract(source, parts.model, gate_for((snapshot,), parts.gate), stop)
    except (CallCancelled, DeadlineExceeded):
        raise
    except GroundwireError as error:
        return extraction_skipped(extractor.name, error.cause())
    except Exception as error:  # noqa: BLE001 - whatever a model's client raises, the question is searched
        _log.warning("the filter extractor %s failed: %s", extractor.name, type(error).__name__)
        return extraction_skipped(extractor.name, Cause(ErrorReason.MODEL_FAILED, "The extraction of a filter failed."))


def _source(
    extractor: FilterExtractor, query: str, call: Call, snapshot: Snapshot, parts: RetrievalParts
) -> FilterSource:
    """The question with what may be told of the library's documents to the one who reads it."""
    language = detect_language(query)
    told = call
    if extractor.asks_model:
        clearance = min(call.principal.clearance, parts.model_clearance, Label.CONFIDENTIAL)
        told = replace(call, principal=replace(call.principal, clearance=clearance))
    elif not snapshot.glossary.find_terms(query):
        return FilterSource(QueryText(query, language), {}, snapshot.glossary, call.reference_day)
    values = snapshot.attribute_values(told, _MOST_VALUES)
    return FilterSource(
        QueryText(query, language),
        {name: ValuesOf(held.family, held.values, held.share) for name, held in values.items()},
        snapshot.glossary,
        call.reference_day,
        lambda tree: bool(snapshot.candidates(told, tree).any()),
    )


def _detail(made: Extracted, parts: RetrievalParts) -> str:
    if not made.purpose or parts.model is None:
        return made.detail
    return ",".join(part for part in (f"{parts.model.name}:{parts.model.model}", made.purpose, made.detail) if part)
