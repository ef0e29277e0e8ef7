"""Attributes of revisions as columns of codes, so that a filter looks at each distinct value once.

`evidence.matches` stays the one evaluator: it is asked about every distinct value of a predicate's attribute, and the
answers are spread over the revisions.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Sequence
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
from groundwire_server.library.titles import TitleBook
from groundwire_server.store import RevisionDetail, StoreReader

__all__ = ["BUILT_IN_ATTRIBUTES", "AttributeColumns"]

BUILT_IN_ATTRIBUTES: dict[str, Family] = {
    "doc_id": Family.TEXT,
    "ingested_at": Family.INSTANT,
    "media_type": Family.TEXT,
    "title": Family.TEXT,
    "valid_as_of": Family.INSTANT,
}
_DECLARED = ""
_ABSENT = -1
_KNOWN_TUPLES = 8192
_NO_VALUES = np.zeros(1, np.bool_)
_CACHED_PREDICATES = 256
_LONG_LIST = 8


class _Column:
    """Codes of one attribute: the place of each revision's value in `values`, or -1 where it has none."""

    def __init__(self) -> None:
        self.codes = np.full(1024, _ABSENT, np.int32)
        self.values: list[Value] = []
        self._places: dict[tuple[Family, str], int] = {}

    def set(self, revision: int, value: Value) -> None:
        self.put(revision, self.place(value))

    def place(self, value: Value) -> int:
        """The code of a value."""
        key = (family_of(value), repr(value))
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.values)
            self.values.append(value)
        return place

    def put(self, revision: int, place: int) -> None:
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


class _Group:
    """Columns that are read together, and how far they are."""

    def __init__(self) -> None:
        self.columns: dict[str, _Column] = {}
        self.revisions = 0
        self.last_row = 0


class AttributeColumns:
    """Attributes of all revisions of a library, read from its store when a filter first asks. Safe for any thread.

    The declared ones are read together. Of the built-in ones, most of which differ from document to document, only
    those are read that a filter names. These win over declared ones of the same name.

    Attributes:
        titles: the titles as names, read when they are first asked for as such.
    """

    def __init__(self) -> None:
        self.titles = TitleBook()
        self._lock = threading.Lock()
        self._groups: dict[str, _Group] = {}
        self._tables: dict[tuple[str, Operator, str], NDArray[np.bool_]] = {}
        self._places: dict[int, tuple[tuple[Attribute, ...], list[tuple[_Column, int]]]] = {}

    def evaluate(self, tree: Filter, reader: StoreReader, revisions: int) -> NDArray[np.bool_]:
        """bool[revisions]: what of the first revisions of the library satisfies a filter, as `matches` has it."""
        with self._lock:
            for name in {_group_of(field) for field in _fields(tree)}:
                group = self._groups.setdefault(name, _Group())
                if group.revisions < revisions:
                    self._follow(name, group, reader)
            return self._evaluate(tree, revisions)

    def values(
        self, reader: StoreReader, kept: NDArray[np.bool_], most: int
    ) -> dict[str, tuple[tuple[Value, ...], int]]:
        """What stands in declared attributes of some of the first revisions.

        Args:
            kept: bool[revisions], those that count; nothing of the others is told.
            most: distinct values of an attribute that are told.

        Returns:
            For each attribute that one of them has, sorted: its distinct values, sorted by what they look like, none
            where there are more than `most`; and how many revisions have it.
        """
        with self._lock:
            group = self._groups.setdefault(_DECLARED, _Group())
            if group.revisions < len(kept):
                self._follow(_DECLARED, group, reader)
            told: dict[str, tuple[tuple[Value, ...], int]] = {}
            for name, column in sorted(group.columns.items()):
                codes = column.upto(len(kept))[kept]
                codes = codes[codes != _ABSENT]
                if len(codes):
                    used = np.flatnonzero(np.bincount(codes)).tolist()
                    values = sorted((column.values[code] for code in used), key=repr) if len(used) <= most else []
                    told[name] = (tuple(values), len(codes))
            return told

    def _follow(self, name: str, group: _Group, reader: StoreReader) -> None:
        last_row = reader.chunk_count()
        revision = group.revisions  # counted at the end: a store that fails midway is read from here again
        for detail in reader.revision_details(group.last_row):
            if name == _DECLARED:
                for column, place in self._declared(group, detail.attributes):
                    column.put(revision, place)
            elif (value := _built_in(name, detail)) is not None:
                group.columns.setdefault(name, _Column()).set(revision, value)
            revision += 1
        group.revisions, group.last_row = revision, last_row

    def _declared(self, group: _Group, attributes: tuple[Attribute, ...]) -> list[tuple[_Column, int]]:
        """Where the values of some attributes stand. Documents share them, and the store gives the same tuple then."""
        known = self._places.get(id(attributes))
        if known is None:
            if len(self._places) >= _KNOWN_TUPLES:
                self._places.clear()
            columns = [group.columns.setdefault(attribute.name, _Column()) for attribute in attributes]
            places = [column.place(attribute.value) for column, attribute in zip(columns, attributes, strict=True)]
            known = self._places[id(attributes)] = (attributes, list(zip(columns, places, strict=True)))
        return known[1]

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
        column = self._groups[_group_of(predicate.field)].columns.get(predicate.field) or _Column()
        codes = column.upto(revisions)
        if predicate.operator is Operator.PRESENT:
            present: NDArray[np.bool_] = codes != _ABSENT
            return present if predicate.values[0] is True else ~present
        table = self._table(predicate, column)
        return table[codes]

    def _table(self, predicate: Predicate, column: _Column) -> NDArray[np.bool_]:
        """What the predicate says of each distinct value; the last place, which -1 names, is that of an absent one."""
        key = (predicate.field, predicate.operator, repr(predicate.values))
        table = self._tables.get(key, _NO_VALUES)
        known = len(table) - 1
        if known < len(column.values):  # values only ever come behind those that are there
            fresh = np.array(_answers(predicate, column.values[known:]), np.bool_)
            table = np.concatenate([table[:known], fresh, _NO_VALUES])
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


def _fields(tree: Filter) -> Iterator[str]:
    """The attributes that a filter names."""
    match tree:
        case AllOf(filters) | AnyOf(filters):
            for member in filters:
                yield from _fields(member)
        case Negate(inner):
            yield from _fields(inner)
        case Predicate():
            yield tree.field


def _group_of(field: str) -> str:
    return field if field in BUILT_IN_ATTRIBUTES else _DECLARED


def _built_in(name: str, detail: RevisionDetail) -> Value | None:
    """A built-in attribute; where it says nothing, a declared one of that name."""
    value: Value | None = getattr(detail, name)
    if value is None:
        return next((attribute.value for attribute in detail.attributes if attribute.name == name), None)
    return value
