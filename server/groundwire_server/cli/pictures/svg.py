"""A picture as SVG, drawn by ourselves in layers from top to bottom: from the same answer the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

from groundwire_server.cli.pictures.layers import Layers, make_layers
from groundwire_server.cli.pictures.picture import Arrow, Box, BoxKind, Picture
from groundwire_server.cli.pictures.text import shown
from groundwire_server.cli.terminal import display_width

__all__ = ["draw_svg"]

_COLUMN, _LINE = 7.3, 17  # of a character of 12 pixels in a typewriter's face, and of a line of them
_INSIDE, _GAP_ACROSS, _MARGIN = 10, 26, 16
_BEND = 16
_FONT = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12"'
_COLOURS = {
    BoxKind.NODE: ("#ffffff", "#55606b"),
    BoxKind.FIGURE: ("#e8f1fb", "#4a7db5"),
    BoxKind.DERIVED: ("#e9f6ec", "#4b9560"),
    BoxKind.MISSING: ("#fdf0ee", "#b5534a"),
}
_SMALL = 10
_MOST_COLUMNS = 60


@dataclass(frozen=True, slots=True)
class _Place:
    """The middle of a point, and how much room it takes."""

    x: float
    y: float
    width: float
    height: float


def draw_svg(picture: Picture) -> str:
    """The text of an SVG file. Its title and its notes say what the answer says beside what is drawn."""
    number = {box.key: place for place, box in enumerate(picture.boxes)}
    links = [(number[arrow.start], number[arrow.end]) for arrow in picture.arrows]
    layers = make_layers(len(picture.boxes), links)
    places = _places(picture, layers)
    bottom = max((place.y + place.height / 2 for place in places.values()), default=0.0)
    notes = [shown(note, 200) for note in picture.notes]
    below = bottom + _GAP_ACROSS
    right = max((place.x + place.width / 2 for place in places.values()), default=0.0)
    width = max([right, *(_width(note) for note in notes)]) + _MARGIN
    height = below + _LINE * len(notes) + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}"'
        f' height="{_n(height)}" {_FONT}>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        ' orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 z" fill="#55606b"/></marker></defs>',
        f'<rect width="{_n(width)}" height="{_n(height)}" fill="#ffffff"/>',
    ]
    # Lines first, boxes over them, words of lines on top.
    lines += [_line(arrow, way, places) for arrow, way in zip(picture.arrows, layers.ways, strict=True)]
    for place, box in enumerate(picture.boxes):
        lines += _box(box, places[place])
    spread = _Spread()
    for arrow, way in zip(picture.arrows, layers.ways, strict=True):
        lines += _words(arrow, way, places, spread)
    lines += [
        f'<text x="{_MARGIN}" y="{_n(below + _LINE * (place + 0.7))}" fill="#55606b">{escape(note)}</text>'
        for place, note in enumerate(notes)
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _n(value: float) -> str:
    """A number as it stands in the file."""
    return f"{value:.1f}".removesuffix(".0")


def _width(text: str) -> float:
    return display_width(text) * _COLUMN


def _lines_of(box: Box) -> list[tuple[str, bool]]:
    """Lines of a box, and whether they are small."""
    return [(shown(line, _MOST_COLUMNS), False) for line in box.lines if line] + (
        [(shown(box.source, _MOST_COLUMNS), True)] if box.source else []
    )


def _labels(arrow: Arrow) -> list[str]:
    return [shown(line, _MOST_COLUMNS) for line in (arrow.label, *arrow.sources) if line]


def _places(picture: Picture, layers: Layers) -> dict[int, _Place]:
    """Layers beneath each other, each in the middle; between them room for the words of the lines."""
    sizes: dict[int, tuple[float, float]] = {}
    for place, box in enumerate(picture.boxes):
        lines = _lines_of(box)
        widest = max((_width(line) * (_SMALL / 12 if small else 1) for line, small in lines), default=0.0)
        sizes[place] = (widest + 2 * _INSIDE, _LINE * len(lines) + 2 * _INSIDE)
    room = 40.0 + max((_LINE * len(_labels(arrow)) for arrow in picture.arrows), default=0)
    widest_label = max((_width(line) for arrow in picture.arrows for line in _labels(arrow)), default=0.0)
    gap = max(_GAP_ACROSS, widest_label * _SMALL / 12 / 2)
    widths = [
        sum(sizes.get(point, (_BEND, 0))[0] for point in layer) + gap * max(0, len(layer) - 1)
        for layer in layers.layers
    ]
    middle = max(widths, default=0.0) / 2 + _MARGIN
    places: dict[int, _Place] = {}
    y = float(_MARGIN)
    for layer, width in zip(layers.layers, widths, strict=True):
        height = max((sizes.get(point, (0, 0))[1] for point in layer), default=0.0)
        x = middle - width / 2
        for point in layer:
            own = sizes.get(point, (_BEND, height))
            places[point] = _Place(x + own[0] / 2, y + height / 2, own[0], own[1])
            x += own[0] + gap
        y += height + room
    return places


def _box(box: Box, place: _Place) -> list[str]:
    fill, stroke = _COLOURS[box.kind]
    dashes = ' stroke-dasharray="4 3"' if box.kind is BoxKind.MISSING else ""
    corner = 2 if box.kind is BoxKind.NODE else 8
    top, left = place.y - place.height / 2, place.x - place.width / 2
    drawn = [
        f'<g class="{box.kind.value}"><rect x="{_n(left)}" y="{_n(top)}" width="{_n(place.width)}"'
        f' height="{_n(place.height)}" rx="{corner}" fill="{fill}" stroke="{stroke}"{dashes}/>'
    ]
    for row, (line, small) in enumerate(_lines_of(box)):
        size = f' font-size="{_SMALL}" fill="#55606b"' if small else (' font-weight="bold"' if row == 0 else "")
        y = top + _INSIDE + _LINE * (row + 0.75)
        drawn.append(f'<text x="{_n(place.x)}" y="{_n(y)}" text-anchor="middle"{size}>{escape(line)}</text>')
    drawn.append("</g>")
    return drawn


def _line(arrow: Arrow, way: tuple[int, ...], places: dict[int, _Place]) -> str:
    """A curve through the points of a way, or a loop beside a box that leads to itself."""
    dashes = ' stroke-dasharray="5 4"' if arrow.dashed else ""
    style = f'fill="none" stroke="#8a949e"{dashes} marker-end="url(#tip)"'
    first = places[way[0]]
    if len(way) == 2 and way[0] == way[1]:
        right, y = first.x + first.width / 2, first.y
        far = right + 24
        path = f"M{_n(right)} {_n(y - 6)} C{_n(far)} {_n(y - 16)} {_n(far)} {_n(y + 16)} {_n(right)} {_n(y + 6)}"
        return f'<path d="{path}" {style}/>'
    down = 1 if places[way[-1]].y >= first.y else -1
    points = [(places[point].x, places[point].y) for point in way]
    points[0] = (points[0][0], points[0][1] + down * first.height / 2)
    points[-1] = (points[-1][0], points[-1][1] - down * places[way[-1]].height / 2)
    path = f"M{_n(points[0][0])} {_n(points[0][1])}"
    for (x, y), (to_x, to_y) in pairwise(points):
        bend = (to_y - y) / 2
        path += f" C{_n(x)} {_n(y + bend)} {_n(to_x)} {_n(to_y - bend)} {_n(to_x)} {_n(to_y)}"
    return f'<path d="{path}" {style}/>'


class _Spread:
    """Moves words that would stand on others down by a line, in the order in which they come."""

    def __init__(self) -> None:
        self._taken: list[tuple[float, float, float, float]] = []

    def free(self, x: float, y: float, width: float, height: float) -> float:
        """The first height from `y` on where there is room."""
        for _ in range(200):
            hit = [t for t in self._taken if abs(t[0] - x) * 2 < t[2] + width and abs(t[1] - y) * 2 < t[3] + height]
            if not hit:
                break
            y = max(t[1] + (t[3] + height) / 2 for t in hit) + 0.1
        self._taken.append((x, y, width, height))
        return y


def _words(arrow: Arrow, way: tuple[int, ...], places: dict[int, _Place], spread: _Spread) -> list[str]:
    labels = _labels(arrow)
    if not labels:
        return []
    one, other = places[way[(len(way) - 1) // 2]], places[way[len(way) // 2]]
    step = 1 if other.y >= one.y else -1
    top, bottom = one.y + step * one.height / 2, other.y - step * other.height / 2
    x, y = (one.x + other.x) / 2, (top + bottom) / 2
    if way[0] == way[-1]:
        x, y = one.x + one.width / 2 + 24, one.y
    width = max(_width(label) for label in labels) * _SMALL / 12 + 6
    height = (_SMALL + 3) * len(labels) + 2.0
    y = spread.free(x, y, width, height)
    top = y - height / 2
    drawn = [
        f'<rect x="{_n(x - width / 2)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}" fill="#ffffff"'
        ' fill-opacity="0.85"/>'
    ]
    for row, label in enumerate(labels):
        colour = "#24292f" if row == 0 and arrow.label else "#55606b"
        drawn.append(
            f'<text x="{_n(x)}" y="{_n(top + (_SMALL + 3) * (row + 0.85))}" text-anchor="middle"'
            f' font-size="{_SMALL}" fill="{colour}">{escape(label)}</text>'
        )
    return drawn
