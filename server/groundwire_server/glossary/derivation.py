"""The formula by which a metric comes from others: "(REVENUE - COGS) / REVENUE" (glossary.proto, MetricDetail)."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["derivation_codes"]

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?![^\s+\-*/()])")
_WORD = re.compile(r"[^\s+*/()-]+")
_DEEPEST = 100


def derivation_codes(formula: str, known: Collection[str]) -> tuple[str, ...]:
    """Codes that a formula names, in order, each once; those that are not known too.

    Args:
        known: codes of metrics; the longest that fits counts, so that a code may hold blanks and signs.

    Raises:
        ValueError: it is no formula of codes, numbers, + - * / and brackets; the message says what is wrong.

    >>> derivation_codes("(REVENUE - COGS) / REVENUE * 100", {"REVENUE", "COGS"})
    ('REVENUE', 'COGS')
    """
    reader = _Reader(formula, sorted(known, key=len, reverse=True))
    reader.sum(0)
    if reader.sign():
        raise ValueError(f"{reader.sign()!r} stands where nothing belongs")
    return tuple(dict.fromkeys(reader.codes))


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, formula: str, known: list[str]) -> None:
        self._text = formula
        self._known = known
        self._place = 0
        self.codes: list[str] = []

    def sign(self) -> str:
        """The character that comes next; empty at the end."""
        while self._place < len(self._text) and self._text[self._place].isspace():
            self._place += 1
        return self._text[self._place : self._place + 1]

    def sum(self, depth: int) -> None:
        """Operands with signs between them. Which binds how tightly does not matter for the names."""
        if depth > _DEEPEST:
            raise ValueError("its brackets are nested too deeply")
        self._operand(depth)
        while self.sign() and self.sign() in "+-*/":
            self._place += 1
            self._operand(depth)

    def _operand(self, depth: int) -> None:
        if self.sign() == "-":
            self._place += 1
        if self.sign() == "(":
            self._place += 1
            self.sum(depth + 1)
            if self.sign() != ")":
                raise ValueError("a bracket is not closed")
            self._place += 1
            return
        self.sign()
        code = next((code for code in self._known if self._stands_here(code)), "")
        number = _NUMBER.match(self._text, self._place)
        word = _WORD.match(self._text, self._place)
        if code:
            self.codes.append(code)
            self._place += len(code)
        elif number:
            self._place = number.end()
        elif word:
            self.codes.append(word[0])
            self._place = word.end()
        else:
            raise ValueError(f"{self.sign()!r} stands where a metric belongs" if self.sign() else "its end is missing")

    def _stands_here(self, code: str) -> bool:
        end = self._place + len(code)
        return self._text.startswith(code, self._place) and (
            end == len(self._text) or not (self._text[end - 1].isalnum() and self._text[end].isalnum())
        )
