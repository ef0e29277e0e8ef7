"""Books (EPUB 2 and 3): one document, the chapters in the order of reading; places are parts and paragraphs."""

from __future__ import annotations

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Locator
from groundwire_server.readers.container import open_container
from groundwire_server.readers.document import ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.epub_parts import open_book
from groundwire_server.readers.html import decode_html
from groundwire_server.readers.html_blocks import add_html
from groundwire_server.readers.html_tree import Boilerplate, parse_html
from groundwire_server.readers.plain_text import file_title
from groundwire_server.readers.properties import file_properties, read_day
from groundwire_server.readers.text_builder import TextBuilder

__all__ = ["EpubReader"]


class EpubReader:
    """Reads a book. A part is a file of the book, counted from 1 in the order of reading.

    A chapter without a heading stands under its title in the table of contents. Title, author and day are those of the
    book's own description.
    """

    media_type = "application/epub+zip"
    suffixes = (".epub",)
    aliases: tuple[str, ...] = ()
    isolated = True

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused when it is no book, encrypted, damaged, blank or over a bound."""
        container = open_container(source)
        book = open_book(container, max_depth=source.options.max_depth)
        if len(book.chapters) > source.options.max_pages:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{source.doc_id}: it has {len(book.chapters)} parts, at most {source.options.max_pages} are read.",
                hint="Split the book, or raise limits.max_document_pages.",
                details={"max_pages": str(source.options.max_pages)},
            )
        builder = TextBuilder(source, (("part", "para"), ("table", "row")), name_headings=True)
        for number, chapter in enumerate(book.chapters, 1):
            if chapter.problem:
                _warn(builder, source, number, f"not read: {chapter.problem}", WarningKind.PART_SKIPPED)
                continue
            decoded = decode_html(Source(source.doc_id, container.read(chapter.part), "", source.options))
            root = parse_html(source.doc_id, decoded.text, max_depth=source.options.max_depth)
            if chapter.title and next(root.iter("h1", "h2", "h3"), None) is None:
                builder.put_under(chapter.title, 1)
            if not add_html(builder, root, Boilerplate(root, strict=False), {"part": number}):
                _warn(builder, source, number, "it holds no text, only pictures if any", WarningKind.PAGE_WITHOUT_TEXT)
            if decoded.doubt:
                _warn(builder, source, number, decoded.doubt, WarningKind.TEXT_UNCERTAIN)
        title = book.title or file_title(source.doc_id)
        attributes = file_properties(book.author, read_day(book.created))
        return [builder.document(self.media_type, title=title, attributes=attributes)]


def _warn(builder: TextBuilder, source: Source, number: int, message: str, kind: WarningKind) -> None:
    place = Locator(source.doc_id, (("part", str(number)),))
    builder.warnings.append(ReadWarning(str(place), message, kind))
