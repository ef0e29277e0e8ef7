"""The sum of an additive metric over everything below an entity, each part cited (semantics 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import NamedTuple

from groundwire_server.evidence import (
    CancelToken,
    DerivedFigure,
    Label,
    Lineage,
    MetricKey,
    MetricQuery,
    MissingOperand,
    MissingReason,
    Operation,
    Period,
    PeriodKind,
    Refusal,
    RefusalReason,
    Snippet,
    Trust,
    make_refusal,
    make_snippet_id,
    text_sha256,
)
from groundwire_server.glossary import Additivity, Glossary, Resolved
from groundwire_server.metric.calculation import EXACT
from groundwire_server.metric.column import (
    FigureColumn,
    calendars_of,
    figures_of_many,
    single_line,
    whole_figures,
)
from groundwire_server.metric.exit import fact_lineage, fact_snippet
from groundwire_server.metric.fiscal import Days
from groundwire_server.metric.lookup import Found, LibraryView, fits_nature, look_up, look_up_key
from groundwire_server.metric.reading import Asking, Key
from groundwire_server.metric.statement import sum_statement
from groundwire_server.metric.units import unit_key
from groundwire_server.store import FactLine, line_of_fact

__all__ = ["Below", "RolledUp", "add_up", "is_additive"]

_MOST_MEMBERS = 100
_A_CHECK = 256


class Below(NamedTuple):
    """Something below the entity whose figure is asked for.

    is_entity: it can have figures. stands_for_others: what is below it is added up itself, so that a figure which this
        one lacks leaves no gap.
    """

    code: str
    is_entity: bool = True
    stands_for_others: bool = False


@dataclass(frozen=True, slots=True)
class RolledUp:
    """A sum and its parts.

    Attributes:
        figure: the derived figure; None where nothing below has one.
        parts: what was added, in the order of what is below.
        part_ids: ids of their snippets.
        spans: first and last day by fact_row, of parts whose period is of other days than that of the key.
    """

    key: MetricKey
    days: Period
    view: LibraryView
    figure: Snippet | None = None
    parts: tuple[FactLine, ...] = ()
    part_ids: tuple[str, ...] = ()
    spans: Mapping[int, Days] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=dict)
    repeats: Mapping[int, int] = field(default_factory=dict)

    @property
    def unlike_days(self) -> bool:
        """Whether the period is of other days for one part than for another."""
        return bool(self.spans) and len({self.span_of(part) for part in self.parts}) > 1

    def span_of(self, part: FactLine) -> Days:
        """First and last day of a part."""
        return self.spans.get(part.fact_row, (self.days.first, self.days.last))

    def part_snippets(self, language: str, begin: int = 0, end: int | None = None) -> list[Snippet]:
        """Snippets of the parts from one place to another, read now."""
        figures = whole_figures(self.view.figures, self.parts[begin:end], self.versions, self.repeats)
        glossary = self.view.vocabulary.glossary
        return [fact_snippet(figure, glossary, language, conflicting=False) for figure in figures]


def is_additive(metric: str, glossary: Glossary) -> bool:
    """Whether a metric may be added over entities: only where its term says so."""
    term = glossary.metrics.get(metric)
    return term is not None and term.additivity is Additivity.SUM


def add_up(
    query: MetricQuery,
    key: Key,
    below: Sequence[Below],
    view: LibraryView,
    asking: Asking,
    cancel: CancelToken,
    *,
    cut: bool,
) -> RolledUp | Refusal:
    """Add the figures of all that is below, each once, in decimal arithmetic; or why that cannot be.

    A figure whose sources disagree is none to add: it is named as missing, like one that is not there.

    Args:
        key: what the query means.
        below: in the order of the answer.
        cut: a bound was hit, so that there may be more below.
    """
    whole = MetricKey(key.metric, key.entity, key.period.canonical, key.channel, query.dimensions)
    adder = _Adder(query, key, view, asking)
    parts: list[FactLine] = []
    missing: list[MissingOperand] = []
    for place, each in enumerate(below):
        if place % _A_CHECK == 0:
            cancel.check("sum")
        part = adder.part(each) if each.is_entity else None
        if isinstance(part, FactLine):
            parts.append(part)
        elif part is not None or not each.stands_for_others:
            reason = part or MissingReason.NOT_FOUND
            missing.append(MissingOperand(replace(whole, entity=each.code), reason))
    if adder.unlike or len({unit_key(unit) for unit in {part.unit for part in parts}}) > 1:
        return make_refusal(RefusalReason.UNLIKE_UNITS, asking.language)
    if not parts:
        return RolledUp(whole, key.period, view)
    result = RolledUp(
        whole, key.period, view, None, tuple(parts), adder.ids_of(parts), adder.spans, adder.versions, adder.repeats
    )
    return replace(result, figure=_sum(result, missing, asking.language, partial=bool(missing) or cut))


class _Adder:
    """Finds the part of each entity: in the column of all of them where that says it, else by a look-up of its own."""

    def __init__(self, query: MetricQuery, key: Key, view: LibraryView, asking: Asking) -> None:
        self._query = query
        self._key = key
        self._view = view
        self._asking = asking
        self._glossary = view.vocabulary.glossary
        self._calendars = calendars_of(view.figures.reader, self._glossary)
        self._calendar = self._calendars.of(key.entity)
        self._is_fiscal = key.period.kind is PeriodKind.FISCAL
        self._column = self._read()
        self.unlike = False  # whether the sources of some part state it in several units
        self.spans: dict[int, Days] = {}
        self.versions: dict[str, int] = dict(self._column.versions) if self._column is not None else {}
        self.repeats: dict[int, int] = dict(self._column.repeats) if self._column is not None else {}

    def part(self, each: Below) -> FactLine | MissingReason | None:
        """The figure of one part, for which the period means the same days unless its own fiscal year says otherwise.

        None: it has none.
        """
        code, column = each.code, self._column
        if self._is_fiscal and self._calendars.of(code) is not self._calendar:
            return self._looked_up(code, None)
        if column is not None:
            line = column.lines.get(code)
            if line is not None:
                self.unlike = self.unlike or code in column.unlike
                return line
            if code in column.conflicting:
                return MissingReason.CONFLICTING
            if not self._is_fiscal:
                return None
        # A fiscal year may be one of 52 weeks, of other days.
        return self._looked_up(code, replace(self._key, entity=code))

    def ids_of(self, parts: Sequence[FactLine]) -> tuple[str, ...]:
        """Ids of their snippets."""
        column = self._column or FigureColumn({})
        return column.snippet_ids(self._view.library_id, parts, self.repeats)

    def _read(self) -> FigureColumn | None:
        """The column of all entities; None where a filter decides what counts, or further axes have names to read."""
        if self._query.dimensions or self._view.figures.call.options.filter is not None:
            return None
        if not fits_nature(self._key.metric, self._key.period, self._view.vocabulary):
            return FigureColumn({})
        key = self._key
        return figures_of_many(self._view.figures, self._glossary, key.metric, key.period, key.channel)

    def _looked_up(self, code: str, key: Key | None) -> FactLine | MissingReason | None:
        if key is not None and not self._query.dimensions:
            result = look_up_key(self._query, key, self._view, self._asking)
        else:  # by its code: the same word may be another entity's name
            own = replace(self._query, metric=self._key.metric, entity=code, channel=self._key.channel)
            result = look_up(own, self._view, self._asking, None, Resolved(code))
        if not isinstance(result, Found):
            return None
        lines = {figure.fact.fact_id: line_of_fact(figure.fact) for figure in result.figures}
        line, unlike = single_line(lines.values())
        if line is None:
            return MissingReason.CONFLICTING
        self.unlike = self.unlike or unlike
        figure = next(figure for figure in result.figures if figure.fact.fact_row == line.fact_row)
        if figure.version is not None:
            self.versions[line.fact_id] = figure.version.latest_version
        if figure.repeat:
            self.repeats[line.fact_row] = figure.repeat
        span = figure.record.period_first, figure.record.period_last
        if span != (self._key.period.first, self._key.period.last):
            self.spans[line.fact_row] = span
        return line


def _sum(result: RolledUp, missing: Sequence[MissingOperand], language: str, *, partial: bool) -> Snippet:
    total = Decimal(0)
    for part in result.parts:
        total = EXACT.add(total, Decimal(part.value))
    key, value, unit = result.key, format(total, "f"), result.parts[0].unit
    library_id = result.view.library_id
    what = " ".join((Operation.ROLLUP.name, key.metric, key.entity, key.period, key.channel, *result.part_ids))
    glossary = result.view.vocabulary.glossary
    members = whole_figures(result.view.figures, result.parts[:_MOST_MEMBERS], result.versions, result.repeats)
    return Snippet(
        snippet_id=make_snippet_id("derived", library_id, what, text_sha256(f"{value} {unit} {partial}")),
        lineage=Lineage(
            library_id=library_id,
            members=tuple(fact_lineage(figure) for figure in members),
            members_omitted=max(0, len(result.parts) - _MOST_MEMBERS),
        ),
        trust=Trust.CITABLE,
        payload=DerivedFigure(
            operation=Operation.ROLLUP,
            expression="sum",
            value=value,
            unit=unit,
            rounded=False,
            statement=sum_statement(
                key, value, unit, glossary, language, partial=partial, unlike_days=result.unlike_days
            ),
            unlike_days=result.unlike_days,
            key=key,
            operand_ids=result.part_ids,
            partial=partial,
            missing=tuple(missing),
        ),
        label=Label(max(part.label for part in result.parts)),
    )
