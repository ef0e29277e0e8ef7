"""What a column mapping says of a table beside its columns: where it stands and how its numbers are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.ingest.cell_value import DecimalMark
from groundwire_server.ingest.unit_words import scale_words
from groundwire_server.readers import CHARSETS

__all__ = ["HEADED", "TABLE_KEYS", "TableRules", "Wide", "read_table_rules"]

HEADED = ("metric", "entity", "period", "channel", "unit")
"""Fields that may stand in the headings of a wide table; beside them "dimensions.NAME"."""

_MOST_ROWS = 1_048_576
_AXIS = re.compile(r"dimensions\.\S.*")

Hidden = Literal["refuse", "read", "skip"]
Missing = Literal["refuse", "skip"]


@dataclass(frozen=True, slots=True)
class Wide:
    """A table with several figures a row.

    heading: what the headings of these columns are, one for each row of headings from above; one alone: all of them
    together. columns: their headings or letters ("#C", "#C:#F"); empty: all whose headings can be read as such and that
    are nothing else.
    """

    heading: tuple[str, ...]
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableRules:
    """Where a table stands and how its numbers are written.

    sheets: empty: all that people see. header_rows: from 1; empty: found. first_row, last_row: of the data; 0: all.
    charset: of a text; empty: detected. delimiter: empty: found. decimal: None: a point, and in a table of semicolons
    each number by itself. power: of ten, in place of what headings say; None: they say it. language: for the sign ¥;
    empty: told from the text. currencies: by sign. hidden, missing: what becomes of hidden cells, and of cells that say
    that there is no value, in a wide table. sheet_is: the field that the name of the sheet is.
    """

    sheets: tuple[str, ...] = ()
    header_rows: tuple[int, ...] = ()
    first_row: int = 0
    last_row: int = 0
    charset: str = ""
    delimiter: str = ""
    decimal: DecimalMark | None = None
    power: int | None = None
    language: str = ""
    currencies: Mapping[str, str] = field(default_factory=dict)
    hidden: Hidden = "refuse"
    missing: Missing = "refuse"
    sheet_is: str = ""
    wide: Wide | None = None


class _FaultError(Exception):
    """What is wrong with a value."""


def read_table_rules(document: dict[str, object], path: str, violations: list[Violation]) -> TableRules:
    """Take the keys of a mapping that speak of the table out of it; every fault is added to `violations`."""
    said: dict[str, object] = {}
    for key, read in _READ.items():
        if key not in document:
            continue
        try:
            name, value = read(document.pop(key))
            said[name] = value
        except _FaultError as error:
            violations.append(Violation(f"{path}.{key}", ErrorReason.VALUE_MALFORMED, str(error)))
    return TableRules(**said)  # type: ignore[arg-type]


def _sheets(value: object) -> tuple[str, object]:
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list) and names and all(isinstance(name, str) and name for name in names):
        return "sheets", tuple(names)
    raise _FaultError('is no name of a sheet, and no list of names like ["PL", "BS"]')


def _header_rows(value: object) -> tuple[str, object]:
    given = value if isinstance(value, list) else [value]
    rows = [row for row in given if isinstance(row, int) and _is_row(row)]
    if rows and len(rows) == len(given) and rows == list(range(rows[0], rows[0] + len(rows))) and len(rows) < 6:
        return "header_rows", tuple(rows)
    raise _FaultError("is no number of a row from 1, and no list of up to 5 that follow each other, like [3, 4]")


def _row(name: str) -> Callable[[object], tuple[str, object]]:
    def read(value: object) -> tuple[str, object]:
        if _is_row(value):
            return name, value
        raise _FaultError("is no number of a row from 1")

    return read


def _is_row(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_ROWS


def _charset(value: object) -> tuple[str, object]:
    if isinstance(value, str) and value.strip():
        return "charset", value
    raise _FaultError(f"is none of {', '.join(sorted(CHARSETS))}")


def _one_of(name: str, *valid: str) -> Callable[[object], tuple[str, object]]:
    def read(value: object) -> tuple[str, object]:
        if value in valid:
            return name, value
        raise _FaultError(f"is none of {', '.join(repr(each) for each in valid)}")

    return read


def _scale(value: object) -> tuple[str, object]:
    """A word, "none", or a power of ten."""
    if isinstance(value, str):
        folded = value.strip().casefold()
        if folded in ("none", "1"):
            return "power", 0
        if folded in scale_words():
            return "power", scale_words()[folded]
    if isinstance(value, int) and not isinstance(value, bool) and re.fullmatch(r"10{0,15}", str(value)):
        return "power", len(str(value)) - 1
    raise _FaultError('is no power of ten like 1000, and no word like "thousand", "百万" or "none"')


def _currencies(value: object) -> tuple[str, object]:
    if isinstance(value, dict) and all(isinstance(unit, str) and unit.strip() for unit in value.values()):
        return "currencies", {str(sign).strip().casefold(): unit.strip() for sign, unit in value.items()}
    raise _FaultError('is not of the form [currencies] and lines of "$" = "CAD"')


def _sheet_is(value: object) -> tuple[str, object]:
    if isinstance(value, str) and (value in HEADED or _AXIS.fullmatch(value)):
        return "sheet_is", value
    raise _FaultError(f'is none of {", ".join(HEADED)}, and no "dimensions.NAME"')


def _wide(value: object) -> tuple[str, object]:
    if not isinstance(value, dict) or not set(value) <= {"heading", "columns"}:
        raise _FaultError('is not of the form [wide], heading = "period", columns = ["2023", "2024"]')
    heading = [value.get("heading")] if isinstance(value.get("heading"), str) else value.get("heading")
    if not isinstance(heading, list) or not heading or len(heading) > 5:
        raise _FaultError('needs heading = "period", or one for each row of headings from above')
    for each in heading:
        if not isinstance(each, str) or not (each in HEADED or _AXIS.fullmatch(each)):
            raise _FaultError(f'has a heading that is none of {", ".join(HEADED)}, and no "dimensions.NAME"')
    if len(set(heading)) < len(heading):
        raise _FaultError("names a field twice in heading")
    columns = value.get("columns", [])
    if not isinstance(columns, list) or not all(isinstance(name, str) and name for name in columns):
        raise _FaultError('has columns that are no list of headings or letters like ["2023", "#C:#F"]')
    return "wide", Wide(tuple(heading), tuple(columns))


_READ: dict[str, Callable[[object], tuple[str, object]]] = {
    "sheet": _sheets,
    "header_rows": _header_rows,
    "first_row": _row("first_row"),
    "last_row": _row("last_row"),
    "charset": _charset,
    "delimiter": _one_of("delimiter", ",", ";", "\t", "|"),
    "decimal": _one_of("decimal", ".", ","),
    "scale": _scale,
    "language": _one_of("language", "en", "zh", "ja"),
    "currencies": _currencies,
    "hidden": _one_of("hidden", "refuse", "read", "skip"),
    "missing": _one_of("missing", "refuse", "skip"),
    "sheet_is": _sheet_is,
    "wide": _wide,
}
TABLE_KEYS = tuple(_READ)
"""Keys of a mapping that speak of the table, in the order of the documentation."""
