"""The order that a judge's words give, character by character (semantics 8). Imports nothing of the project."""

from __future__ import annotations

import unicodedata

__all__ = ["ranking"]


def ranking(text: str, candidates: int) -> list[int] | None:
    """All candidates in the judge's order, or None where the judge names none of them."""
    numbers: list[int] = []
    current: int | None = None
    for character in [*text[:65_536], " "]:
        digit = unicodedata.decimal(character, None)
        if digit is not None:
            current = (0 if current is None else current * 10) + digit
        elif current is not None:
            numbers.append(current)
            current = None
    order: list[int] = []
    for number in numbers:
        if number in range(candidates) and number not in order:
            order.append(number)
    if not order:
        return None
    for candidate in range(candidates):
        if candidate not in order:
            order.append(candidate)
    return order
