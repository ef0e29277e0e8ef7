"""Every citation that docs/readers.md lists by hand, given out by a real server and verified by it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from groundwire import Client, DocumentOutcome, DocumentUpload, IndexSettings, Library, Snippet
from groundwire_server.evidence import Locator
from groundwire_server.readers import DocxReader, HtmlReader, PdfReader, PptxReader, Reader
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "readers.md"
FILES = ROOT / "tests" / "readers" / "files"
_ROW = re.compile(
    r"^\| (?P<file>[^|`]+) \| (?P<quote>[^|]+) \| `(?P<locator>[^`]+)` \| (?P<where>[^|]+) \|$", re.MULTILINE
)


@dataclass(frozen=True)
class Row:
    file: str
    quote: str
    locator: str


def rows() -> list[Row]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return [Row(match["file"], match["quote"], match["locator"]) for match in _ROW.finditer(text)]


def names() -> list[str]:
    return sorted(path.name for path in FILES.iterdir() if path.name != "SOURCES.md")


@dataclass(frozen=True)
class Served:
    address: str
    client: Client
    outcomes: dict[str, DocumentOutcome]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that has every sample in a library of its own; passages are short, so that places are narrow."""
    settings = load_settings(
        {
            "data": tmp_path_factory.mktemp("samples"),
            "server.port": 0,
            "log.level": "error",
            "embedding.backend": "none",
        },
        environ={},
    )
    with running_server(settings) as address, Client(address) as client:
        outcomes = {}
        for name in names():
            library = library_of(name)
            short = 20 if "-ja" in name or "-zh" in name else 40
            client.save_library(Library(library, index=IndexSettings(chunk_chars=short, overlap_chars=0)))
            with client.ingest_documents(
                [DocumentUpload(name, (FILES / name).read_bytes())], library=library
            ) as events:
                (outcomes[name],) = events.collect().outcomes
        yield Served(address, client, outcomes)


def library_of(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.casefold())


def cited(served: Served, row: Row) -> list[Snippet]:
    """The passages of a file that hold a quotation."""
    stream = served.client.retrieve(row.quote, top_k=200, libraries=[library_of(row.file)])
    return [snippet for snippet in stream.collect().snippets if row.quote in snippet.payload.text]


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.file}-{row.locator}")
def test_a_citation_leads_where_the_table_says(served: Served, row: Row) -> None:
    found = cited(served, row)
    assert found, "no passage holds the quotation"
    places = [snippet.lineage.source_locator for snippet in found]
    wanted = str(Locator(row.file)) + f"#{row.locator}"
    assert wanted in places
    snippet = found[places.index(wanted)]
    lineage = snippet.lineage
    assert str(Locator.parse(lineage.source_locator)) == lineage.source_locator
    whole = served.client.get_document(
        row.file, library=library_of(row.file), revision=lineage.revision, include_text=True
    ).text
    assert lineage.span is not None
    assert whole[lineage.span.start : lineage.span.end] == snippet.payload.text
    assert served.client.verify(snippet).verdict.name == "EXACT"
    assert served.client.verify(snippet, row.quote).verdict.name == "EXACT"


@pytest.mark.parametrize("name", names())
def test_every_sample_is_read_small_and_cited_three_times(served: Served, name: str) -> None:
    assert (FILES / name).stat().st_size <= 60 * 1024
    assert served.outcomes[name].error is None
    assert sum(row.file == name for row in rows()) >= 3


@pytest.mark.parametrize("reader", [HtmlReader(), PdfReader(), DocxReader(), PptxReader()], ids=lambda r: r.suffixes[0])
def test_a_reader_has_samples_of_several_producers(reader: Reader) -> None:
    assert sum(name.endswith(reader.suffixes) for name in names()) >= 3


def test_the_snippet_of_the_document_works(served: Served) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    said = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env=dict(os.environ, GROUNDWIRE_ADDRESS=served.address),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.splitlines() == ["PAGE_WITHOUT_TEXT ferry.pdf#page=3", "DEGRADATION_FORBIDDEN"]
