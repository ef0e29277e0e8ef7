"""A picture as DOT, for Graphviz (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire_server.cli.pictures.picture import BoxKind, Picture
from groundwire_server.cli.pictures.text import shown

__all__ = ["draw_dot"]

_STYLES = {
    BoxKind.NODE: "shape=box",
    BoxKind.FIGURE: 'shape=box, style="rounded,filled", fillcolor="#e8f1fb"',
    BoxKind.DERIVED: 'shape=box, peripheries=2, style=filled, fillcolor="#e9f6ec"',
    BoxKind.MISSING: 'shape=box, style="rounded,dashed"',
}


def draw_dot(picture: Picture) -> str:
    """The text of a directed graph, in the order of the picture."""
    names = {box.key: f"n{place}" for place, box in enumerate(picture.boxes)}
    lines = ["digraph trace {", '  node [fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    if picture.notes:
        lines.append(f"  label={_quoted(picture.notes, 200)};")
    lines += [
        f"  {names[box.key]} [label={_quoted((*box.lines, box.source))}, {_STYLES[box.kind]}];" for box in picture.boxes
    ]
    for arrow in picture.arrows:
        style = ", style=dashed" if arrow.dashed else ""
        label = _quoted((arrow.label, *arrow.sources))
        lines.append(f"  {names[arrow.start]} -> {names[arrow.end]} [label={label}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(lines: Iterable[str], columns: int = 80) -> str:
    """Lines in a quoted string. Graphviz reads a backslash as a sign for something else, and entities as in HTML."""
    texts = (shown(line, columns) for line in lines if line)
    return (
        '"' + "\\n".join(each.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for each in texts) + '"'
    )
