"""Filters over attributes, written as Python comparisons.

>>> wanted = (field("year") >= 2020) & ~field("topic").one_of(["draft", "note"])
>>> wanted
AllOf(filters=(Predicate(field='year', operator='gte', values=(2020,)), \
Negate(filter=Predicate(field='topic', operator='in', values=('draft', 'note')))))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NoReturn

from groundwire._model.value import Scalar

__all__ = ["AllOf", "AnyOf", "Field", "Filter", "Negate", "Operator", "Predicate", "field"]

Operator = Literal["eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "between", "present"]


class Filter:
    """A tree of tests; combine with `&`, `|` and `~`. It only narrows, and keeps the order of what it lets through.

    A row that lacks an attribute fails every test on it but `present(False)`; `~` is plain logic on top of that.
    """

    __slots__ = ()

    def __and__(self, other: Filter) -> AllOf:
        return AllOf((*_members(self, AllOf), *_members(other, AllOf)))

    def __or__(self, other: Filter) -> AnyOf:
        return AnyOf((*_members(self, AnyOf), *_members(other, AnyOf)))

    def __invert__(self) -> Negate:
        return Negate(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a filter has no truth value: write & for and, | for or, ~ for not, with each test in brackets")


@dataclass(frozen=True, slots=True)
class Predicate(Filter):
    """One attribute, one operator.

    `values` holds one value; for "in" and "nin" the list; for "between" low and high, both inclusive; for "present"
    one bool.
    """

    field: str
    operator: Operator
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class AllOf(Filter):
    """Holds when every member holds."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf(Filter):
    """Holds when at least one member holds."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Negate(Filter):
    """Holds when the inner filter does not."""

    filter: Filter


def _members(tree: Filter, kind: type[AllOf] | type[AnyOf]) -> tuple[Filter, ...]:
    """a & b & c is one list of three: depth counts."""
    return tree.filters if isinstance(tree, kind) else (tree,)


class Field:
    """An attribute to test; made by `field`."""

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"field({self.name!r})"

    def __eq__(self, value: Scalar) -> Predicate:  # type: ignore[override]
        return Predicate(self.name, "eq", (value,))

    def __ne__(self, value: Scalar) -> Predicate:  # type: ignore[override]
        return Predicate(self.name, "ne", (value,))

    def __gt__(self, value: Scalar) -> Predicate:
        return Predicate(self.name, "gt", (value,))

    def __ge__(self, value: Scalar) -> Predicate:
        return Predicate(self.name, "gte", (value,))

    def __lt__(self, value: Scalar) -> Predicate:
        return Predicate(self.name, "lt", (value,))

    def __le__(self, value: Scalar) -> Predicate:
        return Predicate(self.name, "lte", (value,))

    def one_of(self, values: Iterable[Scalar]) -> Predicate:
        """Equal to one of the list."""
        return Predicate(self.name, "in", _several(values))

    def none_of(self, values: Iterable[Scalar]) -> Predicate:
        """Present, and equal to none of the list."""
        return Predicate(self.name, "nin", _several(values))

    def between(self, low: Scalar, high: Scalar) -> Predicate:
        """Within a closed range."""
        return Predicate(self.name, "between", (low, high))

    def present(self, wanted: bool = True) -> Predicate:
        """Whether the attribute is there at all."""
        return Predicate(self.name, "present", (wanted,))


def _several(values: Iterable[Scalar]) -> tuple[Scalar, ...]:
    if isinstance(values, str):
        raise TypeError(f"give a list of values, not the text {values!r}")
    return tuple(values)


def field(name: str) -> Field:
    """The attribute of that name, to be compared: `field("year") >= 2020`."""
    return Field(name)
