"""PowerPoint files (.pptx): slides with their shapes in reading order, tables, diagrams and the speaker's notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from lxml import etree

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Locator
from groundwire_server.readers.characters import raised
from groundwire_server.readers.container import broken, parse_xml, raise_if_out_of_memory
from groundwire_server.readers.document import ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.docx_inline import local
from groundwire_server.readers.formulas import office_formula
from groundwire_server.readers.grid import Grid
from groundwire_server.readers.office import checked_package, core_properties
from groundwire_server.readers.text_builder import TextBuilder, one_line

__all__ = ["PptxReader"]

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
# Tops that differ by less than this share of the slide's height stand in one row, read from left to right.
_ROW_SHARE = 0.04
_MAX_NESTING = 20
_SHAPES = frozenset({"cxnSp", "graphicFrame", "grpSp", "pic", "sp"})


class PptxReader:
    """Reads .pptx. The title of a slide is the heading of all that is on it; notes have places of their own.

    Slide numbers, dates and footers are not read; neither are charts and pictures, and a slide that shows only such
    things is told of.
    """

    media_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    suffixes = (".pptx",)
    aliases = ()
    isolated = True

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused: encrypted, damaged, without any text, or over a bound."""
        import pptx

        try:
            opened = pptx.Presentation(checked_package(source))
            slides = list(opened.slides)
        except (KeyError, ValueError, AttributeError, etree.LxmlError) as error:  # no such part, no XML, another kind
            raise_if_out_of_memory(error)
            raise broken(source.doc_id, "the file is no PowerPoint document, or parts of it are missing") from None
        if len(slides) > source.options.max_pages:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{source.doc_id}: {len(slides)} slides are over the limit of {source.options.max_pages}.",
                hint="Split the file, or raise limits.max_document_pages.",
                details={"max_pages": str(source.options.max_pages)},
            )
        builder = TextBuilder(source, (("slide", "para", "notes"),))
        height = opened.slide_height or 0
        for number, slide in enumerate(slides, 1):
            _choose_forms(slide.shapes.element)
            _Slide(source, builder, number, slide, height).add()
        title, attributes = core_properties(opened)
        return [builder.document(self.media_type, title=title, attributes=attributes)]


class _Slide:
    """The content of one slide on its way into the text."""

    def __init__(self, source: Source, builder: TextBuilder, number: int, slide: Any, height: int) -> None:
        self._source = source
        self._builder = builder
        self._number = number
        self._slide = slide
        self._height = height
        self._title_id = None if slide.shapes.title is None else slide.shapes.title.shape_id
        self._paragraphs = 0
        self._unread: Counter[str] = Counter()

    def add(self) -> None:
        """Add its shapes, then its notes, and warn of what of it was not read."""
        self._builder.put_under("", 1)
        self._shapes(self._slide.shapes, 0)
        self._notes()
        shown = sum(self._unread.values())
        if not shown or (self._paragraphs and set(self._unread) == {"picture"}):
            return
        place = str(Locator(self._source.doc_id, (("slide", str(self._number)),)))
        listed = ", ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in sorted(self._unread.items()))
        if self._paragraphs:
            self._warn(ReadWarning(place, f"not read: {listed}", WarningKind.PART_SKIPPED))
        else:
            self._warn(ReadWarning(place, f"the slide holds no text but {listed}", WarningKind.PAGE_WITHOUT_TEXT))

    def _warn(self, warning: ReadWarning) -> None:
        self._builder.warnings.append(warning)

    def _shapes(self, shapes: Any, nesting: int) -> None:
        from pptx.enum.shapes import MSO_SHAPE_TYPE

        for shape in _in_order(shapes, self._title_id, self._height):
            if _is_furniture(shape):
                continue
            if shape.has_text_frame:
                self._text(shape)
            elif shape.has_table:
                self._table(shape.table)
            elif shape.has_chart:
                self._unread["chart"] += 1
            elif hasattr(shape, "shapes"):
                if nesting < _MAX_NESTING:
                    self._shapes(shape.shapes, nesting + 1)
            elif shape.shape_type in (MSO_SHAPE_TYPE.PICTURE, MSO_SHAPE_TYPE.LINKED_PICTURE):
                self._unread["picture"] += 1
            else:
                self._frame(shape)

    def _text(self, shape: Any) -> None:
        if self._title_id is not None and shape.shape_id == self._title_id:
            self._add(one_line(_text_in(shape.text_frame)), level=1)
            return
        first = True
        for paragraph in shape.text_frame.paragraphs:
            first = not self._add(_text_of(paragraph), close=not first) and first

    def _table(self, table: Any) -> None:
        grid = Grid()
        for number, row in enumerate(table.rows):
            grid.next_row(is_head=number == 0 and table.first_row and len(table.rows) > 1)
            for cell in row.cells:
                if cell.is_spanned:
                    continue
                across, down = (cell.span_width, cell.span_height) if cell.is_merge_origin else (1, 1)
                grid.put(one_line(_text_in(cell.text_frame)), across, down)
        first = True
        for _, line in grid.lines():
            first = not self._add(line, close=not first) and first

    def _frame(self, shape: Any) -> None:
        """A diagram is read by the texts of its points; any other object is not."""
        related = next(shape.element.iter(f"{_DIAGRAM}relIds"), None)
        ident = None if related is None else related.get(f"{_RELATION}dm")
        if ident is None:
            if not shape.element.tag.endswith("cxnSp"):  # lines that join shapes hold nothing to be read
                self._unread["object"] += 1
            return
        blob = self._slide.part.related_part(ident).blob
        root = parse_xml(self._source.doc_id, "diagram", blob, max_depth=self._source.options.max_depth)
        first = True
        for point in root.iter(f"{_DIAGRAM}pt"):
            line = one_line("".join(text.text or "" for text in point.iter(f"{_A}t")))
            first = not self._add(line, close=not first) and first

    def _notes(self) -> None:
        if not self._slide.has_notes_slide:
            return
        frame = self._slide.notes_slide.notes_text_frame
        count = 0
        for paragraph in () if frame is None else frame.paragraphs:
            place = {"slide": self._number, "notes": count + 1}
            count += self._builder.add(_text_of(paragraph), place, close=count > 0)

    def _add(self, text: str, *, level: int = 0, close: bool = False) -> bool:
        place = {"slide": self._number, "para": self._paragraphs + 1}
        added = self._builder.add(text, place, level=level, close=close)
        self._paragraphs += added
        return added


