"""Where the fields of a figure stand in a file: a column mapping in TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.ingest.table_rules import TABLE_KEYS, TableRules, read_table_rules
from groundwire_server.ingest.toml_text import parse_toml

__all__ = ["FACT_FIELDS", "FILL_IN", "FactMapping"]

FILL_IN = "FILL IN"
"""What a proposal has where only a person knows; a mapping that still holds it is refused."""

FACT_FIELDS = (
    "metric",
    "entity",
    "period",
    "channel",
    "value",
    "unit",
    "decimals",
    "source_doc",
    "locator",
    "as_written",
    "valid_as_of",
    "filed",
    "review_status",
    "author",
    "reason",
    "label",
    "dimensions",
    "attributes",
    "versions",
)
_ALIASES = {"filed_at": "filed"}
_FIELD = "mapping_toml"
_TABLES = ("columns", "constants", "dimensions")


@dataclass(frozen=True, slots=True)
class FactMapping:
    """Fields by column. A column that is not mapped and has a field's own name is that field.

    columns: field to column, by its heading or its letter ("#A"). constants: field to a text that holds for every row.
    dimensions: axis to column. table: where a table stands and how its numbers are written.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    dimensions: Mapping[str, str] = field(default_factory=dict)
    table: TableRules = field(default_factory=TableRules)

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read `[columns] metric = "Kennzahl"`, `[constants] unit = "USD"`, `[dimensions] segment = "Segment"`.

        Raises:
            InvalidRequest: it is no TOML, or an entry is of another form; every fault at once.
        """
        document = parse_toml(text, _FIELD)
        violations: list[Violation] = []
        tables = {name: _texts(name, document.pop(name, {}), violations) for name in _TABLES}
        table = read_table_rules(document, _FIELD, violations)
        for name in document:
            why = f"no such table or key; known: {', '.join((*_TABLES, *TABLE_KEYS))}"
            if name in FACT_FIELDS or name in _ALIASES:
                why = f'a field; where it stands is said below [columns], as {name} = "name of the column"'
            violations.append(Violation(f"{_FIELD}.{name}", ErrorReason.UNKNOWN_NAME, why))
        for part in ("columns", "constants"):
            for name in tables[part]:
                if tables[part][name] == FILL_IN:
                    violations.append(
                        Violation(f"{_FIELD}.{part}.{name}", ErrorReason.VALUE_REQUIRED, "is to be filled in")
                    )
                if name not in FACT_FIELDS:
                    why = f"no such field; known: {', '.join(FACT_FIELDS)}"
                    violations.append(Violation(f"{_FIELD}.{part}.{name}", ErrorReason.UNKNOWN_NAME, why))
        if table.wide is not None:
            for name in ("value", *table.wide.heading):
                if name in tables["columns"] or name.removeprefix("dimensions.") in tables["dimensions"]:
                    why = "stands in a column and in the headings of a wide table"
                    violations.append(Violation(f"{_FIELD}.columns.{name}", ErrorReason.CONTRADICTION, why))
        if violations:
            raise InvalidRequest(violations)
        return cls(**tables, table=table)

    def refuse_table(self, form: str) -> None:
        """Raises InvalidRequest where the mapping speaks of a table, and the file is of a form that has none."""
        if self.table == TableRules():
            return
        known = ", ".join(_TABLES)
        raise InvalidRequest.one(
            _FIELD, ErrorReason.CONTRADICTION, f"speaks of a table, and {form} has none; there it may hold {known}"
        )

    def apply(self, row: Mapping[str, object]) -> dict[str, object]:
        """A row by field: fields under their names, axes as "dimensions.NAME", everything else under its own name."""
        taken = {column: field_name for field_name, column in self.columns.items()}
        axes = {column: f"dimensions.{axis}" for axis, column in self.dimensions.items()}
        shown: dict[str, object] = dict(self.constants)
        for column, value in row.items():
            name = taken.get(column) or axes.get(column) or self._own_name(column)
            if name is not None and not (name in self.constants and value is None):
                shown[name] = value
        return shown

    def _own_name(self, column: str) -> str | None:
        """What an unmapped column is called; None where its field stands in another column."""
        name = _ALIASES.get(column, column)
        return None if name in self.columns else name


def _texts(name: str, table: object, violations: list[Violation]) -> dict[str, str]:
    if isinstance(table, dict) and all(isinstance(value, str) and value for value in table.values()):
        return {_ALIASES.get(str(key), str(key)): str(value) for key, value in table.items()}
    why = f'is not of the form [{name}] and lines of name = "text"'
    violations.append(Violation(f"{_FIELD}.{name}", ErrorReason.VALUE_MALFORMED, why))
    return {}
