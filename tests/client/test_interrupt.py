"""Ctrl-C at any moment: whoever closes the client behind it does not wait for ever."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, narrative_pb2, stream_pb2
from tests.client.ingest_model import Connection, Stored
from tests.client.serving import serving

CLIENT = Path(__file__).parents[2] / "clients" / "python"

SCRIPT = """
import faulthandler, random, signal, sys
from groundwire import Client, DocumentUpload

kind, address, trials = sys.argv[1], sys.argv[2], int(sys.argv[3])
calls = {
    "one answer": lambda client: client.server_info(),
    "stream": lambda client: client.retrieve("why").collect(),
    "ingest": lambda client: client.ingest_documents([DocumentUpload("a", b"x")]).collect(),
}
signal.signal(signal.SIGALRM, signal.default_int_handler)
random.seed(7)
for trial in range(trials):
    faulthandler.dump_traceback_later(10, exit=True)
    try:
        with Client(address) as client:
            calls[kind](client)
            # Again after a second: Python swallows what is raised inside a destructor.
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.02), 1)
            while True:
                calls[kind](client)
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
print("left in order")
"""


def _retrieve(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
    yield narrative_pb2.NarrativeRetrieveResponse(header=stream_pb2.StreamHeader())
    yield narrative_pb2.NarrativeRetrieveResponse(summary=stream_pb2.StreamSummary())


def _ingest(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
    connection = Connection(Stored())
    for request in requests:
        yield from connection.take(request)


def _interrupt(kind: str, trials: int) -> None:
    info = admin_pb2.GetServerInfoResponse()
    methods = {
        "NarrativeRetrieve": _retrieve,
        "IngestDocuments": _ingest,
        "GetServerInfo": lambda request, context: info,
    }
    with serving(**methods) as address:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, kind, address, str(trials)],
            env={"PYTHONPATH": str(CLIENT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "left in order\n"), done.stderr


KINDS = ["one answer", "stream", "ingest"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupt_leaves_a_client_that_can_be_closed(kind: str) -> None:
    _interrupt(kind, 40)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_interrupts_at_many_moments(kind: str) -> None:
    _interrupt(kind, 500)
