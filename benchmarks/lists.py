"""Lists: a page of what is stored, through a real server on a local socket.

    python benchmarks/lists.py [--rows 100000] [--calls 40]

A library of so many documents, figures and relations, a third of each hidden from the caller, is listed page by page.
The peer is the same list in a library a tenth as large, in turn: a page that is found by its place costs as much in
either. Each figure is the median over the calls. Load and the time of a fixed loop are printed with each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import grpc
from report import calibration_ms, commit, say

from groundwire.v1 import admin_pb2, admin_pb2_grpc
from groundwire_server.evidence import Label, Span
from groundwire_server.library import DataFolder
from groundwire_server.store import EdgeRecord, FactRecord, NewChunk, NewDocument, StoreWriter

SMALL, LARGE = "small", "large"
TEXT = "A short text about bread."
ROWS_A_WRITE = 20_000


def main() -> int:
    """Run and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--calls", type=int, default=40)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as temporary:
        rows = {SMALL: chosen.rows // 10, LARGE: chosen.rows}
        with DataFolder(Path(temporary)) as folder:
            for library_id, count in rows.items():
                library = folder.create(library_id)
                for begin in range(0, count, ROWS_A_WRITE):
                    with library.writing() as writer:
                        fill(writer, range(begin, min(begin + ROWS_A_WRITE, count)))
                say(f"stored {count:,} documents, figures and relations")
        measure(Path(temporary), rows, chosen.calls)
    return 0


def fill(writer: StoreWriter, numbers: range) -> None:
    """A document, a figure and a relation for each number."""
    for number in numbers:
        writer.replace_document(document(number))
    writer.put_facts(map(figure, numbers))
    writer.put_edges(map(relation, numbers))


def label(number: int) -> Label:
    """Every third row is hidden from the caller."""
    return Label.CONFIDENTIAL if number % 3 == 0 else Label.INTERNAL


def document(number: int) -> NewDocument:
    """A document of one chunk."""
    doc_id = f"folder/{number:07}.txt"
    return NewDocument(
        doc_id=doc_id,
        title="",
        media_type="text/plain",
        text=TEXT,
        raw_sha256=hashlib.sha256(TEXT.encode()).digest(),
        raw_bytes=len(TEXT),
        chunker="whole",
        chunks=(NewChunk(Span(0, len(TEXT)), f"{doc_id}#line=1"),),
        label=label(number),
    )


def figure(number: int) -> FactRecord:
    """A figure of one of 20 metrics of an entity for a year."""
    year = 2000 + number // 20 % 20
    return FactRecord(
        metric=f"METRIC_{number % 20:02}",
        entity=f"ENTITY_{number // 400:05}",
        period=str(year),
        period_first=date(year, 1, 1),
        period_last=date(year, 12, 31),
        channel="TOTAL",
        value=str(number),
        unit="USD",
        source_doc="figures.csv",
        locator=f"figures.csv#row={number}",
        label=label(number),
    )


def relation(number: int) -> EdgeRecord:
    """A relation to one of ten others."""
    return EdgeRecord(
        source_kind="entity",
        source=f"PARENT_{number // 10:06}",
        relation="parent_of",
        target_kind="entity",
        target=f"CHILD_{number:07}",
        extractor="file",
        source_doc="relations.csv",
        locator=f"relations.csv#row={number}",
        label=label(number),
    )


def measure(data: Path, rows: dict[str, int], calls: int) -> None:
    """JSON lines, then a table."""
    from groundwire_server.rpc import running_server
    from groundwire_server.settings import load_settings

    settings = {"data": data, "server.port": 0, "embedding.backend": "none", "log.level": "error"}
    lines: list[dict[str, Any]] = []
    with running_server(load_settings(settings, environ={})) as address, grpc.insecure_channel(address) as channel:
        stub = admin_pb2_grpc.AdminServiceStub(channel)
        for name, call in pages(stub).items():
            taken: dict[str, list[float]] = {SMALL: [], LARGE: []}
            for library_id in rows:
                call(library_id)
            for _ in range(calls):
                for library_id, times in taken.items():
                    start = time.perf_counter()
                    call(library_id)
                    times.append((time.perf_counter() - start) * 1e3)
            value, peer = statistics.median(taken[LARGE]), statistics.median(taken[SMALL])
            machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
            machine += f"calibration {calibration_ms():.0f} ms, Python {platform.python_version()}"
            line = {"name": name, "unit": "ms", "value": value, "peer": peer, "ratio": peer / value}
            lines.append(line | {"n": rows[LARGE], "commit": commit(), "machine": machine})
    for line in lines:
        say(json.dumps(line))
    say(f"{'page of 100, p50':40} {rows[LARGE]:>12,} rows {rows[SMALL]:>12,} rows")
    for line in lines:
        say(f"{line['name']:40} {line['value']:14.1f} ms {line['peer']:14.1f} ms")


def pages(stub: admin_pb2_grpc.AdminServiceStub) -> dict[str, Callable[[str], Any]]:
    """One page of each list; where a token is given, the one behind the first thousand rows."""
    second: dict[tuple[str, str], str] = {}

    def later(method: str, library_id: str, **fields: Any) -> Any:
        request = getattr(admin_pb2, f"{method}Request")(library_id=library_id, **fields)
        call = getattr(stub, method)
        if (method, library_id) not in second:
            first = type(request)()
            first.CopyFrom(request)
            first.page_size = 1000
            second[method, library_id] = call(first).next_page_token
        request.page_token = second[method, library_id]
        return call(request)

    return {
        "documents": lambda library: later("ListDocuments", library),
        "documents behind a prefix": lambda library: stub.ListDocuments(
            admin_pb2.ListDocumentsRequest(library_id=library, doc_id_prefix="folder/0005")
        ),
        "documents, withdrawn ones too": lambda library: stub.ListDocuments(
            admin_pb2.ListDocumentsRequest(library_id=library, include_withdrawn=True)
        ),
        "figures": lambda library: later("ListFacts", library),
        "figures of a metric": lambda library: stub.ListFacts(
            admin_pb2.ListFactsRequest(library_id=library, metric="METRIC_07")
        ),
        "figures of a source": lambda library: stub.ListFacts(
            admin_pb2.ListFactsRequest(library_id=library, source_doc="figures.csv")
        ),
        "relations": lambda library: later("ListRelations", library),
        "a document with text and chunks": lambda library: list(
            stub.GetDocument(
                admin_pb2.GetDocumentRequest(
                    library_id=library, doc_id="folder/0005000.txt", include_text=True, include_chunks=True
                )
            )
        ),
    }


if __name__ == "__main__":
    sys.exit(main())
