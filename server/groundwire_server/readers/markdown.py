"""Markdown: one document, places are lines, each line stands under a path of headings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from groundwire_server.evidence import Span
from groundwire_server.readers.document import Document, ReaderOutput, ReadWarning, Source
from groundwire_server.readers.front_matter import split_front_matter
from groundwire_server.readers.headings import Heading, heading_paths
from groundwire_server.readers.places import line_starts, places_by_line
from groundwire_server.readers.plain_text import decode_source, file_title, refuse_blank

__all__ = ["MarkdownReader", "find_headings"]

_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*))?")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_CODE_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_BLOCK_START = re.compile(r" {0,3}(?:[>|]|[-+*][ \t]|[0-9]{1,9}[.)][ \t])|    |\t")


class MarkdownReader:
    """Reads Markdown. The text stays as it stands in the file; front matter is kept out of the chunks.

    The title is that of the front matter, else the first heading, else the file's name.
    """

    media_type = "text/markdown"
    suffixes = (".md", ".markdown", ".mdown", ".mkd")
    aliases = ("text/x-markdown",)
    isolated = False

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused when it is no text, blank, or its front matter cannot be read."""
        text, doubts = decode_source(source)
        front = split_front_matter(source.doc_id, text, source.options)
        refuse_blank(source.doc_id, text[front.body_start :])
        headings = list(find_headings(text, front.body_start))
        first = next((heading.title for heading in headings if heading.title), "")
        document = Document(
            doc_id=source.doc_id,
            title=front.metadata.title or first or file_title(source.doc_id),
            media_type=self.media_type,
            text=text,
            body=Span(front.body_start, len(text)),
            places=places_by_line(text, heading_paths(headings)),
            raw_sha256=hashlib.sha256(source.raw).digest(),
            raw_bytes=len(source.raw),
            attributes=front.metadata.attributes,
            label=front.metadata.label,
            valid_as_of=front.metadata.valid_as_of,
            warnings=(*doubts, *(ReadWarning(source.doc_id, message) for message in front.metadata.warnings)),
        )
        return [document]


def find_headings(text: str, start: int = 0) -> Iterator[Heading]:
    """ATX (# Title) and Setext (Title over === or ---) headings from `start` on; none inside fenced code.

    >>> [(h.level, h.title) for h in find_headings("# A #\\n```\\n# no\\n```\\nB\\n---\\n")]
    [(1, 'A'), (2, 'B')]
    """
    starts = line_starts(text)
    fence, paragraph = "", -1
    for number, line_start in enumerate(starts):
        if line_start < start:
            continue
        line_end = starts[number + 1] if number + 1 < len(starts) else len(text)
        line = text[line_start:line_end].rstrip("\r\n")
        code = _CODE_FENCE.fullmatch(line)
        if fence:
            if code and code["fence"].startswith(fence) and not code["info"].strip():
                fence = ""
            continue
        if code and not (code["fence"][0] == "`" and "`" in code["info"]):
            fence, paragraph = code["fence"], -1
            continue
        atx = _ATX.fullmatch(line)
        if atx:
            yield Heading(line_start, len(atx["marks"]), _plain(_without_closing_marks(atx["title"] or "")))
            paragraph = -1
        elif paragraph >= 0 and _UNDERLINE.fullmatch(line):
            title = " ".join(text[paragraph:line_start].split())
            yield Heading(paragraph, 1 if "=" in line else 2, _plain(title))
            paragraph = -1
        elif not line.strip() or (paragraph < 0 and _BLOCK_START.match(line)):
            paragraph = -1
        elif paragraph < 0:
            paragraph = line_start


def _without_closing_marks(title: str) -> str:
    stripped = title.strip()
    without = stripped.rstrip("#")
    return without.strip() if without == "" or (without != stripped and without[-1] in " \t") else stripped


def _plain(title: str) -> str:
    """A title without the marks of emphasis, code and links, for people to read; 200 characters at most."""
    title = title[:2000]
    title = re.sub(r"!?\[([^\[\]]*)\]\([^()\s]*(?:[ \t][^()]*)?\)", r"\1", title)
    title = re.sub(r"(\*\*|__|`|~~)(?=\S)([^*_`~]+)\1", r"\2", title)
    title = re.sub(r"(?<![\w*])([*_])(?=\S)([^*_]+)(?<=\S)\1(?![\w*])", r"\2", title)
    return title.strip()[:200]
