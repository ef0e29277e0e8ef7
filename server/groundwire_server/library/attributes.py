"""Attributes of revisions as columns of codes, so that a filter looks at each distinct value once.

`evidence.matches` stays the one evaluator: it is asked about every distinct value of a predicate's attribute, and the
answers are spread over the revisions.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    Attribute,
    Family,
    Filter,
    Negate,
    Operator,
    Period,
    Predicate,
    Value,
    family_of,
    matches,
)
from groundwire_server.store import RevisionDetail, StoreReader

__all__ = ["BUILT_IN_ATTRIBUTES", "AttributeColumns"]

BUILT_IN_ATTRIBUTES: dict[str, Family] = {
    "doc_id": Family.TEXT,
    "ingested_at": Family.INSTANT,
    "media_type": Family.TEXT,
    "title": Family.TEXT,
    "valid_as_of": Family.INSTANT,
}
_ABSENT = -1
_CACHED_PREDICATES = 256
_LONG_LIST = 8


class _Column:
    """Codes of one attribute: the place of each revision's value in `values`, or -1 where it has none."""

    def __init__(self) -> None:
        self.codes = np.full(1024, _ABSENT, np.int32)
        self.values: list[Value] = []
        self._places: dict[tuple[Family, str], int] = {}

    def set(self, revision: int, value: Value) -> None:
        key = (family_of(value), repr(value))
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.values)
            self.values.append(value)
        if revision >= len(self.codes):
            longer = np.full(max(revision + 1, 2 * len(self.codes)), _ABSENT, np.int32)
            longer[: len(self.codes)] = self.codes
            self.codes = longer
        self.codes[revision] = place

    def upto(self, revisions: int) -> NDArray[np.int32]:
        """Codes of the first revisions; the last ones may lack the attribute and lie beyond the array."""
        held = self.codes[:revisions]
        if len(held) == revisions:
            return held
        return np.concatenate([held, np.full(revisions - len(held), _ABSENT, np.int32)])


class AttributeColumns:
    """Attributes of all revisions of a library, read from its store when a filter first asks. Safe for any thread.

    The built-in ones win over declared ones of the same name.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._columns: dict[str, _Column] = {}
        self._revisions = 0
        self._last_row = 0
        self._tables: dict[tuple[str, Operator, str], NDArray[np.bool_]] = {}

    def evaluate(self, tree: Filter, reader: StoreReader, revisions: int) -> NDArray[np.bool_]:
        """bool[revisions]: what of the first revisions of the library satisfies a filter, as `matches` has it."""
        with self._lock:
            if self._revisions < revisions:
                self._follow(reader.revision_details(self._last_row), reader)
            return self._evaluate(tree, revisions)

    def _follow(self, details: Iterable[RevisionDetail], reader: StoreReader) -> None:
        last_row = reader.chunk_count()
        for detail in details:
            for attribute in (*detail.attributes, *_built_in(detail)):
                self._columns.setdefault(attribute.name, _Column()).set(self._revisions, attribute.value)
            self._revisions += 1
        self._last_row = last_row
        self._tables.clear()

    def _evaluate(self, tree: Filter, revisions: int) -> NDArray[np.bool_]:
        match tree:
            case AllOf(filters):
                parts = [self._evaluate(member, revisions) for member in filters]
                return reduce(np.logical_and, parts, np.ones(revisions, np.bool_))
            case AnyOf(filters):
                parts = [self._evaluate(member, revisions) for member in filters]
                return reduce(np.logical_or, parts, np.zeros(revisions, np.bool_))
            case Negate(inner):
                return ~self._evaluate(inner, revisions)
            case Predicate():
                return self._test(tree, revisions)

    def _test(self, predicate: Predicate, revisions: int) -> NDArray[np.bool_]:
        column = self._columns.get(predicate.field) or _Column()
        codes = column.upto(revisions)
        if predicate.operator is Operator.PRESENT:
            present: NDArray[np.bool_] = codes != _ABSENT
            return present if predicate.values[0] is True else ~present
        table = self._table(predicate, column)
        return table[codes]

    def _table(self, predicate: Predicate, column: _Column) -> NDArray[np.bool_]:
        """What the predicate says of each distinct value; the last place, which -1 names, is that of an absent one."""
        key = (predicate.field, predicate.operator, repr(predicate.values))
        table = self._tables.get(key)
        if table is None:
            answers = _answers(predicate, column.values)
            table = np.array([*answers, False], np.bool_)
            if len(self._tables) >= _CACHED_PREDICATES:
                self._tables.clear()
            self._tables[key] = table
        return table


def _answers(predicate: Predicate, values: Sequence[Value]) -> list[bool]:
    """What `matches` says of each value.

    For a long list of wanted values that would be a walk through the list for each value, so these are looked up.
    """
    families = {family_of(wanted) for wanted in predicate.values}
    if predicate.operator not in (Operator.IN, Operator.NIN) or len(predicate.values) < _LONG_LIST or len(families) > 1:
        return [matches(predicate, {predicate.field: value}) for value in values]
    wanted = {_comparable(value) for value in predicate.values}

    def test(value: Value) -> bool:
        if isinstance(value, tuple):
            found = [test(member) for member in value]
            return any(found) if predicate.operator is Operator.IN else all(found)
        return family_of(value) in families and (_comparable(value) in wanted) is (predicate.operator is Operator.IN)

    return [test(value) for value in values]


def _comparable(value: Value) -> Hashable:
    """Equal for values of one family that compare as equal: numbers of any type, periods of the same days."""
    return (value.first, value.last) if isinstance(value, Period) else value


def _built_in(detail: RevisionDetail) -> list[Attribute]:
    found = [
        Attribute("doc_id", detail.doc_id),
        Attribute("ingested_at", detail.ingested_at),
        Attribute("media_type", detail.media_type),
        Attribute("title", detail.title),
    ]
    if detail.valid_as_of is not None:
        found.append(Attribute("valid_as_of", detail.valid_as_of))
    return found
