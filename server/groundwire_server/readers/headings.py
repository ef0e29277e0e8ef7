"""Headings of a text, from whatever kind of file, and the path of them that each stretch stands under."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["HEADING_SEPARATOR", "MAX_HEADING_CHARS", "Heading", "heading_paths"]

HEADING_SEPARATOR = " > "
MAX_HEADING_CHARS = 200


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: the offset at which it starts, its level from 1, its text without marks."""

    start: int
    level: int
    title: str


def heading_paths(headings: list[Heading]) -> Iterator[tuple[int, str]]:
    """(offset, path in force from there) of each heading, e.g. "Report > Results > 2024".

    >>> list(heading_paths([Heading(0, 1, "A"), Heading(9, 3, "B"), Heading(20, 2, "C")]))
    [(0, 'A'), (9, 'A > B'), (20, 'A > C')]
    """
    path: list[Heading] = []
    for heading in headings:
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        yield heading.start, HEADING_SEPARATOR.join(above.title for above in path if above.title)
