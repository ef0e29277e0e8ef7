"""The part of a workbook that holds one sheet: its elements, and where and what its cells are."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from groundwire_server.readers.container import broken, raise_if_out_of_memory
from groundwire_server.readers.table_text import MAX_COLUMNS
from groundwire_server.readers.xlsx_parts import Workbook, local_name

__all__ = ["CellParts", "SheetPart", "is_true", "whole"]

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_MAX_ROWS = 1_048_576


@dataclass(frozen=True, slots=True)
class CellParts:
    """What stands in the element of a cell. has_formula: its value, if there is one, was computed."""

    kind: str
    value: str | None
    inline: etree._Element | None
    has_formula: bool
    style: str | None

    @classmethod
    def of(cls, cell: etree._Element) -> CellParts:
        """Those of an element `c`."""
        value = inline = None
        has_formula = False
        for child in cell:
            match local_name(child.tag):
                case "v":
                    value = child.text
                case "f":
                    has_formula = True
                case "is":
                    inline = child
        return cls(cell.get("t", "n"), value, inline, has_formula, cell.get("s"))


class SheetPart:
    """One sheet of a workbook. Every fault of it is DOCUMENT_BROKEN and names the sheet."""

    def __init__(self, doc_id: str, name: str, workbook: Workbook) -> None:
        self._doc_id = doc_id
        self.name = name[:80]
        self.workbook = workbook
        self._row = 0

    def elements(self, content: bytes, names: tuple[str, ...]) -> Iterator[etree._Element]:
        """The elements of these names, whole, in the order of their ends; each is let go when the next is asked for."""
        stream = etree.iterparse(
            io.BytesIO(content),
            events=("end",),
            tag=tuple(f"{{*}}{name}" for name in names),
            resolve_entities=False,
            load_dtd=False,
            no_network=True,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            for _, element in stream:
                yield element
                element.clear()
                parent = element.getparent()
                while parent is not None and element.getprevious() is not None:
                    del parent[0]
        except etree.LxmlError as error:
            raise_if_out_of_memory(error)
            raise broken(self._doc_id, f"sheet {self.name!r} is no well-formed XML") from None

    def row_number(self, row: etree._Element) -> int:
        """The number of a row, from 1; rows ascend."""
        number = whole(row.get("r")) or self._row + 1
        if not self._row < number <= _MAX_ROWS:
            raise broken(self._doc_id, f"sheet {self.name!r} has a row {number} behind row {self._row}")
        self._row = number
        return number

    def cells(self, row: etree._Element) -> Iterator[tuple[int, etree._Element]]:
        """(column from 0, cell) of a row; one that does not say where it is stands behind the one before it."""
        column = -1
        for cell in row:
            if local_name(cell.tag) != "c":
                continue
            reference = cell.get("r")
            column = self.place(reference)[1] if reference else column + 1
            if column >= MAX_COLUMNS:
                raise broken(self._doc_id, f"sheet {self.name!r} has a cell beyond the last column")
            yield column, cell

    def area(self, merged: etree._Element) -> tuple[int, int, int, int]:
        """First row (from 1), first column (from 0), last row, last column of merged cells."""
        first, _, last = (merged.get("ref") or "").partition(":")
        return *self.place(first), *self.place(last or first)

    def place(self, reference: str) -> tuple[int, int]:
        """(row from 1, column from 0) of a cell like $C$7."""
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            raise broken(self._doc_id, f"sheet {self.name!r} names a cell {reference[:20]!r}")
        column = 0
        for letter in found[1]:
            column = column * 26 + ord(letter) - 64
        return int(found[2]), column - 1

    def shared_text(self, value: str) -> str:
        """The text that cells of the whole workbook share under a number."""
        number = whole(value, -1)
        if not 0 <= number < len(self.workbook.texts):
            raise broken(self._doc_id, f"sheet {self.name!r} names a text that is not there")
        return self.workbook.texts[number]

    def format_code(self, style: str | None) -> str:
        """The number format of a style."""
        place = whole(style)
        return self.workbook.formats[place] if place < len(self.workbook.formats) else "General"


def whole(text: str | None, otherwise: int = 0) -> int:
    """A whole number as attributes of a sheet have it; `otherwise` for anything else."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 12 else otherwise


def is_true(text: str | None) -> bool:
    """Whether an attribute of a sheet says yes."""
    return text in ("1", "true")
