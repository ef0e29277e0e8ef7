"""Rows of a sheet to figures: which row is the heading, which column is which field, what stands above and beside.

One heading is found for each sheet. What titles, headings, and rows of their own say of unit and scale goes along with
each figure below them; whether it counts for a figure is for `settling` to say.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from groundwire_server.errors import DocumentRefused, ErrorReason, RowRefused
from groundwire_server.evidence import Locator
from groundwire_server.ingest.cell_value import CellRules, is_missing, read_cell, without_notes
from groundwire_server.ingest.fact_mapping import FACT_FIELDS, FactMapping
from groundwire_server.ingest.fact_periods import says_nothing_more
from groundwire_server.ingest.fact_values import refuse
from groundwire_server.ingest.measures import (
    NO_MEASURE,
    Measure,
    MoneySigns,
    Shares,
    find_language,
    read_measure,
    read_title,
    speaks_of_scale,
    split_measure,
)
from groundwire_server.readers.cells import BLANK, Cell, CellKind, SheetRow
from groundwire_server.readers.table_heads import is_amount

__all__ = [
    "LOOKAHEAD",
    "SCALE",
    "Columns",
    "Heading",
    "Layout",
    "TableFigure",
    "column_letter",
    "find_heading",
    "read_sheet_figures",
    "shown_heading",
]

LOOKAHEAD = 60
_REQUIRED = ("metric", "entity", "period", "value")
_MOST_LEVELS = 4
_PLACE = re.compile(r"#([A-Z]{1,3})", re.IGNORECASE)
_RANGE = re.compile(r"#([A-Z]{1,3}):#([A-Z]{1,3})", re.IGNORECASE)
_TIMES = ("filed", "valid_as_of")
_MOST_SHOWN = 12
_SCALE = "mapping_toml.scale"
_HEADER_ROWS = "mapping_toml.header_rows"
_SIGN = "sign"
_DECIDED = (_SCALE, _HEADER_ROWS, _SIGN)
SCALE = "scale"
"""A column of this name counts the figures of its row in powers of ten."""
_SCALE_WORDS = frozenset({"scale", "multiplier", "unitmultiplier", "unitmult", "unitscale", "powercode", "倍率"})
_SIGN_WORDS = frozenset({
    "sign", "dr/cr", "cr/dr", "d/c", "c/d", "drcr", "debit/credit", "credit/debit", "s/h", "貸借",
    "貸借区分", "借贷", "借贷方向", "借貸", "方向", "符号", "符號",
})  # fmt: skip
_UNIT_WORDS = frozenset({"units", "uom", "currency", "単位", "单位", "單位", "通貨", "货币", "币种", "貨幣", "幣別"})

ReadsPeriod = Callable[[str], bool]
"""Whether a text is the name of a period."""


@dataclass(frozen=True, slots=True)
class TableFigure:
    """A figure as a table states it.

    row: its number. fields: by name, without value. cell: the one of its value. measure: what headings, titles and rows
    above say of it. column: the heading of its column, for messages. place: its locator within the document. where: the
    cell for people ("PL!C7"); empty where the row tells. signs: what signs of money mean on its sheet. section: the
    label without figures that it stands below, in a wide table.
    """

    row: int
    fields: dict[str, object]
    cell: Cell
    measure: Measure
    column: str
    place: str
    where: str = ""
    signs: MoneySigns = field(default_factory=MoneySigns)
    section: str = ""


@dataclass(frozen=True, slots=True)
class _Value:
    """A column of figures: the fields that its headings give, and the measure that they say."""

    column: int
    fields: dict[str, str]
    measure: Measure


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column is what. fields: column to field, "dimensions.NAME", or a name of its own. values: of figures."""

    fields: dict[int, str]
    values: tuple[_Value, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a sheet.

    first, last: its rows, by number. names: by column. measure: what stands above it. signs: what signs of money mean.
    """

    first: int
    last: int
    names: tuple[str, ...]
    columns: Columns
    measure: Measure
    signs: MoneySigns


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file's tables are laid out: the mapping, the signs of money, and what a period is."""

    name: str
    mapping: FactMapping
    reads_period: ReadsPeriod
    by_cell: bool
    """Whether places are cells ("sheet=PL,cell=C7") or rows."""
    signs: MoneySigns = field(default_factory=MoneySigns)


def column_letter(column: int) -> str:
    """
    >>> column_letter(0), column_letter(27)
    ('A', 'AB')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def read_sheet_figures(
    heading: Heading, rows: Iterable[SheetRow], layout: Layout
) -> Iterator[tuple[int, TableFigure | RowRefused]]:
    """(row, figure or why there is none) of each figure of one sheet.

    Args:
        heading: that of the sheet. rows: all of it.

    Raises:
        DocumentRefused: CONTRADICTION, the heading of another table stands among the rows.
    """
    table = layout.mapping.table
    layout = replace(layout, signs=heading.signs)
    section, label, stated, doubtful = NO_MEASURE, "", False, 0
    yield from _passed_over(heading, layout)
    for row in rows:
        if row.number <= heading.last or (table.first_row and row.number < table.first_row):
            if row.number < heading.first and not table.header_rows and _holds_numbers(row):
                why = f"The row stands above the heading, in row {heading.first}, and is not read."
                yield (
                    row.number,
                    RowRefused(ErrorReason.VALUE_MALFORMED, _told(layout, row, None, why), column="", value=""),
                )
            continue
        if table.last_row and row.number > table.last_row:
            break
        if row.hidden and table.hidden == "skip":
            continue
        if row.hidden and table.hidden == "refuse":
            why = 'The row is hidden; say hidden = "read" or hidden = "skip" in the mapping.'
            told = _told(layout, row, None, why)
            yield row.number, RowRefused(ErrorReason.CONTRADICTION, told, column="", value="")
            continue
        if _repeats(row, heading):
            continue
        if _begins_another(row, heading, layout):
            raise DocumentRefused(
                ErrorReason.CONTRADICTION,
                f"{layout.name}: row {row.number} reads like the heading of another table.",
                hint="Load each table by a mapping of its own, with header_rows and last_row.",
                details={"field": "mapping_toml.last_row"},
            )
        said = _section(row, heading, layout)
        power = section.over(heading.measure).power
        notes = table.power is None and not said and _notes_a_scale(row, power, layout)
        if table.power is None and power is None and ((said and stated) or notes):
            raise _unclear_scale(row.number, layout)
        if said:
            section, doubtful = said, 0
            continue
        if doubtful and any(_is_figure(_cell(row, value.column)) for value in heading.columns.values):
            raise _unclear_scale(doubtful, layout)
        # A remark below the last figures may speak of millions; one above figures says what they are counted in.
        doubtful = row.number if notes else doubtful
        stated = True
        label = _label_alone(row, heading, layout) or label
        yield from _figures(row, heading, section, label, layout)


def _notes_a_scale(row: SheetRow, power: int | None, layout: Layout) -> bool:
    """Whether a row is a remark that names a scale other than the one that holds: "Note: amounts in millions"."""
    texts = list(dict.fromkeys(cell.text for cell in row.cells if cell))
    if not any(map(speaks_of_scale, texts)) or any(_is_figure(cell) for cell in row.cells if cell):
        return False
    return power is None or any(
        speaks_of_scale(text) and read_measure(text, layout.signs).power != power for text in texts
    )


def _unclear_scale(number: int, layout: Layout) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.CONTRADICTION,
        f"{layout.name}: row {number} speaks of a scale, and it is not clear for which figures.",
        hint="Say scale in the mapping.",
        details={"field": _SCALE},
    )


def _label_alone(row: SheetRow, heading: Heading, layout: Layout) -> str:
    """The label of a row of a wide table that has no figures: it stands over those that follow."""
    if layout.mapping.table.wide is None or any(_cell(row, value.column) for value in heading.columns.values):
        return ""
    columns = [column for column, name in heading.columns.fields.items() if name == "metric"]
    return _cell(row, columns[0]).text if columns else ""


def _with_language(layout: Layout, rows: Sequence[SheetRow]) -> Layout:
    table = layout.mapping.table
    language, traditional = find_language([cell.text for row in rows for cell in row.cells])
    if table.language:
        traditional = traditional and table.language == "zh"
        language = "" if table.language == "en" else table.language
    return replace(layout, signs=MoneySigns(table.currencies, language, traditional))


# The heading.


def find_heading(rows: Sequence[SheetRow], layout: Layout) -> Heading:
    """The heading among the first rows of a sheet: the first rows whose names give every field that a figure needs.

    Args:
        rows: at most `LOOKAHEAD`.

    Raises:
        DocumentRefused: FACT_FIELD_MISSING or CONTRADICTION.
    """
    table = layout.mapping.table
    layout = _with_language(layout, rows)
    if table.header_rows:
        chosen = [row for row in rows if row.number in table.header_rows]
        if chosen:
            return _heading(rows, chosen, layout)
        raise _lacks(
            layout, "value", f"there is nothing in row {table.header_rows[0]}, where header_rows has the heading"
        )
    refusal: DocumentRefused | None = None
    nearest = -1
    for place, row in enumerate(rows):
        for levels in _levels(layout):
            chosen = list(rows[place : place + levels])
            if len(chosen) < levels:
                continue
            try:
                heading = _heading(rows, chosen, layout)
                _refuse_above(rows[place - 1] if place else None, heading, layout)
                return _extended(rows, place, heading, layout)
            except DocumentRefused as error:
                if error.details.get("field") in _DECIDED:
                    raise
                fits = len(_REQUIRED) - len(_lacking(_names(chosen, layout), layout))
                if fits > nearest or refusal is None:
                    refusal, nearest = error, fits
        if row.number > rows[0].number + LOOKAHEAD:
            break
    raise refusal or _lacks(layout, "metric", "the heading has no metric, entity, period, value; it has nothing")


def _levels(layout: Layout) -> range:
    wide = layout.mapping.table.wide
    if wide is not None and len(wide.heading) > 1:
        return range(len(wide.heading), len(wide.heading) + 1)
    return range(1, 4 if wide is not None else 2)


def _extended(rows: Sequence[SheetRow], place: int, heading: Heading, layout: Layout) -> Heading:
    """Take in rows below that go on with the headings: "Q1" below "2023", or the unit of each column."""
    wide = layout.mapping.table.wide
    if wide is None or len(wide.heading) > 1:
        return heading
    at = next(index for index, row in enumerate(rows) if row.number == heading.last)
    while at + 1 < len(rows) and heading.last - heading.first + 1 < _MOST_LEVELS:
        below = rows[at + 1]
        under = [_cell(below, value.column) for value in heading.columns.values]
        if not all(cell.kind is CellKind.TEXT and cell for cell in under):
            break
        units = all(read_measure(cell.text, layout.signs) for cell in under)
        try:
            longer = _heading(rows, [*rows[place : at + 1], below], layout)
        except DocumentRefused as error:
            if error.details.get("field") in _DECIDED:
                raise
            _refuse_further_heading(below, under, heading, layout)
            break
        if len(longer.columns.values) < len(heading.columns.values) or not (units or wide.heading == ("period",)):
            _refuse_further_heading(below, under, heading, layout)
            break
        heading, at = longer, at + 1
    return heading


def _refuse_further_heading(row: SheetRow, under: Sequence[Cell], heading: Heading, layout: Layout) -> None:
    """Raises where a row says more of the columns than is understood, "Budget" and "Actual" below "2023"."""
    labels = [_cell(row, column).text for column, name in heading.columns.fields.items() if _is_field(name)]
    if any(label.strip() and not read_title(label, layout.signs) for label in labels):
        return
    if any(_is_figure(cell) or is_missing(cell.text) or says_nothing_more(cell.text) for cell in under):
        return
    raise DocumentRefused(
        ErrorReason.CONTRADICTION,
        f"{layout.name}: row {row.number} stands below the headings and says more of their columns: "
        f"{', '.join(cell.text[:40] for cell in under[:4])}.",
        hint="Say in the mapping which rows are the heading (header_rows), and what each of them is (wide.heading).",
        details={"field": _HEADER_ROWS},
    )


def _refuse_above(row: SheetRow | None, heading: Heading, layout: Layout) -> None:
    """Raises where the row above says what the headings of a wide table do not: "Budget" and "Actual" above years."""
    if row is None or layout.mapping.table.wide is None:
        return
    cells = [_cell(row, value.column) for value in heading.columns.values]
    texts = {cell.text for cell in cells if cell and not _is_figure(cell)}
    more = [text for text in texts if not (read_measure(text, layout.signs) or says_nothing_more(text))]
    if more and len(texts) > 1:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"{layout.name}: row {row.number} stands above the headings and says more of their columns: "
            f"{', '.join(text[:40] for text in sorted(texts)[:4])}.",
            hint="Say in the mapping which rows are the heading (header_rows), and what each is (wide.heading).",
            details={"field": _HEADER_ROWS},
        )


def _is_figure(cell: Cell) -> bool:
    if cell.kind is not CellKind.TEXT:
        return cell.kind is CellKind.NUMBER
    try:
        read_cell(cell.text, CellRules(decimal=""))
    except RowRefused:
        return is_amount(cell.text)
    return True


def _heading(rows: Sequence[SheetRow], chosen: Sequence[SheetRow], layout: Layout) -> Heading:
    names = _names(chosen, layout)
    columns = _columns(chosen, names, layout)
    _check_names(names, columns, layout)
    columns = replace(columns, fields=_told_apart(columns.fields))
    for row in chosen[:-1]:
        # A title that is alone in its row is no heading of the columns below it.
        if not any(_cell(row, value.column) for value in columns.values):
            raise _lacks(layout, "value", f"row {row.number} names none of the columns")
    if not layout.mapping.table.header_rows:
        _refuse_figures(chosen, columns, layout)
    measure = _titles(rows, chosen, names, columns, layout)
    return Heading(chosen[0].number, chosen[-1].number, tuple(names), columns, measure, layout.signs)


def _refuse_figures(chosen: Sequence[SheetRow], columns: Columns, layout: Layout) -> None:
    """Raises where a row below the first of a heading is one of figures with a label: "Sales, 12" below "Item, Q1"."""
    labels = [column for column, name in columns.fields.items() if _is_field(name)]
    for number, row in enumerate(chosen[1:], start=1):
        labelled = [column for column in labels if _cell(row, column) and not read_title(_cell(row, column).text)]
        above = any(_cell(other, column) for other in chosen[:number] for column in labelled)
        if above and all(_is_figure(_cell(row, value.column)) for value in columns.values):
            raise _lacks(
                layout,
                layout.mapping.table.wide.heading[0] if layout.mapping.table.wide else "value",
                f"row {row.number} holds figures, and the headings above it do not say of what",
            )


def _names(chosen: Sequence[SheetRow], layout: Layout) -> list[str]:
    """One name a column: its texts from above to below, each once; fields and axes are known in any case."""
    width = max(len(row.cells) for row in chosen)
    levels = [_carried(row, width, last=row is chosen[-1]) for row in chosen]
    names = []
    for column in range(width):
        parts = [level[column] for level in levels if level[column]]
        shown = " ".join(dict.fromkeys(parts))
        folded = shown.casefold()
        if folded.startswith(("dimension.", "dimensions.")):
            shown = f"dimensions.{shown.partition('.')[2].strip()}"
        elif "_".join(folded.split()) in (*FACT_FIELDS, "filed_at"):
            shown = "_".join(folded.split())
        names.append(shown.removeprefix("\ufeff"))
    return names


def _carried(row: SheetRow, width: int, *, last: bool) -> list[str]:
    """Texts of a row of headings. Above the last row, a text stands over the blank cells that follow it."""
    texts = [shown_heading(_cell(row, column)) for column in range(width)]
    if last:
        return texts
    carried, before = [], ""
    for column, text in enumerate(texts):
        before = text or (before if column else "")
        carried.append(before)
    return carried


def shown_heading(cell: Cell) -> str:
    """A heading as text: a day as far as its format shows it, a number without separators."""
    if cell.kind is CellKind.DAY:
        return day_asshown_heading(cell)
    if cell.kind is CellKind.NUMBER and "," in cell.text:
        return cell.stored
    return " ".join(cell.text.split())


# What a format writes beside a day and that makes another period of it: "FY", "Q1", 期, "Year ended".
_SAYS_MORE = re.compile(r"[^\W\d_年月日]")


def day_asshown_heading(cell: Cell) -> str:
    """A day as the name of a period: the year, the month or the day, whichever the number format shows.

    Where the format writes words beside it, it is the text that it shows.

    >>> day_asshown_heading(Cell("Dec-24", CellKind.DAY, "2024-12-31", "mmm-yy"))
    '2024-12'
    """
    code = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", cell.format).casefold()
    day = cell.stored[:10]
    if _SAYS_MORE.search("".join(re.findall(r'"([^"]*)"', cell.format))):
        return " ".join(cell.text.split())
    if not code or "d" in code:
        return day
    return day[:7] if "m" in code else day[:4]


def _check_names(names: Sequence[str], columns: Columns, layout: Layout) -> None:
    """No two columns of figures, and none that are fields, may have one name: which is meant could not be told."""
    used = {value.column for value in columns.values}
    used |= {column for column, name in columns.fields.items() if _is_field(name)}
    times = Counter(names)
    doubled = [names[column] for column in sorted(used) if 0 <= column < len(names) and times[names[column]] > 1]
    doubled = [name for name in doubled if name]
    if doubled:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"{layout.name}: column {doubled[0][:80]!r} stands twice in the heading.",
            details={"field": doubled[0][:80]},
        )


def _lacking(names: Sequence[str], layout: Layout) -> list[str]:
    mapping, wide = layout.mapping, layout.mapping.table.wide
    there = {name for _, name in _fields(names, mapping).items()} | set(mapping.constants) | {mapping.table.sheet_is}
    if wide is not None:
        there |= {*wide.heading, "value"}
    return [name for name in _REQUIRED if name not in there]


def _fields(names: Sequence[str], mapping: FactMapping) -> dict[int, str]:
    """Column to field, axis or its own name; a column whose field stands elsewhere is left out."""
    taken: dict[int, str] = {}
    for name, said in (
        *mapping.columns.items(),
        *((f"dimensions.{axis}", said) for axis, said in mapping.dimensions.items()),
    ):
        column = _find_column(said, names)
        if column is not None:
            taken[column] = name
    for column, name in enumerate(names):
        own = "filed" if name == "filed_at" else name
        if column not in taken and own and own not in mapping.columns:
            taken[column] = own
    # Whatever these are called, a figure read without them would be another one.
    for meant, words in ((SCALE, _SCALE_WORDS), ("unit", _UNIT_WORDS)):
        if meant not in taken.values() and meant not in mapping.columns:
            found = [column for column, name in taken.items() if not _is_field(name) and _folded(name) in words]
            if len(found) == 1:
                taken[found[0]] = meant
    signs = [name for name in taken.values() if not _is_field(name) and _folded(name) in _SIGN_WORDS]
    if signs:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"Column {signs[0][:80]!r} says the sign of the figures beside it, and is not read.",
            hint="Write the sign into the figures, or map the column to a dimension.",
            details={"field": _SIGN},
        )
    return taken


def _told_apart(fields: dict[int, str]) -> dict[int, str]:
    """Columns that are no fields, by names of their own where they share one."""
    times = Counter(fields.values())
    return {
        column: name if _is_field(name) or times[name] == 1 else f"{name} {column_letter(column)}"
        for column, name in fields.items()
    }


def _is_field(name: str) -> bool:
    return name in FACT_FIELDS or name.startswith("dimensions.") or name == SCALE


def _find_column(said: str, names: Sequence[str]) -> int | None:
    """A column by its letter ("#C") or its heading: as it stands, else without regard to case, width and blanks."""
    letter = _PLACE.fullmatch(said.strip())
    if letter:
        return _column_number(letter[1])
    if said in names:
        return names.index(said)
    wanted = _folded(said)
    found = [column for column, name in enumerate(names) if _folded(name) == wanted]
    return found[0] if len(found) == 1 else None


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().replace("_", " ").split())


def _columns(chosen: Sequence[SheetRow], names: list[str], layout: Layout) -> Columns:
    mapping, wide = layout.mapping, layout.mapping.table.wide
    fields = _fields(names, mapping)
    if wide is None:
        _refuse_lacking(names, layout)
        values = [column for column, name in fields.items() if name == "value"]
        column = values[0] if values else -1
        measure = read_measure(names[column], layout.signs) if 0 <= column < len(names) else NO_MEASURE
        return Columns({c: n for c, n in fields.items() if n != "value"}, (_Value(column, {}, measure),))
    width = max(len(row.cells) for row in chosen)
    levels = [_carried(row, width, last=row is chosen[-1]) for row in chosen]
    mapped = {column for column, name in fields.items() if _is_field(name)}
    asked = _asked(wide.columns, names, layout) if wide.columns else None
    found = []
    for column in asked if asked is not None else [column for column in range(width) if column not in mapped]:
        value = _wide_value(
            column, [level[column] if column < width else "" for level in levels], layout, forced=asked is not None
        )
        if value is not None:
            found.append(value)
    if asked is None:
        _refuse_unheaded(chosen, levels, mapped, {value.column for value in found}, layout)
    if not found:
        what = " and ".join(wide.heading)
        raise _lacks(layout, wide.heading[0], f"no column has a heading that is a {what}; it has {_listed(names)}")
    _refuse_lacking(names, layout)
    taken = {value.column for value in found}
    return Columns({column: name for column, name in fields.items() if column not in taken}, tuple(found))


def _refuse_unheaded(
    chosen: Sequence[SheetRow], levels: Sequence[Sequence[str]], mapped: set[int], found: set[int], layout: Layout
) -> None:
    """Raises where headings that are written in the middle of their columns seem to begin one column too late."""
    tops = [column for column in range(len(levels[0])) if _cell(chosen[0], column)]
    for column, text in enumerate(levels[-1] if len(levels) > 1 else []):
        before = [top for top in tops if top <= column]
        after = [top for top in tops if top > column]
        own = bool(before) and (before[-1] == column or before[-1] not in mapped)
        if not text or not after or own or column in mapped or column in found:
            continue
        upper = levels[0][after[0]]
        texts = [upper, *(level[column] for level in levels[1:])]
        if _wide_value(column, texts, layout, forced=False) is not None:
            raise DocumentRefused(
                ErrorReason.CONTRADICTION,
                f"{layout.name}: nothing stands above {text[:40]!r} in column {column_letter(column)}, and it is not "
                f"clear over which columns {upper[:40]!r} stands.",
                hint="Name each column in full, or say in the mapping where the headings are.",
                details={"field": _HEADER_ROWS},
            )


def _asked(wanted: Sequence[str], names: Sequence[str], layout: Layout) -> list[int]:
    columns: list[int] = []
    for said in wanted:
        span = _RANGE.fullmatch(said.strip())
        if span:
            columns += range(_column_number(span[1]), _column_number(span[2]) + 1)
            continue
        column = _find_column(said, names)
        if column is None:
            raise _lacks(layout, "wide.columns", f"there is no column {said[:80]!r}; it has {_listed(names)}")
        columns.append(column)
    return list(dict.fromkeys(columns))


def _wide_value(column: int, texts: list[str], layout: Layout, *, forced: bool) -> _Value | None:
    """The fields that the headings of a column give; None where they give none."""
    wide = layout.mapping.table.wide
    assert wide is not None
    measure, left = NO_MEASURE, []
    for text in texts:
        title = read_title(text, layout.signs)
        name, said = split_measure(text, layout.signs)
        if title:
            measure = title.over(measure)
        elif text:
            measure = said.over(measure) if said else measure
            left.append(name)
        elif len(wide.heading) > 1:
            left.append("")
    if len(wide.heading) > 1:
        if len(left) != len(wide.heading) or not any(left):
            return None
        fields = {name: text for name, text in zip(wide.heading, left, strict=True) if text}
    else:
        joined = " ".join(dict.fromkeys(filter(None, left)))
        if not joined:
            return None
        fields = {wide.heading[0]: joined}
    period = fields.get("period")
    if period is not None and not forced and not any(map(layout.reads_period, (period, without_notes(period)))):
        return None
    if any(name not in fields for name in wide.heading if name in _REQUIRED):
        return None
    return _Value(column, fields, measure)


def _titles(
    rows: Sequence[SheetRow], chosen: Sequence[SheetRow], names: Sequence[str], columns: Columns, layout: Layout
) -> Measure:
    """What stands above the heading, or in the corner of it, of unit and scale.

    Raises:
        DocumentRefused: CONTRADICTION, two of them say different things.
    """
    table = layout.mapping.table
    texts = [
        cell.text for row in rows if row.number < chosen[0].number for cell in row.cells if cell.kind is CellKind.TEXT
    ]
    found = [read_measure(text, layout.signs) for text in dict.fromkeys(texts)]
    values = {value.column for value in columns.values}
    for column, name in enumerate(names):
        if column in values or not name:
            continue
        is_label = columns.fields.get(column) in ("metric", "entity")
        found.append(read_measure(name, layout.signs) if is_label else _scale_only(read_title(name, layout.signs)))
    unclear = [text for text in texts if speaks_of_scale(text) and read_measure(text, layout.signs).power is None]
    if unclear and table.power is None and all(measure.power is None for measure in found):
        raise DocumentRefused(
            ErrorReason.VALUE_MALFORMED,
            f"{layout.name}: {unclear[0][:80]!r} speaks of a scale and is not understood.",
            hint="Say scale in the mapping.",
            details={"field": _SCALE},
        )
    powers = list(dict.fromkeys(measure.power for measure in found if measure.power is not None))
    units = list(dict.fromkeys(measure.unit for measure in found if measure.unit))
    if len(powers) > 1 and table.power is None:
        raise DocumentRefused(
            ErrorReason.CONTRADICTION,
            f"{layout.name}: the titles above the heading name two scales.",
            hint="Say scale in the mapping.",
            details={"field": _SCALE},
        )
    shares: Shares = next((measure.shares for measure in found if measure.power is not None), "same")
    vague = next((measure.vague for measure in found if measure.vague), "")
    unit = units[0] if len(units) == 1 else ""
    return Measure(powers[0] if powers else None, unit, shares, "" if unit else vague)


def _scale_only(measure: Measure) -> Measure:
    return measure if measure.power is not None else NO_MEASURE


def _refuse_lacking(names: Sequence[str], layout: Layout) -> None:
    lacking = _lacking(names, layout)
    if lacking:
        raise _lacks(layout, lacking[0], f"the heading has no {', '.join(lacking)}; it has {_listed(names)}")


def _listed(names: Sequence[str]) -> str:
    shown = [name[:40] for name in names if name]
    return ", ".join(shown[:_MOST_SHOWN]) + (" ..." if len(shown) > _MOST_SHOWN else "") if shown else "nothing"


def _lacks(layout: Layout, name: str, why: str) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.FACT_FIELD_MISSING,
        f"{layout.name}: {why}.",
        hint="Name the columns after the fields, or say in a mapping where they stand.",
        details={"field": name},
    )


# The rows below it.


def _cell(row: SheetRow, column: int) -> Cell:
    return row.cells[column] if 0 <= column < len(row.cells) else BLANK


def _passed_over(heading: Heading, layout: Layout) -> Iterator[tuple[int, RowRefused]]:
    """Columns of a wide table that seem to be meant as periods, and cannot be read as such: 2024E."""
    wide = layout.mapping.table.wide
    if wide is None or wide.columns or "period" not in wide.heading:
        return
    for column, name in heading.columns.fields.items():
        if not _is_field(name) and _NAMES_A_YEAR.search(name):
            why = "The column has a heading that is no period, and is not read; name it, or others, in wide.columns."
            where = f"{column_letter(column)}{heading.last}: " if layout.by_cell else ""
            yield heading.last, refuse(ErrorReason.FACT_PERIOD_MALFORMED, name, name, f"{where}{why}")


def _repeats(row: SheetRow, heading: Heading) -> bool:
    """Whether a row is the heading again, as on the next page of a print."""
    # Most rows differ from the heading in their first value.
    column = heading.columns.values[0].column
    if (
        not 0 <= column < len(heading.names)
        or shown_heading(_cell(row, column)).casefold() != heading.names[column].casefold()
    ):
        return False
    texts = [shown_heading(_cell(row, column)) for column in range(len(heading.names))]
    if [text.casefold() for text in texts] == [name.casefold() for name in heading.names]:
        return True
    values = [value.column for value in heading.columns.values]
    return len(values) > 1 and all(texts[column] and texts[column] == heading.names[column] for column in values)


_YEAR = re.compile(r"(?:19|20|21)\d\d")
_NAMES_A_YEAR = re.compile(
    r"(?<!\d)(?:19|20|21)\d\d(?!\d)|\bFY ?'?\d\d\b|\d\s*年|第\s*\d+\s*(?:期|四半期|季)|四半期|季度"
    r"|[上下]半[期年]|[当前上本]期|^[RHS]\d{1,2}$|\b(?:Q[1-4]|[1-4]Q|H[12]|[12]H)\b|^(?:FY|LTM|TTM|YTD)$"
    r"|\b(?:current|prior|previous) (?:year|period)\b",
    re.IGNORECASE,
)


def _begins_another(row: SheetRow, heading: Heading, layout: Layout) -> bool:
    """Whether names of periods stand where figures should: the heading of a table below this one."""
    wide = layout.mapping.table.wide
    if wide is None or "period" not in wide.heading:
        return False
    texts = [shown_heading(_cell(row, value.column)) for value in heading.columns.values]
    told = [text for text in texts if text]
    if not told or not all(layout.reads_period(text) for text in told):
        return False
    return any(not text.isdigit() for text in told) or (len(told) > 1 and all(_YEAR.fullmatch(text) for text in told))


def _holds_numbers(row: SheetRow) -> bool:
    """Whether it may be a row of figures: two numbers that are no years."""
    numbers = [cell.text for cell in row.cells if cell and is_amount(cell.text)]
    return len(numbers) > 1


def _section(row: SheetRow, heading: Heading, layout: Layout) -> Measure:
    """What a row of its own says of the rows below it: "（単位：百万円）"."""
    texts = [cell.text for cell in row.cells if cell]
    if len(set(texts)) != 1 or any(
        _cell(row, value.column).kind is not CellKind.TEXT for value in heading.columns.values
    ):
        return NO_MEASURE
    return _scale_only(read_title(texts[0], layout.signs))


def _figures(
    row: SheetRow, heading: Heading, section: Measure, label: str, layout: Layout
) -> Iterator[tuple[int, TableFigure | RowRefused]]:
    table = layout.mapping.table
    if table.wide is None:
        extra = [cell for cell in row.cells[len(heading.names) :] if cell]
        if extra:
            why = f"The row has {len(row.cells)} cells, the heading {len(heading.names)}."
            yield (
                row.number,
                RowRefused(ErrorReason.VALUE_MALFORMED, _told(layout, row, None, why), column="", value=extra[0].text),
            )
            return
    if table.wide is not None and not table.wide.columns:
        yield from _without_heading(row, heading, layout)
    shared = _shared_fields(row, heading, layout)
    for value in heading.columns.values:
        cell = _cell(row, value.column)
        if value.column in row.hidden_columns and table.hidden != "read" and cell:
            if table.hidden == "refuse":
                why = 'The column is hidden; say hidden = "read" or hidden = "skip" in the mapping.'
                refused = refuse(
                    ErrorReason.CONTRADICTION, _heading_of(heading, value), cell.text, _told(layout, row, value, why)
                )
                yield row.number, refused
            continue
        if table.wide is not None and (
            not cell or (table.missing == "skip" and is_missing(cell.text) and cell.kind is CellKind.TEXT)
        ):
            continue
        measure = value.measure.over(section.over(heading.measure))
        if table.power is not None:
            measure = replace(measure, power=table.power)
        yield (
            row.number,
            TableFigure(
                row.number,
                {**layout.mapping.constants, **shared, **value.fields},
                cell,
                measure,
                _heading_of(heading, value),
                _place(row, value, layout),
                _where(row, value, layout),
                layout.signs,
                label,
            ),
        )


def _without_heading(row: SheetRow, heading: Heading, layout: Layout) -> Iterator[tuple[int, RowRefused]]:
    """Numbers of a row that no heading tells of."""
    for column, cell in enumerate(row.cells):
        named = column < len(heading.names) and heading.names[column]
        if cell and not named and column not in heading.columns.fields and is_amount(cell.text):
            value = _Value(column, {}, NO_MEASURE)
            why = _told(layout, row, value, "The column has no heading.")
            yield row.number, refuse(ErrorReason.FACT_FIELD_MISSING, f"#{column_letter(column)}", cell.text, why)


def _shared_fields(row: SheetRow, heading: Heading, layout: Layout) -> dict[str, object]:
    constants = layout.mapping.constants
    found: dict[str, object] = {}
    if layout.mapping.table.sheet_is:
        found[layout.mapping.table.sheet_is] = row.sheet
    for column, name in heading.columns.fields.items():
        cell = _cell(row, column)
        if not cell and name in constants:
            continue
        found[name] = _field(name, cell)
    return found


def _field(name: str, cell: Cell) -> object:
    """A cell that is no figure: days in ISO form, numbers without separators; what no field has keeps its type."""
    if not cell:
        return None
    if cell.kind is CellKind.DAY:
        return cell.stored if name in _TIMES or name not in FACT_FIELDS else day_asshown_heading(cell)
    if cell.kind is CellKind.TRUTH and name not in FACT_FIELDS:
        return cell.text == "TRUE"
    if cell.kind is CellKind.NUMBER:
        if name == "decimals" or "," in cell.text:
            return cell.stored
        if name not in FACT_FIELDS and not name.startswith("dimensions."):
            number = Decimal(cell.stored)
            return int(number) if number == number.to_integral_value() else number
    return cell.text


def _heading_of(heading: Heading, value: _Value) -> str:
    name = heading.names[value.column] if 0 <= value.column < len(heading.names) else ""
    return name or (f"#{column_letter(value.column)}" if value.column >= 0 else "value")


def _place(row: SheetRow, value: _Value, layout: Layout) -> str:
    if not layout.by_cell and layout.mapping.table.wide is None:
        return f"row={row.number}"
    cell = f"{column_letter(max(value.column, 0))}{row.number}"
    parts = (("sheet", row.sheet), ("cell", cell)) if row.sheet else (("cell", cell),)
    return str(Locator("x", parts)).partition("#")[2]


def _where(row: SheetRow, value: _Value, layout: Layout) -> str:
    if not layout.by_cell and layout.mapping.table.wide is None:
        return ""
    cell = f"{column_letter(max(value.column, 0))}{row.number}"
    return f"{row.sheet}!{cell}" if row.sheet else cell


def _told(layout: Layout, row: SheetRow, value: _Value | None, why: str) -> str:
    where = _where(row, value, layout) if value is not None else f"{row.sheet}!{row.number}" if row.sheet else ""
    return f"{where}: {why}" if where else why
