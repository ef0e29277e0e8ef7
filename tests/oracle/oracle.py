"""What QueryMetric must answer, worked out from the contract alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from tests.oracle.formula import divide, evaluate, operands
from tests.oracle.names import exact_key
from tests.oracle.periods import Days, Unread, read_period
from tests.oracle.shelf import Figure, Key, Rejection, Shelf, View
from tests.oracle.world import Calculation, Call, Query, World

__all__ = ["Computed", "Expected", "Found", "NotFound", "Oracle", "Refused", "Unrecognized", "disagree", "latest"]


@dataclass(frozen=True)
class Computed:
    """A figure made of stored ones."""

    operation: str
    values: frozenset[
        tuple[Decimal, bool]
    ]  # value and whether it is rounded: one, or one a choice among equal operands
    unit: str | None  # None: nothing says which
    figures: frozenset[Figure]  # all that may be cited


@dataclass(frozen=True)
class Found:
    """There are figures: stored, or one that was computed."""

    keys: frozenset[Key]  # it may be told by any of these
    figures: frozenset[Figure]
    conflicting: bool
    computed: tuple[tuple[int, Computed], ...] = ()  # by library, where none has a stored one
    decided: frozenset[tuple[str, str, str]] = frozenset()  # param, raw, code: what a name of several meanings may be


@dataclass(frozen=True)
class NotFound:
    """Every name is known, and there is no figure."""

    keys: frozenset[Key]


@dataclass(frozen=True)
class Unrecognized:
    """A name is not known, or means several things."""

    param: str
    raw: str
    ambiguous: bool = False
    candidates: frozenset[str] = frozenset()  # codes or days, where it is ambiguous
    explained: bool = False


@dataclass(frozen=True)
class Refused:
    """A calculation that cannot be made, for one of these reasons: either operand may be named first."""

    reasons: frozenset[str]


Outcome = Found | NotFound | Unrecognized


@dataclass(frozen=True)
class Expected:
    """The whole answer to one call."""

    outcomes: tuple[Outcome, ...]
    calculations: tuple[Computed | Refused, ...]
    views: tuple[View, ...]
    outside: bool = False  # a name that the server does not answer about: nothing but a refusal


class _Stop(Exception):
    """A name that ends the reading of a query."""

    def __init__(self, outcome: Unrecognized) -> None:
        super().__init__(outcome.param)
        self.outcome = outcome


class Oracle:
    """All libraries of a world, as they fill and as they are asked."""

    def __init__(self, world: World, outside: Sequence[str] = ()) -> None:
        self.world = world
        self.outside = outside
        self.shelves = [Shelf(number, plan) for number, plan in enumerate(world.libraries)]
        self.moments: list[datetime] = []

    def take(self, moment: datetime) -> list[Rejection]:
        """The next batch came in, and was in by this moment; gives the rows to be refused."""
        number = len(self.moments)
        batch = self.world.batches[number]
        self.moments.append(moment)
        return self.shelves[batch.library].take(number, batch.rows, moment.date())

    def answer(self, call: Call, now: datetime) -> Expected:
        """What a call must be answered, at a moment."""
        chosen = call.libraries or range(len(self.shelves))
        views = tuple(
            View(self.shelves[number], call, self.world.clearance, now, self.moments) for number in sorted(set(chosen))
        )
        if any(_is_outside(each, self.outside) for each in call.asked()):
            return Expected((), (), views, outside=True)
        outcomes = tuple(self._together([_one(view, query) for view in views]) for query in call.asked())
        calculations = tuple(_calculate(each, outcomes) for each in call.calculations)
        return Expected(outcomes, calculations, views)

    def _together(self, outcomes: Sequence[Outcome]) -> Outcome:
        """One outcome of all libraries: figures before none, none before a name that is not known."""
        found = [each for each in outcomes if isinstance(each, Found)]
        stored = [each for each in found if each.figures] or found
        if stored:
            figures = frozenset().union(*(each.figures for each in stored))
            keys = frozenset().union(*(each.keys for each in stored))
            decided = frozenset().union(*(each.decided for each in stored))
            computed = tuple(each for one in stored for each in one.computed)
            return Found(keys, figures, conflict(figures) or _differ(computed), computed, decided)
        none = [each for each in outcomes if isinstance(each, NotFound)]
        if none:
            return NotFound(frozenset().union(*(each.keys for each in none)))
        unknown = [each for each in outcomes if isinstance(each, Unrecognized)]
        furthest = max((_how_far(each), each.ambiguous) for each in unknown)
        alike = [each for each in unknown if (_how_far(each), each.ambiguous) == furthest]
        return replace(alike[0], candidates=frozenset().union(*(each.candidates for each in alike)))


def _is_outside(query: Query, outside: Sequence[str]) -> bool:
    """Whether a query names somebody who is not answered about; borders of words as blanks, where there are any."""
    said = [query.metric, query.entity, query.channel, *(member for _, member in query.dims)]
    texts = [f" {exact_key(each)} " for each in said]
    names = [exact_key(each) for each in outside]
    return any((f" {name} " if name.isascii() else name) in text for name in names for text in texts)


_ORDER = ("metric", "entity", "period", "channel")


def _how_far(unknown: Unrecognized) -> int:
    return _ORDER.index(unknown.param) if unknown.param in _ORDER else len(_ORDER)


def _one(view: View, query: Query) -> Outcome:
    """The outcome of one query in one library."""
    try:
        readings = _readings(view, query)
    except _Stop as stop:
        return stop.outcome
    if len(readings) == 1:
        return _look_up(view, query, readings[0])
    found = {each: frozenset(view.figures(each)) for each in readings}
    there = [each for each in readings if found[each]]
    decided = _several(query, readings)
    if len(there) == 1:
        return Found(frozenset(there), found[there[0]], conflict(found[there[0]]), (), decided)
    everything = frozenset().union(*found.values())
    if len(there) == len(readings) and len({(each.number, each.unit.casefold()) for each in everything}) == 1:
        return Found(frozenset(there), everything, False, (), decided)
    return _ambiguous(query, readings)


def _several(query: Query, readings: Sequence[Key]) -> frozenset[tuple[str, str, str]]:
    slots = (
        ("metric", query.metric, {each.metric for each in readings}),
        ("entity", query.entity, {each.entity for each in readings}),
        ("channel", query.channel, {each.channel for each in readings}),
    )
    return frozenset((param, raw, code) for param, raw, codes in slots if len(codes) > 1 for code in codes)


def _ambiguous(query: Query, readings: Sequence[Key]) -> Unrecognized:
    slots = (
        ("metric", query.metric, {each.metric for each in readings}),
        ("entity", query.entity, {each.entity for each in readings}),
        ("channel", query.channel, {each.channel for each in readings}),
    )
    for param, raw, codes in slots:
        if len(codes) > 1:
            return Unrecognized(param, raw, True, frozenset(codes))
    for axis, raw in sorted(query.dims):
        codes = {dict(each.dims)[axis] for each in readings}
        if len(codes) > 1:
            return Unrecognized(axis, raw, True, frozenset(codes))
    raise AssertionError(readings)


def _readings(view: View, query: Query) -> list[Key]:
    """Every key that a query may mean.

    Raises:
        _Stop: a name is not known, or means several things before one that is not.
    """
    several: Unrecognized | None = None
    read: dict[str, list[str]] = {}
    slots = [("metric", query.metric, "metric", ""), ("entity", query.entity, "entity", "")]
    slots.append(("channel", query.channel, "channel", ""))
    slots += [(axis, member, "dimension", axis) for axis, member in sorted(query.dims)]
    days: dict[str, Days] = {}
    try:
        for param, raw, kind, axis in slots:
            read[param] = _codes(view, kind, raw, param, axis)
            if len(read[param]) > 1 and several is None:
                several = Unrecognized(param, raw, True, frozenset(read[param]))
            if param == "entity":
                days = {entity: _days(view, query.period, entity) for entity in read[param]}
    except _Stop as stop:
        raise (_Stop(several) if several else stop) from None
    members = [[(axis, code) for code in read[axis]] for axis, _ in sorted(query.dims)]
    return [
        Key(metric, entity, days[entity], channel, dims)
        for metric, entity, channel in itertools.product(read["metric"], read["entity"], read["channel"])
        for dims in itertools.product(*members)
    ]


def _codes(view: View, kind: str, raw: str, param: str, axis: str = "") -> list[str]:
    if kind == "channel" and raw.strip().casefold() in ("", "total"):
        return ["TOTAL"]
    if kind == "dimension" and axis not in view.axes():
        raise _Stop(Unrecognized(param, raw))
    meant = view.shelf.glossary.names(kind, axis, view.codes(kind, axis)).read(raw)
    if not meant:
        raise _Stop(Unrecognized(param, raw))
    return sorted(meant)


def _days(view: View, raw: str, entity: str) -> Days:
    call = view.call
    years = view.shelf.glossary.years(entity)
    try:
        return read_period(raw, reference=_reference(call, view.now), language=call.language, years=years)
    except Unread as unread:
        readings = frozenset(_name(Days(each, each)) for each in unread.readings)
        raise _Stop(Unrecognized("period", raw, bool(readings), readings, explained=True)) from None


def _name(days: Days) -> str:
    return f"{days.first}/{days.last}"


def _reference(call: Call, now: datetime) -> date:
    if call.reference:
        return date.fromisoformat(call.reference)
    return (call.valid_at or now).astimezone(UTC).date()


def _look_up(view: View, query: Query, key: Key) -> Outcome:
    figures = frozenset(view.figures(key))
    if figures:
        return Found(frozenset([key]), figures, conflict(figures))
    computed = _derive(view, key, ())
    if computed is not None:
        return Found(frozenset([key]), frozenset(), False, ((view.shelf.number, computed),))
    spans = view.own_spans(key) if key.days.fiscal else []
    if not figures and len(spans) > 1:
        return Unrecognized("period", query.period, True, frozenset(map(_name, spans)), explained=True)
    return NotFound(frozenset([key]))


def _derive(view: View, key: Key, above: tuple[str, ...]) -> Computed | None:
    """A figure by the glossary's formula, where there is one and all of its operands are there."""
    term = view.shelf.glossary.term("metric", key.metric)
    if term is None or not term.derivation or key.metric in above:
        return None
    if term.nature and (term.nature == "instant") != key.days.instant:
        return None
    parts: dict[str, Computed] = {}
    for code in operands(term.derivation):
        part = Key(code, key.entity, key.days, key.channel, key.dims)
        figures = view.figures(part)
        read = _read(figures) if figures else _derive(view, part, (*above, key.metric))
        if not isinstance(read, Computed):
            return None
        parts[code] = read
    if len({each.unit.casefold() for each in parts.values() if each.unit}) > 1:
        return None
    values = set()
    for chosen in itertools.product(*(each.values for each in parts.values())):
        numbers = {code: value for code, (value, _) in zip(parts, chosen, strict=True)}
        try:
            value, rounded = evaluate(term.derivation, numbers.__getitem__)
        except ZeroDivisionError:
            return None
        values.add((value, rounded or any(each for _, each in chosen)))
    cited = frozenset().union(*(each.figures for each in parts.values()))
    return Computed("FORMULA", frozenset(values), term.unit or None, cited)


