"""Formulas over named numbers, in decimal arithmetic: + - * / and brackets; a division has 34 digits, half to even."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, Overflow, Underflow
from fractions import Fraction

__all__ = ["divide", "evaluate", "operands"]

_TOKEN = re.compile(r"\s*([()+\-*/]|#?\w+(?:\.\d+)?)")


def operands(formula: str) -> list[str]:
    """The names in a formula, each once, in order."""
    names = [each for each in _TOKEN.findall(formula) if re.match(r"#|[^\W\d]", each)]
    return list(dict.fromkeys(names))


def divide(above: Decimal, below: Decimal) -> tuple[Decimal, bool]:
    """A quotient of at most 34 digits, and whether it had to be rounded."""
    context = Context(prec=34, rounding=ROUND_HALF_EVEN, traps=[Overflow, Underflow])
    quotient = context.divide(above, below)
    return quotient, bool(context.flags[Inexact])


def evaluate(formula: str, value_of: Callable[[str], Decimal]) -> tuple[Decimal, bool]:
    """The value of a formula, and whether a division in it was rounded.

    Raises:
        ZeroDivisionError: a divisor is zero.
    """
    run = _Run(_TOKEN.findall(formula), value_of)
    value = run.sum()
    assert not run.left, formula
    return value, run.rounded


class _Run:
    def __init__(self, tokens: list[str], value_of: Callable[[str], Decimal]) -> None:
        self.left = list(reversed(tokens))
        self.value_of = value_of
        self.rounded = False

    def sum(self) -> Decimal:
        value = self.product()
        while self.left and self.left[-1] in "+-":
            sign = self.left.pop()
            other = self.product()
            value = _exact(Fraction(value) + Fraction(other) * (1 if sign == "+" else -1))
        return value

    def product(self) -> Decimal:
        value = self.single()
        while self.left and self.left[-1] in "*/":
            if self.left.pop() == "*":
                value = _exact(Fraction(value) * Fraction(self.single()))
            else:
                below = self.single()
                if not below:
                    raise ZeroDivisionError
                value, rounded = divide(value, below)
                self.rounded |= rounded
        return value

    def single(self) -> Decimal:
        token = self.left.pop()
        if token == "(":
            value = self.sum()
            assert self.left.pop() == ")"
            return value
        if token == "-":
            return _exact(-Fraction(self.single()))
        return Decimal(token) if token[0].isdigit() else self.value_of(token)


def _exact(value: Fraction) -> Decimal:
    """A fraction whose denominator divides a power of ten, digit for digit."""
    places = 0
    below = value.denominator
    while 10**places % below:
        places += 1
    scaled = value.numerator * 10**places // below
    sign, digits = (1, -scaled) if scaled < 0 else (0, scaled)
    return Decimal((sign, tuple(int(each) for each in str(digits)), -places))
