"""Every method of the contract, from its descriptors: what is built is called, what is not says so with its reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass

from groundwire.v1 import (
    admin_pb2,
    graph_pb2,
    ingest_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
    tools_pb2,
)
from groundwire_server.errors import NotImplementedHere

__all__ = ["SERVICES", "Handler", "Methods", "contract_methods", "shown_method"]

# A handler takes the request (or an async iterator of requests) and the call. It returns the response, or writes
# responses to the call where the answer is streamed. One with an attribute `raw` that is true does so in bytes.
Handler = Callable[[Any, Any], Awaitable[Any]]

_FILES = (narrative_pb2, metric_pb2, graph_pb2, router_pb2, tools_pb2, ingest_pb2, admin_pb2)

SERVICES: tuple[ServiceDescriptor, ...] = tuple(
    service for file in _FILES for service in file.DESCRIPTOR.services_by_name.values()
)


def contract_methods() -> dict[str, MethodDescriptor]:
    """Full name ("groundwire.v1.MetricService/QueryMetric") to descriptor, of every method of the contract."""
    return {f"{service.full_name}/{method.name}": method for service in SERVICES for method in service.methods}


_OTHERS = frozenset(
    {
        *(f"grpc.health.v1.Health/{name}" for name in ("Check", "List", "Watch")),
        *(f"grpc.reflection.{name}.ServerReflection/ServerReflectionInfo" for name in ("v1", "v1alpha")),
    }
)
_SHOWN = _OTHERS | contract_methods().keys()


def shown_method(method: str) -> str:
    """The name for logs, metrics and traces: "other" for one that nobody has, as its caller can write what he likes.

    >>> shown_method("groundwire.v1.RouterService/Ask"), shown_method("some/thing")
    ('groundwire.v1.RouterService/Ask', 'other')
    """
    return method if method in _SHOWN else "other"


class Methods(grpc.GenericRpcHandler):
    """Answers for all methods of the contract.

    Args:
        built: full name of a method to its handler. The others answer UNIMPLEMENTED with NOT_IMPLEMENTED.

    Raises:
        KeyError: a handler for a method that the contract does not have.
    """

    def __init__(self, built: Mapping[str, Handler]) -> None:
        contract = contract_methods()
        for name in built:
            contract[name]
        self._handlers = {
            f"/{name}": _method_handler(method, built.get(name) or _not_built) for name, method in contract.items()
        }

    def service(self, handler_call_details: Any) -> Any:
        """The handler of a method, or None when the contract does not have it."""
        return self._handlers.get(handler_call_details.method)


async def _not_built(_request: Any, call: Any) -> NoReturn:
    raise NotImplementedHere(call.method.rpartition("/")[2])


def _method_handler(method: MethodDescriptor, behavior: Handler) -> Any:
    kinds = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    make = kinds[method.client_streaming, method.server_streaming]
    if getattr(behavior, "raw", False):  # it takes and gives bytes
        return make(behavior, bytes, bytes)
    response: Any = GetMessageClass(method.output_type)
    request: Any = GetMessageClass(method.input_type)
    return make(behavior, request.FromString, response.SerializeToString)
