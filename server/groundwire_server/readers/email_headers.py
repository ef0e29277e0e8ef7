"""The headers of a message, decoded: as text for people, and as attributes."""

from __future__ import annotations

import binascii
import re
from datetime import date
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime

from groundwire_server.errors import DocumentRefused
from groundwire_server.evidence import Attribute, Value
from groundwire_server.readers.encoding import decode
from groundwire_server.readers.metadata import MAX_TEXT_CHARS
from groundwire_server.readers.text_builder import clean_text, one_line

__all__ = ["header_attributes", "header_lines", "header_text", "is_message"]

_SHOWN = ("Subject", "From", "To", "Cc", "Date")
_TELLING = frozenset({"from", "to", "subject", "date", "message-id", "received", "mime-version", "content-type"})
_MAX_HEADER_CHARS = 16_384
_MAX_ADDRESSES = 1000


def is_message(message: Message) -> bool:
    """Whether it has a header that messages have."""
    return any(name.casefold() in _TELLING for name, _ in message.raw_items())


def header_text(message: Message, name: str) -> str:
    """The first header of a name in one line, decoded; empty: there is none."""
    return _decoded(_raw(message, name)[:_MAX_HEADER_CHARS])


def header_lines(message: Message) -> tuple[str, list[str]]:
    """Subject, sender, receivers and date, a line each, and the names of those that were cut."""
    lines, cut = [], []
    for name in _SHOWN:
        text = header_text(message, name)
        if text:
            lines.append(f"{name}: {text}")
        if len(_raw(message, name)) > _MAX_HEADER_CHARS:
            cut.append(name)
    return "\n".join(lines), cut


def header_attributes(message: Message) -> tuple[Attribute, ...]:
    """mail_from, mail_to and mail_cc (addresses), mail_date (the day, as the sender's clock had it), mail_id."""
    said: dict[str, Value] = {}
    sender = _addresses(message, "from")
    if sender:
        said["mail_from"] = sender[0]
    for name in ("to", "cc"):
        if addresses := _addresses(message, name):
            said[f"mail_{name}"] = addresses
    day = _day(header_text(message, "date"))
    if day is not None:
        said["mail_date"] = day
    identity = header_text(message, "message-id").strip("<> ")
    if 0 < len(identity) <= MAX_TEXT_CHARS:
        said["mail_id"] = identity
    return tuple(Attribute(name, value) for name, value in sorted(said.items()))


def _raw(message: Message, name: str) -> str:
    return next((str(value) for key, value in message.raw_items() if key.casefold() == name.casefold()), "")


def _decoded(raw: str) -> str:
    """Encoded words decoded, folded lines in one, bytes beyond ASCII read as text where their charset can be told."""
    unfolded = re.sub(r"[\r\n]+[ \t]*", " ", raw)
    try:
        pieces = decode_header(unfolded)
    except (HeaderParseError, binascii.Error, ValueError):
        pieces = [(unfolded, None)]
    return one_line(clean_text("".join(_piece(text, charset) for text, charset in pieces)))


def _piece(text: str | bytes, charset: str | None) -> str:
    if charset is None and isinstance(text, bytes):
        text = text.decode("raw-unicode-escape", "replace")  # as `decode_header` hands over what stands between words
    raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    for said in dict.fromkeys((charset or "", "")):
        try:
            return decode("header", raw, said).text
        except DocumentRefused:
            continue
    return raw.decode("ascii", "replace")


def _addresses(message: Message, name: str) -> tuple[str, ...]:
    """Addresses alone, each once, as many as an attribute holds."""
    found, left = [], MAX_TEXT_CHARS
    try:
        addresses = getaddresses([header_text(message, name)])
    except (IndexError, RecursionError, TypeError, ValueError):
        return ()
    for _, address in addresses[:_MAX_ADDRESSES]:
        left -= len(address)
        if "@" not in address or left < 0:
            continue
        found.append(address.casefold())
    return tuple(dict.fromkeys(found))


def _day(text: str) -> date | None:
    try:
        return parsedate_to_datetime(text).date()
    except (IndexError, OverflowError, RecursionError, TypeError, ValueError):
        return None
