"""Citation marks in the text of a model: `[1]`, `[2][3]`, numbers of the evidence list in its prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_server.evidence import Snippet, Span
from groundwire_server.guard.verdict import Fault, FaultKind

__all__ = ["CitationMark", "CitedSentence", "parse", "resolve", "without_marks"]

_OPEN, _CLOSE = r"\[［【〔", r"\]］】〕"
_MARK = re.compile(rf"[{_OPEN}]\s*(?P<inner>\d+(?:\s*(?:[,，、;；]|[-–—~〜])\s*\d+)*)\s*[{_CLOSE}]")
_PART = re.compile(r"(\d+)\s*(?:[-–—~〜]\s*(\d+))?")
_LONGEST_RUN = 50
_MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A mark in a text: where it stands, and the numbers in it, from 1, in order."""

    span: Span
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence with its marks read.

    text: without marks and the blanks before them. snippets: what the marks name, in order, without repeats.
    numbers: of these snippets in the evidence list. faults: marks that name nothing, with their place in the original.
    """

    text: str
    snippets: tuple[Snippet, ...]
    numbers: tuple[int, ...]
    faults: tuple[Fault, ...]


def parse(text: str) -> list[CitationMark]:
    """Every mark in a text, in order; full-width brackets and digits count, and so do [1, 2] and [1-3].

    >>> [mark.numbers for mark in parse("It rose [1][2]. It fell［３，4］ in [2024].")]
    [(1,), (2,), (3, 4), (2024,)]
    """
    return [CitationMark(Span(*found.span()), _numbers(found["inner"])) for found in _MARK.finditer(text)]


def without_marks(text: str) -> str:
    """The text without its marks and the blanks before each.

    >>> without_marks("It rose 5 % [1] [2].")
    'It rose 5 %.'
    """
    kept: list[str] = []
    at = 0
    for mark in parse(text):
        kept.append(text[at : mark.span.start].rstrip())
        at = mark.span.end
    return "".join([*kept, text[at:]]) if kept else text


def resolve(sentence: str, evidence: Sequence[Snippet]) -> CitedSentence:
    """The snippets that a sentence cites by number. A number that the list does not have is a fault."""
    chosen: dict[int, Snippet] = {}
    faults: list[Fault] = []
    for mark in parse(sentence):
        for number in mark.numbers:
            if 1 <= number <= len(evidence):
                chosen.setdefault(number, evidence[number - 1])
            else:
                written = sentence[mark.span.start : mark.span.end]
                faults.append(Fault(FaultKind.UNKNOWN_CITATION, mark.span, written))
    return CitedSentence(without_marks(sentence), tuple(chosen.values()), tuple(chosen), tuple(faults))


def _numbers(inner: str) -> tuple[int, ...]:
    found: list[int] = []
    for first, last in _PART.findall(inner):
        start = int(first[-_MOST_DIGITS:]) if len(first) <= _MOST_DIGITS else 0  # 0 is in no list
        end = int(last) if last and len(last) <= _MOST_DIGITS else start
        found += range(start, end + 1) if start <= end <= start + _LONGEST_RUN else [start, end]
    return tuple(found)
