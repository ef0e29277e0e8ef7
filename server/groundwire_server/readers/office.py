"""What the files of Word and PowerPoint have in common: how they are opened, and what they say about themselves."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

from groundwire_server.evidence import Attribute
from groundwire_server.readers.container import open_container
from groundwire_server.readers.document import Source
from groundwire_server.readers.properties import file_properties

__all__ = ["checked_package", "core_properties"]

# Pictures, fonts and embedded files are not read, so that they are not unpacked either.
_NOT_READ = ("/media/", "/embeddings/", "/fonts/", "/activeX/", "/printerSettings/")

# What programs write where nobody said a title.
_NO_TITLES = frozenset({"", "document", "powerpoint presentation", "presentation", "word document"})


def checked_package(source: Source) -> io.BytesIO:
    """The file after the guard has looked at it, without pictures and embedded files.

    Raises:
        DocumentRefused: as `open_container`.
    """
    container = open_container(source)
    return container.checked_copy(lambda name: not any(folder in f"/{name}" for folder in _NOT_READ))


def core_properties(opened: Any) -> tuple[str, tuple[Attribute, ...]]:
    """Title, and author and day of making as attributes, of a document that python-docx or python-pptx has opened.

    Both libraries make properties up for a file that has none.
    """
    if not any(relation.reltype.endswith("/core-properties") for relation in opened.part.package.iter_rels()):
        return "", ()
    properties = opened.core_properties
    title = properties.title or ""
    created = properties.created
    day = created.date() if isinstance(created, datetime) else None
    return "" if title.strip().casefold() in _NO_TITLES else title, file_properties(properties.author or "", day)
