"""The sum of an additive metric over everything below an entity, each part cited (semantics 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from groundwire_server.evidence import (
    CancelToken,
    DerivedFigure,
    Lineage,
    MetricKey,
    MetricQuery,
    MissingOperand,
    MissingReason,
    Operation,
    Refusal,
    RefusalReason,
    Snippet,
    Trust,
    make_refusal,
    make_snippet_id,
    text_sha256,
)
from groundwire_server.glossary import Additivity, Glossary, Resolved
from groundwire_server.metric.calculation import EXACT, Operand, single_figure
from groundwire_server.metric.conflict import conflicting_figures
from groundwire_server.metric.exit import fact_lineage, fact_snippet, fact_snippet_id
from groundwire_server.metric.figures import Figure
from groundwire_server.metric.lookup import Found, LibraryView, look_up, look_up_key
from groundwire_server.metric.reading import Asking, Key
from groundwire_server.metric.statement import sum_statement
from groundwire_server.metric.units import unit_key

__all__ = ["Below", "RolledUp", "add_up", "is_additive"]

_MOST_MEMBERS = 100
# Parts that are looked up one by one; more are read at once.
_FEW = 50


@dataclass(frozen=True, slots=True)
class Below:
    """Something below the entity whose figure is asked for.

    is_entity: it can have figures. stands_for_others: what is below it is added up itself, so that a figure which this
        one lacks leaves no gap.
    """

    code: str
    is_entity: bool = True
    stands_for_others: bool = False


@dataclass(frozen=True, slots=True)
class RolledUp:
    """The derived figure and its operands in node order, with their figures; none where nothing below has one."""

    key: MetricKey
    figure: Snippet | None = None
    operands: tuple[Snippet, ...] = ()
    figures: tuple[Figure, ...] = ()


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
    figures: list[Figure] = []
    missing: list[MissingOperand] = []
    if len(below) > _FEW:
        view.figures.read_ahead(key.metric, key.period, key.channel)
    for each in below:
        cancel.check("sum")
        found = _operand(query, key, each, view, asking)
        single = single_figure(found) if found is not None else None
        if single is not None and found is not None:
            figures.append(single)
            if len({unit_key(figure.record.unit) for figure in (*found.figures, figures[0])}) > 1:
                return make_refusal(RefusalReason.UNLIKE_UNITS, asking.language)
        elif found is not None or not each.stands_for_others:
            reason = MissingReason.NOT_FOUND if found is None else MissingReason.CONFLICTING
            missing.append(MissingOperand(replace(whole, entity=each.code), reason))
    if not figures:
        return RolledUp(whole)
    glossary = view.vocabulary.glossary
    return RolledUp(
        whole,
        _sum(whole, figures, missing, glossary, asking.language, partial=bool(missing) or cut),
        tuple(fact_snippet(figure, glossary, asking.language, conflicting=False) for figure in figures),
        tuple(figures),
    )


def _operand(query: MetricQuery, key: Key, each: Below, view: LibraryView, asking: Asking) -> Operand | None:
    """The figure of one part, for which the period means the same days unless its own fiscal year says otherwise."""
    if not each.is_entity:
        return None
    glossary = view.vocabulary.glossary
    if not query.dimensions and glossary.fiscal_calendar(each.code) == glossary.fiscal_calendar(key.entity):
        result = look_up_key(query, replace(key, entity=each.code), view, asking)
    else:
        # By its code: the same word may be another entity's name.
        own = replace(query, metric=key.metric, entity=each.code, channel=key.channel)
        result = look_up(own, view, asking, None, Resolved(each.code))
    if not isinstance(result, Found):
        return None
    clashing = bool(conflicting_figures(result.figures))
    return Operand(result.key, result.figures, clashing, view.vocabulary.glossary)


def _sum(
    key: MetricKey,
    figures: Sequence[Figure],
    missing: Sequence[MissingOperand],
    glossary: Glossary,
    language: str,
    *,
    partial: bool,
) -> Snippet:
    total = Decimal(0)
    for figure in figures:
        total = EXACT.add(total, Decimal(figure.record.value))
    value, unit = format(total, "f"), figures[0].record.unit
    library_id = figures[0].library_id
    ids = tuple(fact_snippet_id(figure.library_id, figure.fact) for figure in figures)
    what = " ".join((Operation.ROLLUP.name, key.metric, key.entity, key.period, key.channel, *ids))
    return Snippet(
        snippet_id=make_snippet_id("derived", library_id, what, text_sha256(f"{value} {unit} {partial}")),
        lineage=Lineage(
            library_id=library_id,
            members=tuple(fact_lineage(figure) for figure in figures[:_MOST_MEMBERS]),
            members_omitted=max(0, len(figures) - _MOST_MEMBERS),
        ),
        trust=Trust.CITABLE,
        payload=DerivedFigure(
            operation=Operation.ROLLUP,
            expression="sum",
            value=value,
            unit=unit,
            rounded=False,
            statement=sum_statement(key, value, unit, glossary, language, partial=partial),
            key=key,
            operand_ids=ids,
            partial=partial,
            missing=tuple(missing),
        ),
        label=max(figure.record.label for figure in figures),
    )
