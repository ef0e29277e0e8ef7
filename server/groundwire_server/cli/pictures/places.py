"""Where boxes and words of a picture stand: layers beneath each other, between them room for the words of lines."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from groundwire_server.cli.pictures.layers import Layers
from groundwire_server.cli.pictures.picture import Arrow, Box, Picture
from groundwire_server.cli.pictures.text import shown
from groundwire_server.cli.terminal import display_width

__all__ = [
    "INSIDE",
    "LINE",
    "LOOP",
    "MARGIN",
    "SMALL_LINE",
    "Place",
    "Places",
    "find_places",
    "lines_of",
    "width_of",
    "words_of",
]

LINE, SMALL_LINE = 17, 13  # heights of a line of 12 pixels, and of one of 10, with what parts it from the next
LOOP = 24  # how far the line of a box that leads to itself stands out
MARGIN, INSIDE = 16, 10
_COLUMN = 7.3  # of a character of 12 pixels in a typewriter's face
_SMALL_COLUMN = _COLUMN * 10 / 12
_GAP_ACROSS, _GAP_DOWN, _BEND = 26, 40, 16
_AROUND = 3  # of words, on each side
_MOST_COLUMNS = 60


@dataclass(frozen=True, slots=True)
class Place:
    """The middle of a box, a bend or some words, and how much room it takes, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Places:
    """points: of boxes and bends, by number. words: of each arrow, in their order, None where it has none.

    right, bottom: where the last of them ends. No box and no words stand on others.
    """

    points: dict[int, Place]
    words: tuple[Place | None, ...]
    right: float
    bottom: float


def width_of(text: str) -> float:
    """Width of a line of 12 pixels."""
    return display_width(text) * _COLUMN


def lines_of(box: Box) -> list[tuple[str, bool]]:
    """Lines of a box, and whether they are small."""
    lines = [(shown(line, _MOST_COLUMNS), False) for line in box.lines if line]
    return lines + ([(shown(box.source, _MOST_COLUMNS), True)] if box.source else [])


def words_of(arrow: Arrow) -> list[str]:
    """Lines that stand at an arrow."""
    return [shown(line, _MOST_COLUMNS) for line in (arrow.label, *arrow.sources) if line]


