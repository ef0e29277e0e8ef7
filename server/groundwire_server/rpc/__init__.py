"""The wire: the only room that knows gRPC and protobuf.

A call goes through `server` and `guard`, which sees that it begins and ends once: `door` and `credentials` say whose it
is, `admission` whether there is a place for it, `observer` who is told. `decode_*` makes our types of it, a `*_service`
has it answered in the threads of `work`, `stream` and `frames` hold the order of what goes out, `encode_*` writes it;
`place` and `cursor` are how a stream that broke goes on. `lifecycle` opens and closes it all, for each `role` that a
process may have; `workers/` are the processes, `telemetry/` is what is told of calls, `tools/` what models are told.
"""

from groundwire_server.rpc.lifecycle import Running, running, running_server, serve

__all__ = ["Running", "running", "running_server", "serve"]
