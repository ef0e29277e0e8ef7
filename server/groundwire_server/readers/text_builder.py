"""The text of a file that is no text itself, put together block by block, with places and headings."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Mapping

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Attribute, Span
from groundwire_server.readers.characters import settle_raised
from groundwire_server.readers.document import Document, ReadWarning, Source
from groundwire_server.readers.headings import MAX_HEADING_CHARS, Heading, heading_paths
from groundwire_server.readers.places import Axis, HeadingMap, PlaceMap
from groundwire_server.readers.plain_text import NO_CONTENT, file_title

__all__ = ["TextBuilder", "clean_text", "one_line"]

_MAX_TITLE_CHARS = 80
_HALF = re.compile("[\ud800-\udfff]")
_FORM_BREAK = re.compile("\r\n|[\r\v\f\x85]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")


class TextBuilder:
    """Takes the blocks of a document (headings, paragraphs, list items, rows) in reading order.

    Blocks stand apart by a blank line, and rows and list items, which belong to what is before them, by a line end.

    Args:
        source: the file; its options bound the text.
        nests: keys of locators; within a nest from the widest to the narrowest, e.g. (("page", "para"),) or
            (("para",), ("table", "row")).
        name_headings: locators name the heading that a span begins under, for kinds in which people cannot count.

    >>> builder = TextBuilder(Source("a.html", b""), (("para",),), name_headings=True)
    >>> builder.add("Costs", {"para": 1}, level=2), builder.add("They fell.", {"para": 2})
    (True, True)
    >>> document = builder.document("text/html", title="")
    >>> document.text, document.places.locate(Span(7, 17)), document.title
    ('Costs\\n\\nThey fell.', (('para', '2'), ('heading', 'Costs')), 'Costs')
    """

    def __init__(self, source: Source, nests: tuple[tuple[str, ...], ...], *, name_headings: bool = False) -> None:
        self._source = source
        self._nests = nests
        self._name_headings = name_headings
        self._pieces: list[str] = []
        self._length = 0
        self._starts: dict[str, array[int]] = {key: array("Q") for nest in nests for key in nest}
        self._names: dict[str, list[str]] = {key: [] for nest in nests for key in nest}
        self._headings: list[Heading] = []
        self._pending: list[tuple[int, str]] = []
        self.warnings: list[ReadWarning] = []

    @property
    def length(self) -> int:
        """Code points so far."""
        return self._length

    def add(self, text: str, place: Mapping[str, str | int], *, level: int = 0, close: bool = False) -> bool:
        """Add a block; one without content is left out, and False tells so.

        Args:
            text: as it is to stand; blanks at its ends and characters that no text may hold are taken off.
            place: names by key; a key that is left out has no name here.
            level: of a heading, from 1; 0: it is none.
            close: only a line end parts it from the block before.

        Raises:
            DocumentRefused: DOCUMENT_TOO_LARGE, over the bound of the text.
        """
        block = clean_text(text).strip()
        if not block:
            return False
        if self._pieces:
            self._put("\n" if close else "\n\n")
        start = self._length
        for key, names in self._names.items():
            name = str(place.get(key, ""))
            if not names or names[-1] != name:
                names.append(name)
                self._starts[key].append(start)
        self._headings += [Heading(start, above, title) for above, title in self._pending]
        self._pending.clear()
        if level > 0:
            self._headings.append(Heading(start, level, one_line(block)[:MAX_HEADING_CHARS]))
        self._put(block)
        return True

    def put_under(self, title: str, level: int) -> None:
        """What comes next stands under a heading that is not in the text, e.g. a title out of a table of contents.

        Without a title it stands under none, as what is on a slide without one.
        """
        self._pending.append((level, one_line(clean_text(title))[:MAX_HEADING_CHARS]))

    def document(self, media_type: str, *, title: str, attributes: tuple[Attribute, ...] = ()) -> Document:
        """The document; without a title of its own it has that of its first heading, else the file's name.

        Raises:
            DocumentRefused: DOCUMENT_NO_TEXT, nothing was added.
        """
        text = "".join(self._pieces)
        if not text:
            raise self._no_text()
        first = next((heading.title for heading in self._headings if heading.title), "")
        return Document(
            doc_id=self._source.doc_id,
            title=one_line(clean_text(title)) or first or file_title(self._source.doc_id),
            media_type=media_type,
            text=text,
            body=Span(0, len(text)),
            places=self._places(),
            raw_sha256=hashlib.sha256(self._source.raw).digest(),
            raw_bytes=len(self._source.raw),
            attributes=attributes,
            warnings=tuple(self.warnings),
        )

    def _no_text(self) -> DocumentRefused:
        """What was not read tells why there is no text."""
        message = f"{self._source.doc_id}: the file holds no text"
        if self.warnings:
            first, more = self.warnings[0], len(self.warnings) - 1
            message += f" ({first.locator}: {first.message}{f'; and {more} more' if more else ''})"
        return DocumentRefused(ErrorReason.DOCUMENT_NO_TEXT, f"{message}.", hint=NO_CONTENT)

    def _places(self) -> PlaceMap:
        axes = tuple(
            Axis(key, self._starts[key], self._names[key], nested=depth > 0)
            for nest in self._nests
            for depth, key in enumerate(nest)
            if any(self._names[key])
        )
        paths = list(heading_paths(self._headings))
        titles = [_short(heading.title) for heading in self._headings] if self._name_headings else []
        return PlaceMap(
            axes, HeadingMap(array("Q", (start for start, _ in paths)), [path for _, path in paths], titles)
        )

    def _put(self, piece: str) -> None:
        self._length += len(piece)
        most = self._source.options.max_text_chars
        if self._length > most:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_TOO_LARGE,
                f"{self._source.doc_id}: its text is over the limit of {most} characters.",
                hint="Split the file, or raise limits.max_text_chars.",
                details={"max_text_chars": str(most)},
            )
        self._pieces.append(piece)


def clean_text(text: str) -> str:
    """Text that can be stored: line ends as LF; no NUL, control or half character.

    >>> clean_text("a\\r\\nb\\x0bc\\x00\\ud800")
    'a\\nb\\nc\ufffd'
    """
    return _HALF.sub("\ufffd", _CONTROL.sub("", _FORM_BREAK.sub("\n", settle_raised(text))))


def one_line(text: str) -> str:
    """The text with every run of blanks as one space."""
    return " ".join(text.split())


def _short(title: str) -> str:
    return title if len(title) <= _MAX_TITLE_CHARS else f"{title[: _MAX_TITLE_CHARS - 1].rstrip()}…"
