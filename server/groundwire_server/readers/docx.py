"""Word files (.docx): headings, paragraphs, lists with their numbers, tables, notes, in the order of the document.

python-docx opens the file and knows its parts and styles; the content is walked here, since its own lists of paragraphs
leave out what stands in content controls, tracked insertions, text boxes and notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lxml import etree

from groundwire_server.readers.container import broken, parse_xml, raise_if_out_of_memory
from groundwire_server.readers.document import ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.docx_inline import ParagraphText, local
from groundwire_server.readers.docx_numbers import Numbering, W, roman
from groundwire_server.readers.grid import Grid
from groundwire_server.readers.office import checked_package, core_properties
from groundwire_server.readers.text_builder import TextBuilder, one_line

__all__ = ["DocxReader"]

_HEADING_STYLE = re.compile(r"heading ([1-9])", re.IGNORECASE)
_LONG_CELL_CHARS = 1000
_MOST_STYLES = 20
_THROUGH = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"})
_ON = frozenset({"", "1", "true", "on"})


class DocxReader:
    """Reads .docx. Places are paragraphs (headings, items and rows count), rows of tables and notes, with the heading.

    Tracked insertions count as accepted and deletions as gone. Headers and footers of the pages, comments and pictures
    are not read.
    """

    media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    suffixes = (".docx",)
    aliases = ()
    isolated = True

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused: encrypted, damaged, blank, or over a bound."""
        import docx

        try:
            opened = docx.Document(checked_package(source))
            body = opened.element.body
        except (KeyError, ValueError, AttributeError, etree.LxmlError) as error:  # no such part, no XML, another kind
            raise_if_out_of_memory(error)
            raise broken(source.doc_id, "the file is no Word document, or parts of it are missing") from None
        walk = _Walk(source, opened)
        walk.blocks(body)
        title, attributes = core_properties(opened)
        return [walk.finish().document(self.media_type, title=title or walk.title, attributes=attributes)]


