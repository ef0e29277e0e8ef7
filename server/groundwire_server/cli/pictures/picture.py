"""A picture before it is drawn: boxes with lines of text, arrows between them, and notes beneath."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["MAX_BOXES", "Arrow", "Box", "BoxKind", "Picture", "PictureMaker"]

MAX_BOXES = 1000
"""Boxes that are drawn; nobody reads a picture with more. The table and JSON have everything."""

_LONGEST_LINE = 200


class BoxKind(Enum):
    """What a box stands for."""

    NODE = "node"
    FIGURE = "figure"
    DERIVED = "derived"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Box:
    """What is shown of one thing.

    lines: for people; the first names it. source: where it stands, empty where the arrows say it.
    """

    key: str
    lines: tuple[str, ...]
    kind: BoxKind = BoxKind.NODE
    source: str = ""


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one box to another.

    sources: where the relation is stated. dashed: it is no stated relation, but ties a figure to what it is of.
    """

    start: str
    end: str
    label: str = ""
    sources: tuple[str, ...] = ()
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes and arrows in the order of the answer; notes: what else the answer says, in whole lines."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[str, ...] = ()


class PictureMaker:
    """Gathers a picture. Each key is one box, and what is the same between two boxes one arrow."""

    def __init__(self) -> None:
        self._boxes: dict[str, Box] = {}
        self._arrows: dict[tuple[str, str, str, bool], tuple[str, ...]] = {}
        self._notes: dict[str, None] = {}

    def box(self, box: Box) -> None:
        """Show a box, unless it is there already."""
        self._boxes.setdefault(box.key, box)

    def has(self, key: str) -> bool:
        """Whether there is a box."""
        return key in self._boxes

    def arrow(self, arrow: Arrow) -> None:
        """Show an arrow; one that is there already gets the further sources."""
        key = (arrow.start, arrow.end, arrow.label, arrow.dashed)
        self._arrows[key] = tuple(dict.fromkeys((*self._arrows.get(key, ()), *arrow.sources)))

    def note(self, line: str) -> None:
        """Say something beneath the picture, once."""
        self._notes.setdefault(line[:_LONGEST_LINE])

    def picture(self) -> Picture:
        """What was gathered, the first MAX_BOXES of it. An arrow goes with the last of its ends."""
        boxes = tuple(self._boxes.values())[:MAX_BOXES]
        shown = {box.key for box in boxes}
        arrows = [
            Arrow(start, end, label, sources, dashed)
            for (start, end, label, dashed), sources in self._arrows.items()
            if start in shown and end in shown
        ]
        more = len(self._boxes) - len(boxes)
        left_out = (f"{more} more boxes are not drawn",) if more else ()
        return Picture(boxes, tuple(arrows), (*self._notes, *left_out))
