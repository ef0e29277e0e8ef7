"""From a reading to a route, by rules (semantics 11, "Router, settled").

Structured when a figure is asked for whose parts are named; narrative when text is asked for; both when both are, or
in doubt. A name that is not known goes to the structured side as it stands, so that its outcome says so: nothing is
guessed. Where the rules are not sure, a classifier may weigh the routes, within the bounds of `rails`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundwire_server.evidence import Span
from groundwire_server.glossary import PeriodFault
from groundwire_server.query import split_questions
from groundwire_server.router.classifier import RouteClassifier
from groundwire_server.router.complexity import needs_several_steps
from groundwire_server.router.cues import Cue, is_greeting
from groundwire_server.router.frames import Complexity, Route
from groundwire_server.router.otherwise import (
    belongs_to_entity,
    computed_metric,
    joined_name,
    narrows_metric,
    taken_out,
)
from groundwire_server.router.rails import allowed_routes, choose
from groundwire_server.router.reading import Named, Phrase, Reading
from groundwire_server.router.words import PER_WORDS, is_measure
from groundwire_server.text import is_cjk

__all__ = ["Decision", "Wanted", "decide", "wanted_of"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The figures that a question names, each part as a metric query takes it. `missing`: the first part not named."""

    metrics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    missing: str = ""

    @property
    def count(self) -> int:
        """How many queries that makes."""
        return len(self.metrics) * len(self.entities) * len(self.periods) * max(1, len(self.channels))


@dataclass(frozen=True, slots=True)
class Decision:
    """A route, how sure, why, and the figures that the structured side would look up.

    weighed_by: the classifier whose odds decided; empty: the rules did.
    """

    route: Route
    confidence: float
    reason: str
    complexity: Complexity
    wanted: Wanted
    asks_nothing: bool = False
    weighed_by: str = ""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a figure that a reading names, known or not."""

    metrics: tuple[Named, ...]
    entities: tuple[Named, ...]
    unknown_metric: str = ""
    unknown_entities: tuple[str, ...] = ()
    unknown_channel: str = ""
    unexplained: tuple[Phrase, ...] = ()

    @property
    def metric_names(self) -> tuple[str, ...]:
        """Codes or names of metrics."""
        return (self.unknown_metric,) if self.unknown_metric else tuple(each.said for each in self.metrics)

    @property
    def entity_names(self) -> tuple[str, ...]:
        """Codes or names of entities, the known ones first."""
        return (*(each.said for each in self.entities), *self.unknown_entities)


def decide(reading: Reading, classifier: RouteClassifier | None = None) -> Decision:
    """The route of a question. `classifier`: who weighs it where the rules are not sure; None: the rules alone."""
    if is_greeting(reading.question):
        return Decision(Route.NARRATIVE, 0.5, "it asks nothing", Complexity.SIMPLE, Wanted(), asks_nothing=True)
    parts = _parts(reading)
    route, confidence, why = _route(reading, parts)
    weighed_by = ""
    if classifier is not None and allowed_routes(reading, route, confidence) != (route,):
        route, confidence, why = _weighed(classifier, reading, route, confidence, why)
        weighed_by = classifier.name
    wanted = Wanted() if route is Route.NARRATIVE else _wanted(reading, parts)
    complexity = _complexity(reading, route, wanted)
    reason = f"{_named(reading, parts)}{why}"
    return Decision(route, confidence, reason, complexity, wanted, weighed_by=weighed_by)


def wanted_of(reading: Reading) -> Wanted:
    """The figures that a question names, whatever its route."""
    return _wanted(reading, _parts(reading))


def _weighed(
    classifier: RouteClassifier, reading: Reading, by_rules: Route, confidence: float, why: str
) -> tuple[Route, float, str]:
    """The classifier's choice among the routes that the rules leave open."""
    allowed = allowed_routes(reading, by_rules, confidence)
    odds = classifier.classify(reading, by_rules, confidence)
    likely = ", ".join(f"{route.name.lower()} {odds.of(route):.2f}" for route in Route)
    route = choose(odds, allowed)
    return route, round(odds.of(route), 2), f"{why}; {classifier.name}: {likely}"


