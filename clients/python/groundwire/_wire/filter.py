"""Filter trees as the contract carries them."""

from __future__ import annotations

from groundwire._model.filter import AllOf, AnyOf, Filter, Negate, Operator, Predicate
from groundwire._model.value import Scalar
from groundwire._wire.value import decode_value, encode_value
from groundwire.v1 import filter_pb2

__all__ = ["decode_filter", "encode_filter"]

_TO_WIRE: dict[Operator, str] = {"in": "one_of", "nin": "none_of"}
_FROM_WIRE: dict[str, Operator] = {
    "eq": "eq",
    "ne": "ne",
    "one_of": "in",
    "none_of": "nin",
    "gt": "gt",
    "gte": "gte",
    "lt": "lt",
    "lte": "lte",
    "between": "between",
    "present": "present",
}


def encode_filter(tree: Filter) -> filter_pb2.Filter:
    """Raises TypeError for a value that has no place in a filter."""
    match tree:
        case AllOf(filters):
            members = filter_pb2.FilterList(filters=[encode_filter(member) for member in filters])
            return filter_pb2.Filter(all_of=members)
        case AnyOf(filters):
            members = filter_pb2.FilterList(filters=[encode_filter(member) for member in filters])
            return filter_pb2.Filter(any_of=members)
        case Negate(inner):
            return filter_pb2.Filter(negate=encode_filter(inner))
        case Predicate():
            return filter_pb2.Filter(predicate=_encode_predicate(tree))
    raise TypeError(f'{tree!r} is no filter; write one as field("year") >= 2020')


def _encode_predicate(predicate: Predicate) -> filter_pb2.Predicate:
    message = filter_pb2.Predicate(field=predicate.field)
    values = predicate.values
    match predicate.operator:
        case "present":
            message.present = bool(values[0])
        case "between":
            low, high = values
            message.between.CopyFrom(filter_pb2.Between(low=encode_value(low), high=encode_value(high)))
        case "in" | "nin" as operator:
            listed = filter_pb2.ValueList(values=[encode_value(value) for value in values])
            getattr(message, _TO_WIRE[operator]).CopyFrom(listed)
            getattr(message, _TO_WIRE[operator]).SetInParent()
        case operator:
            getattr(message, operator).CopyFrom(encode_value(values[0]))
    return message


def decode_filter(message: filter_pb2.Filter) -> Filter | None:
    """The tree, or None when some part of it is of a kind that this client does not know."""
    match message.WhichOneof("node"):
        case "predicate":
            return _decode_predicate(message.predicate)
        case "negate":
            inner = decode_filter(message.negate)
            return None if inner is None else Negate(inner)
        case "all_of":
            members = _decode_list(message.all_of)
            return None if members is None else AllOf(members)
        case "any_of":
            members = _decode_list(message.any_of)
            return None if members is None else AnyOf(members)
    return None


def _decode_list(message: filter_pb2.FilterList) -> tuple[Filter, ...] | None:
    members = [decode_filter(member) for member in message.filters]
    known = tuple(member for member in members if member is not None)
    return known if len(known) == len(members) else None


def _decode_predicate(message: filter_pb2.Predicate) -> Predicate | None:
    test = message.WhichOneof("test")
    if test is None:
        return None
    if test == "present":
        return Predicate(message.field, "present", (message.present,))
    if test == "between":
        values = [decode_value(message.between.low), decode_value(message.between.high)]
    elif test in ("one_of", "none_of"):
        values = [decode_value(value) for value in getattr(message, test).values]
    else:
        values = [decode_value(getattr(message, test))]
    scalars: list[Scalar] = [value for value in values if value is not None and not isinstance(value, tuple)]
    return Predicate(message.field, _FROM_WIRE[test], tuple(scalars)) if len(scalars) == len(values) else None
