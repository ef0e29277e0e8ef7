"""The guard before packed files and XML: sizes, counts, paths, encryption, entities and depth are checked first.

No library opens a packed file of a stranger here; it opens the copy that the guard makes of what it has checked.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable

from lxml import etree

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.document import ReadOptions, Source

__all__ = [
    "Container",
    "broken",
    "encrypted",
    "open_container",
    "parse_xml",
    "raise_if_out_of_memory",
    "refuse_hidden_entities",
]

SAVE_ANEW = "Open it in the program that it is for, save it anew and send that."
_STEP = 1 << 18
_MAX_NAME_CHARS = 1024
# Text of one kind packs 1:250 at times; where it does and is large as well, it is a bomb.
_MAX_RATIO = 250
_RATIO_FROM = 8 << 20
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_CENTRAL_ENTRY = b"PK\x01\x02"
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error, ValueError, OSError)


class Container:
    """A packed file (ZIP) whose table of contents was checked; what is read of it counts against the bound.

    Attributes:
        doc_id: of the file, for messages.
        names: of its members in order, folders left out.
    """

    def __init__(self, doc_id: str, archive: zipfile.ZipFile, options: ReadOptions) -> None:
        self.doc_id = doc_id
        self._archive = archive
        self._options = options
        self._members = {member.filename: member for member in archive.infolist() if not member.is_dir()}
        self._unpacked = 0
        self.names = tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """The content of a member, unpacked in bounded steps: a size that the table lies about is noticed.

        Raises:
            DocumentRefused: DOCUMENT_BROKEN (not there, damaged) or DOCUMENT_TOO_LARGE.
        """
        member = self._members.get(name)
        if member is None:
            raise broken(self.doc_id, f"the part {name[:80]!r} is missing")
        content = bytearray()
        try:
            with self._archive.open(member) as stream:
                while piece := stream.read(_STEP):
                    content += piece
                    self._unpacked += len(piece)
                    if self._unpacked > self._options.max_unpacked_bytes:
                        raise self._too_large()
        except _BROKEN_ZIP:
            raise broken(self.doc_id, f"the part {name[:80]!r} is damaged") from None
        if len(content) != member.file_size:
            raise broken(self.doc_id, f"the part {name[:80]!r} has not the size that is said of it")
        return bytes(content)

    def checked_copy(self, keep: Callable[[str], bool]) -> io.BytesIO:
        """The file anew, unpacked, for a library to open. Members that are not kept are there and empty.

        XML among those kept may declare no entities.

        Raises:
            DocumentRefused: as `read`.
        """
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as archive:
            for name in self.names:
                content = self.read(name) if keep(name) else b""
                if name.endswith((".xml", ".rels")) and content:
                    refuse_hidden_entities(self.doc_id, name, content, self._options.max_depth)
                archive.writestr(zipfile.ZipInfo(name), content)
        copy.seek(0)
        return copy

    def _too_large(self) -> DocumentRefused:
        return _over(self.doc_id, "unpacked it is", "max_unpacked_bytes", self._options.max_unpacked_bytes, "bytes")


def open_container(source: Source) -> Container:
    """Open a packed file after a look at its table of contents; nothing of it has been unpacked then.

    Raises:
        DocumentRefused: DOCUMENT_ENCRYPTED; DOCUMENT_UNSUPPORTED for an old Office file or another way of packing;
            DOCUMENT_TOO_LARGE for too many members, bytes or too high a ratio; DOCUMENT_BROKEN for no ZIP at all, a
            member twice, or one whose path leads out of the file.
    """
    doc_id, raw, options = source.doc_id, source.raw, source.options
    if raw.startswith(_OLE):
        raise _old_office(doc_id, raw)
    # Each member has this mark in the table; counted before the table is read, which takes memory for each of them.
    if raw.count(_CENTRAL_ENTRY) > options.max_members:
        raise _over(doc_id, "it holds", "max_members", options.max_members, "files")
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
    except _BROKEN_ZIP:
        raise broken(doc_id, "it is no ZIP file, or its table of contents is damaged") from None
    members = archive.infolist()
    if len({member.filename for member in members}) != len(members):
        raise broken(doc_id, "it holds two members of one name")
    for member in members:
        _check_member(doc_id, member)
    unpacked = sum(member.file_size for member in members)
    if unpacked > options.max_unpacked_bytes:
        raise _over(doc_id, "unpacked it is", "max_unpacked_bytes", options.max_unpacked_bytes, "bytes")
    return Container(doc_id, archive, options)


def parse_xml(doc_id: str, name: str, raw: bytes, *, max_depth: int) -> etree._Element:
    """The root of an XML part. Entities are not resolved, nothing is loaded, comments and instructions are dropped.

    Args:
        name: of the part, for messages.
        max_depth: elements within each other.

    Raises:
        DocumentRefused: DOCUMENT_BROKEN for no XML and for one that declares entities; DOCUMENT_TOO_LARGE too deep.
    """
    if b"<!ENTITY" in raw:
        raise _declares_entities(doc_id, name)
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(raw, parser)
    except (etree.LxmlError, ValueError) as error:
        raise_if_out_of_memory(error)
        line = getattr(error, "lineno", None)
        raise broken(
            doc_id, f"the part {name[:80]!r} is no well-formed XML{f' (line {line})' if line else ''}"
        ) from None
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and len(dtd.entities()) > 0:  # type: ignore[union-attr]
        raise _declares_entities(doc_id, name)
    if root.xpath(f"boolean({'/*' * (max_depth + 1)})"):
        raise _over(doc_id, f"elements of the part {name[:80]!r} lie within each other", "max_depth", max_depth, "deep")
    return root


def raise_if_out_of_memory(error: Exception) -> None:
    """libxml2 reports that memory ran out as a fault of the text; the two are not the same."""
    if getattr(error, "code", None) == etree.ErrorTypes.ERR_NO_MEMORY:
        raise MemoryError


def broken(doc_id: str, why: str, hint: str = SAVE_ANEW) -> DocumentRefused:
    """The error of a file that is damaged."""
    return DocumentRefused(ErrorReason.DOCUMENT_BROKEN, f"{doc_id}: {why}.", hint=hint)


def refuse_hidden_entities(doc_id: str, name: str, content: bytes, max_depth: int) -> None:
    """Refuse XML that declares entities; for what is read piece by piece and never as a whole.

    It is a quick look; what is not in an encoding that the look understands, or names a type, is parsed for it.

    Raises:
        DocumentRefused: as `parse_xml`.
    """
    if (
        b"<!DOCTYPE" in content
        or b"<!ENTITY" in content
        or content[:2] in (b"\xfe\xff", b"\xff\xfe")
        or 0 in content[:4]
    ):
        parse_xml(doc_id, name, content, max_depth=max_depth)


def _check_member(doc_id: str, member: zipfile.ZipInfo) -> None:
    name = member.filename
    if member.flag_bits & 0x1:
        raise encrypted(doc_id)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DocumentRefused(
            ErrorReason.DOCUMENT_UNSUPPORTED,
            f"{doc_id}: a member is packed by a method other than deflate.",
            hint=SAVE_ANEW,
        )
    leads_out = name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name[:3]
    if leads_out or not name or len(name) > _MAX_NAME_CHARS:
        raise broken(doc_id, "the path of a member leads out of the file or is none")
    if member.file_size > _RATIO_FROM and member.file_size > _MAX_RATIO * member.compress_size:
        raise _over(doc_id, "a member unpacks at a ratio", "max_ratio", _MAX_RATIO, "to 1")


def encrypted(doc_id: str) -> DocumentRefused:
    """The error of a file that asks for a password."""
    return DocumentRefused(
        ErrorReason.DOCUMENT_ENCRYPTED,
        f"{doc_id}: the file is encrypted and asks for a password.",
        hint="Save it without one and send it again.",
    )


def _old_office(doc_id: str, raw: bytes) -> DocumentRefused:
    if _ENCRYPTED_PACKAGE in raw:
        return encrypted(doc_id)
    return DocumentRefused(
        ErrorReason.DOCUMENT_UNSUPPORTED,
        f"{doc_id}: it is an Office file of the old binary form.",
        hint="Save it as .docx, .xlsx or .pptx.",
    )


def _declares_entities(doc_id: str, name: str) -> DocumentRefused:
    return broken(
        doc_id, f"the part {name[:80]!r} declares XML entities, which are not read", "Save it without a document type."
    )


def _over(doc_id: str, what: str, limit: str, most: int, unit: str) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.DOCUMENT_TOO_LARGE,
        f"{doc_id}: {what} over the limit of {most} {unit}.",
        hint="Split the file, or leave out what swells it.",
        details={limit: str(most)},
    )
