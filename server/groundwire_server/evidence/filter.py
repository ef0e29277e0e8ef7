"""Filter trees over typed attributes, and the one evaluator that every push-down is tested against (semantics 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from enum import Enum
from typing import Any

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence.value import Family, Period, Value, family_of

__all__ = [
    "MAX_FILTER_DEPTH",
    "MAX_FILTER_NODES",
    "MAX_FILTER_VALUES",
    "AllOf",
    "AnyOf",
    "Filter",
    "Negate",
    "Operator",
    "Predicate",
    "check_filter",
    "matches",
]

MAX_FILTER_DEPTH = 8
MAX_FILTER_NODES = 256
MAX_FILTER_VALUES = 1000


class Operator(Enum):
    """The closed set of tests."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    NIN = "nin"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    BETWEEN = "between"
    PRESENT = "present"


# Where the contract has another name for the field than for the operator (filter.proto).
_FIELDS = {Operator.IN: "one_of", Operator.NIN: "none_of"}
_ORDER = (Operator.GT, Operator.GTE, Operator.LT, Operator.LTE, Operator.BETWEEN)


@dataclass(frozen=True, slots=True)
class Predicate:
    """One attribute, one operator.

    `values` holds one value; for IN and NIN the list; for BETWEEN low and high; for PRESENT one bool.
    """

    field: str
    operator: Operator
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Holds when every member holds."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds when at least one member holds."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Negate:
    """Holds when the inner filter does not."""

    filter: Filter


Filter = Predicate | AllOf | AnyOf | Negate


def matches(tree: Filter, attributes: Mapping[str, Value]) -> bool:
    """Whether a row with these attributes satisfies the filter.

    A missing attribute satisfies no predicate but `present = false`; `negate` is plain logic on top of that.
    A list of strings satisfies a text test when a member does (for NE and NIN: when no member breaks it).
    """
    match tree:
        case AllOf(filters):
            return all(matches(member, attributes) for member in filters)
        case AnyOf(filters):
            return any(matches(member, attributes) for member in filters)
        case Negate(inner):
            return not matches(inner, attributes)
        case Predicate(field, operator, values):
            if operator is Operator.PRESENT:
                return (field in attributes) is values[0]
            if field not in attributes:
                return False
            return _test(operator, attributes[field], values)


def _test(operator: Operator, stored: Value, values: tuple[Value, ...]) -> bool:
    if isinstance(stored, tuple):
        negative = operator in (Operator.NE, Operator.NIN)
        each = (_test(operator, member, values) for member in stored)
        return all(each) if negative else any(each)
    if any(family_of(stored) is not family_of(value) for value in values):
        return False
    have = _comparable(stored)
    want = [_comparable(value) for value in values]
    return _COMPARE[operator](have, want)


def _comparable(value: Value) -> Any:
    """A key that orders values of one family by meaning: numbers exactly, periods by first day, then last."""
    if isinstance(value, Period):
        return (value.first, value.last)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return Decimal(value)
    return value


_COMPARE: dict[Operator, Callable[[Any, list[Any]], bool]] = {
    Operator.EQ: lambda have, want: have == want[0],
    Operator.NE: lambda have, want: have != want[0],
    Operator.IN: lambda have, want: have in want,
    Operator.NIN: lambda have, want: have not in want,
    Operator.GT: lambda have, want: have > want[0],
    Operator.GTE: lambda have, want: have >= want[0],
    Operator.LT: lambda have, want: have < want[0],
    Operator.LTE: lambda have, want: have <= want[0],
    Operator.BETWEEN: lambda have, want: want[0] <= have <= want[1],
}


def check_filter(tree: Filter, schema: Mapping[str, Family], path: str = "options.filter") -> list[Violation]:
    """Every fault of a filter at once, each with its path. `schema` gives the family of each declared attribute."""
    found: list[Violation] = []
    nodes, levels = _size(tree)
    if nodes > MAX_FILTER_NODES:
        found.append(Violation(path, ErrorReason.FILTER_TOO_LARGE, f"{nodes} nodes, at most {MAX_FILTER_NODES}"))
    if levels > MAX_FILTER_DEPTH:
        found.append(Violation(path, ErrorReason.FILTER_TOO_LARGE, f"{levels} levels, at most {MAX_FILTER_DEPTH}"))
    _check(tree, schema, path, found, MAX_FILTER_DEPTH)
    return found


def _children(tree: Filter) -> tuple[Filter, ...]:
    match tree:
        case AllOf(filters) | AnyOf(filters):
            return filters
        case Negate(inner):
            return (inner,)
        case _:
            return ()


def _size(tree: Filter) -> tuple[int, int]:
    """Nodes and levels, counted level by level: a tree that is far too deep is told so like any other."""
    nodes = levels = 0
    level: tuple[Filter, ...] = (tree,)
    while level:
        nodes += len(level)
        levels += 1
        level = tuple(child for each in level for child in _children(each))
    return nodes, levels


def _check(tree: Filter, schema: Mapping[str, Family], path: str, found: list[Violation], levels: int) -> None:
    """Faults of the uppermost `levels` levels; what is below is refused as a whole."""
    if levels == 0:
        return
    match tree:
        case AllOf(filters) | AnyOf(filters):
            name = "all_of" if isinstance(tree, AllOf) else "any_of"
            if not filters:
                found.append(Violation(f"{path}.{name}", ErrorReason.FILTER_EMPTY, "needs at least one filter"))
            for place, member in enumerate(filters):
                _check(member, schema, f"{path}.{name}[{place}]", found, levels - 1)
        case Negate(inner):
            _check(inner, schema, f"{path}.negate", found, levels - 1)
        case Predicate():
            _check_predicate(tree, schema, f"{path}.predicate", found)


def _check_predicate(predicate: Predicate, schema: Mapping[str, Family], path: str, found: list[Violation]) -> None:
    operator, values = predicate.operator, predicate.values
    at = f"{path}.{_FIELDS.get(operator, operator.value)}"
    declared = schema.get(predicate.field)
    if declared is None:
        known = ", ".join(sorted(schema)) or "none"
        near = get_close_matches(predicate.field[:80], schema, n=1)
        found.append(
            Violation(
                f"{path}.field",
                ErrorReason.FILTER_UNKNOWN_FIELD,
                f"{predicate.field[:80]!r} is no attribute here; {f'near: {near[0]}; ' if near else ''}known: {known}",
            )
        )
        return
    if operator is Operator.PRESENT:
        return
    if not values:
        found.append(Violation(at, ErrorReason.FILTER_EMPTY, "needs at least one value"))
        return
    if len(values) > MAX_FILTER_VALUES:
        found.append(Violation(at, ErrorReason.FILTER_TOO_LARGE, f"{len(values)} values, at most {MAX_FILTER_VALUES}"))
    accepted = Family.TEXT if declared is Family.TEXTS else declared
    wrong = [value for value in values if family_of(value) is not accepted]
    if wrong:
        found.append(
            Violation(
                at,
                ErrorReason.FILTER_TYPE_MISMATCH,
                f"{predicate.field} holds {declared.value}, the value is {family_of(wrong[0]).value}",
            )
        )
        return
    if accepted is Family.TRUTH and operator in _ORDER:
        found.append(Violation(at, ErrorReason.FILTER_TYPE_MISMATCH, "a truth value takes eq, ne, in and nin only"))
        return
    if operator is Operator.BETWEEN and _comparable(values[0]) > _comparable(values[1]):
        found.append(Violation(at, ErrorReason.FILTER_RANGE_REVERSED, "low is above high"))
