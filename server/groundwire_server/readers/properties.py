"""What the properties of a file say of its author and day, as typed attributes.

They have names of their own, so that what people say of a document (`author` in front matter) never meets what a
program wrote into the file, in whatever type.
"""

from __future__ import annotations

import re
from datetime import date

from groundwire_server.evidence import Attribute
from groundwire_server.readers.metadata import MAX_TEXT_CHARS
from groundwire_server.readers.text_builder import clean_text, one_line

__all__ = ["file_properties", "read_day"]

# What programs write where nobody said a name.
_NO_AUTHORS = frozenset(
    {"", "anonymous", "author", "openpyxl", "python-docx", "unknown", "user", "admin", "administrator"}
)
_ISO_DAY = re.compile(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?:[T ].*)?", re.DOTALL)
_PDF_DAY = re.compile(r"D:(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2}).*", re.DOTALL)


def file_properties(author: str, created: date | None) -> tuple[Attribute, ...]:
    """`file_author` and `file_created`, as far as the file says them.

    >>> [attribute.name for attribute in file_properties("R. Ito", None)]
    ['file_author']
    """
    name = one_line(clean_text(author))
    attributes = []
    if name.casefold() not in _NO_AUTHORS and len(name) <= MAX_TEXT_CHARS:
        attributes.append(Attribute("file_author", name))
    if created is not None:
        attributes.append(Attribute("file_created", created))
    return tuple(attributes)


def read_day(text: str) -> date | None:
    """The day of an ISO date or time, or of a date as PDF writes it; None for anything else.

    >>> read_day("2024-03-31T09:00:00Z"), read_day("D:20240331090000"), read_day("31 March")
    (datetime.date(2024, 3, 31), datetime.date(2024, 3, 31), None)
    """
    match = _ISO_DAY.fullmatch(text.strip()) or _PDF_DAY.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return date(int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        return None
