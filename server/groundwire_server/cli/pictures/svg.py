"""A picture as SVG, drawn by ourselves in layers from top to bottom: from the same answer the same bytes."""

from __future__ import annotations

from itertools import pairwise
from xml.sax.saxutils import escape

from groundwire_server.cli.pictures.layers import make_layers
from groundwire_server.cli.pictures.picture import Arrow, Box, BoxKind, Picture
from groundwire_server.cli.pictures.places import (
    INSIDE,
    LINE,
    LOOP,
    MARGIN,
    SMALL_LINE,
    Place,
    find_places,
    lines_of,
    width_of,
    words_of,
)
from groundwire_server.cli.pictures.text import shown

__all__ = ["draw_svg"]

_FONT = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12"'
_COLOURS = {
    BoxKind.NODE: ("#ffffff", "#55606b"),
    BoxKind.FIGURE: ("#e8f1fb", "#4a7db5"),
    BoxKind.DERIVED: ("#e9f6ec", "#4b9560"),
    BoxKind.MISSING: ("#fdf0ee", "#b5534a"),
}
_SMALL = 10
_ABOVE_NOTES = 26


def draw_svg(picture: Picture) -> str:
    """The text of an SVG file. Its notes say what the answer says beside what is drawn."""
    number = {box.key: place for place, box in enumerate(picture.boxes)}
    links = [(number[arrow.start], number[arrow.end]) for arrow in picture.arrows]
    layers = make_layers(len(picture.boxes), links)
    found = find_places(picture, layers)
    notes = [shown(note, 200) for note in picture.notes]
    below = found.bottom + _ABOVE_NOTES
    width = max([found.right, *(MARGIN + width_of(note) for note in notes)]) + MARGIN
    height = below + LINE * len(notes) + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}"'
        f' height="{_n(height)}" {_FONT}>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        ' orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 z" fill="#55606b"/></marker></defs>',
        f'<rect width="{_n(width)}" height="{_n(height)}" fill="#ffffff"/>',
    ]
    # Lines first, boxes over them, words of lines on top.
    lines += [_line(arrow, way, found.points) for arrow, way in zip(picture.arrows, layers.ways, strict=True)]
    for place, box in enumerate(picture.boxes):
        lines += _box(box, found.points[place])
    for arrow, words in zip(picture.arrows, found.words, strict=True):
        lines += _words(arrow, words) if words is not None else []
    lines += [
        f'<text x="{MARGIN}" y="{_n(below + LINE * (place + 0.7))}" fill="#55606b">{escape(note)}</text>'
        for place, note in enumerate(notes)
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _n(value: float) -> str:
    """A number as it stands in the file."""
    return f"{value:.1f}".removesuffix(".0")


def _box(box: Box, place: Place) -> list[str]:
    fill, stroke = _COLOURS[box.kind]
    dashes = ' stroke-dasharray="4 3"' if box.kind is BoxKind.MISSING else ""
    corner = 2 if box.kind is BoxKind.NODE else 8
    top, left = place.y - place.height / 2, place.x - place.width / 2
    drawn = [
        f'<g class="{box.kind.value}"><rect x="{_n(left)}" y="{_n(top)}" width="{_n(place.width)}"'
        f' height="{_n(place.height)}" rx="{corner}" fill="{fill}" stroke="{stroke}"{dashes}/>'
    ]
    for row, (line, small) in enumerate(lines_of(box)):
        size = f' font-size="{_SMALL}" fill="#55606b"' if small else (' font-weight="bold"' if row == 0 else "")
        y = top + INSIDE + LINE * (row + 0.75)
        drawn.append(f'<text x="{_n(place.x)}" y="{_n(y)}" text-anchor="middle"{size}>{escape(line)}</text>')
    drawn.append("</g>")
    return drawn


def _line(arrow: Arrow, way: tuple[int, ...], places: dict[int, Place]) -> str:
    """A curve through the points of a way, or a loop beside a box that leads to itself."""
    dashes = ' stroke-dasharray="5 4"' if arrow.dashed else ""
    style = f'fill="none" stroke="#8a949e"{dashes} marker-end="url(#tip)"'
    first = places[way[0]]
    if len(way) == 2 and way[0] == way[1]:
        right, y = first.x + first.width / 2, first.y
        far = right + LOOP
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


def _words(arrow: Arrow, place: Place) -> list[str]:
    top = place.y - place.height / 2
    drawn = [
        f'<rect x="{_n(place.x - place.width / 2)}" y="{_n(top)}" width="{_n(place.width)}"'
        f' height="{_n(place.height)}" fill="#ffffff" fill-opacity="0.85"/>'
    ]
    for row, label in enumerate(words_of(arrow)):
        colour = "#24292f" if row == 0 and arrow.label else "#55606b"
        drawn.append(
            f'<text x="{_n(place.x)}" y="{_n(top + SMALL_LINE * (row + 0.85))}" text-anchor="middle"'
            f' font-size="{_SMALL}" fill="{colour}">{escape(label)}</text>'
        )
    return drawn
