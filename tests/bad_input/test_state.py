"""What surrounds a server: ports, disks, folders, models, clocks, other versions. Nothing that was stored is lost."""

from __future__ import annotations

import shutil
import socket
import sqlite3
import time
from pathlib import Path

import pytest

from groundwire import Client, DocumentUpload, GroundwireError, IngestSummary
from groundwire.v1 import admin_pb2, narrative_pb2
from tests.bad_input.conftest import Tell, run_with_few_rights
from tests.bad_input.table import Told, of_call, of_command
from tests.cli.commands import run_alone, spawn, write
from tests.durability.server import ServerProcess
from tests.rpc.house import House, furnish, house, snippets
from tests.rpc.serving import failure_of
from tests.support.eventually import eventually
from tests.support.real_model import real_model

Retrieve = narrative_pb2.NarrativeRetrieveRequest


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that was closed properly."""
    data = Path(tmp_path_factory.mktemp("kept")) / "data"
    with house(data) as before:
        furnish(before)
    return data


@pytest.fixture
def data(kept: Path, alone: Path) -> Path:
    """A copy of it."""
    shutil.copytree(kept, alone / "data")
    return alone / "data"


def finds_fox(here: House) -> bool:
    found = snippets(here.narrative.NarrativeRetrieve(Retrieve(query="quick brown fox", top_k=1)))
    return [each.lineage.doc_id for each in found] == ["notes/fox.md"]


def is_intact(data: Path) -> bool:
    with house(data) as after:
        return finds_fox(after)


# ---- the port and the folder ---------------------------------------------------------------------------------------


def test_a_port_that_is_taken(data: Path, told: Tell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ran = run_alone("--data", data, "serve", "--port", port)
    assert is_intact(data)
    told(of_command(ran), port=port)


def test_a_port_of_metrics_that_is_taken(data: Path, told: Tell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ran = run_alone("--data", data, "serve", "--port", "0", GROUNDWIRE_TELEMETRY_METRICS_PORT=str(port))
        assert run_alone("--data", data, "libraries", "list", GROUNDWIRE_TELEMETRY_METRICS_PORT=str(port)).code == 0
    assert is_intact(data)
    told(of_command(ran), port=port)


@pytest.mark.parametrize(
    "place", ["collector:4318", "http://me:secret@127.0.0.1:4318/v1/traces"], ids=["no_address", "key"]
)
def test_a_place_for_traces_that_is_none(data: Path, told: Tell, place: str) -> None:
    ran = run_alone("--data", data, "serve", "--port", "0", GROUNDWIRE_TELEMETRY_TRACES_ENDPOINT=place)
    assert is_intact(data)
    told(of_command(ran))


def test_a_second_writer(data: Path, told: Tell) -> None:
    first = spawn("--data", data, "serve", "--port", "0")
    assert first.stdout is not None
    address = first.stdout.readline().partition(" answers on ")[2].partition(",")[0]
    try:
        ran = run_alone("--data", data, "serve", "--port", "0")
        with Client(address) as client:
            assert client.retrieve("quick brown fox", top_k=1).collect().snippets
    finally:
        first.terminate()
        first.communicate(timeout=60)
    told(of_command(ran), data=data, pid=first.pid, address=address)


def test_a_folder_that_may_not_be_written(data: Path, told: Tell) -> None:
    paths = [data, *data.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        ran = run_with_few_rights("--data", str(data), "retrieve", "fox")
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert is_intact(data)
    told(of_command(ran), data=data)


def test_a_file_in_place_of_the_folder(alone: Path, told: Tell) -> None:
    write(alone, {"data": "not a folder"})
    told(of_command(run_alone("--data", "data", "retrieve", "fox")))


# ---- the disk ------------------------------------------------------------------------------------------------------


def test_a_disk_that_is_full(data: Path, told: Tell) -> None:
    """The system refuses the server to make a file longer, as a full disk does."""
    with ServerProcess(data) as server:
        address = server.address()
        assert address is not None, server.log()
        server.limit_files(90_000)
        uploads = [DocumentUpload("large.txt", f"{'A walrus on the ice. ' * 20_000}".encode())]
        with Client(address) as client:
            with pytest.raises(GroundwireError) as raised, client.ingest_documents(iter(uploads)) as events:
                list(events)
            assert client.retrieve("quick brown fox", top_k=1).collect().snippets
            assert not client.retrieve("walrus", top_k=1, mode="lexical").collect().snippets
            server.limit_files(-1)
            with client.ingest_documents(iter(uploads)) as events:
                assert [each.stored for each in events if isinstance(each, IngestSummary)] == [1]
        server.stop()
    error = raised.value
    told(Told(f"{error.status} {error.reason.name}", "", error.message))


# ---- versions ------------------------------------------------------------------------------------------------------


def add_step(file: Path) -> None:
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("INSERT INTO migration (name, applied_at) VALUES ('9999_beyond', '')")
    connection.close()


def drop_last_step(file: Path) -> None:
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("DELETE FROM migration WHERE place = (SELECT max(place) FROM migration)")
    connection.close()


def test_a_library_of_a_newer_version(data: Path, told: Tell) -> None:
    store = data / "libraries" / "default" / "store.sqlite"
    add_step(store)
    before = store.read_bytes()
    with house(data) as here:
        failure = failure_of(lambda: here.narrative.NarrativeRetrieve(Retrieve(query="fox")))
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    assert store.read_bytes() == before
    seen = of_call(failure)
    told(Told(seen.answer, seen.field, f"{seen.message} ListLibraries: {library.fault.message}"))


def test_a_folder_of_a_newer_version(data: Path, told: Tell) -> None:
    add_step(data / "server.sqlite")
    before = (data / "server.sqlite").read_bytes()
    ran = run_alone("--data", data, "serve", "--port", "0")
    assert (data / "server.sqlite").read_bytes() == before
    told(of_command(ran))


@pytest.mark.parametrize("file", ["store", "server"])
def test_an_older_version(data: Path, told: Tell, file: str) -> None:
    """As the first release laid it: without what came later, and with what was stored."""
    path = data / "server.sqlite" if file == "server" else data / "libraries" / "default" / "store.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    names = [name for (name,) in connection.execute("SELECT name FROM migration ORDER BY place")]
    for name in reversed(names[1:]):
        for statement in _UNDO[name]:
            connection.execute(statement)
    connection.execute("DELETE FROM migration WHERE place > 1")
    connection.close()
    with house(data) as here:
        assert finds_fox(here)
        assert here.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default")).documents[0].revision == 1
    connection = sqlite3.connect(path)
    assert [name for (name,) in connection.execute("SELECT name FROM migration ORDER BY place")] == names
    connection.close()
    told(Told("OK", "", f"from {names[0]} to {names[-1]}"))


_UNDO = {
    "0002_jobs": ["DROP TABLE job"],
    "0002_prepare_lists": [
        *(
            f"DROP INDEX {name}"
            for name in (
                "revision_by_label",
                "fact_by_label",
                "fact_by_label_and_source",
                "edge_by_label",
                "edge_by_label_and_source",
            )
        ),
        *(f"ALTER TABLE document_revision DROP COLUMN number_{label}" for label in (1, 2, 3)),
    ],
    "0005_order_facts_by_days": [
        "CREATE INDEX fact_by_key ON fact (metric, entity, period_first, period_last)",
        "DROP INDEX fact_by_days",
    ],
    "0007_index_fact_axes": ["DROP INDEX fact_by_channel", "DROP INDEX fact_by_dimensions"],
    "0006_index_edge_deaths": ["DROP INDEX edge_by_death"],
    "0004_mark_purged": ["DROP INDEX revision_by_purge", "ALTER TABLE document_revision DROP COLUMN purged"],
    "0003_keep_places": ["DROP TABLE revision_places"],
}


# ---- the clock -----------------------------------------------------------------------------------------------------


def test_a_clock_that_goes_back(data: Path, told: Tell) -> None:
    """All that is stored was stored a day ahead of now."""
    store = data / "libraries" / "default" / "store.sqlite"
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("UPDATE generation SET committed_at = committed_at + 86400000000")
    (last,) = connection.execute("SELECT max(committed_at) FROM generation").fetchone()
    connection.close()
    with house(data) as here:
        here.store({"late.md": "An axolotl, stored after the clock went back."})
        (found,) = snippets(here.narrative.NarrativeRetrieve(Retrieve(query="axolotl")))
        assert finds_fox(here)
        assert found.lineage.ingested_at.ToMicroseconds() >= last > time.time() * 1e6
    connection = sqlite3.connect(store)
    times = [at for (at,) in connection.execute("SELECT committed_at FROM generation ORDER BY generation")]
    connection.close()
    assert times == sorted(times)
    told(Told("OK", "", "the time of a write is never before that of the write before it"))


# ---- the model -----------------------------------------------------------------------------------------------------


def test_a_model_that_is_missing(data: Path, told: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_BACKEND", "onnx")
    monkeypatch.setenv("XDG_CACHE_HOME", "no-cache")
    told(of_command(run_alone("--data", data, "serve", "--port", "0", "--models", "no-models")))


def test_a_model_that_is_missing_and_not_insisted_on(data: Path, told: Tell) -> None:
    with house(data, embedding__backend="auto", models=data.parent / "no-models") as here:
        here.server.engine.wait_for_embedder()
        assert finds_fox(here)
        seen = of_call(
            failure_of(
                lambda: here.narrative.NarrativeRetrieve(
                    Retrieve(query="fox", mode=narrative_pb2.RETRIEVAL_MODE_HYBRID)
                )
            )
        )
    told(seen, models=data.parent)


@pytest.fixture
def models(alone: Path) -> Path:
    """A copy of the real model, to spoil."""
    shutil.copytree(real_model().folder, alone / "models" / real_model().folder.name)
    return alone / "models"


@pytest.mark.model
@pytest.mark.slow
def test_a_model_that_was_altered(data: Path, models: Path, told: Tell) -> None:
    """Vectors were made by the file before."""
    hybrid = Retrieve(query="quick brown fox", top_k=1, mode=narrative_pb2.RETRIEVAL_MODE_HYBRID)

    def is_embedded(here: House) -> bool:
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        return library.embedding_coverage == 1

    with house(data, embedding__backend="onnx", models=models) as here:
        here.server.engine.wait_for_embedder()
        assert eventually(lambda: is_embedded(here), seconds=60)
        assert snippets(here.narrative.NarrativeRetrieve(hybrid))
    with next(models.rglob("model.onnx")).open("ab") as file:
        file.write(b"\0")
    with house(data, embedding__backend="auto", models=models) as here:
        here.server.engine.wait_for_embedder()
        assert finds_fox(here)
        seen = of_call(failure_of(lambda: here.narrative.NarrativeRetrieve(hybrid)))
    told(seen, models=models)
