"""PDF by its text layer (pdfium): places are pages and paragraphs on them; pages without text are told of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Attribute, Locator
from groundwire_server.readers.container import broken, encrypted
from groundwire_server.readers.document import ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.pdf_blocks import Block, page_blocks
from groundwire_server.readers.pdf_fonts import count_lost_texts
from groundwire_server.readers.pdf_lines import read_lines
from groundwire_server.readers.plain_text import NO_CONTENT
from groundwire_server.readers.properties import file_properties, read_day
from groundwire_server.readers.text_builder import TextBuilder, clean_text, one_line

__all__ = ["PdfReader"]

_NEEDS_PASSWORD = 4
_NO_TITLES = frozenset({"", "(anonymous)", "(unspecified)", "anonymous", "untitled"})
_MAX_OUTLINE = 5000
_MAX_HEADING_CHARS = 200
_MAX_HEADING_LINES = 3
_LARGER = 1.12
_MAX_LEVEL = 6
# A number that the outline leaves out.
_NUMBER_CHARS = 10
# A page with fewer characters that a picture covers is a scan with a stamp on it.
_FEW_CHARS = 40
_COVERS = 0.7
_MANY_STROKES = 20
_UNMAPPED_SHARE = 0.2


@dataclass(slots=True)
class _Page:
    """What of a page is needed after it was closed."""

    blocks: list[Block] = field(default_factory=list)
    scanned: bool = False
    unmapped: bool = False
    damaged: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class _Entry:
    """A heading of the outline: level from 1, number of its page from 0."""

    title: str
    level: int
    page: int


class PdfReader:
    """Reads PDF. Headings are those of the outline, else lines set larger than the body, or in bold by themselves.

    The title is that of the properties, else the first heading. It is not safe to use from two threads: pdfium is not.
    """

    media_type = "application/pdf"
    suffixes = (".pdf",)
    aliases = ("application/x-pdf",)
    isolated = True

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused: encrypted, damaged, without any text, or over a bound."""
        document = _open(source)
        try:
            count = len(document)
            if count > source.options.max_pages:
                raise DocumentRefused(
                    ErrorReason.DOCUMENT_TOO_LARGE,
                    f"{source.doc_id}: {count} pages are over the limit of {source.options.max_pages}.",
                    hint="Split the file, or raise limits.max_document_pages.",
                    details={"max_pages": str(source.options.max_pages)},
                )
            pages = [_read_page(document, number) for number in range(count)]
            outline = list(_outline(document, count))
            said = document.get_metadata_dict()
            warnings = _unread(source.doc_id, document)
        finally:
            document.close()
        builder = TextBuilder(source, (("page", "para"),))
        builder.warnings += [*_page_warnings(source.doc_id, pages), *warnings]
        _build(builder, pages, outline)
        if not builder.length:
            raise _no_text(source.doc_id, pages)
        return [builder.document(self.media_type, title=_title(said), attributes=_attributes(said))]


def _open(source: Source) -> Any:
    import pypdfium2  # type: ignore[import-untyped]

    try:
        return pypdfium2.PdfDocument(source.raw)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _NEEDS_PASSWORD:
            raise encrypted(source.doc_id) from None
        raise broken(source.doc_id, "the file is no PDF, or is damaged beyond mending") from None


def _read_page(document: Any, number: int) -> _Page:
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return _Page(damaged=True)
    try:
        text = read_lines(page)
        lost = count_lost_texts(page) > 0
        scanned = text.chars < _FEW_CHARS and _is_scan(page, text.chars, text.width * text.height)
    except pypdfium2.PdfiumError:
        return _Page(damaged=True)
    finally:
        page.close()
    unmapped = text.unmapped > _UNMAPPED_SHARE * (text.chars + text.unmapped)
    return _Page(page_blocks(text.lines, text.height), scanned=scanned, unmapped=unmapped, lost=lost)


