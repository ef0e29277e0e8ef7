"""Server reflection, so that grpcurl, grpcui, Postman and `buf curl` need no files: v1, and v1alpha for older tools.

grpcio-reflection knows v1alpha alone. The two differ in the name of their package and not in a byte on the wire, so one
servicer answers both, from one pool of descriptors in which v1 stands beside v1alpha. All of it is made by the first
call: a server that nobody asks pays nothing for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import text_format
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.methods import SERVICES

if TYPE_CHECKING:
    from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

__all__ = ["REFLECTION_METHODS", "ReflectionMethods"]

REFLECTION_METHODS = frozenset(
    f"grpc.reflection.{version}.ServerReflection/ServerReflectionInfo" for version in ("v1", "v1alpha")
)
"""Full names of the methods."""


class ReflectionMethods(grpc.GenericRpcHandler):
    """Answers for both versions of the reflection service."""

    def __init__(self) -> None:
        handler: Any = grpc.stream_stream_rpc_method_handler(self._serve, _parse)
        self._handlers = {f"/{name}": handler for name in REFLECTION_METHODS}

    def service(self, handler_call_details: Any) -> Any:
        """The handler of a method, or None when it is none of these."""
        return self._handlers.get(handler_call_details.method)

    async def _serve(self, requests: AsyncIterator[ServerReflectionRequest], call: RpcCall) -> None:
        async for request in requests:
            await call.write(self._answer(request).SerializeToString())

    @cached_property
    def _answer(self) -> Callable[[ServerReflectionRequest], ServerReflectionResponse]:
        from google.rpc import error_details_pb2, status_pb2
        from grpc_health.v1 import health_pb2
        from grpc_reflection.v1alpha import reflection_pb2
        from grpc_reflection.v1alpha.reflection import ReflectionServicer

        # The last two are what errors consist of: a tool that meets one asks for them.
        modules = (health_pb2, reflection_pb2, status_pb2, error_details_pb2)
        files = [*(service.file for service in SERVICES), *(module.DESCRIPTOR for module in modules)]
        names = [*(service.full_name for service in SERVICES), "grpc.health.v1.Health"]
        names += [method.rpartition("/")[0] for method in REFLECTION_METHODS]
        servicer = ReflectionServicer(names, _pool(files, _as_v1(reflection_pb2.DESCRIPTOR)))
        no_context: Any = None  # it looks at none
        return lambda request: next(servicer.ServerReflectionInfo(iter((request,)), no_context))


def _parse(raw: bytes) -> ServerReflectionRequest:
    from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest

    return ServerReflectionRequest.FromString(raw)


def _as_v1(alpha: Any) -> FileDescriptorProto:
    """The v1alpha file under the names of v1."""
    file = FileDescriptorProto()
    alpha.CopyToProto(file)
    file.options.ClearField("deprecated")
    return text_format.Parse(text_format.MessageToString(file).replace("v1alpha", "v1"), FileDescriptorProto())


def _pool(files: Iterable[FileDescriptor], further: FileDescriptorProto) -> DescriptorPool:
    """These files and all that they import, in a pool of their own: the process's pool belongs to everybody."""
    pool = DescriptorPool()
    seen: set[str] = set()

    def add(file: FileDescriptor) -> None:
        if file.name not in seen:
            seen.add(file.name)
            for needed in file.dependencies:
                add(needed)
            pool.AddSerializedFile(file.serialized_pb)

    for file in files:
        add(file)
    pool.AddSerializedFile(further.SerializeToString())
    return pool