def find_places(picture: Picture, layers: Layers) -> Places:
    """Places for what is drawn; each layer stands in the middle."""
    sizes = [_size_of_words(arrow) for arrow in picture.arrows]
    loops: dict[int, list[int]] = defaultdict(list)
    for number, way in enumerate(layers.ways):
        if way[0] == way[-1]:
            loops[way[0]].append(number)
    points = _across(picture, layers, sizes, loops)
    level = {point: number for number, layer in enumerate(layers.layers) for point in layer}
    words: dict[int, Place] = {}
    gaps: dict[int, list[int]] = defaultdict(list)
    for number, way in enumerate(layers.ways):
        size = sizes[number]
        if size is not None and way[0] != way[-1]:
            one, other = way[(len(way) - 1) // 2], way[(len(way) - 1) // 2 + 1]
            gaps[(level[one] + level[other] - 1) // 2].append(number)
            words[number] = Place((points[one].x + points[other].x) / 2, 0.0, *size)
    rooms = {gap: _stack(numbers, words) for gap, numbers in gaps.items()}
    y = float(MARGIN)
    for number, layer in enumerate(layers.layers):
        stacks = {point: sum(_height(sizes[loop]) for loop in loops.get(point, ())) for point in layer}
        height = max((max(points[point].height, stacks[point]) for point in layer), default=0.0)
        for point in layer:
            own = points[point]
            points[point] = replace(own, y=y + height / 2, height=own.height or height)
            below = y + (height - stacks[point]) / 2
            for loop in loops.get(point, ()):
                size = sizes[loop]
                if size is not None:
                    x = own.x + own.width / 2 + LOOP + size[0] / 2
                    words[loop] = Place(x, below + size[1] / 2, *size)
                    below += size[1]
        y += height
        for gap in gaps.get(number, ()):
            words[gap] = replace(words[gap], y=words[gap].y + y + _GAP_DOWN / 2)
        y += _GAP_DOWN + rooms.get(number, 0.0)
    return _moved(points, [words.get(number) for number in range(len(picture.arrows))])


def _size_of_words(arrow: Arrow) -> tuple[float, float] | None:
    lines = words_of(arrow)
    if not lines:
        return None
    return max(map(display_width, lines)) * _SMALL_COLUMN + 2 * _AROUND, SMALL_LINE * len(lines) + 2.0


def _height(size: tuple[float, float] | None) -> float:
    return 0.0 if size is None else size[1]


def _across(
    picture: Picture, layers: Layers, words: list[tuple[float, float] | None], loops: dict[int, list[int]]
) -> dict[int, Place]:
    """Points with their widths and heights, left to right; a bend has no height yet."""
    sizes: dict[int, tuple[float, float]] = {}
    for number, box in enumerate(picture.boxes):
        lines = lines_of(box)
        widest = max((display_width(line) * (_SMALL_COLUMN if small else _COLUMN) for line, small in lines), default=0)
        sizes[number] = (widest + 2 * INSIDE, LINE * len(lines) + 2 * INSIDE)
    beside = {
        point: LOOP + max((size[0] for number in numbers if (size := words[number]) is not None), default=0.0)
        for point, numbers in loops.items()
    }
    gap = max([_GAP_ACROSS, *(size[0] / 2 for size in words if size is not None)])
    widths = [
        sum(sizes.get(point, (_BEND, 0))[0] + beside.get(point, 0.0) for point in layer) + gap * max(0, len(layer) - 1)
        for layer in layers.layers
    ]
    middle = max(widths, default=0.0) / 2 + MARGIN
    points: dict[int, Place] = {}
    for layer, width in zip(layers.layers, widths, strict=True):
        x = middle - width / 2
        for point in layer:
            own, height = sizes.get(point, (_BEND, 0.0))
            points[point] = Place(x + own / 2, 0.0, own, height)
            x += own + beside.get(point, 0.0) + gap
    return points


def _stack(numbers: list[int], words: dict[int, Place]) -> float:
    """Moves words of one gap down where they would stand on others; how high all of them are together."""
    for place, number in enumerate(numbers):
        own, top = words[number], 0.0
        for y, height in sorted(_beside(number, numbers[:place], words)):
            if top + own.height <= y - height / 2:
                break
            top = max(top, y + height / 2)
        words[number] = replace(own, y=top + own.height / 2)
    room = max(words[number].y + words[number].height / 2 for number in numbers)
    for group in _touching(numbers, words):
        bottom = max(words[number].y + words[number].height / 2 for number in group)
        for number in group:
            words[number] = replace(words[number], y=words[number].y + (room - bottom) / 2)
        for number in group:
            words[number] = replace(words[number], y=_near_middle(number, group, words, room))
    return room


def _beside(number: int, others: list[int], words: dict[int, Place]) -> list[tuple[float, float]]:
    """Middles and heights of the words that stand above or below some others."""
    own = words[number]
    return [
        (words[other].y, words[other].height)
        for other in others
        if other != number and abs(words[other].x - own.x) * 2 < words[other].width + own.width
    ]


def _near_middle(number: int, group: list[int], words: dict[int, Place], room: float) -> float:
    """The free place that is nearest to the middle, where the line of the words is."""
    own, middle = words[number], room / 2
    beside = _beside(number, group, words)
    tries = [middle, *(y + side * (height + own.height) / 2 for y, height in beside for side in (-1, 1))]
    free = [
        y
        for y in tries
        if own.height / 2 - 0.01 <= y <= room - own.height / 2 + 0.01
        and all(abs(y - other) * 2 >= height + own.height - 0.01 for other, height in beside)
    ]
    return min([own.y, *free], key=lambda y: abs(y - middle))


def _touching(numbers: list[int], words: dict[int, Place]) -> list[list[int]]:
    """Words that stand above each other, or would through others."""
    groups: list[list[int]] = []
    end = float("-inf")
    for number in sorted(numbers, key=lambda each: (words[each].x - words[each].width / 2, each)):
        own = words[number]
        if own.x - own.width / 2 >= end:
            groups.append([])
        groups[-1].append(number)
        end = max(end, own.x + own.width / 2)
    return groups


def _moved(points: dict[int, Place], words: list[Place | None]) -> Places:
    """All of them so far to the right that nothing is cut off at the left."""
    everything = [*points.values(), *(each for each in words if each is not None)]
    by = max([0.0, *(MARGIN - each.x + each.width / 2 for each in everything)])
    return Places(
        {point: replace(place, x=place.x + by) for point, place in points.items()},
        tuple(None if place is None else replace(place, x=place.x + by) for place in words),
        max((each.x + by + each.width / 2 for each in everything), default=0.0),
        max((each.y + each.height / 2 for each in everything), default=0.0),
    )
