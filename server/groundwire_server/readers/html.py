"""Web pages: the content without what is around it; places are paragraphs and the heading above them."""

from __future__ import annotations

import re

from lxml import etree

from groundwire_server.errors import DocumentRefused
from groundwire_server.evidence import Attribute
from groundwire_server.readers.document import ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.encoding import CHARSETS, Decoded, decode
from groundwire_server.readers.html_blocks import add_html
from groundwire_server.readers.html_tree import Boilerplate, content_root, local_name, parse_html, text_outside
from groundwire_server.readers.properties import file_properties, read_day
from groundwire_server.readers.text_builder import TextBuilder

__all__ = ["HtmlReader", "decode_html"]

# Where a page says its charset; browsers look no further than a quarter of this.
_HEAD_BYTES = 4096
_CHARSET = re.compile(
    rb"""<(?:meta\s[^>]*?charset|\?xml\s[^>]*?encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE
)
_AUTHOR = ("author", "article:author", "dc.creator", "dcterms.creator")
_CREATED = ("article:published_time", "date", "dc.date", "dcterms.created", "dcterms.date")


class HtmlReader:
    """Reads HTML and XHTML: headings, paragraphs, lists, tables with their heads beside each row.

    The title is that of the page, else its first heading. The author and the day that a page names in `meta` become the
    attributes `file_author` and `file_created`.
    """

    media_type = "text/html"
    suffixes = (".html", ".htm", ".xhtml")
    aliases = ("application/xhtml+xml",)
    isolated = True

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused when it is no text, blank, or over a bound."""
        decoded = decode_html(source)
        root = parse_html(source.doc_id, decoded.text, max_depth=source.options.max_depth)
        builder = _build(source, root, strict=True)
        if not builder.length:
            builder = _build(source, root, strict=False)
        if decoded.doubt:
            builder.warnings.append(ReadWarning(source.doc_id, decoded.doubt, WarningKind.TEXT_UNCERTAIN))
        title = root.find(".//title")
        title_text = "" if title is None else title.text or ""
        return [builder.document(self.media_type, title=title_text, attributes=_attributes(root))]


def decode_html(source: Source) -> Decoded:
    """The text of a page: in the charset that was given, else in the one that it names itself, else as detected.

    Raises:
        DocumentRefused: as `decode`.
    """
    if not source.charset:
        found = _CHARSET.search(source.raw[:_HEAD_BYTES])
        named = found[1].decode("ascii").casefold().replace("_", "-") if found else ""
        # What was read of the page so far was ASCII, so that it is no UTF-16, whatever it says.
        if named in CHARSETS and not named.startswith("utf-16"):
            try:
                return decode(source.doc_id, source.raw, named)
            except DocumentRefused:
                pass  # the page is wrong about itself
    return decode(source.doc_id, source.raw, source.charset)


def _build(source: Source, root: etree._Element, *, strict: bool) -> TextBuilder:
    builder = TextBuilder(source, (("para",), ("table", "row")), name_headings=True)
    content = content_root(root) if strict else root
    boilerplate = Boilerplate(content, strict=strict)
    add_html(builder, content, boilerplate)
    outside = text_outside(root, content)
    if builder.length and boilerplate.dropped_chars + outside > builder.length:
        names = [f"{count} {name}" for name, count in sorted(boilerplate.dropped.items())]
        left_out = ", ".join(names + [f"all beside the {local_name(content)}"] * bool(outside))
        builder.warnings.append(
            ReadWarning(
                source.doc_id,
                f"more text was left out as navigation and the like ({left_out}) than was read",
                WarningKind.PART_SKIPPED,
            )
        )
    return builder


def _attributes(root: etree._Element) -> tuple[Attribute, ...]:
    said: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").strip().casefold()
        said.setdefault(name, meta.get("content") or "")
    author = next((said[name] for name in _AUTHOR if said.get(name)), "")
    created = next((day for name in _CREATED if (day := read_day(said.get(name, "")))), None)
    return file_properties(author, created)
