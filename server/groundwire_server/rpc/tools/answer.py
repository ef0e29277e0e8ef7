"""What a tool gives back: the answer of a plain method as it is, that of a streaming one folded into one object.

Folded, a stream is `header`, `summary` and `route` as they came, and lists in stream order: `snippets`, `outcomes`,
`calculations`, `parts` (of the answer), `clarifications`, `branches`, `branchSummaries`, `chunks`. Stretches of a
document's text are joined into `text`. Progress is left out.
"""

from __future__ import annotations

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from groundwire_server.rpc.tools.schema import Schema, SchemaWriter, array_of, object_of

__all__ = ["FOLDED_LISTS", "PASSED_OVER", "answer_schema"]

FOLDED_LISTS = {
    "answer": "parts",
    "clarification": "clarifications",
    "sub_call": "branches",
    "sub_call_summary": "branchSummaries",
}
"""Frames that come several times, and the list that they become."""

_SPREAD = {"batch": ("snippets",), "outcomes": ("outcomes", "calculations"), "chunks": ("chunks",)}
"""Frames that hold lists, and the lists that are joined over them."""

PASSED_OVER = frozenset({"progress"})


def answer_schema(response: Descriptor, *, streamed: bool) -> Schema:
    """JSON Schema of an answer, a stream's folded."""
    writer = SchemaWriter(closed=False)
    if not streamed:
        return writer.write(response)
    properties: dict[str, Schema] = {}
    for frame in response.oneofs_by_name["frame"].fields:
        properties |= _frame(frame, writer)
    schema = object_of(properties)
    whole = [name for name in ("header", "summary", "revision") if name in properties]
    return writer.finish({**schema, "required": whole})


def _frame(frame: FieldDescriptor, writer: SchemaWriter) -> dict[str, Schema]:
    if frame.name in PASSED_OVER:
        return {}
    if frame.name in FOLDED_LISTS:
        return {FOLDED_LISTS[frame.name]: array_of(writer.field(frame))}
    if frame.name in _SPREAD and frame.message_type is not None:
        held = frame.message_type.fields_by_name
        return {name: writer.field(held[name]) for name in _SPREAD[frame.name]}
    return {frame.json_name: writer.field(frame)}
