"""Random requests: as a JSON Schema admits them, and as the contract does. Neither knows of the other."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from groundwire_server.rpc.tools.catalogue import CHOICES, NAMES_OF, REQUIRED

_DEPTH = 4
_TEXTS = st.text(max_size=6)
_SECONDS = st.integers(-62135596800, 253402300799)  # years 1 to 9999
_INSTANTS = st.datetimes().map(lambda when: when.isoformat(timespec="microseconds") + "Z")


def instances(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """JSON values that a schema admits."""
    return st.composite(lambda draw: _instance(draw, schema, schema.get("$defs", {}), 0))()


def _instance(draw: Any, schema: dict[str, Any], defs: dict[str, Any], depth: int) -> Any:
    if "$ref" in schema:
        return _instance(draw, {**defs[schema["$ref"].removeprefix("#/$defs/")]}, defs, depth)
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    kind = schema["type"]
    match kind if isinstance(kind, str) else draw(st.sampled_from(kind)):
        case "object":
            chosen = _properties(draw, schema, depth)
            return {name: _instance(draw, schema["properties"][name], defs, depth + 1) for name in chosen}
        case "array":
            low = schema.get("minItems", 0)
            count = draw(st.integers(low, max(low, 2 if depth < _DEPTH else 0)))
            return [_instance(draw, schema["items"], defs, depth + 1) for _ in range(count)]
        case "boolean":
            return draw(st.booleans())
        case "integer":
            return draw(st.integers(schema["minimum"], schema["maximum"]))
        case "number":
            floats = st.floats(schema["minimum"], schema["maximum"], allow_nan=False)
            return draw(st.one_of(floats, st.integers(-(10**300), 10**300)))
        case _:
            if schema.get("format") == "date-time":
                return draw(_INSTANTS)
            return draw(st.from_regex(schema["pattern"], fullmatch=True) if "pattern" in schema else _TEXTS)


def _properties(draw: Any, schema: dict[str, Any], depth: int) -> list[str]:
    required = schema.get("required", [])
    others = [name for name in schema["properties"] if name not in required]
    if "maxProperties" in schema:
        names = others
        if depth >= _DEPTH:  # come to an end: whatever does not hold itself
            names = [name for name in names if name not in ("allOf", "anyOf", "negate")]
        return [*required, draw(st.sampled_from(names))]
    if depth >= _DEPTH:
        return list(required)
    exclusive = list(schema.get("dependentSchemas", {}))
    kept = [name for name in others if name not in exclusive and draw(st.booleans())]
    one = [draw(st.sampled_from(exclusive))] if exclusive and draw(st.booleans()) else []
    return [*required, *kept, *one]


def messages(
    descriptor: Descriptor, names: dict[str, list[str]], left_out: frozenset[str]
) -> st.SearchStrategy[Message]:
    """Messages that hold what they must, with the names that there are."""
    return st.composite(lambda draw: _message(draw, descriptor, names, left_out, 0))()


def _message(
    draw: Any, descriptor: Descriptor, names: dict[str, list[str]], left_out: frozenset[str], depth: int
) -> Message:
    made: Any = GetMessageClass(descriptor)()
    if descriptor.full_name == "google.protobuf.Timestamp":
        made.seconds, made.nanos = draw(_SECONDS), draw(st.integers(0, 999_999_999))
        return made  # type: ignore[no-any-return]
    if descriptor.full_name == "google.protobuf.Duration":
        sign = draw(st.sampled_from((1, -1)))  # of both parts
        made.seconds, made.nanos = sign * draw(st.integers(0, 10**11 - 1)), sign * draw(st.integers(0, 999_999_999))
        return made  # type: ignore[no-any-return]
    required = REQUIRED.get(descriptor.name, ())
    fields = [each for each in descriptor.fields if f"{descriptor.name}.{each.name}" not in left_out]
    choices = {each.containing_oneof.name for each in fields if _chosen_among(each)}
    picked = {}
    for choice in sorted(choices):
        members = [each for each in fields if each.containing_oneof and each.containing_oneof.name == choice]
        must = descriptor.name in CHOICES
        if depth >= _DEPTH:
            members = [each for each in members if each.name not in ("all_of", "any_of", "negate")]
        if must or (depth < _DEPTH and draw(st.booleans())):
            picked[choice] = draw(st.sampled_from(members)).name
    for each in fields:
        if _chosen_among(each):
            wanted = picked.get(each.containing_oneof.name) == each.name
        else:
            wanted = each.name in required or (depth < _DEPTH and draw(st.booleans()))
        if wanted:
            _set(draw, made, each, names, left_out, depth, must=each.name in required)
    return made  # type: ignore[no-any-return]


def _chosen_among(field: FieldDescriptor) -> bool:
    return field.containing_oneof is not None and len(field.containing_oneof.fields) > 1


def _set(
    draw: Any,
    made: Any,
    field: FieldDescriptor,
    names: dict[str, list[str]],
    left_out: frozenset[str],
    depth: int,
    *,
    must: bool,
) -> None:
    target = getattr(made, field.name)
    if hasattr(target, "extend"):
        for _ in range(draw(st.integers(int(must), 2))):
            if field.message_type is not None:
                target.add().CopyFrom(_message(draw, field.message_type, names, left_out, depth + 1))
            else:
                target.append(_scalar(draw, field, names, left_out, must=False))
    elif field.message_type is not None:
        target.CopyFrom(_message(draw, field.message_type, names, left_out, depth + 1))
        target.SetInParent()
    else:
        setattr(made, field.name, _scalar(draw, field, names, left_out, must=must))


def _scalar(
    draw: Any, field: FieldDescriptor, names: dict[str, list[str]], left_out: frozenset[str], *, must: bool
) -> Any:
    assert field.containing_type is not None
    kind = NAMES_OF.get(f"{field.containing_type.name}.{field.name}")
    if kind is not None:
        return draw(st.sampled_from(names[kind]))
    if field.enum_type is not None:
        offered = [each for each in field.enum_type.values if each.number and each.name not in left_out]
        return draw(st.sampled_from([each.number for each in offered]))
    match field.type:
        case FieldDescriptor.TYPE_BOOL:
            return draw(st.booleans())
        case FieldDescriptor.TYPE_INT32:
            return draw(st.integers(-(2**31), 2**31 - 1))
        case FieldDescriptor.TYPE_INT64:
            return draw(st.integers(-(10**18) + 1, 10**18 - 1))
        case FieldDescriptor.TYPE_DOUBLE:
            return draw(st.floats(allow_nan=False, allow_infinity=False))
        case FieldDescriptor.TYPE_BYTES:
            return draw(st.binary(max_size=9))
        case FieldDescriptor.TYPE_STRING:
            return draw(st.text(min_size=int(must), max_size=6))
    raise AssertionError(field.type)
