"""A real gRPC server on a socket, speaking whatever a test scripts it to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc

from groundwire.v1 import (
    admin_pb2_grpc,
    graph_pb2_grpc,
    ingest_pb2_grpc,
    metric_pb2_grpc,
    narrative_pb2_grpc,
    router_pb2_grpc,
    tools_pb2_grpc,
)

Method = Callable[[Any, grpc.ServicerContext], Any]
_STUBS = (
    admin_pb2_grpc,
    graph_pb2_grpc,
    ingest_pb2_grpc,
    metric_pb2_grpc,
    narrative_pb2_grpc,
    router_pb2_grpc,
    tools_pb2_grpc,
)


@contextmanager
def serving(**methods: Method) -> Iterator[str]:
    """The address of a server that has these methods of the contract, by name, and no others."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    for module in _STUBS:
        for name, servicer in vars(module).items():
            if name.endswith("Servicer"):
                own = {method: staticmethod(body) for method, body in methods.items() if hasattr(servicer, method)}
                getattr(module, f"add_{name}_to_server")(type("Scripted", (servicer,), own)(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(grace=None).wait()
