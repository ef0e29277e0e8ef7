"""Every field of every request, found by walking the contract, with one value put there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from groundwire.v1 import glossary_pb2, ingest_pb2
from groundwire_server.rpc.methods import contract_methods
from tests.rpc.house import House, start
from tests.rpc.serving import Failure

__all__ = ["Place", "answer", "messages", "places"]

Wanted = Callable[[FieldDescriptor], bool]
_DEEPEST = 7  # a filter in a filter in the options of a read, and its values
_STARTS = {"IngestDocuments": ingest_pb2.IngestDocumentsRequest, "IngestFacts": ingest_pb2.IngestFactsRequest}


@dataclass(frozen=True)
class Place:
    """A field of a request: its method, and the fields on the way to it."""

    method: str
    way: tuple[FieldDescriptor, ...]

    @property
    def path(self) -> str:
        """As a violation would name it, without places in lists."""
        return ".".join(field.name for field in self.way)

    def request(self, value: Any) -> Message:
        """A request with this value there, and words where others are needed."""
        made, message = self._made(self.way[:-1])
        last = self.way[-1]
        if last.is_repeated:
            del getattr(message, last.name)[:]
            getattr(message, last.name).append(value)
        else:
            setattr(message, last.name, value)
        return made

    def with_unknown_field(self) -> Message:
        """A request whose message at the end of the way holds a field that nobody knows."""
        made, message = self._made(self.way)
        message.MergeFromString(b"\xf8\x07\x01")  # field 127, a number
        return made

    def _made(self, way: tuple[FieldDescriptor, ...]) -> tuple[Message, Any]:
        made = GetMessageClass(contract_methods()[self.method].input_type)()
        _fill(made)
        message: Any = made
        for field in way:
            if isinstance(message, glossary_pb2.Term):
                message.kind = _KINDS.get(field.name, glossary_pb2.TERM_KIND_METRIC)
            inner = getattr(message, field.name)
            message = (inner[0] if len(inner) else inner.add()) if field.is_repeated else inner
            message.SetInParent()
            _fill(message)
        return made, message


_KINDS = {
    "entity": glossary_pb2.TERM_KIND_ENTITY,
    "dimension": glossary_pb2.TERM_KIND_DIMENSION_MEMBER,
    "relation": glossary_pb2.TERM_KIND_RELATION,
}
_WORDS = {
    "query": "fox", "question": "Why did revenue rise?", "library_id": "default", "metric": "population",
    "entity": "Japan", "period": "2020", "doc_id": "notes/fox.md", "field": "doc_id", "code": "X", "name": "x",
    "value": "5", "source_doc": "s", "locator": "l", "subject": "ASIA", "relation": "parent_of", "object": "JPN",
    "from_id": "entity:ASIA", "to_id": "entity:JPN", "ingest_id": "00000000-0000-4000-8000-000000000009",
}  # fmt: skip


def _fill(message: Any) -> None:
    """Words that a good request has, so that what is looked at is looked at."""
    for field in message.DESCRIPTOR.fields:
        if field.type == FieldDescriptor.TYPE_STRING and not field.is_repeated and field.containing_oneof is None:
            setattr(message, field.name, _WORDS.get(field.name, ""))


def places(wanted: Wanted) -> Iterator[Place]:
    """All fields of all requests that are wanted; what holds itself is entered once."""
    for method, described in sorted(contract_methods().items()):
        for way in _ways(described.input_type, (), wanted):
            yield Place(method, way)


def messages() -> Iterator[Place]:
    """All messages of all requests, the requests themselves among them."""
    for method in sorted(contract_methods()):
        yield Place(method, ())
    yield from places(lambda field: field.message_type is not None)


def _ways(
    descriptor: Descriptor, above: tuple[FieldDescriptor, ...], wanted: Wanted
) -> Iterator[tuple[FieldDescriptor, ...]]:
    for field in descriptor.fields:
        if wanted(field):
            yield (*above, field)
        inner = field.message_type
        if inner is None or len(above) >= _DEEPEST or any(each.message_type is inner for each in above):
            continue
        yield from _ways(inner, (*above, field), wanted)


def answer(here: House, method: str, request: bytes) -> Failure | None:
    """Send it; a stream is opened before a part. None: it was answered."""
    described = contract_methods()[method]
    path, name = f"/{method}", method.rpartition("/")[2]
    call: Any
    try:
        if described.client_streaming:
            kind = _STARTS[name]
            sent = [request]
            if not kind.FromString(request).HasField("start"):
                sent.insert(0, start(kind).SerializeToString())
            call = here.channel.stream_stream(path)
            list(call(iter(sent), timeout=20))
        elif described.server_streaming:
            call = here.channel.unary_stream(path)
            list(call(request, timeout=20))
        else:
            call = here.channel.unary_unary(path)
            call(request, timeout=20)
    except grpc.RpcError as error:
        return Failure.of(error)
    return None