def _step(figure: Figure) -> Fraction:
    """The place to which a source vouches for a figure: `decimals`, else the last digit that it wrote."""
    decimals = figure.decimals
    if decimals is None:
        decimals = len(figure.value.partition(".")[2])
    return 1 / Fraction(10) ** decimals


def disagree(one: Figure, other: Figure) -> bool:
    """Whether two sources contradict each other: no number is within half a step of what each of them says."""
    if (one.library, one.source) == (other.library, other.source) or one.unit.casefold() != other.unit.casefold():
        return False
    return abs(Fraction(one.value) - Fraction(other.value)) * 2 >= _step(one) + _step(other)


def conflict(figures: frozenset[Figure] | Sequence[Figure]) -> bool:
    """Whether any two of them do; of several versions of a source the latest speaks."""
    last = latest(figures)
    return any(disagree(one, other) for one, other in itertools.combinations(last, 2))


def latest(figures: frozenset[Figure] | Sequence[Figure]) -> list[Figure]:
    """The last version of what each source says."""
    best: dict[tuple[int, str, str], Figure] = {}
    for each in figures:
        place = (each.library, each.source, each.unit.casefold())
        if place not in best or (each.version or (0, 0)) > (best[place].version or (0, 0)):
            best[place] = each
    return list(best.values())


