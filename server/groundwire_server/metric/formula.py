"""What a formula gives: values in decimal arithmetic, units as they go together (semantics 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, Overflow

from groundwire_server.evidence import RefusalReason
from groundwire_server.glossary import Combined, Constant, Formula, MetricName, Negated
from groundwire_server.metric.calculation import DIGITS, EXACT, RATIO
from groundwire_server.metric.units import unit_key

__all__ = ["MOST_DIGITS", "Quantity", "compute", "written_with_numbers"]

MOST_DIGITS = EXACT.prec
# A product of products has more digits than its parts; it is told whole or not at all.
_WHOLE = Context(prec=MOST_DIGITS, traps=[Inexact, Overflow])


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with its unit, which is empty where nobody has stated one.

    rounded: a division had to be cut. is_number: it stands in the formula itself, and so never had a unit. is_scaled:
    it was multiplied or divided by such a number; a ratio then counts hundredths or the like, as its term may say.
    """

    value: Decimal
    unit: str
    rounded: bool = False
    is_number: bool = False
    is_scaled: bool = False

    @property
    def is_pure(self) -> bool:
        """Whether it only scales another quantity: a number, or a ratio."""
        return self.is_number or self.unit == RATIO


def compute(formula: Formula, values: Mapping[str, Quantity]) -> Quantity | RefusalReason:
    """The value of a formula, or why it has none.

    Sums need like units. Like units divided are a RATIO; a ratio or a number of the formula scales what it is
    multiplied with; other units are never put together, since nobody said what they become. A figure without a unit is
    like others without one and like nothing else.

    Args:
        values: of every metric that the formula names.

    Raises:
        ArithmeticError: a sum or product has more than `MOST_DIGITS` digits, or a quotient is out of all range.
    """
    match formula:
        case MetricName(code):
            return values[code]
        case Constant():
            return Quantity(formula.value, "", is_number=True)
        case Negated(part):
            negated = compute(part, values)
            if isinstance(negated, RefusalReason):
                return negated
            return replace(negated, value=EXACT.minus(negated.value))
        case Combined(sign, left, right):
            one, two = compute(left, values), compute(right, values)
            if isinstance(one, RefusalReason):
                return one
            return two if isinstance(two, RefusalReason) else _combine(sign, one, two)


def written_with_numbers(formula: Formula, places: Mapping[str, int], *, inner: bool = False) -> str:
    """The formula with #n for the n-th operand; in brackets wherever these change what it says."""
    match formula:
        case MetricName(code):
            return f"#{places[code]}"
        case Constant(text):
            return text
        case Negated(part):
            return f"-{written_with_numbers(part, places, inner=True)}"
        case Combined(sign, left, right):
            is_sum = sign in ("+", "-")
            one = written_with_numbers(left, places, inner=not is_sum and _is_sum(left))
            keeps_apart = isinstance(right, Combined) and (not is_sum or _is_sum(right))
            two = written_with_numbers(right, places, inner=keeps_apart)
            return f"({one} {sign} {two})" if inner else f"{one} {sign} {two}"


def _is_sum(formula: Formula) -> bool:
    return isinstance(formula, Combined) and formula.sign in ("+", "-")


def _combine(sign: str, one: Quantity, two: Quantity) -> Quantity | RefusalReason:
    rounded, is_number = one.rounded or two.rounded, one.is_number and two.is_number
    by_number = sign in ("*", "/") and one.is_number is not two.is_number
    is_scaled = one.is_scaled or two.is_scaled or by_number
    if sign in ("+", "-"):
        if not _alike(one, two):
            return RefusalReason.UNLIKE_UNITS
        value = _WHOLE.add(one.value, two.value) if sign == "+" else _WHOLE.subtract(one.value, two.value)
        return Quantity(value, one.unit or two.unit, rounded, is_number, is_scaled)
    if sign == "*":
        if not (one.is_pure or two.is_pure):
            return RefusalReason.UNLIKE_UNITS
        return Quantity(_WHOLE.multiply(one.value, two.value), _scaled(one, two), rounded, is_number, is_scaled)
    if not two.value:
        return RefusalReason.DIVISION_BY_ZERO
    if not (two.is_pure or _alike(one, two)):
        return RefusalReason.UNLIKE_UNITS
    context = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN)
    value = context.divide(one.value, two.value)
    unit = _scaled(two, one) if two.is_pure else RATIO
    return Quantity(value, unit, rounded or bool(context.flags[Inexact]), is_number, is_scaled)


def _scaled(one: Quantity, two: Quantity) -> str:
    """The unit of a product, of which one part or both only scale."""
    if one.is_pure and two.is_pure:
        return one.unit or two.unit
    return two.unit if one.is_pure else one.unit


def _alike(one: Quantity, two: Quantity) -> bool:
    """Whether two quantities are of one kind. A number stands beside a ratio, and beside nothing else."""
    if one.is_pure or two.is_pure:
        return one.is_pure and two.is_pure
    return unit_key(one.unit) == unit_key(two.unit)
