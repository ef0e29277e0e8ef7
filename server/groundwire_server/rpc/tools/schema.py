"""JSON Schema (draft 2020-12) of a message in the JSON form of protobuf, from its descriptor.

Requests are closed: what a schema admits, the parser takes. Answers are open, since a newer server may say more. At the
top there is no oneOf, anyOf or allOf, which the tool forms of two vendors refuse; what must not stand together is said
by dependentSchemas, or by a number of properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, OneofDescriptor

from groundwire_server.rpc.tools.catalogue import CHOICES, NAMES_OF, REQUIRED

__all__ = ["Enumeration", "Schema", "SchemaWriter", "array_of", "object_of"]

Schema = dict[str, Any]

_MAX_DOUBLE = 1.7976931348623157e308
_MAX_FLOAT = 3.4028234663852886e38
_BITS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_LONG = frozenset({FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64})
_BASE64 = "^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$"
_WELL_KNOWN: dict[str, Schema] = {
    "google.protobuf.Timestamp": {
        "type": "string",
        "format": "date-time",
        "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z$",
    },
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]{1,11}(?:\.[0-9]{1,9})?s$"},
}


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Names that a field takes, and what is said of them. None: too many to list."""

    names: tuple[str, ...] | None
    words: str = ""

    def schema(self) -> Schema:
        """Any text where the names are not listed."""
        listed: Schema = {} if self.names is None else {"enum": list(self.names)}
        return {"type": "string", **listed, **({"description": self.words} if self.words else {})}


@dataclass
class SchemaWriter:
    """Writes the schema of one tool's request or answer. Messages below the top stand once each in `$defs`.

    Args:
        words: description by "Message.field".
        enumerations: by kind of name (`catalogue.NAMES_OF`).
        left_out: fields and values that are not offered.
        closed: whether it is a request.
    """

    closed: bool
    words: Mapping[str, str] = field(default_factory=dict)
    enumerations: Mapping[str, Enumeration] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    _defs: dict[str, Schema] = field(default_factory=dict)

    def write(self, message: Descriptor) -> Schema:
        """The schema of a message with all that it needs."""
        return self.finish(self._message(message))

    def finish(self, top: Schema) -> Schema:
        """A schema with the definitions that its references name."""
        return {**top, **({"$defs": dict(sorted(self._defs.items()))} if self._defs else {})}

    def field(self, described: FieldDescriptor) -> Schema:
        """The schema of a field's value."""
        one = self._value(described)
        schema = array_of(one) if _repeated(described) else one
        words = self.words.get(_name(described))
        return {**schema, "description": words} if words else schema

    def _message(self, message: Descriptor) -> Schema:
        fields = [each for each in message.fields if _name(each) not in self.left_out]
        schema = object_of({each.json_name: self.field(each) for each in fields})
        if not self.closed:
            return schema
        required = [message.fields_by_name[name] for name in REQUIRED.get(message.name, ())]
        if required:
            schema["required"] = [each.json_name for each in required]
        for each in required:
            if _repeated(each):
                schema["properties"][each.json_name]["minItems"] = 1
        schema["additionalProperties"] = False
        for oneof in message.oneofs:
            schema |= _one_of(oneof, fields, len(required))
        return schema

    def _value(self, described: FieldDescriptor) -> Schema:
        kind = NAMES_OF.get(_name(described), "")
        if self.closed and kind in self.enumerations:
            return self._define(kind, self.enumerations[kind].schema())
        if described.message_type is not None:
            return self._reference(described.message_type)
        if described.enum_type is not None:
            return self._define(described.enum_type.name, self._enum(described.enum_type))
        match described.cpp_type:
            case FieldDescriptor.CPPTYPE_BOOL:
                return {"type": "boolean"}
            case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
                most = _MAX_DOUBLE if described.cpp_type == FieldDescriptor.CPPTYPE_DOUBLE else _MAX_FLOAT
                return {"type": "number", "minimum": -most, "maximum": most}
            case FieldDescriptor.CPPTYPE_STRING:
                if described.type == FieldDescriptor.TYPE_BYTES:
                    return {"type": "string", "contentEncoding": "base64", "pattern": _BASE64}
                return {"type": "string"}
            case integer:
                return self._integer(integer)

    def _integer(self, kind: int) -> Schema:
        low, high = _BITS[kind]
        if kind not in _LONG:
            return {"type": "integer", "minimum": low, "maximum": high}
        pattern = "^-?(?:0|[1-9][0-9]{0,17})$"
        if not self.closed:
            return {"type": "string", "pattern": "^-?[0-9]+$"}
        return {"type": ["integer", "string"], "minimum": low, "maximum": high, "pattern": pattern}

    def _enum(self, enum: EnumDescriptor) -> Schema:
        names = [value.name for value in enum.values if value.number != 0 and value.name not in self.left_out]
        return {"type": "string", "enum": names} if self.closed else {"type": "string"}

    def _reference(self, message: Descriptor) -> Schema:
        known = _WELL_KNOWN.get(message.full_name)
        if known is not None:
            return dict(known)
        if message.name not in self._defs:
            self._defs[message.name] = {}  # a message may hold itself
            self._defs[message.name] = self._message(message)
        return {"$ref": f"#/$defs/{message.name}"}

    def _define(self, name: str, schema: Schema) -> Schema:
        self._defs[name] = schema
        return {"$ref": f"#/$defs/{name}"}


def object_of(properties: Mapping[str, Schema]) -> Schema:
    """The schema of an object."""
    return {"type": "object", "properties": dict(properties)}


def array_of(items: Schema) -> Schema:
    """The schema of a list."""
    return {"type": "array", "items": items}


def _one_of(oneof: OneofDescriptor, offered: list[FieldDescriptor], required: int) -> Schema:
    """That at most one member stands, and exactly one where the message is a choice."""
    members = [each.json_name for each in oneof.fields if each in offered]
    if len(members) < 2:
        return {}
    if oneof.containing_type.name in CHOICES:
        return {"minProperties": required + 1, "maxProperties": required + 1}
    never: Schema = {"not": {}}
    return {
        "dependentSchemas": {
            member: {"properties": {other: never for other in members if other != member}} for member in members
        }
    }


def _name(described: FieldDescriptor) -> str:
    assert described.containing_type is not None  # only extensions have none
    return f"{described.containing_type.name}.{described.name}"


def _repeated(described: Any) -> bool:
    """protobuf 7 has `is_repeated` and no `label` any more, protobuf 5 the other way round."""
    told: bool | None = getattr(described, "is_repeated", None)
    return bool(described.label == FieldDescriptor.LABEL_REPEATED) if told is None else told
