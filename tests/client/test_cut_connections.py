"""Ingests into a real server over connections that break at any byte: nothing is lost, nothing is stored twice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from groundwire import Client, DocumentUpload, ErrorReason, FactRecord, Reconnecting
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings
from tests.client.both import Connect
from tests.client.cutting_proxy import cutting_proxy

# The first connection lasts until the ingest is accepted: before that, a failure is told at once and nothing is open.
ACCEPTED = 6_000
PARAGRAPH = "売上高 rose in 大阪, and costs fell. "
LARGE = (PARAGRAPH * 20_000).encode()  # some 900 KB: four parts


def uploads() -> list[DocumentUpload]:
    """Small documents, some that take several parts, some that are refused, and one again with other content."""
    documents = [DocumentUpload(f"{place:02}.md", f"{PARAGRAPH}{place}".encode() * 20) for place in range(40)]
    documents[7] = DocumentUpload("07.md", LARGE)
    documents[23] = DocumentUpload("23.md", [(PARAGRAPH * 5_000).encode()] * 3)
    documents[11] = DocumentUpload("11.md", b"\x00\x01")
    documents[31] = DocumentUpload("31.md", b"")
    return [*documents, DocumentUpload("00.md", b"apples at last")]


def cuts(seed: int) -> list[int]:
    drawn = random.Random(seed)
    return [ACCEPTED + drawn.randrange(50_000), *(drawn.choice((300, 3_000, 60_000, 400_000)) for _ in range(7))]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_documents_over_a_connection_that_breaks(connect: Connect, tmp_path: Path, seed: int) -> None:
    settings = {"data": tmp_path / "data", "server.port": 0, "log.level": "error", "embedding.backend": "none"}
    with running_server(load_settings(settings, environ={})) as address:
        with cutting_proxy(address, cuts(seed)) as proxy, connect(proxy.address) as client:
            stream = client.ingest_documents(uploads())
            broken = sum(isinstance(event, Reconnecting) for event in stream)
            report = stream.collect()
        assert broken > 0
        assert proxy.cuts > 0
        told = Counter(outcome.doc_id for outcome in report.outcomes)
        assert told == Counter(upload.doc_id for upload in uploads())
        refused = {outcome.doc_id: outcome.error.reason for outcome in report.outcomes if outcome.error}
        assert refused == {"11.md": ErrorReason.DOCUMENT_UNSUPPORTED, "31.md": ErrorReason.DOCUMENT_NO_TEXT}
        assert (report.summary.stored, report.summary.unchanged, report.summary.failed) == (39, 0, 2)
        with Client(address) as direct:
            stored = {each.doc_id: each for each in direct.list_documents()}
            assert stored["07.md"].content_bytes == len(LARGE)
            assert {doc_id: each.revision for doc_id, each in stored.items()} == {
                f"{place:02}.md": 2 if place == 0 else 1 for place in range(40) if place not in (11, 31)
            }


def test_figures_over_a_connection_that_breaks(connect: Connect, tmp_path: Path) -> None:
    settings = {"data": tmp_path / "data", "server.port": 0, "log.level": "error", "embedding.backend": "none"}
    records = [
        FactRecord("REVENUE", f"E{place}", "FY2024", str(place), "a.md", f"line={place}" + "x" * 300)
        for place in range(2_000)
    ]
    with (
        running_server(load_settings(settings, environ={})) as address,
        cutting_proxy(address, [ACCEPTED, 90_000, 3_000, 200_000]) as proxy,
        connect(proxy.address) as client,
    ):
        report = client.ingest_facts(records).collect()
        assert (report.summary.stored, report.summary.failed) == (2_000, 0)