def _route(reading: Reading, parts: _Parts) -> tuple[Route, float, str]:
    has_period = bool(reading.periods)
    complete = bool(parts.metric_names and parts.entity_names and has_period)
    asks_figure = reading.has(Cue.FIGURE)
    if not parts.metric_names:
        return Route.NARRATIVE, 0.9 if reading.has(*_TEXT_CUES) else 0.7, "no metric"
    if reading.has(Cue.DEFINE) and not has_period and not asks_figure:
        return Route.NARRATIVE, 0.9, f"a definition ({reading.first(Cue.DEFINE)!r})"
    if reading.has(Cue.EXPLAIN):
        cue = f"cue {reading.first(Cue.EXPLAIN)!r}"
        both = complete or asks_figure or _asks_both(reading, parts)
        return (Route.COMPOSITE if both else Route.NARRATIVE), 0.8, cue
    if reading.has(Cue.WHO) and not asks_figure:
        cue = f"cue {reading.first(Cue.WHO)!r}"
        return (Route.COMPOSITE, 0.5, cue) if complete and not parts.unknown_metric else (Route.NARRATIVE, 0.8, cue)
    if parts.unknown_metric and not is_measure(parts.unknown_metric):
        known = "a name that is no known metric"
        return (Route.COMPOSITE, 0.5, known) if parts.metrics and complete else (Route.NARRATIVE, 0.6, known)
    if complete:
        if parts.unexplained:
            return Route.COMPOSITE, 0.6, f"and more: {parts.unexplained[0].raw!r}"
        return (
            Route.STRUCTURED,
            0.95 if not (parts.unknown_metric or parts.unknown_entities) else 0.8,
            "all parts named",
        )
    if asks_figure or (reading.has(Cue.WHAT) and (parts.entity_names or has_period)):
        cue = f"cue {reading.first(Cue.FIGURE, Cue.WHAT)!r}"
        doubt = parts.unexplained or parts.unknown_entities
        return (Route.COMPOSITE, 0.5, cue) if doubt else (Route.STRUCTURED, 0.7, cue)
    if (parts.entity_names or has_period) and not parts.unexplained:
        return Route.COMPOSITE, 0.5, "in doubt"
    return Route.NARRATIVE, 0.6, "no figure is asked for"


_TEXT_CUES = (Cue.EXPLAIN, Cue.WHO, Cue.DEFINE)


def _asks_both(reading: Reading, parts: _Parts) -> bool:
    """What was the GDP of Japan, and why: a figure first, then its reason."""
    whats, whys = reading.places(Cue.WHAT), reading.places(Cue.EXPLAIN)
    at = [metric.span.start for metric in parts.metrics]
    return bool(whats and whys and at and parts.entities) and min(whats) < min(at) < max(whys)


def _parts(reading: Reading) -> _Parts:
    """Give every phrase its place: a name of a metric, entity or channel that is not known, or nothing of these."""
    metrics, entities = reading.of_kind("metric"), reading.of_kind("entity")
    alone = len(reading.periods) < 2 and len(entities) < 2 and not reading.has(Cue.EXPLAIN)
    unknown_metric = ""
    phrases = list(reading.phrases)
    for metric in metrics:
        beside = [
            phrase
            for phrase in phrases
            if (
                _makes_another(phrase, metric, reading, known_entity=bool(entities))
                or narrows_metric(phrase, metric, entities, reading)
            )
            and (alone or not reading.only_compares(phrase))
            and (is_measure(phrase.raw) or not reading.has(Cue.EXPLAIN))  # else it is what became of the metric
        ]
        if beside:
            unknown_metric = _stretch(reading, [metric.span, *(phrase.span for phrase in beside)])
            phrases = [phrase for phrase in phrases if phrase not in beside]
    phrases = [phrase for phrase in phrases if not reading.only_compares(phrase)]
    if alone and not unknown_metric and len(metrics) == 1:
        unknown_metric = computed_metric(metrics[0], reading)
    others: tuple[str, ...] = ()
    if metrics:  # else what stands beside an entity may be the metric
        entities, others, phrases = _known_and_others(entities, metrics, phrases, reading)
    parts = _Parts(metrics, entities, unknown_metric, others, unexplained=tuple(phrases))
    if len(phrases) != 1 or (reading.has(*_TEXT_CUES) and not reading.has(Cue.FIGURE)):
        return parts
    (phrase,) = phrases
    if not metrics:
        # A figure of a known entity in a period, under a name that is not known.
        is_figure = is_measure(phrase.raw) or (reading.has(Cue.FIGURE) and is_cjk(phrase.raw[-1]))
        if entities and reading.periods and is_figure:
            return replace(parts, unknown_metric=phrase.raw, unexplained=())
    elif not parts.entity_names:
        named = _is_name(phrase.raw) or is_cjk(phrase.raw[-1])
        if reading.periods or (named and reading.has(Cue.FIGURE, Cue.WHAT)):
            return replace(parts, unknown_entities=(phrase.raw,), unexplained=())
    elif entities and not reading.of_kind("channel") and _is_part(phrase, reading):
        return replace(parts, unknown_channel=phrase.raw, unexplained=())
    return parts