def _read(figures: frozenset[Figure] | Sequence[Figure]) -> Computed | Refused:
    """What a calculation takes of the figures of one key: of several that agree the most precise."""
    if conflict(figures):
        return Refused(frozenset(["OPERAND_CONFLICTING"]))
    last = latest(figures)
    if len({each.unit.casefold() for each in last}) > 1:
        return Refused(frozenset(["UNLIKE_UNITS"]))
    finest = min(_step(each) for each in last)
    values = frozenset((each.number, False) for each in last if _step(each) == finest)
    return Computed("", values, last[0].unit, frozenset(figures))


def _operand(outcome: Outcome) -> Computed | Refused:
    if not isinstance(outcome, Found):
        return Refused(frozenset(["OPERAND_MISSING"]))
    if not outcome.computed:
        return _read(outcome.figures)
    if _differ(outcome.computed):
        return Refused(frozenset(["OPERAND_CONFLICTING"]))
    if len({(each.unit or "").casefold() for _, each in outcome.computed}) > 1:
        return Refused(frozenset(["UNLIKE_UNITS"]))
    first = outcome.computed[0][1]
    return replace(first, figures=frozenset().union(*(each.figures for _, each in outcome.computed)))


def _differ(computed: Sequence[tuple[int, Computed]]) -> bool:
    """Whether libraries compute one figure to different values."""
    return any(
        not one.values & other.values and (one.unit or "").casefold() == (other.unit or "").casefold()
        for (_, one), (_, other) in itertools.combinations(computed, 2)
    )