class _Walk:
    """The walk through the content of a document."""

    def __init__(self, source: Source, opened: Any) -> None:
        self.title = ""
        self._source = source
        self._builder = TextBuilder(source, (("para",), ("table", "row"), ("note",)), name_headings=True)
        self._styles = {style.style_id: style.element for style in opened.styles}
        self._numbering = Numbering(_related(source, opened, "/numbering"))
        self._notes = {kind: _note_bodies(source, opened, f"/{kind}s", kind) for kind in ("footnote", "endnote")}
        self._marks: dict[tuple[str, str], str] = {}
        self._waiting: list[tuple[str, str]] = []
        self._paragraphs = 0
        self._tables = 0
        self._unread: Counter[str] = Counter()

    def blocks(self, container: Any) -> None:
        """Add the blocks of a body, a cell or a text box."""
        for child in container:
            name = local(child)
            if name == "p":
                self._paragraph(child)
            elif name == "tbl":
                self._table(child)
            elif name in _THROUGH:
                self.blocks(child)
            elif name == "altChunk":
                self._unread["embedded document"] += 1

    def finish(self) -> TextBuilder:
        """The text, with a warning for what was not read."""
        if self._unread:
            listed = ", ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in sorted(self._unread.items()))
            self._builder.warnings.append(
                ReadWarning(self._source.doc_id, f"not read: {listed}", WarningKind.PART_SKIPPED)
            )
        return self._builder

    def _paragraph(self, element: Any) -> None:
        inline = self._inline(element)
        level, is_title, number, depth = self._format(element)
        mark = self._numbering.next(number, depth) if inline.text.strip() and number else ""
        text = f"{mark} {inline.text.lstrip()}" if mark else inline.text
        if is_title and not self.title:
            self.title = one_line(text)
        self._add(text, level=level, close=bool(number) and not level)
        self._put_notes()
        for box in inline.boxes:
            self.blocks(box)

    def _inline(self, element: Any) -> ParagraphText:
        inline = ParagraphText(element, self._mark)
        self._unread.update(inline.unread)
        return inline

    def _add(self, text: str, *, level: int = 0, close: bool = False, **place: int) -> bool:
        added = self._builder.add(text, {"para": self._paragraphs + 1, **place}, level=level, close=close)
        self._paragraphs += added
        return added

    def _format(self, paragraph: Any) -> tuple[int, bool, str, int]:
        """Level of a heading (0: none), whether it is the title, number of its list (empty: none) and level in it."""
        properties = paragraph.find(f"{W}pPr")
        outline, number, depth, name = None, None, None, ""
        for place in self._formats(properties):
            outline = _value(place, "outlineLvl") if outline is None else outline
            listed = place.find(f"{W}numPr") if place is not None else None
            number = _value(listed, "numId") if number is None else number
            depth = _value(listed, "ilvl") if depth is None else depth
        for style in self._chain(properties):
            said = _value(style, "name") or ""
            name = name or said
            heading = _HEADING_STYLE.fullmatch(said)
            if heading and outline is None:
                outline = str(int(heading[1]) - 1)
        level = int(outline) + 1 if outline is not None and outline in "012345678" and outline else 0
        return level, name.casefold() == "title", "" if number in (None, "0") else str(number), int(depth or 0)

    def _formats(self, properties: Any) -> Iterator[Any]:
        """The properties of a paragraph itself, then those of its styles from the nearest to the widest."""
        if properties is not None:
            yield properties
        for style in self._chain(properties):
            found = style.find(f"{W}pPr")
            if found is not None:
                yield found

    def _chain(self, properties: Any) -> Iterator[Any]:
        ident = _value(properties, "pStyle")
        for _ in range(_MOST_STYLES):
            style = self._styles.get(ident)
            if style is None:
                return
            yield style
            ident = _value(style, "basedOn")

    def _table(self, table: Any) -> None:
        grid = self._grid(table)
        if grid is None:
            for row in _rows(table):
                for cell in _cells(row):
                    self.blocks(cell)
            return
        self._tables += 1
        first = True
        for row, line in grid.lines():
            first = not self._add(line, close=not first, table=self._tables, row=row) and first
        self._put_notes()

    def _grid(self, table: Any) -> Grid | None:
        """The cells of a table of data; None for one that lays out a page: one column, or with blocks in its cells."""
        if any(local(inner) == "tbl" for inner in table.iterdescendants()):
            return None
        grid, columns, unread = Grid(), 0, Counter[str]()
        for row in _rows(table):
            grid.next_row(is_head=_on(row.find(f"{W}trPr/{W}tblHeader")))
            cells = list(_cells(row))
            columns = max(columns, len(cells))
            for cell in cells:
                paragraphs = [inner for inner in cell.iterdescendants(f"{W}p") if not _is_fallback(inner)]
                if any(self._format(inner)[0] for inner in paragraphs):
                    return None
                merged = cell.find(f"{W}tcPr/{W}vMerge")
                goes_on = merged is not None and merged.get(f"{W}val", "continue") == "continue"
                inline = [ParagraphText(inner, self._mark) for inner in paragraphs]
                unread.update(name for each in inline for name in each.unread)
                text = "" if goes_on else " ".join(each.text for each in inline)
                if len(text) > _LONG_CELL_CHARS:
                    return None
                across = _value(cell.find(f"{W}tcPr"), "gridSpan") or "1"
                grid.put(text, int(across) if across.isdecimal() else 1, below=goes_on)
        if columns < 2:
            return None
        self._unread.update(unread)
        return grid

    def _mark(self, kind: str, ident: str) -> str:
        if ident not in self._notes[kind]:
            return ""
        if (kind, ident) not in self._marks:
            number = 1 + sum(marked == kind for marked, _ in self._marks)
            self._marks[kind, ident] = str(number) if kind == "footnote" else roman(number).lower()
            self._waiting.append((kind, ident))
        return f"[{self._marks[kind, ident]}]"

    def _put_notes(self) -> None:
        """Notes follow the paragraph or table that refers to them: they are read together."""
        waiting, self._waiting = self._waiting, []
        for kind, ident in waiting:
            mark = self._marks[kind, ident]
            text = " ".join(self._inline(inner).text.strip() for inner in self._notes[kind][ident].iter(f"{W}p"))
            # With the paragraph that it follows, else a passage that ends in a note would name no paragraphs.
            place: dict[str, str | int] = {"para": max(self._paragraphs, 1), "note": mark}
            self._builder.add(f"[{mark}] {text.strip()}", place, close=True)


def _is_fallback(element: Any) -> bool:
    """Whether it stands in the second form of a thing that stands in its first one as well."""
    return any(local(above) == "Fallback" for above in element.iterancestors())


def _rows(table: Any) -> Iterator[Any]:
    for child in table:
        name = local(child)
        if name == "tr" and not child.find(f"{W}trPr/{W}del") is not None:
            yield child
        elif name in _THROUGH:
            yield from _rows(child)


def _cells(row: Any) -> Iterator[Any]:
    for child in row:
        name = local(child)
        if name == "tc":
            yield child
        elif name in _THROUGH:
            yield from _cells(child)


def _value(element: Any, name: str) -> str | None:
    """The value of a property; None where it is not there."""
    found = None if element is None else element.find(f"{W}{name}")
    return None if found is None else found.get(f"{W}val")


def _on(element: Any) -> bool:
    return element is not None and element.get(f"{W}val", "") in _ON


def _related(source: Source, opened: Any, kind: str) -> Any:
    """The root of a part that the document is related to; None where it has none."""
    for relation in opened.part.rels.values():
        if relation.reltype.endswith(kind) and not relation.is_external:
            blob = relation.target_part.blob
            return parse_xml(source.doc_id, kind.strip("/"), blob, max_depth=source.options.max_depth)
    return None


def _note_bodies(source: Source, opened: Any, part: str, kind: str) -> dict[str, Any]:
    """Notes by id, without the lines that part them from the page."""
    root = _related(source, opened, part)
    if root is None:
        return {}
    return {
        note.get(f"{W}id", ""): note for note in root.iter(f"{W}{kind}") if note.get(f"{W}type") in (None, "normal")
    }
