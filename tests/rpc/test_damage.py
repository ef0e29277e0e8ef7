"""A damaged library is told of, by its type, to whoever meets it; a rehearsal leaves nothing behind."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, errors_pb2, evidence_pb2, ingest_pb2, metric_pb2, narrative_pb2, tools_pb2
from tests.rpc.house import Documents, Facts, House, document_part, facts, finish, furnish, glossary, house, start
from tests.rpc.serving import Failure, failure_of

CANARY = "kanarienvogel"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two libraries."""
    data = tmp_path_factory.mktemp("sound") / "data"
    with house(data) as before:
        furnish(before)
        before.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="other")))
        before.store({"o.txt": "another fox"}, library="other")
    return data


@pytest.fixture(params=["at the start", "in use"])
def damaged(request: pytest.FixtureRequest, tmp_path: Path, sound: Path) -> Iterator[House]:
    """A server whose library `default` is damaged, before it was opened or while it is."""
    shutil.copytree(sound, tmp_path / "data")
    store = tmp_path / "data" / "libraries" / "default" / "store.sqlite"

    def damage() -> None:
        size = store.stat().st_size
        with store.open("r+b") as file:
            file.seek(100 if request.param == "at the start" else 4096)
            file.write((CANARY * (size // len(CANARY))).encode())

    if request.param == "at the start":
        damage()
    with house(tmp_path / "data") as after:
        if request.param == "in use":
            list(after.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="fox")))
            damage()
        yield after


def ingest(here: House, kind: Any, part: Any, **more: Any) -> Any:
    method = here.ingest.IngestDocuments if kind is Documents else here.ingest.IngestFacts
    return method(iter([start(kind, **more), kind(part=part), finish(kind, 1)]))


DOCUMENT = document_part(1, "new.txt", b"a new fox")
FACTS = ingest_pb2.FactPart(seq=1, records=facts())
HERE = {"library_id": "default"}
CALLS: dict[str, Callable[[House], Any]] = {
    "IngestDocuments": lambda here: ingest(here, Documents, DOCUMENT),
    "IngestFacts": lambda here: ingest(here, Facts, FACTS),
    "WithdrawDocument": lambda here: here.ingest.WithdrawDocument(
        ingest_pb2.WithdrawDocumentRequest(doc_id="notes/fox.md", **HERE)
    ),
    "UpdateGlossary": lambda here: here.admin.UpdateGlossary(
        admin_pb2.UpdateGlossaryRequest(put=glossary()[:1], replace_all=True, **HERE)
    ),
    "ListDocuments": lambda here: here.admin.ListDocuments(admin_pb2.ListDocumentsRequest(**HERE)),
    "GetDocument": lambda here: here.admin.GetDocument(
        admin_pb2.GetDocumentRequest(doc_id="notes/fox.md", include_text=True, **HERE)
    ),
    "ListFacts": lambda here: here.admin.ListFacts(admin_pb2.ListFactsRequest(**HERE)),
    "ListRelations": lambda here: here.admin.ListRelations(admin_pb2.ListRelationsRequest(**HERE)),
    "QueryMetric": lambda here: here.metric.QueryMetric(
        metric_pb2.QueryMetricRequest(
            queries=[{"metric": "population", "entity": "Japan", "period": "2020"}],
            options={"library_ids": ["default"]},
        )
    ),
    "VerifyCitation": lambda here: here.tools.VerifyCitation(
        tools_pb2.VerifyCitationRequest(
            lineage=evidence_pb2.Lineage(library_id="default", doc_id="notes/fox.md", revision=1, span={"end": 9}),
            quote="fox",
        )
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_on_a_damaged_library_is_told_so(damaged: House, name: str) -> None:
    failure: Failure = failure_of(lambda: CALLS[name](damaged))
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "LIBRARIES_UNREACHABLE")
    assert CANARY.encode() not in failure.raw
    assert b"malformed" not in failure.raw
    frames = list(ingest(damaged, Documents, DOCUMENT, library="other"))
    assert frames[-1].summary.stored == 1


def test_a_damaged_library_is_listed_with_its_fault(tmp_path: Path) -> None:
    with house(tmp_path / "data") as before:
        before.store({"a.txt": "fox"})
        before.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="other")))
    (tmp_path / "data" / "libraries" / "default" / "store.sqlite").write_bytes(CANARY.encode() * 1000)
    with house(tmp_path / "data") as after:
        found: list[admin_pb2.Library] = []
        request = admin_pb2.ListLibrariesRequest(page_size=1)
        while True:
            page = after.admin.ListLibraries(request)
            found += page.libraries
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        assert [(each.library_id, each.fault.reason) for each in found] == [
            ("default", errors_pb2.ERROR_REASON_LIBRARIES_UNREACHABLE),
            ("other", errors_pb2.ERROR_REASON_UNSPECIFIED),
        ]
        assert CANARY not in found[0].fault.message


# ---- rehearsals ----------------------------------------------------------------------------------------------------

REHEARSALS: dict[str, Callable[[House], Any]] = {
    "IngestDocuments": lambda here: list(ingest(here, Documents, DOCUMENT, validate_only=True)),
    "IngestFacts": lambda here: list(ingest(here, Facts, FACTS, validate_only=True)),
    "UpdateGlossary": lambda here: here.admin.UpdateGlossary(
        admin_pb2.UpdateGlossaryRequest(put=glossary(), validate_only=True, **HERE)
    ),
    "SaveLibrary": lambda here: here.admin.SaveLibrary(
        admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="default"), validate_only=True)
    ),
}


@pytest.mark.parametrize("name", REHEARSALS)
def test_a_rehearsal_on_an_empty_server_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(aside))
    with house(tmp_path / "data") as here:
        REHEARSALS[name](here)
        assert list(here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries) == []
        assert list((tmp_path / "data" / "libraries").iterdir()) == []
    assert list(aside.iterdir()) == []


def test_a_rehearsal_tells_what_would_happen(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        told = list(ingest(here, Documents, DOCUMENT, validate_only=True))
        real = list(ingest(here, Documents, DOCUMENT))
        outcomes = [
            [frame.outcome for frame in frames if frame.WhichOneof("message") == "outcome"] for frames in (told, real)
        ]
        assert outcomes[0] == outcomes[1]
        assert [each.library_id for each in here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries] == [
            "default"
        ]
