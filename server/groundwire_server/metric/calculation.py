"""Differences, ratios and growth of stored figures, in decimal arithmetic, with every operand cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact

from groundwire_server.evidence import (
    DerivedFigure,
    Label,
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
from groundwire_server.metric.conflict import conflicting_figures, most_precise
from groundwire_server.metric.exit import fact_lineage, fact_snippet_id
from groundwire_server.metric.figures import Figure
from groundwire_server.metric.statement import derived_statement
from groundwire_server.metric.units import unit_key

__all__ = ["DIGITS", "EXACT", "MOST_MEMBERS", "RATIO", "Operand", "calculate", "operand_of"]

DIGITS = 34
# Sums and differences are exact for every value that can be stored; only divisions are rounded.
EXACT = Context(prec=8000)
RATIO = "RATIO"
MOST_MEMBERS = 100
"""Lineages that stand under one derived figure; more are counted."""
_EXPRESSIONS = {
    Operation.DIFFERENCE: "#1 - #2",
    Operation.RATIO: "#1 / #2",
    Operation.GROWTH: "(#2 - #1) / |#1|",
}


@dataclass(frozen=True, slots=True)
class Operand:
    """One value to compute with, and what it stands on.

    Attributes:
        key: of the query that it answers.
        snippet_id: of the snippet that states it.
        lineages: of the stored figures that it is or comes from.
        rounded: it was computed, and some division in it had to be cut.
        glossary: the one that named it.
    """

    key: MetricKey
    library_id: str
    value: Decimal
    unit: str
    snippet_id: str
    lineages: tuple[Lineage, ...]
    label: Label
    glossary: Glossary
    rounded: bool = False


def operand_of(key: MetricKey, figures: Sequence[Figure], glossary: Glossary) -> Operand | RefusalReason:
    """What a found query gives to compute with: the latest of the versions that were given.

    Of sources that agree within their precision the most precise one is taken. Sources that disagree leave none, and
    neither does a figure in several units.
    """
    latest = list({(each.library_id, each.fact.fact_id): each for each in figures}.values())
    if conflicting_figures(latest):
        return RefusalReason.OPERAND_CONFLICTING
    if len({unit_key(figure.record.unit) for figure in latest}) > 1:
        return RefusalReason.UNLIKE_UNITS
    figure = most_precise(latest, lambda each: (each.record.value, each.record.decimals))
    return Operand(
        key,
        figure.library_id,
        Decimal(figure.record.value),
        figure.record.unit,
        fact_snippet_id(figure),
        (fact_lineage(figure),),
        figure.record.label,
        glossary,
    )


def calculate(
    operation: Operation, first: Operand | RefusalReason, second: Operand | RefusalReason, language: str
) -> Snippet | Refusal:
    """The computed figure, or why there is none: the first operand that there is none of says why."""
    for operand in (first, second):
        if isinstance(operand, RefusalReason) and operand is not RefusalReason.UNLIKE_UNITS:
            return make_refusal(operand, language)
    if isinstance(first, RefusalReason) or isinstance(second, RefusalReason):
        return make_refusal(RefusalReason.UNLIKE_UNITS, language)
    if unit_key(first.unit) != unit_key(second.unit):
        return make_refusal(RefusalReason.UNLIKE_UNITS, language)
    computed = _compute(operation, first.value, second.value)
    if computed is None:
        return make_refusal(RefusalReason.DIVISION_BY_ZERO, language)
    value, rounded = computed
    unit = first.unit if operation is Operation.DIFFERENCE else RATIO
    return _snippet(operation, (first, second), value, unit, rounded=rounded, language=language)


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
    value: Decimal,
    unit: str,
    *,
    rounded: bool,
    language: str,
) -> Snippet:
    text = format(value, "f")
    ids = tuple(operand.snippet_id for operand in operands)
    library_id = operands[0].library_id
    keys = (operands[0].key, operands[1].key)
    lineages = tuple(lineage for operand in operands for lineage in operand.lineages)
    return Snippet(
        snippet_id=make_snippet_id(
            "derived", library_id, f"{operation.name} {' '.join(ids)}", text_sha256(f"{text} {unit}")
        ),
        lineage=Lineage(
            library_id=library_id,
            members=lineages[:MOST_MEMBERS],
            members_omitted=max(0, len(lineages) - MOST_MEMBERS),
        ),
        trust=Trust.CITABLE,
        payload=DerivedFigure(
            operation=operation,
            expression=_EXPRESSIONS[operation],
            value=text,
            unit=unit,
            rounded=rounded or any(operand.rounded for operand in operands),
            statement=derived_statement(operation, *keys, text, unit, operands[0].glossary, language),
            key=_common(*keys),
            operand_ids=ids,
        ),
        label=max(operand.label for operand in operands),
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
