"""E-mail (.eml): one document of headers, body, attached texts and messages; places are parts and paragraphs."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from email.errors import MessageDefect, MultipartConversionError
from email.message import Message
from email.policy import compat32
from itertools import groupby

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Locator
from groundwire_server.readers.container import broken, encrypted
from groundwire_server.readers.csv_table import CsvRows
from groundwire_server.readers.document import ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.email_headers import header_attributes, header_lines, header_text, is_message
from groundwire_server.readers.encoding import Decoded, decode
from groundwire_server.readers.html import decode_html
from groundwire_server.readers.html_blocks import add_html
from groundwire_server.readers.html_tree import Boilerplate, parse_html, plain_content
from groundwire_server.readers.plain_text import file_title
from groundwire_server.readers.table_text import add_table
from groundwire_server.readers.text_builder import TextBuilder, clean_text, one_line

__all__ = ["EmailReader"]

_MAX_CONTAINERS = 200
_MAX_PARTS = 2000
# A plain form that much shorter than the page beside it, which is no short one, only stands in for it: "This
# message needs a program that shows HTML".
_STANDS_IN, _LEAST_CHARS = 4, 200
_MAX_MESSAGES_DEEP = 10
# Each container looks at each line of what it holds.
_MAX_LINE_LOOKS = 40_000_000
_CONTAINER = re.compile(rb"^content-type:\s*(?:multipart|message)/", re.IGNORECASE | re.MULTILINE)
_TABLES = frozenset({"text/csv", "text/tab-separated-values"})
_TEXTS = frozenset({"text/plain", "text/markdown", "text/x-markdown", "text/html", *_TABLES})
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pgp-encrypted"})
_SECRET = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})


class EmailReader:
    """Reads a message: headers as text and attributes, the body (plain rather than HTML), attached texts and tables.

    A part is called headers, body, or by its file name; those of a message within are called "message 1/body" and so
    on. Other attachments are named by a warning and not read.
    """

    media_type = "message/rfc822"
    suffixes = (".eml",)
    aliases = ("message/global",)
    isolated = True

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused when it is no message, encrypted, without text, or over a bound."""
        containers = sum(1 for _ in _CONTAINER.finditer(source.raw))
        if containers > _MAX_CONTAINERS or containers * source.raw.count(b"\n") > _MAX_LINE_LOOKS:
            raise _too_large(source, f"{containers} multipart parts and messages within it", _MAX_CONTAINERS)
        try:
            message = email.message_from_bytes(source.raw, policy=compat32)
        except (MessageDefect, MultipartConversionError, LookupError, RecursionError, TypeError, ValueError):
            raise broken(source.doc_id, "it cannot be taken apart as a message") from None
        if not is_message(message):
            raise broken(source.doc_id, "it has no header of a message", "A text without headers is read as .txt.")
        builder = TextBuilder(source, (("part", "para"), ("table", "row")))
        _Walk(source, builder).message(message, "", 0)
        subject = header_text(message, "subject")
        return [
            builder.document(
                self.media_type,
                title=subject or file_title(source.doc_id),
                attributes=header_attributes(message),
            )
        ]


