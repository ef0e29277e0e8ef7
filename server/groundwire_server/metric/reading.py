"""What a query's names mean in one library: every reading, or the first name that means nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from groundwire_server.evidence import MetricQuery, Period
from groundwire_server.glossary import (
    Ambiguous,
    PeriodError,
    Resolution,
    Resolved,
    Unknown,
    parse_period,
)
from groundwire_server.metric.texts import ambiguous_text, period_text
from groundwire_server.metric.vocabulary import Vocabulary

__all__ = ["Asking", "Key", "Reading", "Unread", "read_query"]

_MOST_SUGGESTIONS = 5


@dataclass(frozen=True, slots=True)
class Asking:
    """How a query is asked.

    reference: day from which relative words count.
    language: of sentences. spoken: of the names, empty where it is not sure: Han alone may be either, and 前年 is last
        year in Japanese and two years ago in Chinese.
    """

    reference: date
    language: str
    spoken: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """The first parameter that is not known or means several things. `place`: its place in the order of parameters."""

    place: int
    param: str
    raw: str
    suggestions: tuple[str, ...]
    ambiguous: bool
    explanation: str


@dataclass(frozen=True, slots=True)
class Key:
    """One reading of a query, but for further axes."""

    metric: str
    entity: str
    period: Period
    channel: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Every reading, in code order; more than one where names are ambiguous. `doubts`: one a such name, in order."""

    keys: tuple[Key, ...]
    doubts: tuple[Unread, ...] = ()

    @property
    def doubt(self) -> Unread | None:
        """What to answer if it stays ambiguous."""
        return self.doubts[0] if self.doubts else None


def read_query(
    query: MetricQuery, vocabulary: Vocabulary, asking: Asking, entities: Resolution | None = None
) -> Reading | Unread:
    """What metric, entity, period and channel mean.

    The first parameter in this order that is not known is answered; one before it that is only ambiguous goes first,
    since no figure can decide it any more.

    Args:
        entities: what the name of the entity means, where that is known from elsewhere.
    """
    metrics = vocabulary.resolve_metric(query.metric)
    if entities is None:
        entities = vocabulary.resolve_entity(query.entity)
    channels = vocabulary.resolve_channel(query.channel)
    periods = _periods(query.period, _codes(entities), vocabulary, asking)
    steps = (
        _name_fault(0, "metric", query.metric, metrics, asking.language),
        _name_fault(1, "entity", query.entity, entities, asking.language),
        periods if isinstance(periods, Unread) else None,
        _name_fault(3, "channel", query.channel, channels, asking.language),
    )
    faults = [fault for fault in steps if fault is not None]
    if isinstance(periods, Unread) or any(not fault.ambiguous for fault in faults):
        return faults[0]
    keys = tuple(
        Key(metric, entity, periods[entity], channel)
        for metric in _codes(metrics)
        for entity in _codes(entities)
        if entity in periods
        for channel in _codes(channels)
    )
    return Reading(keys, tuple(faults))


def _codes(resolution: Resolution) -> tuple[str, ...]:
    match resolution:
        case Resolved(code):
            return (code,)
        case Ambiguous(candidates):
            return candidates
        case Unknown():
            return ()


def _name_fault(place: int, param: str, raw: str, found: Resolution, language: str) -> Unread | None:
    match found:
        case Resolved():
            return None
        case Unknown(suggestions):
            return Unread(place, param, raw, suggestions, ambiguous=False, explanation="")
        case Ambiguous(candidates):
            some = candidates[:_MOST_SUGGESTIONS]
            return Unread(place, param, raw, some, ambiguous=True, explanation=ambiguous_text(language))


def _periods(raw: str, entities: tuple[str, ...], vocabulary: Vocabulary, asking: Asking) -> dict[str, Period] | Unread:
    """The period by entity, since each has its own fiscal year; without an entity by the calendar year."""
    found: dict[str, Period] = {}
    fault: PeriodError | None = None
    for entity in entities or ("",):
        fiscal = vocabulary.glossary.fiscal_calendar(entity)
        try:
            found[entity] = parse_period(
                raw,
                reference=asking.reference,
                fiscal_year_start=fiscal.start,
                fiscal_year_named_by=fiscal.named_by,
                language=asking.spoken,
            )
        except PeriodError as error:
            fault = fault or error
    if found or fault is None:
        return found
    some = fault.candidates[:_MOST_SUGGESTIONS]
    why = period_text(fault.fault, asking.language)
    return Unread(2, "period", raw, some, ambiguous=bool(some), explanation=why)
