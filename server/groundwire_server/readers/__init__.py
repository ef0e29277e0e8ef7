"""From files to text with a map back to places. One reader a file; `READERS` lists them."""

from groundwire_server.readers.document import (
    Document,
    Reader,
    ReaderOutput,
    ReadOptions,
    ReadWarning,
    RefusedPart,
    Source,
    WarningKind,
)
from groundwire_server.readers.docx import DocxReader
from groundwire_server.readers.encoding import (
    CHARSETS,
    Decoded,
    decode,
    decode_text,
)
from groundwire_server.readers.html import HtmlReader
from groundwire_server.readers.json_lines import (
    JsonLinesReader,
)
from groundwire_server.readers.markdown import (
    MarkdownReader,
)
from groundwire_server.readers.metadata import (
    BUILT_IN_ATTRIBUTES,
    Metadata,
    parse_metadata_toml,
    read_metadata,
)
from groundwire_server.readers.pdf import PdfReader
from groundwire_server.readers.places import (
    Axis,
    HeadingMap,
    PlaceMap,
    line_starts,
    places_by_line,
)
from groundwire_server.readers.places_codec import pack_places, unpack_places
from groundwire_server.readers.plain_text import (
    PlainTextReader,
)
from groundwire_server.readers.pptx import PptxReader
from groundwire_server.readers.registry import (
    READERS,
    can_read,
    find_reader,
    read_document,
    reads_apart,
)
from groundwire_server.readers.stored import place_stored_text, places_follow

__all__ = [
    "BUILT_IN_ATTRIBUTES",
    "CHARSETS",
    "READERS",
    "Axis",
    "Decoded",
    "Document",
    "DocxReader",
    "HeadingMap",
    "HtmlReader",
    "JsonLinesReader",
    "MarkdownReader",
    "Metadata",
    "PdfReader",
    "PlaceMap",
    "PlainTextReader",
    "PptxReader",
    "ReadOptions",
    "ReadWarning",
    "Reader",
    "ReaderOutput",
    "RefusedPart",
    "Source",
    "WarningKind",
    "can_read",
    "decode",
    "decode_text",
    "find_reader",
    "line_starts",
    "pack_places",
    "parse_metadata_toml",
    "place_stored_text",
    "places_by_line",
    "places_follow",
    "read_document",
    "read_metadata",
    "reads_apart",
    "unpack_places",
]