class _Walk:
    """The parts of a message in order, added to a text."""

    def __init__(self, source: Source, builder: TextBuilder) -> None:
        self._source = source
        self._builder = builder
        self._parts = 0
        self._messages = 0
        self._names: set[str] = set()

    def message(self, message: Message, within: str, depth: int) -> None:
        """Headers, then the body and what is attached. `within` comes before the names of its parts."""
        if depth > _MAX_MESSAGES_DEEP:
            self._skip(within.rstrip("/"), f"a message within {_MAX_MESSAGES_DEEP} others")
            return
        if message.get_content_type() in _ENCRYPTED or _is_enveloped(message):
            if depth == 0:
                raise encrypted(self._source.doc_id)
            self._skip(within.rstrip("/"), "an encrypted message")
            return
        lines, cut = header_lines(message)
        self._builder.add(lines, {"part": self._named(f"{within}headers"), "para": 1})
        for name in cut:
            self._warn(f"{within}headers", f"header {name} is very long and was cut", WarningKind.PART_SKIPPED)
        for part in self._leaves(message):
            self._part(part, within, depth)

    def _leaves(self, message: Message) -> Iterator[Message]:
        """Parts that hold no parts, but for messages; of alternatives the one that is read."""
        stack = [message]
        while stack:
            part = stack.pop()
            self._parts += 1
            if self._parts > _MAX_PARTS:
                raise _too_large(self._source, "parts", _MAX_PARTS)
            for defect in part.defects:
                self._warn("", f"the message is damaged ({_words(defect)})", WarningKind.TEXT_UNCERTAIN)
            held = part.get_payload()
            if part.get_content_maintype() != "multipart" or not isinstance(held, list):
                yield part
                continue
            members = [member for member in held if isinstance(member, Message)]
            if part.get_content_subtype() == "alternative":
                chosen = self._chosen(members)
                rest = [member for member in members if all(member is not each for each in chosen)]
                members = chosen + [each for other in rest for each in self._attached(other)]
            stack += reversed(members)

    def _chosen(self, members: list[Message]) -> list[Message]:
        """Of alternatives the plain text, unless it is blank or a mere stand-in; else the richest that can be read."""
        plain = [each for each in members if each.get_content_type() == "text/plain" and _content(each).strip()]
        readable = [
            each for each in members if each.get_content_type() in _TEXTS or each.get_content_maintype() == "multipart"
        ]
        if not plain:
            return readable[-1:] or members[-1:]
        rich = [each for other in members for each in _inside(other) if each.get_content_type() == "text/html"]
        if max(_STANDS_IN * len(_content(plain[0]).strip()), _LEAST_CHARS) < self._length(rich[:1]):
            self._skip("", "the plain form of the message, as the other one holds much more")
            return readable[-1:]
        return plain[:1]

    def _length(self, pages: list[Message]) -> int:
        """Characters that a part in HTML shows."""
        for page in pages:
            source = Source(self._source.doc_id, _content(page), page.get_content_charset() or "", self._source.options)
            try:
                text = decode_html(source).text
                return len(plain_content(parse_html(source.doc_id, text, max_depth=source.options.max_depth)))
            except DocumentRefused:
                return 0
        return 0

    def _attached(self, part: Message) -> Iterator[Message]:
        """What hangs on a form of the message that is not read itself, but for the pictures that this form shows."""
        for each in _inside(part):
            named = bool(_file_name(each)) or each.get_content_disposition() == "attachment"
            shown = each.get_content_maintype() == "image" and each.get("Content-ID") is not None
            if each.get_content_maintype() == "message" or (named and not shown):
                yield each

    def _part(self, part: Message, within: str, depth: int) -> None:
        kind = part.get_content_type()
        held = part.get_payload()
        if kind == "message/rfc822" and isinstance(held, list):
            for inner in (each for each in held if isinstance(each, Message)):
                self._messages += 1
                self.message(inner, f"{within}message {self._messages}/", depth + 1)
            return
        file_name = _file_name(part)
        attached = bool(file_name) or part.get_content_disposition() == "attachment"
        name = self._named(f"{within}{file_name or ('attachment' if attached else 'body')}")
        raw = _content(part)
        if kind == "application/octet-stream" and file_name.casefold().endswith((".txt", ".md", ".csv", ".tsv")):
            kind = "text/csv" if file_name.casefold().endswith((".csv", ".tsv")) else "text/plain"
        if kind not in _TEXTS:
            self._skip(name, f"{kind}, {len(raw)} bytes")
        elif raw.strip():
            self._text(name, kind, raw, part.get_content_charset() or "")

    def _text(self, name: str, kind: str, raw: bytes, charset: str) -> None:
        decoded = self._decode(name, kind, raw, charset)
        if decoded is None:
            return
        if decoded.doubt:
            self._warn(name, decoded.doubt, WarningKind.TEXT_UNCERTAIN)
        doc_id, place = self._source.doc_id, {"part": name}
        if kind == "text/html":
            root = parse_html(doc_id, decoded.text, max_depth=self._source.options.max_depth)
            add_html(self._builder, root, Boilerplate(root, strict=False), place)
        elif kind in _TABLES:
            rows = CsvRows(doc_id, decoded.text)
            add_table(self._builder, doc_id, rows, place)
            self._builder.warnings += rows.warnings
        else:
            lines = clean_text(decoded.text).split("\n")
            paragraphs = (list(run) for blank, run in groupby(lines, key=lambda line: not line.strip()) if not blank)
            for number, paragraph in enumerate(paragraphs, 1):
                self._builder.add("\n".join(paragraph), {**place, "para": number})

    def _decode(self, name: str, kind: str, raw: bytes, charset: str) -> Decoded | None:
        """The text of a part; None, with a warning, where it is none."""
        doc_id = self._source.doc_id
        for said in dict.fromkeys((charset, "")):
            try:
                if kind == "text/html":
                    return decode_html(Source(doc_id, raw, said, self._source.options))
                return decode(doc_id, raw, said)
            except DocumentRefused:
                continue
        self._skip(name, "its text is in no charset that could be told")
        return None

    def _named(self, name: str) -> str:
        """The name, told apart from those before it."""
        told, number = name, 1
        while told in self._names:
            number += 1
            told = f"{name} ({number})"
        self._names.add(told)
        return told

    def _skip(self, name: str, what: str) -> None:
        self._warn(name, f"not read: {what}", WarningKind.PART_SKIPPED)

    def _warn(self, name: str, message: str, kind: WarningKind) -> None:
        place = (("part", name),) if name else ()
        self._builder.warnings.append(ReadWarning(str(Locator(self._source.doc_id, place)), message, kind))


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _inside(part: Message) -> Iterator[Message]:
    """The parts in a part that hold no others, but for messages; itself where it holds none."""
    stack = [part]
    while stack:
        each = stack.pop()
        held = each.get_payload()
        if each.get_content_maintype() == "multipart" and isinstance(held, list):
            stack += reversed([member for member in held if isinstance(member, Message)])
        else:
            yield each


def _is_enveloped(message: Message) -> bool:
    return message.get_content_type() in _SECRET and message.get_param("smime-type") != "signed-data"


def _file_name(part: Message) -> str:
    """The name that the sender gave a file, without a path and what cannot be shown; empty: none."""
    try:
        said = part.get_filename() or ""
    except (LookupError, TypeError, ValueError):
        return ""
    name = one_line(clean_text(said.encode("utf-8", "replace").decode("utf-8", "replace")))
    return re.split(r"[/\\]", name)[-1][:200]


def _words(defect: Exception) -> str:
    """What is wrong with it: the defect's own name in words, e.g. "close boundary not found"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(defect).__name__.removesuffix("Defect")).lower()


def _too_large(source: Source, what: str, most: int) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.DOCUMENT_TOO_LARGE,
        f"{source.doc_id}: it holds {what}, at most {most} are read.",
        hint="Save the messages within it as files of their own.",
        details={"max_parts": str(most)},
    )
