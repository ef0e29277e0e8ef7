"""A server in a process of its own, spoken to over gRPC."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import grpc

from groundwire.v1 import admin_pb2_grpc, ingest_pb2_grpc, metric_pb2_grpc

__all__ = ["Served", "serving"]

_MOST = 16 << 20


class Served:
    """Stubs of one server."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", _MOST)])
        self.admin = admin_pb2_grpc.AdminServiceStub(self.channel)
        self.ingest = ingest_pb2_grpc.IngestServiceStub(self.channel)
        self.metric = metric_pb2_grpc.MetricServiceStub(self.channel)


@contextmanager
def serving(data: Path, clearance: str, outside: Sequence[str] = ()) -> Iterator[Served]:
    """Serve a data folder to callers of one clearance until the block ends; not about `outside` names."""
    environment = {each: value for each, value in os.environ.items() if not each.startswith("GROUNDWIRE_")}
    environment |= {"GROUNDWIRE_ACCESS_LOCAL_CLEARANCE": clearance.lower(), "GROUNDWIRE_LOG_LEVEL": "error"}
    environment["GROUNDWIRE_GATE_OUTSIDE_NAMES"] = ",".join(outside)
    environment["PYTHONPATH"] = os.pathsep.join(each for each in sys.path if each)
    command = [sys.executable, "-m", "groundwire_server.cli", "serve", "--lexical", "--port", "0", "--data", str(data)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()  # "groundwire answers on HOST:PORT, data in ..."
            assert " answers on " in line, line
            served = Served(line.split(" answers on ")[1].split(",")[0].strip())
            try:
                yield served
            finally:
                served.channel.close()
        finally:
            process.terminate()
