"""One parser and one printer for ids and locators (formats.md, Ids and locators)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

__all__ = ["ChunkId", "Locator", "decode_id", "encode_id", "format_node_id", "parse_node_id"]

_RESERVED = re.compile(r"[%#@?,=\x00-\x1f\x7f-\x9f]")
_CHUNK = re.compile(r"(?P<doc>.*)@(?P<revision>[1-9][0-9]*)#c(?P<seq>[0-9]+)", re.DOTALL)


def encode_id(raw: str) -> str:
    """Percent-encode `% # @ ? , =` and control characters, so that ids can be composed.

    >>> encode_id("a#b,50%.md")
    'a%23b%2C50%25.md'
    """
    return _RESERVED.sub(lambda char: "".join(f"%{byte:02X}" for byte in char[0].encode()), raw)


def decode_id(encoded: str) -> str:
    """The inverse of `encode_id`.

    >>> decode_id(encode_id("a@1#c0"))
    'a@1#c0'
    """
    return unquote(encoded, errors="strict")


@dataclass(frozen=True, slots=True)
class ChunkId:
    """Id of a chunk, unique over revisions: `enc(doc_id)@{revision}#c{seq}`.

    >>> str(ChunkId("notes.md", 2, 7)), ChunkId.parse("notes.md@2#c7").seq
    ('notes.md@2#c7', 7)
    """

    doc_id: str
    revision: int
    seq: int

    def __str__(self) -> str:
        return f"{encode_id(self.doc_id)}@{self.revision}#c{self.seq}"

    @classmethod
    def parse(cls, text: str) -> ChunkId:
        """Raises ValueError when the text is no chunk id."""
        match = _CHUNK.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not of the form DOC@REVISION#cSEQ")
        return cls(decode_id(match["doc"]), int(match["revision"]), int(match["seq"]))


@dataclass(frozen=True, slots=True)
class Locator:
    """Place for people within a document: `enc(doc_id)#key=value(,key=value)*`.

    >>> str(Locator("deck.pptx", (("slide", "2"), ("para", "1"))))
    'deck.pptx#slide=2,para=1'
    >>> Locator.parse("notes.md#line=10-18").parts
    (('line', '10-18'),)
    """

    doc_id: str
    parts: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        place = ",".join(f"{encode_id(key)}={encode_id(value)}" for key, value in self.parts)
        return f"{encode_id(self.doc_id)}#{place}" if place else encode_id(self.doc_id)

    @classmethod
    def parse(cls, text: str) -> Locator:
        """Raises ValueError when the text is no locator."""
        doc, _, place = text.partition("#")
        parts = []
        for piece in place.split(",") if place else []:
            key, equals, value = piece.partition("=")
            if not equals:
                raise ValueError(f"{piece!r} is not of the form key=value")
            parts.append((decode_id(key), decode_id(value)))
        return cls(decode_id(doc), tuple(parts))


def format_node_id(kind: str, code: str) -> str:
    """Id of a graph node: `type:enc(code)`.

    >>> format_node_id("entity", "A@B")
    'entity:A%40B'
    """
    return f"{kind}:{encode_id(code)}"


def parse_node_id(text: str) -> tuple[str, str]:
    """Kind and code of a node id. Raises ValueError when there is no kind.

    >>> parse_node_id("entity:ACME_JP")
    ('entity', 'ACME_JP')
    """
    kind, colon, code = text.partition(":")
    if not colon or not kind:
        raise ValueError(f"{text!r} is not of the form kind:code")
    return kind, decode_id(code)
