"""From spans of a text to places for people: lines, and later pages, slides and rows."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from groundwire_server.evidence import Span

__all__ = ["Axis", "HeadingMap", "PlaceMap", "line_starts", "places_by_line"]

_LINE_END = re.compile(r"\r\n|\n|\r")


def line_starts(text: str) -> array[int]:
    """Offset at which each line starts; a line ends at CR LF, LF or CR, as editors count, and nowhere else.

    >>> list(line_starts("a\\r\\nb\\u2028c\\n"))
    [0, 3, 7]
    """
    if "\r" not in text:
        lines = text.split("\n")
        return array("Q", accumulate([len(line) + 1 for line in lines[:-1]], initial=0))
    starts = array("Q", (0,))
    starts.extend(match.end() for match in _LINE_END.finditer(text))
    return starts


@dataclass(frozen=True, slots=True)
class Axis:
    """One way to count places, e.g. "line" or "page".

    starts: ascending offsets at which each place begins; the first one is 0.
    names: how each place is called, an empty name where there is none on this axis; no names: 1, 2, 3 ...
    nested: it counts within the axis before it; else it stands by itself, as rows do beside paragraphs.
    """

    key: str
    starts: Sequence[int]
    names: Sequence[str] = ()
    nested: bool = True

    def name_at(self, offset: int) -> str:
        """The place that holds the code point at `offset`."""
        place = max(0, bisect_right(self.starts, offset) - 1)
        return self.names[place] if self.names else str(place + 1)


@dataclass(frozen=True, slots=True)
class HeadingMap:
    """The heading that each stretch of a text stands under; before the first start there is none.

    headings: paths, "Report > Results". titles: the last member of each, where locators are to name it; else none.
    """

    starts: Sequence[int] = ()
    headings: Sequence[str] = ()
    titles: Sequence[str] = ()

    def at(self, offset: int) -> str:
        """The heading above `offset`, empty when there is none."""
        place = bisect_right(self.starts, offset) - 1
        return self.headings[place] if place >= 0 else ""

    def title_at(self, offset: int) -> str:
        """The title that a locator names for `offset`, empty when there is none."""
        place = bisect_right(self.starts, offset) - 1
        return self.titles[place] if self.titles and place >= 0 else ""


@dataclass(frozen=True, slots=True)
class PlaceMap:
    """Where spans of a text lie. `axes` go from the widest to the narrowest, which counts within it."""

    axes: tuple[Axis, ...] = ()
    headings: HeadingMap = field(default_factory=HeadingMap)

    def locate(self, span: Span) -> tuple[tuple[str, str], ...]:
        """Parts of a locator: the axes, then the heading that the span begins under where locators name headings.

        An axis on which the span begins and ends apart is the last one of its nest that is named; one on which either
        end has no name is left out.

        >>> places = PlaceMap((Axis("page", (0, 10)), Axis("para", (0, 4, 10, 14), ("1", "2", "1", "2"))))
        >>> places.locate(Span(10, 16)), places.locate(Span(5, 16))
        ((('page', '2'), ('para', '1-2')), (('page', '1-2'),))
        """
        parts, parted = [], False
        for axis in self.axes:
            parted = parted and axis.nested
            if parted:
                continue
            first, last = axis.name_at(span.start), axis.name_at(max(span.start, span.end - 1))
            if first and last:
                parts.append((axis.key, first if first == last else f"{first}-{last}"))
                parted = first != last
        title = self.headings.title_at(span.start)
        return (*parts, ("heading", title)) if title else tuple(parts)

    def heading(self, span: Span) -> str:
        """The heading that the beginning of a span stands under, empty when there is none."""
        return self.headings.at(span.start)


def places_by_line(text: str, headings: Iterable[tuple[int, str]] = ()) -> PlaceMap:
    """A map that counts lines from 1; `headings` are (offset, heading in force from there), ascending."""
    listed = list(headings)
    return PlaceMap(
        (Axis("line", line_starts(text)),),
        HeadingMap(tuple(start for start, _ in listed), tuple(heading for _, heading in listed)),
    )