def _choose_forms(tree: Any) -> None:
    """Put the first form that holds a shape in the place of things with several forms, as text boxes with formulas are.

    Of a thing that is no shape in any of them, as what is drawn by hand, the last form stays.
    """
    for several in list(tree.iter(f"{_COMPATIBILITY}AlternateContent")):
        parent = several.getparent()
        if local(parent) not in ("spTree", "grpSp"):
            continue
        forms = list(several)
        holding = [form for form in forms if any(local(child) in _SHAPES for child in form)]
        for child in list((holding or forms[-1:] or [()])[0]):
            several.addprevious(child)
        parent.remove(several)


def _text_in(frame: Any) -> str:
    return "\n".join(_text_of(paragraph) for paragraph in frame.paragraphs)


def _text_of(paragraph: Any) -> str:
    return "".join(_pieces(paragraph._p))


def _pieces(parent: Any) -> Iterator[str]:
    for child in parent:
        name = local(child)
        if name == "br":
            yield "\n"
        elif name in ("r", "fld"):
            text = "".join(said.text or "" for said in child.iter(f"{_A}t"))
            look = child.find(f"{_A}rPr")
            high = look is not None and look.get("baseline", "0").strip("0%")[:1] not in ("", "-")
            yield raised(text) if high else text
        elif name == "m":
            yield office_formula(child)
        elif name == "AlternateContent":
            yield from _pieces(child[0] if len(child) else ())


def _in_order(shapes: Any, title_id: int | None, height: int) -> Iterator[Any]:
    """The title, then row by row from above, and from left to right within a row; what has no place comes last."""
    placed = list(enumerate(shapes))
    rest = [(index, shape) for index, shape in placed if shape.shape_id != title_id]
    yield from (shape for _, shape in placed if shape.shape_id == title_id)
    rest.sort(key=lambda entry: (_top(entry[1]), entry[0]))
    row: list[tuple[int, Any]] = []
    for index, shape in rest:
        if row and _top(shape) > _top(row[0][1]) + _ROW_SHARE * height:
            yield from _row(row)
            row = []
        row.append((index, shape))
    yield from _row(row)


def _row(row: Sequence[tuple[int, Any]]) -> Iterator[Any]:
    return (shape for _, shape in sorted(row, key=lambda entry: (entry[1].left or 0, entry[0])))


def _top(shape: Any) -> float:
    return float("inf") if shape.top is None else float(shape.top)


def _is_furniture(shape: Any) -> bool:
    """Whether it is a slide number, a date, a header or a footer."""
    from pptx.enum.shapes import PP_PLACEHOLDER

    kinds = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.HEADER)
    return bool(shape.is_placeholder and shape.placeholder_format.type in kinds)
