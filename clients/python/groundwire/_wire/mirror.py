"""One translation for all messages: a typed value and its message have fields of the same names.

A field of a typed value may also bear the name of a oneof: it then holds whichever member is set, None if none that
this client knows. Fields that the message lacks (`branch`, `record`) keep their defaults.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, get_args, get_type_hints

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from groundwire._wire.filter import decode_filter, encode_filter
from groundwire._wire.table import ENUMS, MIRRORS
from groundwire._wire.value import decimal_text, decode_timestamp, decode_value, encode_value, fill_timestamp

__all__ = ["decode", "decode_as", "fill", "rows_of", "value_of"]

T = TypeVar("T")
Read = Callable[[Any], Any]

_CLASSES = {message.DESCRIPTOR.full_name: cls for cls, message in MIRRORS.items()}
_ENUMS = {wrapper.DESCRIPTOR.full_name: enum for enum, wrapper in ENUMS.items()}  # type: ignore[attr-defined]
_SPECIAL: dict[str, Read] = {
    "google.protobuf.Timestamp": decode_timestamp,
    "google.protobuf.Duration": lambda message: message.ToTimedelta(),
    "groundwire.v1.Value": decode_value,
    "groundwire.v1.Filter": decode_filter,
    "groundwire.v1.ResumeCursor": lambda message: message.token,
}


def decode(message: Message) -> Any:
    """The typed value of a message, whichever it is."""
    return _decoder(message.DESCRIPTOR.full_name)(message)


def decode_as(kind: type[T], message: Message) -> T:
    """The typed value of a message that is known to be of this kind."""
    value = decode(message)
    assert isinstance(value, kind)
    return value


def value_of(kind: type[T], field: str = "") -> Callable[[Any], T]:
    """Reads the typed value of this kind that an answer is, or that stands in one of its fields."""
    return lambda answer: decode_as(kind, getattr(answer, field) if field else answer)


def rows_of(field: str, kind: type[T]) -> Callable[[Any], Iterable[T]]:
    """Reads the typed values that stand in a repeated field of an answer."""
    return lambda answer: [decode_as(kind, row) for row in getattr(answer, field)]


@cache
def _decoder(full_name: str) -> Read:
    special = _SPECIAL.get(full_name)
    if special is not None:
        return special
    cls = _CLASSES[full_name]
    descriptor: Any = MIRRORS[cls].DESCRIPTOR
    hints = get_type_hints(cls)
    plain: list[str] = []
    readers: list[tuple[str, Read]] = []
    for each in dataclasses.fields(cls):
        optional = type(None) in get_args(hints[each.name])
        field = descriptor.fields_by_name.get(each.name)
        if field is not None and _is_plain(field) and not (optional and field.has_presence):
            plain.append(each.name)
            continue
        read = _reader(descriptor, each.name, optional=optional)
        if read is not None:
            readers.append((each.name, read))
    if len(plain) < 2:  # with one name attrgetter gives no tuple
        readers += [(name, attrgetter(name)) for name in plain]
        return lambda message: cls(**{name: read(message) for name, read in readers})
    get, names = attrgetter(*plain), tuple(plain)

    def decode_fields(message: Any) -> Any:
        """Most fields are plain ones; those are got in one step."""
        values = dict(zip(names, get(message), strict=True))
        for name, read in readers:
            values[name] = read(message)
        return cls(**values)

    return decode_fields


def _is_plain(field: FieldDescriptor) -> bool:
    """Whether a value of the field is what a typed value has."""
    return field.enum_type is None and field.message_type is None and not _is_repeated(field)


def _reader(descriptor: Descriptor, name: str, *, optional: bool) -> Read | None:
    field = descriptor.fields_by_name.get(name)
    if field is None:
        return _oneof_reader(descriptor, name) if name in descriptor.oneofs_by_name else None
    convert = _converter(field)
    if _is_repeated(field):
        return lambda message: (
            tuple([known for each in members if (known := convert(each)) is not None])
            if (members := getattr(message, name))
            else ()
        )
    if optional and field.has_presence:
        return lambda message: convert(getattr(message, name)) if message.HasField(name) else None
    return lambda message: convert(getattr(message, name))


def _oneof_reader(descriptor: Descriptor, name: str) -> Read:
    converters = {field.name: _converter(field) for field in descriptor.oneofs_by_name[name].fields}

    def read(message: Any) -> Any:
        member = message.WhichOneof(name)
        return None if member is None else converters[member](getattr(message, member))

    return read


def _converter(field: FieldDescriptor) -> Read:
    if field.enum_type is not None:
        return _ENUMS[field.enum_type.full_name]
    if field.message_type is None:
        return lambda value: value
    full_name = field.message_type.full_name
    if full_name == "groundwire.v1.Snippet":
        return _decode_snippet
    return lambda message: _decoder(full_name)(message)


def _decode_snippet(message: Any) -> Any:
    """None for a payload that this client does not know: such a snippet is passed over."""
    return None if message.WhichOneof("payload") is None else _decoder("groundwire.v1.Snippet")(message)


def _is_repeated(field: Any) -> bool:
    """Newer protobuf has `is_repeated`, older `label`; none has both without a warning."""
    known = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if known is None else known)


def fill(message: Message, value: Any) -> None:
    """Write a typed value into its message. What is None or empty is left unset.

    Raises TypeError and ValueError for what the contract has no place for.
    """
    descriptor: Any = message.DESCRIPTOR
    for field in dataclasses.fields(value):
        target = descriptor.fields_by_name.get(field.name)
        content = getattr(value, field.name)
        if target is not None and content is not None:
            _fill_field(message, target, content)


def _fill_field(message: Message, field: FieldDescriptor, content: Any) -> None:
    if field.enum_type is not None and isinstance(content, str):
        content = _ENUMS[field.enum_type.full_name].read(content)
    if _is_repeated(field):
        for member in content:
            if field.message_type is None:
                getattr(message, field.name).append(member)
            else:
                _fill_message(getattr(message, field.name).add(), member)
    elif field.message_type is not None:
        target = getattr(message, field.name)
        target.SetInParent()
        _fill_message(target, content)
    elif field.type == field.TYPE_STRING and isinstance(content, Decimal | int):
        setattr(message, field.name, decimal_text(content))
    else:
        setattr(message, field.name, content)


def _fill_message(target: Any, content: Any) -> None:
    match target.DESCRIPTOR.full_name:
        case "google.protobuf.Timestamp":
            fill_timestamp(content, target)
        case "google.protobuf.Duration":
            target.FromTimedelta(content)
        case "groundwire.v1.Value":
            target.CopyFrom(encode_value(content))
        case "groundwire.v1.Filter":
            target.CopyFrom(encode_filter(content))
        case _:
            fill(target, content)
