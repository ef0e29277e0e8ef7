"""What the server is, whether it takes calls, and what it offers to models."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from groundwire._model.server import HealthStatus, ServerInfo
from groundwire._model.tool import ToolForm, ToolList
from groundwire._operation.kinds import Method, Unary, method
from groundwire._operation.options import number, texts
from groundwire._wire.mirror import value_of
from groundwire.v1 import admin_pb2, tools_pb2

__all__ = ["health", "list_tools", "server_info"]

# The standard health service speaks one string and one enum: on the wire these are the well-known wrappers.
_HEALTH = Method("/grpc.health.v1.Health/Check", StringValue.SerializeToString, Int32Value.FromString)


def server_info() -> Unary[ServerInfo]:
    """AdminService.GetServerInfo."""
    return Unary(method("AdminService/GetServerInfo"), admin_pb2.GetServerInfoRequest(), value_of(ServerInfo))


def health(service: str) -> Unary[HealthStatus]:
    """Check of the standard health service."""
    return Unary(_HEALTH, StringValue(value=service), lambda answer: HealthStatus(answer.value))


def list_tools(libraries: Sequence[str], form: ToolForm | str, language: str) -> Unary[ToolList]:
    """ToolService.ListTools."""
    request = tools_pb2.ListToolsRequest(
        library_ids=texts("libraries", libraries), form=number(ToolForm, form), language=language
    )
    return Unary(method("ToolService/ListTools"), request, value_of(ToolList))
