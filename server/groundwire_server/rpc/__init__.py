"""The wire: the only room that knows gRPC and protobuf."""

from groundwire_server.rpc.lifecycle import Running, running, running_server, serve

__all__ = ["Running", "running", "running_server", "serve"]
