"""Python clients of several processes, behind a proxy: what reads and what writes is killed while they are at it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from groundwire import Client, DocumentUpload, IngestAck, Reconnecting
from tests.client.both import KINDS
from tests.rpc.on_the_way import told
from tests.support.eventually import eventually
from tests.support.fault_proxy import Inside, Line, Way, fault_proxy
from tests.workers.processes import Served, served

_LONG = 60.0
QUERY: dict[str, Any] = {"query": "report about rivers 川", "top_k": 100}


def reader_of(client: Client) -> str:
    """The process that answers on this connection."""
    names = [each.name for each in client.server_info(timeout=_LONG).components if each.kind == "process"]
    (name,) = [each for each in names if each != "writer"]
    return name


def kill(here: Served, name: str) -> None:
    os.kill(here.pids[name], signal.SIGKILL)


@pytest.mark.parametrize("kind", ["sync", pytest.param("async", marks=pytest.mark.slow)])
def test_clients_go_on_when_any_of_the_processes_is_killed(tmp_path: Path, kind: str) -> None:
    with served(tmp_path / "data") as here, KINDS[kind](here.address) as direct:
        texts = [DocumentUpload(f"{n:03}.md", f"A report about rivers 川 {n}".encode()) for n in range(90)]
        direct.ingest_documents(texts).collect()
        whole = told(direct.retrieve(**QUERY))
        assert len(whole) == 92

        line = Line(down=Way(Inside("DATA", 4, 12), "hold"))  # behind what says who answers, and the first batch
        with fault_proxy(here.address, [line]) as proxy, KINDS[kind](proxy.address) as client:
            name = reader_of(client)
            stream = client.retrieve(**QUERY)
            frames = [next(stream), next(stream)]
            before = here.answering(name)
            kill(here, name)
            proxy.reset()  # what the dead process has sent before is lost too
            frames += stream
            assert told(frames) == whole
            assert any(isinstance(each, Reconnecting) for each in frames)
            assert eventually(lambda: here.answering(name) > before, _LONG)

        uploads = [DocumentUpload(f"w/{n}.md", f"{n} wombat ".encode() * 600) for n in range(60)]
        events: list[Any] = []
        with fault_proxy(here.address, [Line(up=Way(150_000, "hold"))]) as proxy, KINDS[kind](proxy.address) as client:
            ingest = client.ingest_documents(uploads)
            while not events or not isinstance(events[-1], IngestAck):
                events.append(next(ingest))
            before = here.answering("writer")
            kill(here, "writer")
            proxy.connections[0].up.grant()
            events += ingest
            report = ingest.collect()
            assert eventually(lambda: here.answering("writer") > before, _LONG)
            assert len(report.outcomes) == len({each.doc_id for each in report.outcomes}) == 60
            assert (report.summary.stored + report.summary.unchanged, report.summary.failed) == (60, 0)
        revisions = [each.revision for each in direct.list_documents(prefix="w/")]
        assert revisions == [1] * 60