def _is_scan(page: Any, chars: int, area: float) -> bool:
    """Whether a page that holds few characters shows more than them: a picture over it, or letters drawn as strokes."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    covered, strokes, pictures = 0.0, 0, 0
    for shape in page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_PATH), max_depth=4):
        if shape.type == pdfium.FPDF_PAGEOBJ_PATH:
            strokes += 1
        else:
            left, bottom, right, top = shape.get_bounds()
            covered += max(0.0, right - left) * max(0.0, top - bottom)
            pictures += 1
        if covered >= _COVERS * area or (not chars and (pictures or strokes >= _MANY_STROKES)):
            return True
    return False


def _outline(document: Any, pages: int) -> Iterator[_Entry]:
    for number, bookmark in enumerate(document.get_toc(max_depth=_MAX_LEVEL)):
        if number >= _MAX_OUTLINE:
            return
        target = bookmark.get_dest()
        page = None if target is None else target.get_index()
        title = one_line(clean_text(bookmark.get_title()))
        if page is not None and 0 <= page < pages and title:
            yield _Entry(title, bookmark.level + 1, page)


def _build(builder: TextBuilder, pages: Sequence[_Page], outline: Sequence[_Entry]) -> None:
    by_page: dict[int, list[_Entry]] = {}
    for entry in outline:
        by_page.setdefault(entry.page, []).append(entry)
    levels = {} if outline else _levels(pages)
    for number, page in enumerate(pages):
        waiting = by_page.get(number, [])
        standing = _in_text(waiting, page.blocks)
        for entry in waiting:
            if entry not in standing.values():
                builder.put_under(entry.title, entry.level)
        after_row, paragraph = False, 0
        for index, block in enumerate(page.blocks):
            level = levels.get(_style(block), 0) if levels else 0
            if index in standing:
                level = _begin_under(builder, standing[index], block)
            row = block.lines[0].cells
            place = {"page": number + 1, "para": paragraph + 1}
            paragraph += builder.add(block.text, place, level=level, close=row and after_row)
            after_row = row


def _begin_under(builder: TextBuilder, entry: _Entry, block: Block) -> int:
    """The level of a block that an entry of the outline names; 0 where the title only begins a longer paragraph."""
    if len(block.text) <= 2 * len(entry.title) + _NUMBER_CHARS:
        return entry.level
    builder.put_under(entry.title, entry.level)
    return 0


def _in_text(entries: Sequence[_Entry], blocks: Sequence[Block]) -> dict[int, _Entry]:
    """Entries of the outline by the block on their page that begins with their title, each once, in order."""
    found: dict[int, _Entry] = {}
    start = 0
    for entry in entries:
        wanted = _folded(entry.title)
        for index in range(start, len(blocks)):
            begin = blocks[index].text[: 2 * len(entry.title) + _NUMBER_CHARS]
            if wanted in _folded(begin)[: len(wanted) + _NUMBER_CHARS]:
                found[index] = entry
                start = index + 1
                break
    return found


def _folded(text: str) -> str:
    return "".join(text.casefold().split())


_Style = tuple[float, bool]


def _style(block: Block) -> _Style | None:
    """How a block is set, where it may be a heading."""
    text = block.text
    long = len(text) > _MAX_HEADING_CHARS or len(block.lines) > _MAX_HEADING_LINES
    if (
        long
        or block.lines[0].cells
        or text.endswith((".", "。", ",", "、", ";", "；"))
        or not any(map(str.isalpha, text))
    ):
        return None
    return round(block.size * 2) / 2, block.bold


def _levels(pages: Sequence[_Page]) -> dict[_Style | None, int]:
    """Levels of the styles that headings are set in: larger than the body, or as large and bold where it is not."""
    body: Counter[_Style] = Counter()
    for page in pages:
        for block in page.blocks:
            for line in block.lines:
                body[round(line.size * 2) / 2, line.bold] += len(line.text)
    if not body:
        return {}
    size, bold = min(body, key=lambda style: (-body[style], style))
    styles = {style for page in pages for block in page.blocks if (style := _style(block)) is not None}
    heads = sorted(
        (style for style in styles if style[0] >= size * _LARGER or (style[1] and not bold and style[0] >= size)),
        key=lambda style: (-style[0], not style[1]),
    )
    return {style: min(level, _MAX_LEVEL) for level, style in enumerate(heads, 1)}


def _title(said: dict[str, str]) -> str:
    title = said.get("Title", "")
    return "" if title.strip().casefold() in _NO_TITLES else title


def _attributes(said: dict[str, str]) -> tuple[Attribute, ...]:
    author = said.get("Author", "")
    named = "" if author.strip().casefold() in _NO_TITLES else author
    return file_properties(named, read_day(said.get("CreationDate", "")))


def _page_warnings(doc_id: str, pages: Sequence[_Page]) -> Iterator[ReadWarning]:
    kinds = (
        (
            "scanned",
            WarningKind.PAGE_WITHOUT_TEXT,
            "shows a picture and holds no text of its own, or hardly any (a scan?)",
        ),
        ("damaged", WarningKind.PART_SKIPPED, "is damaged and was not read"),
        (
            "lost",
            WarningKind.TEXT_UNCERTAIN,
            "has text in a font that is not in the file, and not all of it was read",
        ),
        ("unmapped", WarningKind.TEXT_UNCERTAIN, "has a font that does not say which characters it shows"),
    )
    for name, kind, what in kinds:
        for first, last in _runs([number for number, page in enumerate(pages, 1) if getattr(page, name)]):
            place = str(first) if first == last else f"{first}-{last}"
            subject = "the page" if first == last else "each of these pages"
            yield ReadWarning(str(Locator(doc_id, (("page", place),))), f"{subject} {what}", kind)


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each run of numbers that follow one another."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _unread(doc_id: str, document: Any) -> list[ReadWarning]:
    """What a PDF may hold beside its pages."""
    warnings = []
    attached = document.count_attachments()
    if attached:
        warnings.append(
            ReadWarning(doc_id, f"not read: {attached} attached file{'s' * (attached > 1)}", WarningKind.PART_SKIPPED)
        )
    if document.get_formtype():
        warnings.append(
            ReadWarning(doc_id, "what was filled into the fields of its form was not read", WarningKind.PART_SKIPPED)
        )
    return warnings


def _no_text(doc_id: str, pages: Sequence[_Page]) -> DocumentRefused:
    scanned = sum(page.scanned for page in pages)
    if not scanned:
        damaged = sum(page.damaged for page in pages)
        if damaged:
            return broken(doc_id, f"none of its {len(pages)} pages could be read")
        if any(page.lost for page in pages):
            return DocumentRefused(
                ErrorReason.DOCUMENT_NO_TEXT,
                f"{doc_id}: its text is in fonts that the file does not hold, and could not be read.",
                hint="Save it anew with its fonts embedded, or run text recognition (OCR) over it.",
            )
        return DocumentRefused(
            ErrorReason.DOCUMENT_NO_TEXT, f"{doc_id}: none of its {len(pages)} pages holds text.", hint=NO_CONTENT
        )
    return DocumentRefused(
        ErrorReason.DOCUMENT_NO_TEXT,
        f"{doc_id}: {scanned} of its {len(pages)} pages show pictures, and none holds text.",
        hint="Run text recognition (OCR) over it and send what that makes.",
        details={"pages": str(len(pages)), "scanned": str(scanned)},
    )
