"""Filters over rows of attributes, on the JSON of the contract (semantics 3). Imports nothing of the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tests.conformance.oracles.periods import days_of

__all__ = ["faults", "keeps"]

Json = Mapping[str, Any]

_FAMILIES = {
    "stringValue": "text",
    "intValue": "number",
    "doubleValue": "number",
    "decimalValue": "number",
    "boolValue": "truth",
    "dateValue": "day",
    "timeValue": "instant",
    "periodValue": "period",
    "stringListValue": "texts",
}
_ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "gt": lambda have, want: have > want,
    "gte": lambda have, want: have >= want,
    "lt": lambda have, want: have < want,
    "lte": lambda have, want: have <= want,
}
# Names of a filter's members in paths of faults, where they are others than in JSON.
_PATH = {"in": "one_of", "nin": "none_of", "allOf": "all_of", "anyOf": "any_of"}


def keeps(tree: Json, row: Json) -> bool:
    """Whether a row, from name to value, satisfies a filter."""
    if "allOf" in tree:
        return all(keeps(each, row) for each in tree["allOf"]["filters"])
    if "anyOf" in tree:
        return any(keeps(each, row) for each in tree["anyOf"]["filters"])
    if "negate" in tree:
        return not keeps(tree["negate"], row)
    predicate = tree["predicate"]
    name = predicate["field"]
    if "present" in predicate:
        return (name in row) == predicate["present"]
    if name not in row:
        return False
    have = _read(row[name])
    if not isinstance(have, list):
        return _holds(predicate, have)
    if "ne" in predicate or "nin" in predicate:
        return all(_holds(predicate, each) for each in have)
    return any(_holds(predicate, each) for each in have)


def _holds(predicate: Json, have: Any) -> bool:
    for name, test in predicate.items():
        if name == "eq":
            return bool(have == _read(test))
        if name == "ne":
            return bool(have != _read(test))
        if name == "in":
            return any(have == _read(value) for value in test["values"])
        if name == "nin":
            return all(have != _read(value) for value in test["values"])
        if name == "between":
            return bool(_read(test["low"]) <= have <= _read(test["high"]))
        if name in _ORDERED:
            return _ORDERED[name](have, _read(test))
    raise ValueError(f"no test in {predicate}")


def _read(value: Json) -> Any:
    """What orders values of one family by meaning."""
    ((kind, raw),) = value.items()
    match _FAMILIES[kind]:
        case "number":
            return Decimal(raw)
        case "day":
            return date.fromisoformat(raw)
        case "instant":
            return datetime.fromisoformat(raw.replace("Z", "+00:00"))
        case "period":
            return days_of(raw)
        case "texts":
            return list(raw["values"])
    return raw


def faults(tree: Json, families: Mapping[str, str]) -> list[tuple[str, str]]:
    """Path and reason of every fault of a filter whose values are well formed, sorted."""
    levels, nodes = _measure(tree)
    found = [("filter", "FILTER_TOO_LARGE")] * ((levels > 8) + (nodes > 256))
    return sorted(found or _faults(tree, families, "filter"))


def _children(tree: Json) -> Sequence[Json]:
    for name in ("allOf", "anyOf"):
        if name in tree:
            return list(tree[name].get("filters", ()))
    return [tree["negate"]] if "negate" in tree else []


def _measure(tree: Json) -> tuple[int, int]:
    below = [_measure(child) for child in _children(tree)]
    return 1 + max((levels for levels, _ in below), default=0), 1 + sum(nodes for _, nodes in below)


def _faults(tree: Json, families: Mapping[str, str], path: str) -> list[tuple[str, str]]:
    if not tree:
        return [(path, "FILTER_EMPTY")]
    ((name, inner),) = tree.items()
    here = f"{path}.{_PATH.get(name, name)}"
    if name == "negate":
        return _faults(inner, families, here)
    if name == "predicate":
        return _of_predicate(inner, families, here)
    members = inner.get("filters", ())
    if not members:
        return [(here, "FILTER_EMPTY")]
    return [fault for place, each in enumerate(members) for fault in _faults(each, families, f"{here}[{place}]")]


def _of_predicate(predicate: Json, families: Mapping[str, str], path: str) -> list[tuple[str, str]]:
    tests = [name for name in predicate if name != "field"]
    if not tests:
        return [(path, "FILTER_EMPTY")]
    (name,) = tests
    here = f"{path}.{_PATH.get(name, name)}"
    family = families.get(predicate["field"])
    if name in ("in", "nin") and not predicate[name].get("values"):
        return [(here, "FILTER_EMPTY")]
    if family is None:
        return [(f"{path}.field", "FILTER_UNKNOWN_FIELD")]
    if name == "present":
        return []
    test = predicate[name]
    values = test["values"] if name in ("in", "nin") else [test["low"], test["high"]] if name == "between" else [test]
    given = [_FAMILIES[next(iter(value))] for value in values]
    if any(each != ("text" if family == "texts" else family) for each in given):
        return [(here, "FILTER_TYPE_MISMATCH")]
    if family == "truth" and name in (*_ORDERED, "between"):
        return [(here, "FILTER_TYPE_MISMATCH")]
    if name == "between" and _read(test["low"]) > _read(test["high"]):
        return [(here, "FILTER_RANGE_REVERSED")]
    return []
