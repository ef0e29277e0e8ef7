"""The parts of a book: the order of its chapters, their names in the contents, and what the book says of itself."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from lxml import etree

from groundwire_server.readers.container import Container, broken, encrypted, parse_xml

__all__ = ["Book", "Chapter", "open_book"]

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PACKAGE_TYPE = "application/oebps-package+xml"
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_NCX_TYPE = "application/x-dtbncx+xml"
# Fonts are often packed so that nobody takes them out; that is no encryption of the text.
_FONTS_ONLY = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part in the order of reading. part: its name in the file. title: in the contents, empty where it is not there.

    problem: why it cannot be read, e.g. that it is missing; empty: it can.
    """

    part: str
    title: str
    problem: str


@dataclass(frozen=True, slots=True)
class Book:
    """A book. created: as the book has it, e.g. "2024-03-31"."""

    title: str
    author: str
    created: str
    chapters: tuple[Chapter, ...]


def open_book(container: Container, *, max_depth: int) -> Book:
    """The book in a packed file.

    Raises:
        DocumentRefused: DOCUMENT_ENCRYPTED, its text is; DOCUMENT_BROKEN, a part that must be there is missing or
            damaged; as `parse_xml`.
    """
    return _Opening(container, max_depth).book()


@dataclass(frozen=True, slots=True)
class _Item:
    part: str
    kind: str
    properties: frozenset[str]


class _Opening:
    def __init__(self, container: Container, max_depth: int) -> None:
        self._container = container
        self._max_depth = max_depth

    def book(self) -> Book:
        self._refuse_encrypted()
        package = self._package()
        root = self._root(package)
        folder = posixpath.dirname(package)
        items = {each.get("id", ""): _item(folder, each) for each in _named(root, "item")}
        spine = next(_named(root, "spine"), None)
        titles = self._titles(items, "" if spine is None else spine.get("toc", ""))
        return Book(
            _first(root, "title"),
            ", ".join(filter(None, (_text(each) for each in _named(root, "creator")))),
            _first(root, "date"),
            tuple(self._chapters(() if spine is None else spine, items, titles)),
        )

    def _root(self, part: str) -> etree._Element:
        return parse_xml(self._container.doc_id, part, self._container.read(part), max_depth=self._max_depth)

    def _refuse_encrypted(self) -> None:
        if _ENCRYPTION not in self._container:
            return
        for method in _named(self._root(_ENCRYPTION), "EncryptionMethod"):
            if method.get("Algorithm", "") not in _FONTS_ONLY:
                raise encrypted(self._container.doc_id)

    def _package(self) -> str:
        files = list(_named(self._root(_CONTAINER), "rootfile"))
        for each in sorted(files, key=lambda file: file.get("media-type") != _PACKAGE_TYPE):
            if path := each.get("full-path", ""):
                return posixpath.normpath(path.lstrip("/"))
        raise broken(self._container.doc_id, f"the part {_CONTAINER!r} names no package")

    def _chapters(
        self, spine: etree._Element | tuple[()], items: dict[str, _Item], titles: dict[str, str]
    ) -> Iterator[Chapter]:
        seen: set[str] = set()
        for reference in spine:
            if _local(reference) != "itemref":
                continue
            item = items.get(reference.get("idref", ""))
            if item is None:
                yield Chapter("", "", f"{reference.get('idref', '')[:80]!r} is named and not there")
            elif item.part in seen:
                yield Chapter(item.part, "", "it stood there before")
            elif item.part not in self._container:
                yield Chapter(item.part, "", "it is missing")
            elif item.kind not in _CHAPTER_TYPES:
                yield Chapter(item.part, "", f"it is {item.kind[:80] or 'of no kind'}")
            else:
                yield Chapter(item.part, titles.get(item.part, ""), "")
            if item is not None:
                seen.add(item.part)

    def _titles(self, items: dict[str, _Item], ncx_id: str) -> dict[str, str]:
        """Titles of parts by the table of contents: that of EPUB 3, else that of EPUB 2."""
        contents = next((item for item in items.values() if "nav" in item.properties), None)
        if contents is None or contents.part not in self._container:
            contents = items.get(ncx_id) or next((item for item in items.values() if item.kind == _NCX_TYPE), None)
        if contents is None or contents.part not in self._container:
            return {}
        root, folder = self._root(contents.part), posixpath.dirname(contents.part)
        titles: dict[str, str] = {}
        for target, title in _links(root):
            titles.setdefault(_resolved(folder, target), title)
        return titles


def _links(root: etree._Element) -> Iterator[tuple[str, str]]:
    """(target, title) of each entry of a table of contents."""
    for link in _named(root, "a"):
        yield link.get("href", ""), _text(link)
    for point in _named(root, "navPoint"):
        label = next((each for each in point if _local(each) == "navLabel"), None)
        content = next((each for each in point if _local(each) == "content"), None)
        if label is not None and content is not None:
            yield content.get("src", ""), _text(label)


def _item(folder: str, element: etree._Element) -> _Item:
    return _Item(
        _resolved(folder, element.get("href", "")),
        element.get("media-type", "").strip().casefold(),
        frozenset((element.get("properties") or "").split()),
    )


def _resolved(folder: str, target: str) -> str:
    """The name of a part as it stands in the table of contents of the packed file."""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join(folder, path)) if path else ""


def _first(root: etree._Element, name: str) -> str:
    return next(filter(None, (_text(each) for each in _named(root, name))), "")


def _text(element: etree._Element) -> str:
    return " ".join("".join(str(piece) for piece in element.itertext()).split())


def _named(root: etree._Element, name: str) -> Iterator[etree._Element]:
    return root.iter(f"{{*}}{name}")


def _local(element: etree._Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
