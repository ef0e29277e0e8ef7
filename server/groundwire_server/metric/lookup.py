"""One query in one library: figures, no figure, or the name that is not understood."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from groundwire_server.evidence import DecidedName, Dimension, Filter, MetricKey, MetricQuery, Period, PeriodKind
from groundwire_server.glossary import (
    Ambiguous,
    MetricNature,
    PeriodError,
    Resolution,
    Resolved,
    interval,
    parse_period,
    same_days,
)
from groundwire_server.metric.figures import Figure, FigureReader, is_instant, period_of
from groundwire_server.metric.fiscal import fiscal_spans, is_outdated
from groundwire_server.metric.reading import Asking, Key, Reading, Unread, read_query
from groundwire_server.metric.texts import ambiguous_text
from groundwire_server.metric.units import unit_key
from groundwire_server.metric.vocabulary import Vocabulary
from groundwire_server.store import FactRecord

__all__ = ["Found", "LibraryView", "Missing", "fits_nature", "look_up", "look_up_key"]

_MOST_SUGGESTIONS = 5
_PERIODS_TRIED = 100


@dataclass(frozen=True, slots=True)
class LibraryView:
    """One library as one call sees it."""

    vocabulary: Vocabulary
    figures: FigureReader

    @property
    def library_id(self) -> str:
        """Which it is."""
        return self.figures.library_id


@dataclass(frozen=True, slots=True)
class Found:
    """There are figures. `hint_dropped`: none of them fits the call's hint. `decided`: names that they decided."""

    key: MetricKey
    figures: tuple[Figure, ...]
    hint_dropped: bool = False
    decided: tuple[DecidedName, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """Every name is known, and there is no figure. `fits`: the metric can have one for a period of this kind."""

    key: MetricKey
    fits: bool = True


def look_up(
    query: MetricQuery,
    view: LibraryView,
    asking: Asking,
    hint: Filter | None,
    entities: Resolution | None = None,
    reading: Reading | Unread | None = None,
) -> Found | Missing | Unread:
    """What one library knows.

    An ambiguous name is decided only by the figures: exactly one of its readings has some, or all of them have one and
    the same value (formats.md).

    Args:
        entities: what the name of the entity means, where that is known from elsewhere.
        reading: what the names mean, where they are read already.
    """
    reading = reading or read_query(query, view.vocabulary, asking, entities)
    if isinstance(reading, Unread):
        return _with_periods(reading, query, view, asking.reference)
    dimensions = _dimensions(query, view, asking.language)
    if isinstance(dimensions, Unread):
        return reading.doubt or dimensions  # the first in order: no figure can decide a doubt any more
    answers = [(key, _figures(key, dimensions, view, hint)) for key in reading.keys]
    if reading.doubt is None:
        return _certain(query, *answers[0], dimensions, asking.language)
    return _decided(reading.doubts, answers, dimensions)


def look_up_key(query: MetricQuery, key: Key, view: LibraryView, asking: Asking) -> Found | Missing | Unread:
    """What one library knows of a key; for a query without further axes whose names are read already."""
    return _certain(query, key, _figures(key, (), view, None), (), asking.language)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one reading leads to. `spans`: canonical periods that a fiscal one may mean, where they are several."""

    figures: tuple[Figure, ...] = ()
    hint_dropped: bool = False
    spans: tuple[str, ...] = ()
    fits: bool = True


def _certain(
    query: MetricQuery, key: Key, answer: _Answer, dimensions: tuple[Dimension, ...], language: str
) -> Found | Missing | Unread:
    if answer.spans:
        some = answer.spans[:_MOST_SUGGESTIONS]
        return Unread(2, "period", query.period, some, ambiguous=True, explanation=ambiguous_text(language))
    if answer.figures:
        return Found(_metric_key(key, dimensions), answer.figures, answer.hint_dropped)
    return Missing(_metric_key(key, dimensions), answer.fits)


def _decided(
    doubts: tuple[Unread, ...], answers: list[tuple[Key, _Answer]], dimensions: tuple[Dimension, ...]
) -> Found | Missing | Unread:
    if any(answer.spans for _, answer in answers):
        return doubts[0]
    having = [(key, answer) for key, answer in answers if answer.figures]
    agreed = len(having) == len(answers) and _one_value([f for _, answer in having for f in answer.figures])
    if len(having) == 1 or agreed:
        figures = tuple(figure for _, answer in having for figure in answer.figures)
        decided = tuple(DecidedName(doubt.param, doubt.raw, doubt.suggestions) for doubt in doubts)
        return Found(_metric_key(having[0][0], dimensions), figures, any(a.hint_dropped for _, a in having), decided)
    return doubts[0]


def _one_value(figures: list[Figure]) -> bool:
    stated = {(Decimal(f.record.value), unit_key(f.record.unit)) for f in figures if f.latest}
    return len(stated) == 1 and all(f.latest for f in figures)


def _metric_key(key: Key, dimensions: tuple[Dimension, ...]) -> MetricKey:
    return MetricKey(key.metric, key.entity, key.period.canonical, key.channel, dimensions)


def _figures(key: Key, dimensions: tuple[Dimension, ...], view: LibraryView, hint: Filter | None) -> _Answer:
    if not fits_nature(key.metric, key.period, view.vocabulary):
        return _Answer(fits=False)
    figures = _of_today(view.figures.find(key.metric, key.entity, key.period, key.channel, dimensions), view)
    period = key.period
    if not figures and period.kind is PeriodKind.FISCAL:
        spans = _fiscal_spans(key, view)
        if len(spans) > 1:
            return _Answer(spans=tuple(span.canonical for span in spans))
        if spans:
            period = spans[0]
            figures = _of_today(view.figures.find(key.metric, key.entity, period, key.channel, dimensions), view)
    if hint is None or not figures:
        return _Answer(tuple(figures))
    narrowed = _of_today(view.figures.find(key.metric, key.entity, period, key.channel, dimensions, hint), view)
    return _Answer(tuple(narrowed or figures), hint_dropped=not narrowed)


def _of_today(figures: list[Figure], view: LibraryView) -> list[Figure]:
    """Without those for fiscal periods that were read by another fiscal year than the entity tells today."""
    glossary = view.vocabulary.glossary

    def outdated(record: FactRecord) -> bool:
        if not record.period.startswith("FY"):
            return False
        days, told = (record.period_first, record.period_last), glossary.knows_fiscal_year(record.entity)
        return is_outdated(record.period, days, glossary.fiscal_calendar(record.entity), told=told)

    return [figure for figure in figures if not outdated(figure.record)]


def fits_nature(metric: str, period: Period, vocabulary: Vocabulary) -> bool:
    """A flow is measured over a span, a stock on a day; the other is never answered for it."""
    term = vocabulary.glossary.metrics.get(metric)
    if term is None or term.nature is None:
        return True
    return (period.kind is PeriodKind.INSTANT) is (term.nature is MetricNature.INSTANT)


def _fiscal_spans(key: Key, view: LibraryView) -> list[Period]:
    glossary = view.vocabulary.glossary
    stated = [fact.record for fact in view.figures.stated(key.metric, key.entity) if not is_instant(fact.record)]
    spans = fiscal_spans(
        key.period,
        [(record.period_first, record.period_last) for record in stated],
        glossary.fiscal_calendar(key.entity),
        told=glossary.knows_fiscal_year(key.entity),
    )
    return [interval(*span) for span in spans]


def _dimensions(query: MetricQuery, view: LibraryView, language: str) -> tuple[Dimension, ...] | Unread:
    """Members by the glossary, else by the codes that figures of the library carry on that axis."""
    found: list[Dimension] = []
    for place, asked in enumerate(query.dimensions, 4):
        axis = unicodedata.normalize("NFKC", asked.name).strip()
        resolution = view.vocabulary.resolve_member(axis, asked.member)
        if isinstance(resolution, Resolved):
            found.append(Dimension(axis, resolution.code))
        elif isinstance(resolution, Ambiguous):
            some = resolution.candidates[:_MOST_SUGGESTIONS]
            why = ambiguous_text(language)
            return Unread(place, axis, asked.member, some, ambiguous=True, explanation=why)
        else:
            return Unread(place, axis, asked.member, resolution.suggestions, ambiguous=False, explanation="")
    return tuple(sorted(found, key=lambda dimension: dimension.name))


def _with_periods(unread: Unread, query: MetricQuery, view: LibraryView, reference: date) -> Unread:
    """Suggest periods that there are figures for: those that the text fits but for its year first, then the latest."""
    if unread.param != "period" or unread.suggestions:
        return unread
    metric = view.vocabulary.resolve_metric(query.metric)
    entity = view.vocabulary.resolve_entity(query.entity)
    if not isinstance(metric, Resolved) or not isinstance(entity, Resolved):
        return unread
    stated = {period_of(fact.record) for fact in view.figures.stated(metric.code, entity.code)}
    fitting = [period for period in stated if fits_nature(metric.code, period, view.vocabulary)]
    latest = sorted(fitting, key=lambda period: (period.last, period.first, period.canonical), reverse=True)
    latest = latest[:_PERIODS_TRIED]
    latest.sort(key=lambda period: not _fits_but_for_year(unread.raw, period, reference))
    some = tuple(dict.fromkeys(period.canonical for period in latest))[:_MOST_SUGGESTIONS]
    return Unread(unread.place, unread.param, unread.raw, some, ambiguous=False, explanation=unread.explanation)


def _fits_but_for_year(raw: str, period: Period, reference: date) -> bool:
    try:
        return same_days(parse_period(f"{raw} {period.last.year}", reference=reference), period)
    except PeriodError:
        return False
