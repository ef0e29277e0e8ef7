"""Frames of a stream before they are encoded: header once, then batches and the method's own, then summary once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from groundwire_server.evidence.filter import Filter
from groundwire_server.evidence.outcome import CalculationOutcome, MetricOutcome
from groundwire_server.evidence.snippet import Snippet
from groundwire_server.evidence.stream import (
    Degradation,
    EndReason,
    LibrarySnapshot,
    ModelUsage,
    PlanStep,
    QueryVariant,
    Refusal,
    StageTiming,
)
from groundwire_server.evidence.trace import NO_TRACE, Trace

__all__ = ["Header", "Outcomes", "Progress", "Snippets", "Summary"]


@dataclass(frozen=True, slots=True)
class Header:
    """First: what will run, on what."""

    snapshots: tuple[LibrarySnapshot, ...]
    plan: tuple[PlanStep, ...]
    reference_date: date
    filter_applied: Filter | None = None
    hint_applied: Filter | None = None


@dataclass(frozen=True, slots=True)
class Snippets:
    """Some snippets in rank order. The wire cuts them into batches and gives each its place in the stream."""

    snippets: tuple[Snippet, ...]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcomes in query order, each before the snippets that it names."""

    outcomes: tuple[MetricOutcome, ...]
    calculations: tuple[CalculationOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """A sign of life from long work. None: not known."""

    stage: str
    done: int
    total: int | None = None
    unit: str = ""
    units_per_second: float | None = None
    remaining_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Last: what came, what did not, and why it ended. The wire counts what was returned.

    prompt_tokens: of the prompt texts that are sent, where the call bounds them; else 0. trace: where the call asks for
    it.
    """

    end_reason: EndReason
    candidates: int = 0
    degradations: tuple[Degradation, ...] = ()
    timings: tuple[StageTiming, ...] = field(default=())
    refusal: Refusal | None = None
    variants: tuple[QueryVariant, ...] = ()
    prompt_tokens: int = 0
    model_usage: tuple[ModelUsage, ...] = ()
    trace: Trace = NO_TRACE
