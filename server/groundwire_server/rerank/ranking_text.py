"""What a judge writes about an order of candidates, read into that order (semantics 8; seed, listwise)."""

from __future__ import annotations

import re

__all__ = ["MAX_RANKING_CHARS", "parse_ranking"]

MAX_RANKING_CHARS = 65_536
"""What stands behind is not read: a judge that goes on for so long has lost its way."""

_NUMBER = re.compile(r"\d+")  # decimal digits of any script: a judge that answers in Japanese may write １２


def parse_ranking(text: str, candidates: int) -> tuple[int, ...] | None:
    """The order that a judge gives to candidates 0 .. candidates - 1.

    Every number counts, in the order in which they stand, whatever is around them: fences, brackets, bullets, words.
    One that names no candidate, or a candidate for the second time, is left out; candidates that no number names follow
    in the order that they had.

    Returns:
        All candidates, each once; None when no number names one: that is no order, and the caller keeps its own.

    Raises:
        ValueError: fewer than 0 candidates.

    >>> parse_ranking("[2] > [0], then maybe 7", 4), parse_ranking("I cannot say.", 4)
    ((2, 0, 1, 3), None)
    """
    if candidates < 0:
        raise ValueError(f"{candidates} candidates")
    longest = len(str(candidates))
    named: dict[int, None] = {}
    for match in _NUMBER.finditer(text[:MAX_RANKING_CHARS]):
        digits = match[0]
        if len(digits) > longest and any(int(digit) for digit in digits[:-longest]):
            continue  # out of range, and perhaps longer than what int() reads
        number = int(digits[-longest:])
        if number < candidates:
            named[number] = None
    if not named:
        return None
    return (*named, *(number for number in range(candidates) if number not in named))
