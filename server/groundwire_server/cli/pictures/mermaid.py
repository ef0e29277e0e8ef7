"""A picture as Mermaid, which notes, issues and wikis draw (https://mermaid.js.org, flowchart)."""

from __future__ import annotations

from groundwire_server.cli.pictures.picture import BoxKind, Picture
from groundwire_server.cli.pictures.text import shown

__all__ = ["draw_mermaid"]

_PLAIN = frozenset(" .,:+_/()=-")
_SHAPES = {
    BoxKind.NODE: ('["', '"]'),
    BoxKind.FIGURE: ('(["', '"])'),
    BoxKind.DERIVED: ('[["', '"]]'),
    BoxKind.MISSING: ('("', '")'),
}
_STYLES = {
    BoxKind.FIGURE: "fill:#e8f1fb,stroke:#4a7db5",
    BoxKind.DERIVED: "fill:#e9f6ec,stroke:#4b9560",
    BoxKind.MISSING: "fill:#fdf0ee,stroke:#b5534a,stroke-dasharray:4 3",
}


def draw_mermaid(picture: Picture) -> str:
    """The text of a flowchart from top to bottom, in the order of the picture."""
    names = {box.key: f"n{place}" for place, box in enumerate(picture.boxes)}
    lines = ["flowchart TD"]
    for box in picture.boxes:
        before, behind = _SHAPES[box.kind]
        style = f":::{box.kind.value}" if box.kind in _STYLES else ""
        lines.append(f"  {names[box.key]}{before}{_text((*box.lines, box.source))}{behind}{style}")
    for arrow in picture.arrows:
        line = "-.->" if arrow.dashed else "-->"
        label = _text((arrow.label, *arrow.sources))
        told = f'|"{label}"|' if label else ""
        lines.append(f"  {names[arrow.start]} {line}{told} {names[arrow.end]}")
    if picture.notes:
        lines.append(f'  notes["{_text(picture.notes, 200)}"]:::notes')
        lines.append("  classDef notes fill:none,stroke:none")
    lines += [
        f"  classDef {kind.value} {style}"
        for kind, style in _STYLES.items()
        if any(box.kind is kind for box in picture.boxes)
    ]
    return "\n".join(lines) + "\n"


def _text(lines: tuple[str, ...], columns: int = 80) -> str:
    """Lines in a label. What Mermaid could read as anything but a letter goes by its number."""
    return "<br/>".join("".join(map(_safe, shown(line, columns))) for line in lines if line)


def _safe(char: str) -> str:
    return char if char in _PLAIN or char.isalnum() or (ord(char) > 0x7F and char.isprintable()) else f"#{ord(char)};"
