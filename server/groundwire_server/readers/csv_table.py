"""CSV and TSV: one document, places are rows as a spreadsheet counts them, each value with its head beside it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Locator
from groundwire_server.readers.document import ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.places import line_starts
from groundwire_server.readers.plain_text import decode_source, file_title, refuse_blank
from groundwire_server.readers.table_text import TableRow, add_table
from groundwire_server.readers.text_builder import TextBuilder

__all__ = ["CsvReader", "CsvRows"]

# In doubt the first: a comma stands in numbers and sentences, a tab nowhere.
_DELIMITERS = "\t;|,"
_SAMPLE_CHARS, _SAMPLE_ROWS = 1 << 16, 200
_LEAST_AGREEMENT = 0.5
_MOST_OPEN_QUOTES, _MOST_AGAIN = 100, 4
_SENTINEL = "\x00"


class CsvReader:
    """Reads tables in text, with commas, semicolons, tabs or bars between cells, whichever the rows agree on.

    Quotes are read as spreadsheets do (doubled within, line ends allowed); one that nothing closes stands for itself,
    with a warning. A first line `sep=;` names the delimiter.
    """

    media_type = "text/csv"
    suffixes = (".csv", ".tsv", ".tab")
    aliases = ("text/tab-separated-values", "application/csv", "text/x-csv")
    isolated = True

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused when it is no text, blank, or wider than a spreadsheet."""
        text, doubts = decode_source(source)
        refuse_blank(source.doc_id, text)
        builder = TextBuilder(source, (("row",),))
        builder.warnings += doubts
        rows = CsvRows(source.doc_id, text)
        add_table(builder, source.doc_id, rows, {})
        builder.warnings += rows.warnings
        return [builder.document(self.media_type, title=file_title(source.doc_id))]


class CsvRows:
    """The rows of a table in text, once, each with its number; `warnings` is complete when they are used up.

    Args:
        doc_id: for messages and the places of warnings. delimiter: between cells; empty: said in the text, or found.

    Raises:
        DocumentRefused: on the way, DOCUMENT_BROKEN for more open quotes than a table may have.
    """

    def __init__(self, doc_id: str, text: str, delimiter: str = "") -> None:
        self.warnings: list[ReadWarning] = []
        self._doc_id = doc_id
        self._text = text
        self._starts = line_starts(text)
        self._read_again = 0  # characters, to bound the work
        said = _said_delimiter(self._line(0))
        self._first = 1 if said else 0
        self.delimiter = (
            delimiter or said or _find_delimiter(text[self._starts[self._first] :] if self._first else text)
        )

    def __iter__(self) -> Iterator[TableRow]:
        row, line = self._first, self._first
        while line < len(self._starts):
            reader = csv.reader(self._lines(line), delimiter=self.delimiter, strict=True)
            begun = line
            try:
                for cells in reader:
                    row += 1
                    yield row, _plain(cells)
                    begun = line + reader.line_num
                return
            except csv.Error:
                row += 1
                cells, line = self._malformed(row, begun, line + reader.line_num)
                yield row, _plain(cells)

    def _malformed(self, row: int, begun: int, end: int) -> tuple[list[str], int]:
        """The cells of a row with stray quotes, and the line after it."""
        lines = list(islice(self._lines(begun), end - begun))
        self._read_again += sum(map(len, lines))
        try:
            read = list(csv.reader([*lines, _SENTINEL], delimiter=self.delimiter))
        except csv.Error:
            read = []
        # What is behind the row must not have been taken into it.
        if len(lines) == 1 and read and read[-1] == [_SENTINEL]:
            return read[0], end
        if len(self.warnings) >= _MOST_OPEN_QUOTES or self._read_again > _MOST_AGAIN * len(self._text):
            raise DocumentRefused(
                ErrorReason.DOCUMENT_BROKEN,
                f"{self._doc_id}: too many rows open a quote that nothing closes (looked at up to row {row}).",
                hint="Write the file again with its quotes doubled, or read it as text/plain.",
                details={"row": str(row)},
            )
        self.warnings.append(
            ReadWarning(
                str(Locator(self._doc_id, (("row", str(row)),))),
                "a quote is opened and not closed; it was read as it stands",
                WarningKind.TEXT_UNCERTAIN,
            )
        )
        return self._line(begun).rstrip("\r\n").split(self.delimiter), begun + 1

    def _lines(self, first: int) -> Iterator[str]:
        return (self._line(number) for number in range(first, len(self._starts)))

    def _line(self, number: int) -> str:
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
        return self._text[self._starts[number] : end]


def _plain(cells: list[str]) -> list[str]:
    return [cell.strip() for cell in cells]


def _said_delimiter(line: str) -> str:
    """That of a first line `sep=;`, which Excel writes and reads; else empty."""
    said = line.rstrip("\r\n")
    return said[4] if len(said) == 5 and said.casefold().startswith("sep=") else ""


def _find_delimiter(text: str) -> str:
    """The one that cuts most rows into equally many cells, at least two; a comma where none does.

    >>> _find_delimiter("a;b\\n1,5;2,5\\n"), _find_delimiter("a\\n1\\n")
    (';', ',')
    """
    sample = text[:_SAMPLE_CHARS]
    lines = list(io.StringIO(sample, newline=""))
    if len(sample) < len(text) and len(lines) > 1:
        del lines[-1]
    agreement = {delimiter: _agreement(lines, delimiter) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: agreement[delimiter])
    return best if agreement[best] >= _LEAST_AGREEMENT else ","


def _agreement(lines: list[str], delimiter: str) -> float:
    widths: Counter[int] = Counter()
    try:
        for cells in islice(csv.reader(lines, delimiter=delimiter), _SAMPLE_ROWS):
            if any(cell.strip() for cell in cells):
                widths[len(cells)] += 1
    except csv.Error:
        return 0.0
    if not widths:
        return 0.0
    width, rows = max(widths.items(), key=lambda entry: (entry[1], entry[0]))
    return rows / widths.total() if width > 1 else 0.0
