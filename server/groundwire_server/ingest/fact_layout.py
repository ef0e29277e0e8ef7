"""How a file's tables are laid out: the heading of a sheet, its columns, and the figures that it states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from groundwire_server.ingest.fact_mapping import FactMapping
from groundwire_server.ingest.measures import Measure
from groundwire_server.ingest.money_signs import MoneySigns
from groundwire_server.readers.cells import Cell

__all__ = ["Columns", "Heading", "Layout", "TableFigure", "ValueColumn"]

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
class ValueColumn:
    """A column of figures: the fields that its headings give, and the measure that they say."""

    column: int
    fields: dict[str, str]
    measure: Measure


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column is what. fields: column to field, "dimensions.NAME", or a name of its own. values: of figures."""

    fields: dict[int, str]
    values: tuple[ValueColumn, ...]


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
