"""Families of attributes, fixed by first use. What is hidden from a reader fixes nothing that the reader can notice."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Attribute, AttributeType, Family, Label, family_of
from groundwire_server.store.sqlite.codec import is_storable

__all__ = ["AttributeBook", "read_attribute_schema"]


def _texts(attribute: Attribute) -> tuple[str, ...]:
    if isinstance(attribute.value, str):
        return (attribute.name, attribute.value)
    return (attribute.name, *(attribute.value if isinstance(attribute.value, tuple) else ()))


class AttributeBook:
    """The families as one write transaction sees and extends them. A declared type goes before all uses of its name."""

    def __init__(
        self, connection: sqlite3.Connection, generation: int, declared: Mapping[str, AttributeType] | None = None
    ) -> None:
        self._types = declared or {}
        self._connection = connection
        self._generation = generation
        self._families: dict[str, dict[int, Family]] | None = None

    def fault(self, label: Label, attributes: Sequence[Attribute], strictest: int) -> tuple[ErrorReason, str] | None:
        """Why a row of this label cannot have these attributes; None when it can. Changes nothing.

        Families that rows beyond the label `strictest` have fixed are passed over: the answer would tell of them.
        """
        seen: dict[str, Family] = {}
        for attribute in attributes:
            if not is_storable("".join(_texts(attribute))):
                why = f"attribute {attribute.name!a} holds half a surrogate pair, which has no UTF-8 form"
                return ErrorReason.VALUE_MALFORMED, why
            if attribute.name in seen:
                return ErrorReason.CONTRADICTION, f"attribute {attribute.name!r} is given twice"
            family = seen[attribute.name] = family_of(attribute.value)
            if (fixed := self._types.get(attribute.name)) is not None:
                if not fixed.takes(attribute.value):
                    given = "has decimals" if fixed.family is family else f"is {family.value}"
                    why = f"attribute {attribute.name!r} is declared {fixed.name.lower()}, the value {given}"
                    return ErrorReason.ATTRIBUTE_TYPE_MISMATCH, why
                continue
            declared = self._declared(attribute.name, min(label, strictest))
            if declared is not None and declared is not family:
                held = f"holds {declared.value} in this library, the value is {family.value}"
                return ErrorReason.ATTRIBUTE_TYPE_MISMATCH, f"attribute {attribute.name!r} {held}"
        return None

    def fix(self, label: Label, attributes: Sequence[Attribute]) -> None:
        """Note the first use of each name under this label or a lower one."""
        for attribute in attributes:
            if self._declared(attribute.name, label) is not None:
                continue
            family = family_of(attribute.value)
            self._load().setdefault(attribute.name, {})[int(label)] = family
            self._connection.execute(
                "INSERT INTO attribute_family (name, label, family, born) VALUES (?, ?, ?, ?)",
                (attribute.name, int(label), family.value, self._generation),
            )

    def _load(self) -> dict[str, dict[int, Family]]:
        if self._families is None:
            self._families = {}
            for name, label, family in self._connection.execute("SELECT name, label, family FROM attribute_family"):
                self._families.setdefault(name, {})[label] = Family(family)
        return self._families

    def _declared(self, name: str, label: int) -> Family | None:
        by_label = self._load().get(name)
        if by_label is None:
            return None
        first = min(by_label)
        return by_label[first] if first <= label else None


def read_attribute_schema(connection: sqlite3.Connection, generation: int, strictest: int) -> dict[str, Family]:
    """Names and families that rows up to the label `strictest` have used by `generation`, sorted by name."""
    rows = connection.execute(
        "SELECT name, family FROM attribute_family WHERE label <= ? AND born <= ? ORDER BY name, label DESC",
        (strictest, generation),
    )
    return {name: Family(family) for name, family in rows}
