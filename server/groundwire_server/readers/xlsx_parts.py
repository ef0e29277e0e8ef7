"""The parts of a workbook beside its sheets: which sheets there are, texts that cells share, formats of numbers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from groundwire_server.evidence import Attribute
from groundwire_server.readers.characters import raised, settle_raised
from groundwire_server.readers.container import Container, broken, parse_xml
from groundwire_server.readers.number_format import BUILT_IN_FORMATS
from groundwire_server.readers.properties import file_properties, read_day

__all__ = ["Sheet", "Workbook", "local_name", "open_workbook", "read_properties", "rich_text"]

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_WORKBOOK = "officeDocument"
_PROPERTIES = "docProps/core.xml"
# What a sheet may hold beside its cells, as people call it.
_BESIDE = {"drawing": "pictures or charts", "comments": "comments", "threadedComment": "comments"}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a workbook. part: its name in the file. beside: what it holds that is not read."""

    name: str
    part: str
    hidden: bool
    has_cells: bool
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workbook:
    """What all sheets share. texts: by number, as cells name them. formats: codes of number formats, by style."""

    sheets: tuple[Sheet, ...]
    texts: tuple[str, ...]
    formats: tuple[str, ...]
    since_1904: bool


@dataclass(frozen=True, slots=True)
class _Relation:
    kind: str
    target: str


def open_workbook(container: Container, *, max_depth: int) -> Workbook:
    """The workbook of a packed file.

    Raises:
        DocumentRefused: DOCUMENT_BROKEN, a part that must be there is missing or damaged; as `parse_xml`.
    """
    files = _Files(container, max_depth)
    part = next((each.target for each in files.relations("").values() if each.kind == _WORKBOOK), "xl/workbook.xml")
    root = files.root(part)
    related = files.relations(part)
    found = {each.kind: each.target for each in related.values()}
    properties = next(_children(root, "workbookPr"), None)
    return Workbook(
        tuple(_sheets(files, root, related)),
        _shared_texts(files, found.get("sharedStrings", "")),
        _formats(files, found.get("styles", "")),
        properties is not None and properties.get("date1904") in ("1", "true"),
    )


def read_properties(container: Container, *, max_depth: int) -> tuple[str, tuple[Attribute, ...]]:
    """Title, and author and day as attributes, as the properties of the file say them."""
    if _PROPERTIES not in container:
        return "", ()
    root = parse_xml(container.doc_id, _PROPERTIES, container.read(_PROPERTIES), max_depth=max_depth)
    said = {local_name(each.tag): each.text or "" for each in root}
    return said.get("title", ""), file_properties(said.get("creator", ""), read_day(said.get("created", "")))


class _Files:
    """XML parts of a packed file and what they say they are related to."""

    def __init__(self, container: Container, max_depth: int) -> None:
        self.container = container
        self._max_depth = max_depth

    def root(self, part: str) -> etree._Element:
        return parse_xml(self.container.doc_id, part, self.container.read(part), max_depth=self._max_depth)

    def relations(self, part: str) -> dict[str, _Relation]:
        """By id; those that lead out of the file are left out."""
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        if listed not in self.container:
            return {}
        return {
            each.get("Id", ""): _Relation(
                each.get("Type", "").rpartition("/")[2], _resolved(folder, each.get("Target"))
            )
            for each in _children(self.root(listed), "Relationship")
            if each.get("TargetMode") != "External"
        }


def _resolved(folder: str, target: str | None) -> str:
    """The name of a part as it stands in the table of contents."""
    path = target or ""
    return posixpath.normpath(path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path))


def _sheets(files: _Files, root: etree._Element, related: dict[str, _Relation]) -> Iterator[Sheet]:
    listed = next(_children(root, "sheets"), None)
    for number, each in enumerate(() if listed is None else _children(listed, "sheet"), 1):
        wanted = next((value for key, value in each.attrib.items() if local_name(key) == "id"), "")
        relation = related.get(str(wanted))
        if relation is None:
            raise broken(files.container.doc_id, f"sheet {number} is named and not there")
        beside = {_BESIDE[link.kind] for link in files.relations(relation.target).values() if link.kind in _BESIDE}
        name = _unescaped(each.get("name") or f"Sheet{number}")
        hidden = each.get("state", "visible") != "visible"
        yield Sheet(name, relation.target, hidden, relation.kind == "worksheet", tuple(sorted(beside)))


def _shared_texts(files: _Files, part: str) -> tuple[str, ...]:
    if part not in files.container:
        return ()
    return tuple(rich_text(item) for item in _children(files.root(part), "si"))


def _formats(files: _Files, part: str) -> tuple[str, ...]:
    if part not in files.container:
        return ()
    root = files.root(part)
    own = {
        each.get("numFmtId", ""): each.get("formatCode", "")
        for listed in _children(root, "numFmts")
        for each in _children(listed, "numFmt")
    }
    codes = {str(number): code for number, code in BUILT_IN_FORMATS.items()} | own
    styles = next(_children(root, "cellXfs"), None)
    return tuple(
        codes.get(each.get("numFmtId", "0"), "General") for each in (() if styles is None else _children(styles, "xf"))
    )


def rich_text(item: etree._Element) -> str:
    """A text that may be made of runs; how it is pronounced (rPh) is no part of it."""
    pieces = []
    for child in item:
        name = local_name(child.tag)
        if name == "t":
            pieces.append(child.text or "")
        elif name == "r":
            said = "".join(part.text or "" for part in _children(child, "t"))
            pieces.append(raised(said) if _stands_high(child) else said)
    return _unescaped(settle_raised("".join(pieces)))


def _stands_high(run: etree._Element) -> bool:
    looks = (place for look in _children(run, "rPr") for place in _children(look, "vertAlign"))
    return any(place.get("val") == "superscript" for place in looks)


def local_name(tag: object) -> str:
    """A name without its namespace; empty for what is no element."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _children(element: etree._Element, name: str) -> Iterator[etree._Element]:
    return (child for child in element if local_name(child.tag) == name)


def _unescaped(text: str) -> str:
    """Excel writes what XML cannot hold as _x000D_."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text
