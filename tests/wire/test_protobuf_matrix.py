"""Both clients on every protobuf that they say they take: no warning on import, and calls over a socket."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2

from groundwire.v1 import admin_pb2, evidence_pb2, narrative_pb2, stream_pb2
from tests.client.ingest_model import Connection, Stored
from tests.client.serving import serving

CLIENT = Path(__file__).parents[2] / "clients" / "python"

SCRIPT = """
import asyncio, importlib.metadata, sys
import groundwire
from groundwire import AsyncClient, Client, DocumentUpload, GroundwireError, field
import groundwire.v1.admin_pb2_grpc, groundwire.v1.graph_pb2_grpc, groundwire.v1.ingest_pb2_grpc
import groundwire.v1.metric_pb2_grpc, groundwire.v1.narrative_pb2_grpc, groundwire.v1.router_pb2_grpc
import groundwire.v1.tools_pb2_grpc
print(importlib.metadata.version("protobuf"))
wanted = (field("year") >= 2020) & ~field("topic").one_of(["draft"])

def told(found, documents, report):
    print(found.snippets[0].payload.text, found.snippets[0].lineage.span, found.header.filter_applied == wanted)
    print([document.doc_id for document in documents])
    print(report.outcomes[0].doc_id, report.summary.stored)

with Client(sys.argv[1]) as client:
    found = client.retrieve("why", filter=wanted, mode="lexical").collect()
    report = client.ingest_documents([DocumentUpload("a", b"x" * 600_000)]).collect()
    told(found, list(client.list_documents()), report)
    try:
        client.server_info()
    except GroundwireError as error:
        print(error.reason.name, dict(error.details))

async def main():
    async with AsyncClient(sys.argv[1]) as client:
        found = await client.retrieve("why", filter=wanted, mode="lexical").collect()
        report = await client.ingest_documents([DocumentUpload("b", b"y" * 600_000)]).collect()
        told(found, [document async for document in client.list_documents()], report)
        try:
            await client.server_info()
        except GroundwireError as error:
            print(error.reason.name, dict(error.details))

asyncio.run(main())
"""


def _retrieve(request: narrative_pb2.NarrativeRetrieveRequest, context: grpc.ServicerContext) -> Iterator[Any]:
    response = narrative_pb2.NarrativeRetrieveResponse
    yield response(header=stream_pb2.StreamHeader(request_id="r", filter_applied=request.options.filter))
    passage = evidence_pb2.Snippet(snippet_id="s", rank=1, text=evidence_pb2.TextPassage(text="because"))
    passage.lineage.span.end = 7
    yield response(batch=stream_pb2.SnippetBatch(snippets=[passage]))
    yield response(summary=stream_pb2.StreamSummary(returned=1))


def _list(request: admin_pb2.ListDocumentsRequest, context: grpc.ServicerContext) -> Any:
    following = "" if request.page_token else "2"
    return admin_pb2.ListDocumentsResponse(documents=[{"doc_id": f"d{request.page_token}"}], next_page_token=following)


def _refuse(request: Any, context: grpc.ServicerContext) -> Any:
    detail = AnyMessage()
    detail.Pack(
        error_details_pb2.ErrorInfo(reason="NOT_IMPLEMENTED", domain="groundwire.v1", metadata={"operation": "info"})
    )
    status = status_pb2.Status(code=12, details=[detail]).SerializeToString()
    context.set_trailing_metadata([("grpc-status-details-bin", status)])
    context.abort(grpc.StatusCode.UNIMPLEMENTED, "not here")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "requirements",
    [
        ["protobuf==4.25.3", "grpcio==1.62.0", "googleapis-common-protos==1.62.0"],  # the oldest that we say we take
        ["protobuf>=5,<6", "grpcio", "googleapis-common-protos"],
        ["protobuf>=6,<7", "grpcio", "googleapis-common-protos"],
        ["protobuf>=7,<8", "grpcio", "googleapis-common-protos"],
    ],
    ids=["oldest", "protobuf5", "protobuf6", "protobuf7"],
)
def test_the_client_runs_on(requirements: list[str], tmp_path: Path) -> None:
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, *requirements], check=True, stdin=subprocess.DEVNULL)
    (tmp_path / "script.py").write_text(SCRIPT)
    stored = [Stored(), Stored()]  # one for each client
    beginning = iter(stored)

    def ingest(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        connection = Connection(next(beginning))
        for request in requests:
            yield from connection.take(request)

    with serving(
        NarrativeRetrieve=_retrieve, IngestDocuments=ingest, GetServerInfo=_refuse, ListDocuments=_list
    ) as address:
        done = subprocess.run(
            [str(python), "-W", "error", str(tmp_path / "script.py"), address],
            env={"PYTHONPATH": str(CLIENT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stderr == ""
    version, *rest = done.stdout.splitlines()
    assert version.partition(".")[0] == requirements[0].partition("=")[2].strip("=")[0]
    assert rest == [
        "because Span(start=0, end=7) True",
        "['d', 'd2']",
        "a 1",
        "NOT_IMPLEMENTED {'operation': 'info'}",
        "because Span(start=0, end=7) True",
        "['d', 'd2']",
        "b 1",
        "NOT_IMPLEMENTED {'operation': 'info'}",
    ]
    assert [len(content) for each in stored for content in each.documents.values()] == [600_000, 600_000]
