"""The formula by which a metric comes from others: "(REVENUE - COGS) / REVENUE" (glossary.proto, MetricDetail)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Combined", "Constant", "Formula", "MetricName", "Negated", "derivation_codes", "read_derivation"]

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?![^\s+\-*/()])")
_WORD = re.compile(r"[^\s+*/()-]+")
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class MetricName:
    """The figure of a metric."""

    code: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that stands in the formula. `text`: as it is written there."""

    text: str

    @property
    def value(self) -> Decimal:
        """The number."""
        return Decimal(self.text)


@dataclass(frozen=True, slots=True)
class Negated:
    """A part with the other sign."""

    part: Formula


@dataclass(frozen=True, slots=True)
class Combined:
    """Two parts with one of + - * / between them."""

    sign: str
    left: Formula
    right: Formula


Formula = MetricName | Constant | Negated | Combined
"""A formula as it is to be computed: products before sums, from left to right."""


def read_derivation(formula: str, known: Collection[str]) -> Formula:
    """The formula that a text holds.

    Args:
        known: codes of metrics; the longest that fits counts, so that a code may hold blanks and signs.

    Raises:
        ValueError: it is no formula of codes, numbers, + - * / and brackets; the message says what is wrong.
    """
    reader = _Reader(formula, sorted(known, key=len, reverse=True))
    found = reader.sum(0)
    if reader.sign():
        raise ValueError(f"{reader.sign()!r} stands where nothing belongs")
    return found


def derivation_codes(formula: str, known: Collection[str]) -> tuple[str, ...]:
    """Codes that a formula names, in order, each once; those that are not known too.

    Args, raises: as `read_derivation`.

    >>> derivation_codes("(REVENUE - COGS) / REVENUE * 100", {"REVENUE", "COGS"})
    ('REVENUE', 'COGS')
    """
    return tuple(dict.fromkeys(_codes(read_derivation(formula, known))))


def _codes(formula: Formula) -> Iterator[str]:
    match formula:
        case MetricName(code):
            yield code
        case Negated(part):
            yield from _codes(part)
        case Combined(_, left, right):
            yield from _codes(left)
            yield from _codes(right)
        case Constant():
            pass


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, formula: str, known: list[str]) -> None:
        self._text = formula
        self._known = known
        self._place = 0
        self._parts = 0

    def sign(self) -> str:
        """The character that comes next; empty at the end."""
        while self._place < len(self._text) and self._text[self._place].isspace():
            self._place += 1
        return self._text[self._place : self._place + 1]

    def sum(self, depth: int) -> Formula:
        """Products with + and - between them."""
        if depth > _DEEPEST:
            raise ValueError("its brackets are nested too deeply")
        found = self._product(depth)
        while self.sign() in ("+", "-"):
            found = Combined(self._take(), found, self._product(depth))
        return found

    def _product(self, depth: int) -> Formula:
        found = self._operand(depth)
        while self.sign() in ("*", "/"):
            found = Combined(self._take(), found, self._operand(depth))
        return found

    def _take(self) -> str:
        """The sign that stands here. A formula is computed part by part, and so has not too many of them."""
        self._parts += 1
        if self._parts > _DEEPEST:
            raise ValueError(f"it has more than {_DEEPEST} parts")
        sign = self.sign()
        self._place += 1
        return sign

    def _operand(self, depth: int) -> Formula:
        if self.sign() == "-":
            self._place += 1
            return Negated(self._value(depth))
        return self._value(depth)

    def _value(self, depth: int) -> Formula:
        if self.sign() == "(":
            self._place += 1
            found = self.sum(depth + 1)
            if self.sign() != ")":
                raise ValueError("a bracket is not closed")
            self._place += 1
            return found
        code = next((code for code in self._known if self._stands_here(code)), "")
        number = _NUMBER.match(self._text, self._place)
        word = _WORD.match(self._text, self._place)
        if code:
            self._place += len(code)
            return MetricName(code)
        if number:
            self._place = number.end()
            return Constant(number[0])
        if word:
            self._place = word.end()
            return MetricName(word[0])
        raise ValueError(f"{self.sign()!r} stands where a metric belongs" if self.sign() else "its end is missing")

    def _stands_here(self, code: str) -> bool:
        end = self._place + len(code)
        return self._text.startswith(code, self._place) and (
            end == len(self._text) or not (self._text[end - 1].isalnum() and self._text[end].isalnum())
        )
