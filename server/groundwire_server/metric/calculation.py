"""Differences, ratios and growth of stored figures, in decimal arithmetic, with every operand cited."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact

from groundwire_server.evidence import (
    DerivedFigure,
    Lineage,
    MetricKey,
    Operation,
    Refusal,
    RefusalReason,
    Snippet,
    Trust,
    make_refusal,
    make_snippet_id,
    text_sha256,
)
from groundwire_server.glossary import Glossary
from groundwire_server.metric.exit import fact_lineage, fact_snippet_id
from groundwire_server.metric.figures import Figure
from groundwire_server.metric.statement import derived_statement
from groundwire_server.metric.units import unit_key

__all__ = ["DIGITS", "EXACT", "RATIO", "Operand", "calculate", "single_figure"]

DIGITS = 34
# Sums and differences are exact for every value that can be stored; only divisions are rounded.
EXACT = Context(prec=8000)
RATIO = "RATIO"
_EXPRESSIONS = {
    Operation.DIFFERENCE: "#1 - #2",
    Operation.RATIO: "#1 / #2",
    Operation.GROWTH: "(#2 - #1) / |#1|",
}


@dataclass(frozen=True, slots=True)
class Operand:
    """A query that was found: its key, its figures, whether its sources disagree, and the glossary that named it."""

    key: MetricKey
    figures: tuple[Figure, ...]
    conflicting: bool
    glossary: Glossary


def calculate(operation: Operation, first: Operand | None, second: Operand | None, language: str) -> Snippet | Refusal:
    """The computed figure, or why there is none. None stands for an operand without a figure.

    An operand has one value: sources that state it with different digits leave none to compute with, even where they
    agree within their precision.
    """
    if first is None or second is None:
        return make_refusal(RefusalReason.OPERAND_MISSING, language)
    one, two = single_figure(first), single_figure(second)
    if one is None or two is None:
        return make_refusal(RefusalReason.OPERAND_CONFLICTING, language)
    units = {unit_key(figure.record.unit) for operand in (first, second) for figure in operand.figures}
    if len(units) > 1:
        return make_refusal(RefusalReason.UNLIKE_UNITS, language)
    computed = _compute(operation, Decimal(one.record.value), Decimal(two.record.value))
    if computed is None:
        return make_refusal(RefusalReason.DIVISION_BY_ZERO, language)
    value, rounded = computed
    unit = one.record.unit if operation is Operation.DIFFERENCE else RATIO
    return _snippet(operation, (first, second), (one, two), value, unit, rounded=rounded, language=language)


def single_figure(operand: Operand) -> Figure | None:
    """The figure to compute with: the latest of the versions that were given, where all sources state one value."""
    latest = {(figure.library_id, figure.fact.fact_id): figure for figure in operand.figures}
    by_unit: dict[str, set[Decimal]] = {}
    for figure in latest.values():
        by_unit.setdefault(figure.record.unit.casefold(), set()).add(Decimal(figure.record.value))
    if operand.conflicting or any(len(values) > 1 for values in by_unit.values()):
        return None
    return next(iter(latest.values()))


def _compute(operation: Operation, first: Decimal, second: Decimal) -> tuple[Decimal, bool] | None:
    """The value and whether it had to be rounded; None for a division by zero."""
    if operation is Operation.DIFFERENCE:
        return EXACT.subtract(first, second), False
    numerator, divisor = (first, second) if operation is Operation.RATIO else (second, first)
    if not divisor:
        return None
    if operation is Operation.GROWTH:
        numerator, divisor = EXACT.subtract(second, first), EXACT.abs(first)
    context = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN)
    value = context.divide(numerator, divisor)
    return value, bool(context.flags[Inexact])


def _snippet(
    operation: Operation,
    operands: tuple[Operand, Operand],
    figures: tuple[Figure, Figure],
    value: Decimal,
    unit: str,
    *,
    rounded: bool,
    language: str,
) -> Snippet:
    text = format(value, "f")
    ids = tuple(fact_snippet_id(figure.library_id, figure.fact) for figure in figures)
    library_id = figures[0].library_id
    glossary = operands[0].glossary
    keys = (operands[0].key, operands[1].key)
    return Snippet(
        snippet_id=make_snippet_id(
            "derived", library_id, f"{operation.name} {' '.join(ids)}", text_sha256(f"{text} {unit}")
        ),
        lineage=Lineage(library_id=library_id, members=tuple(fact_lineage(figure) for figure in figures)),
        trust=Trust.CITABLE,
        payload=DerivedFigure(
            operation=operation,
            expression=_EXPRESSIONS[operation],
            value=text,
            unit=unit,
            rounded=rounded,
            statement=derived_statement(operation, *keys, text, unit, glossary, language),
            key=_common(*keys),
            operand_ids=ids,
        ),
        label=max(figure.record.label for figure in figures),
    )


def _common(first: MetricKey, second: MetricKey) -> MetricKey:
    """What both operands are about; empty where they differ."""
    return MetricKey(
        first.metric if first.metric == second.metric else "",
        first.entity if first.entity == second.entity else "",
        first.period if first.period == second.period else "",
        first.channel if first.channel == second.channel else "",
        first.dimensions if first.dimensions == second.dimensions else (),
    )