def _known_and_others(
    entities: Sequence[Named], metrics: Sequence[Named], phrases: Sequence[Phrase], reading: Reading
) -> tuple[tuple[Named, ...], tuple[str, ...], list[Phrase]]:
    """The entities that are meant, names of such as are not known, and the phrases that are left."""
    known: list[Named] = []
    others: dict[str, None] = {}
    taken: list[Phrase] = []
    for entity in entities:
        beside = [phrase for phrase in phrases if belongs_to_entity(phrase, entity, metrics, reading)]
        if beside:
            others[_stretch(reading, [entity.span, *(phrase.span for phrase in beside)])] = None
        elif without := taken_out(entity.span, reading):
            others[without] = None
        else:
            known.append(entity)
        taken += beside
        for phrase in phrases:
            if phrase not in taken and (name := joined_name(phrase, entity, reading)):
                others[name] = None
                taken.append(phrase)
    return tuple(known), tuple(others), [phrase for phrase in phrases if phrase not in taken]


def _makes_another(phrase: Phrase, metric: Named, reading: Reading, *, known_entity: bool) -> bool:
    """Whether a phrase and a metric's name are one name: population density, 一人当たりGDP, GDP per capita."""
    question = reading.question
    if phrase.span.start >= metric.span.end:
        between = question[metric.span.end : phrase.span.start]
        for opening, closing in ("()", "（）"):  # the bracket that closes a name is no part of its place
            if metric.raw.count(opening) > metric.raw.count(closing):
                between = between.removeprefix(closing)
        return _is_blank(between) or (between.split() or [""])[0].casefold() in PER_WORDS
    between = question[phrase.span.end : metric.span.start]
    if between in ("当たり", "あたり", "当たりの", "あたりの", "たり", "たりの"):
        return True
    if not _is_blank(between):
        return False
    # Before the metric stands an entity that is not known, unless there is a known one, or it is written as no name is.
    return known_entity or (not _is_name(phrase.raw) and not is_cjk(phrase.raw[-1]))


def _is_blank(between: str) -> bool:
    return not between.strip(" \t\u3000-‐‑–")


def _is_name(phrase: str) -> bool:
    """Whether a phrase of a script with capitals is written as a name is."""
    return any(character.isupper() for character in phrase)


def _is_part(phrase: Phrase, reading: Reading) -> bool:
    """Whether a phrase says which part of the whole is meant: "for Cloud", "(Cloud)", クラウドの."""
    before = reading.question[: phrase.span.start].rstrip().casefold()
    after = reading.question[phrase.span.end :].lstrip()
    bracketed = before.endswith(("(", "（", "[")) and after.startswith((")", "）", "]"))
    words = before.replace("(", " ").split()
    led = bool(words) and (words[-1] in ("for", "in", "from", "by") or words[-2:] in (["for", "the"], ["in", "the"]))
    attributive = is_cjk(phrase.raw[-1]) and after.startswith(("の", "的"))
    return (bracketed or led or attributive) and len(phrase.raw.split()) <= 5


def _stretch(reading: Reading, spans: list[Span]) -> str:
    return reading.question[min(span.start for span in spans) : max(span.end for span in spans)]


def _wanted(reading: Reading, parts: _Parts) -> Wanted:
    unreadable = [
        each
        for each in reading.periods
        if each.error is not None and each.error.fault in (PeriodFault.NO_YEAR, PeriodFault.AMBIGUOUS)
    ]
    periods = tuple(
        dict.fromkeys(
            taken_out(each.span, reading) or (each.text if each.period is None else each.period.canonical)
            for each in reading.periods
        )
    )
    channels = tuple(name.said for name in reading.of_kind("channel"))
    missing = ""
    if not parts.metric_names:
        missing = "metric"
    elif not parts.entity_names and not parts.unknown_metric:
        missing = "entity"
    elif (not periods or unreadable) and not parts.unknown_metric and not parts.unknown_entities:
        missing = "period"
    return Wanted(
        metrics=parts.metric_names,
        entities=parts.entity_names or ("",),
        periods=periods or ("",),
        channels=channels or ((parts.unknown_channel,) if parts.unknown_channel else ()),
        missing=missing,
    )


def _complexity(reading: Reading, route: Route, wanted: Wanted) -> Complexity:
    if route is Route.COMPOSITE or wanted.count > 1 or (route is Route.STRUCTURED and reading.has(Cue.COMPUTE)):
        return Complexity.MULTI
    if route is Route.STRUCTURED:
        several = len(split_questions(reading.question, reading.language)) > 1
        return Complexity.MULTI if several else Complexity.SIMPLE
    return Complexity.MULTI if needs_several_steps(reading.question, reading.language) else Complexity.SINGLE


def _named(reading: Reading, parts: _Parts) -> str:
    """What was recognised, for people: "metric REVENUE, entity ACME, period 2023; "."""
    known = [
        f"{name.kind} {name.said}" for name in reading.names if not (name.kind == "metric" and parts.unknown_metric)
    ]
    known += [f"period {each.period.canonical if each.period else each.text}" for each in reading.periods]
    known += [
        f"unknown {kind} {raw!r}"
        for kind, raw in (
            ("metric", parts.unknown_metric),
            *(("entity", name) for name in parts.unknown_entities),
            ("channel", parts.unknown_channel),
        )
        if raw
    ]
    return ", ".join(known) + "; " if known else ""