def _calculate(asked: Calculation, outcomes: Sequence[Outcome]) -> Computed | Refused:
    read = [_operand(outcomes[asked.first]), _operand(outcomes[asked.second])]
    reasons = frozenset().union(*(each.reasons for each in read if isinstance(each, Refused)))
    first, second = read
    if not isinstance(first, Computed) or not isinstance(second, Computed):
        return Refused(reasons)
    units = {unit.casefold() for unit in (first.unit, second.unit) if unit is not None}
    if len(units) > 1:
        return Refused(frozenset(["UNLIKE_UNITS"]))
    values = set()
    for one, other in itertools.product(first.values, second.values):
        if asked.first == asked.second and one != other:
            continue
        made = _compute(asked.operation, one[0], other[0])
        if made is None:
            return Refused(frozenset(["DIVISION_BY_ZERO"]))
        values.add((made[0], made[1] or one[1] or other[1]))
    unit = first.unit if asked.operation == "DIFFERENCE" else "RATIO"
    return Computed(asked.operation, frozenset(values), unit, first.figures | second.figures)


def _compute(operation: str, first: Decimal, second: Decimal) -> tuple[Decimal, bool] | None:
    """The value and whether it was rounded; None: a division by zero."""
    numbers = {"a": first, "b": second}.__getitem__
    if operation == "DIFFERENCE":
        return evaluate("a - b", numbers)
    above, below = (first, second) if operation == "RATIO" else (evaluate("b - a", numbers)[0], first.copy_abs())
    return divide(above, below) if below else None
