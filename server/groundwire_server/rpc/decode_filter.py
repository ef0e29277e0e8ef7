"""Filter trees from the wire. Shape and values are checked here, names and types where the libraries are known."""

from __future__ import annotations

from datetime import date

from groundwire.v1 import filter_pb2, value_pb2
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import (
    MAX_FILTER_DEPTH,
    MAX_FILTER_NODES,
    MAX_FILTER_VALUES,
    AllOf,
    AnyOf,
    Filter,
    Negate,
    Operator,
    Predicate,
    Value,
)
from groundwire_server.rpc.decode_value import decode_value
from groundwire_server.rpc.findings import Findings

__all__ = ["decode_filter"]

# The header gives filter and hint back, periods in canonical form, in a frame of 1 MiB.
MAX_FILTER_BYTES = 256 << 10

_OPERATORS = {
    "eq": Operator.EQ,
    "ne": Operator.NE,
    "gt": Operator.GT,
    "gte": Operator.GTE,
    "lt": Operator.LT,
    "lte": Operator.LTE,
}
_LISTS = {"one_of": Operator.IN, "none_of": Operator.NIN}


def decode_filter(message: filter_pb2.Filter, path: str, findings: Findings, reference: date) -> Filter | None:
    """The tree, or None when it is wrong. A tree that is too deep or too large is not read any further.

    What can be read of it goes to the findings, so that unknown names are told beside what is wrong with its shape.
    """
    depth, nodes = _measure(message)
    if depth > MAX_FILTER_DEPTH:
        findings.add(path, ErrorReason.FILTER_TOO_LARGE, f"{depth} levels, at most {MAX_FILTER_DEPTH}")
    if nodes > MAX_FILTER_NODES:
        findings.add(path, ErrorReason.FILTER_TOO_LARGE, f"{nodes} nodes, at most {MAX_FILTER_NODES}")
    size = message.ByteSize()
    if size > MAX_FILTER_BYTES:
        findings.add(path, ErrorReason.FILTER_TOO_LARGE, f"{size} bytes, at most {MAX_FILTER_BYTES}")
    if depth > MAX_FILTER_DEPTH or nodes > MAX_FILTER_NODES or size > MAX_FILTER_BYTES:
        return None
    predicates = len(findings.filters)
    tree = _decode(message, path, findings, reference)
    if tree is not None:
        findings.filters[predicates:] = [(path, tree)]
    return tree


def _measure(root: filter_pb2.Filter) -> tuple[int, int]:
    """Levels and nodes, without recursion: the nesting is the caller's."""
    deepest, nodes = 0, 0
    waiting = [(root, 1)]
    while waiting:
        message, depth = waiting.pop()
        nodes += 1
        deepest = max(deepest, depth)
        match message.WhichOneof("node"):
            case "all_of":
                waiting += [(member, depth + 1) for member in message.all_of.filters]
            case "any_of":
                waiting += [(member, depth + 1) for member in message.any_of.filters]
            case "negate":
                waiting.append((message.negate, depth + 1))
    return deepest, nodes


def _decode(message: filter_pb2.Filter, path: str, findings: Findings, reference: date) -> Filter | None:
    match message.WhichOneof("node"):
        case "predicate":
            predicate = _predicate(message.predicate, f"{path}.predicate", findings, reference)
            if message.predicate.field.strip():
                named = predicate or Predicate(message.predicate.field, Operator.PRESENT, (True,))
                findings.filters.append((path, named))
            return predicate
        case "all_of":
            members = _members(message.all_of, f"{path}.all_of", findings, reference)
            return None if members is None else AllOf(members)
        case "any_of":
            members = _members(message.any_of, f"{path}.any_of", findings, reference)
            return None if members is None else AnyOf(members)
        case "negate":
            inner = _decode(message.negate, f"{path}.negate", findings, reference)
            return None if inner is None else Negate(inner)
        case _:
            findings.add(path, ErrorReason.FILTER_EMPTY, "exactly one of predicate, all_of, any_of, negate must be set")
            return None


def _members(
    message: filter_pb2.FilterList, path: str, findings: Findings, reference: date
) -> tuple[Filter, ...] | None:
    if not message.filters:
        findings.add(path, ErrorReason.FILTER_EMPTY, "needs at least one filter")
        return None
    members = [_decode(member, f"{path}[{place}]", findings, reference) for place, member in enumerate(message.filters)]
    kept = tuple(member for member in members if member is not None)
    return kept if len(kept) == len(members) else None


def _predicate(message: filter_pb2.Predicate, path: str, findings: Findings, reference: date) -> Predicate | None:
    test = message.WhichOneof("test")
    if not findings.required(f"{path}.field", message.field).strip() and test is not None:
        return None
    if test is None:
        tests = ", ".join(field.name for field in message.DESCRIPTOR.oneofs_by_name["test"].fields)
        findings.add(path, ErrorReason.FILTER_EMPTY, f"exactly one of {tests} must be set")
        return None
    at = f"{path}.{test}"
    if test == "present":
        return Predicate(message.field, Operator.PRESENT, (message.present,))
    if test == "between":
        ends = [
            _value(message.between.low, f"{at}.low", findings, reference),
            _value(message.between.high, f"{at}.high", findings, reference),
        ]
        return _made(message.field, Operator.BETWEEN, ends)
    if test in _LISTS:
        values = getattr(message, test).values
        if not values:
            findings.add(at, ErrorReason.FILTER_EMPTY, "needs at least one value")
            return None
        if len(values) > MAX_FILTER_VALUES:
            findings.add(at, ErrorReason.FILTER_TOO_LARGE, f"{len(values)} values, at most {MAX_FILTER_VALUES}")
            return None
        decoded = [_value(value, f"{at}[{place}]", findings, reference) for place, value in enumerate(values)]
        return _made(message.field, _LISTS[test], decoded)
    return _made(message.field, _OPERATORS[test], [_value(getattr(message, test), at, findings, reference)])


def _value(message: value_pb2.Value, path: str, findings: Findings, reference: date) -> Value | None:
    if message.WhichOneof("kind") == "string_list_value":
        findings.add(f"{path}.string_list_value", ErrorReason.FILTER_TYPE_MISMATCH, "a list is no value of a filter")
        return None
    return decode_value(message, path, findings, reference)


def _made(field: str, operator: Operator, values: list[Value | None]) -> Predicate | None:
    kept = tuple(value for value in values if value is not None)
    return Predicate(field, operator, kept) if len(kept) == len(values) else None
