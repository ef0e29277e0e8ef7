"""`groundwire doctor`: each line, with and without a running server."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from groundwire import Job, JobKind, JobState
from groundwire_server import __version__
from groundwire_server.cli.doctor import folder as folder_checks
from groundwire_server.cli.doctor.serving import vectors_advice
from groundwire_server.cli.holder import LockHolder, read_holder
from groundwire_server.dense import HashEmbedder, factory
from groundwire_server.library import DataFolder
from tests.cli.commands import furnish, run, run_alone, run_on_terminal, server, write

Usage = namedtuple("Usage", "total used free")


def examine(*words: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """Exit code, and the findings by check."""
    ran = run("doctor", "--json", *words)
    found: dict[str, list[dict[str, Any]]] = {}
    for each in ran.frames:
        assert each["status"] in ("ok", "warn", "fail")
        assert each["message"]
        assert bool(each.get("advice")) == (each["status"] != "ok"), each
        found.setdefault(each["check"], []).append(each)
    assert ran.code == int(any(each["status"] == "fail" for each in ran.frames))
    return ran.code, found


def test_a_machine_without_data() -> None:
    code, found = examine()
    assert code == 0
    assert __version__ in found["version"][0]["message"]
    assert "numpy" in found["engines"][0]["message"]
    assert found["data"][0]["status"] == "warn"
    assert "groundwire ingest" in found["data"][0]["advice"]
    assert "server" not in found
    assert not Path("groundwire-data").exists()  # looking changes nothing


def test_a_sound_folder_without_a_running_server() -> None:
    furnish()
    code, found = examine()
    assert code == 0
    assert "nobody has the data folder open" in found["lock"][0]["message"]
    assert "started for this check" in found["server"][0]["message"]
    assert found["embedder"][0]["status"] == "ok"
    (model,) = found["llm"]  # one line for all that would ask one
    assert model["status"] == "ok"
    assert all(name in model["message"] for name in ("decomposition llm", "query_transform hyde, query_transform rag"))
    assert {"decomposition", "query_transform", "filter_extractor"}.isdisjoint(found)
    assert all(each["status"] == "ok" for each in found.get("fact_file", []))
    assert found["library"][0]["message"] == "default: 1 documents, 1 chunks, 2 facts, 0 relations"
    assert found["index"][0]["status"] == "ok"
    assert "over 1 chunks" in found["index"][0]["message"]
    assert found["model"][0]["message"] == "embedding.backend = none (environment): search by words alone"
    assert Path("groundwire-data/lock").read_bytes() == b""


def test_a_running_server_is_asked() -> None:
    furnish()
    with server() as address:
        _, found = examine()
        _, named = examine("--address", address)
    assert found["lock"][0]["message"] == f"process {os.getpid()} has the data folder open and answers at {address}"
    assert f"answers at {address}" in found["server"][0]["message"]
    assert "port" not in found
    assert {"data", "lock", "model", "disk"}.isdisjoint(named)
    assert named["library"] == found["library"]


def test_a_named_server_that_is_not_there() -> None:
    code, found = examine("--address", "127.0.0.1:1")
    assert code == 1
    assert "no server answers at 127.0.0.1:1" in found["server"][0]["message"]


def test_a_folder_that_somebody_holds_without_answering() -> None:
    furnish()
    with DataFolder(Path("groundwire-data")) as held:
        code, found = examine()
        assert code == 1
        assert found["lock"][0]["status"] == "fail"
        assert str(os.getpid()) in found["lock"][0]["message"]
        assert "server" not in found
        held.announce("127.0.0.1:1")
        _, found = examine()
        assert "127.0.0.1:1 is silent" in found["lock"][0]["message"]


def test_who_holds_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    assert read_holder(folder) is None
    with DataFolder(folder) as held:
        assert read_holder(folder) == LockHolder(os.getpid(), "")
        held.announce("127.0.0.1:50051")
        assert read_holder(folder) == LockHolder(os.getpid(), "127.0.0.1:50051")
    assert read_holder(folder) is None
    for left_over in (b'{"pid": 1, "address": "127.0.0.1:1"}', b"{", b"[]", b'{"pid": "x"}'):
        (folder / "lock").write_bytes(left_over)  # of a holder that was killed, or of nobody
        assert read_holder(folder) is None
    (tmp_path / "file").write_bytes(b"")
    assert read_holder(tmp_path / "file") is None


def test_settings_with_their_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".", {"groundwire.toml": "[server]\nthreads = 3\n"})
    monkeypatch.setenv("GROUNDWIRE_SECRET", "hush")
    said = {each["message"] for each in examine()[1]["settings"]}
    assert said == {
        "embedding.backend = none (environment)",
        "secret = *** (environment)",
        "server.threads = 3 (file)",
    }
    assert examine()[1]["workers"][0]["message"].startswith("3 threads answer")
    write(".", {"groundwire.toml": "nonsense = 1\n"})
    code, found = examine()
    assert code == 1
    assert "nonsense: is no setting" in found["settings"][0]["message"]


def test_more_embedding_threads_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_WORKERS", "256")
    assert examine()[1]["workers"][0]["status"] == "warn"


@pytest.mark.parametrize(("backend", "status"), [("auto", "warn"), ("onnx", "fail")])
def test_a_model_that_is_not_prepared(backend: str, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_BACKEND", backend)
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path.cwd() / "cache"))
    finding = examine()[1]["model"][0]
    assert finding["status"] == status
    assert "groundwire models prepare" in finding["advice"]


def test_a_model_whose_files_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_BACKEND", "auto")
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path.cwd() / "cache"))
    monkeypatch.setenv("GROUNDWIRE_MODELS", "models")
    manifest = {
        "format": 1,
        "name": "multilingual-e5-small",
        "variant": "int8",
        "source": "here",
        "files": {name: {"sha256": "00" * 32, "bytes": 3} for name in ("model.onnx", "tokenizer.json")},
    }
    folder = "models/multilingual-e5-small-int8"
    write(folder, {"manifest.json": json.dumps(manifest), "model.onnx": "abc", "tokenizer.json": "abc"})
    code, found = examine()
    assert code == 1
    assert "model.onnx is not as its manifest says" in found["model"][0]["message"]
    assert "groundwire models prepare" in found["model"][0]["advice"]


def test_a_library_that_cannot_be_opened() -> None:
    furnish()
    store = Path("groundwire-data/libraries/default/store.sqlite")
    for beside in store.parent.glob("store.sqlite-*"):
        beside.unlink()
    store.write_bytes(b"this is no database" * 500)
    code, found = examine()
    assert code == 1
    assert found["library"][0]["message"].startswith("default cannot be opened: ")


def test_vectors_that_no_job_makes() -> None:
    def job(state: JobState) -> Job:
        return Job("j", JobKind.EMBED, "default", state=state)

    assert "goes on" in vectors_advice([job(JobState.CANCELLED), job(JobState.RUNNING)], "default")
    for jobs in ([], [job(JobState.CANCELLED)], [job(JobState.FAILED)]):
        assert "`groundwire libraries reindex default --part vectors`" in vectors_advice(jobs, "default")


def test_vectors_of_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_BACKEND", "deterministic")
    furnish()
    _, sound = examine()
    assert (sound["index"][0]["status"], sound["vectors"][0]["status"]) == ("ok", "ok")
    assert sound["vectors"][0]["message"] == "default: every chunk can be found by meaning"
    monkeypatch.setattr(factory, "HashEmbedder", lambda: HashEmbedder(32))
    code, found = examine()
    assert code == 0
    assert found["index"][0]["status"] == "warn"
    assert "another" in found["index"][0]["message"]
    assert "groundwire libraries reindex default" in found["index"][0]["advice"]
    assert run("libraries", "reindex", "default").code == 0
    assert examine()[1]["index"][0]["status"] == "ok"


def test_a_data_folder_that_is_a_file() -> None:
    write(".", {"file/x": "x"})
    shutil.rmtree("file")
    Path("file").write_text("x")
    ran = run("doctor", "--data", "file")
    assert ran.code in (1, 2)
    assert "file" in (ran.err + ran.out)


@pytest.mark.parametrize(("free", "status"), [(1 << 20, "fail"), (500 << 20, "warn"), (5 << 30, "ok")])
def test_room_on_the_disk(free: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_checks.shutil, "disk_usage", lambda _: Usage(10 << 30, 0, free))
    finding = examine()[1]["disk"][0]
    assert finding["status"] == status
    assert "of 10.0 GiB are free" in finding["message"]


def test_a_port_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setenv("GROUNDWIRE_SERVER_PORT", str(other.getsockname()[1]))
        finding = examine()[1]["port"][0]
    assert finding["status"] == "warn"
    assert "Address already in use" in finding["message"]


def test_lines_for_people() -> None:
    ran = run_alone("doctor", NO_COLOR="")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "\n                -> the first `groundwire ingest` makes it" in ran.out
    shown = run_on_terminal("doctor")
    assert "\x1b[32mok  \x1b[0m  version" in shown.out
    assert "\x1b[33mwarn\x1b[0m  data" in shown.out
    assert "\x1b" not in run_on_terminal("doctor", NO_COLOR="1").out
    assert "\x1b" not in run_on_terminal("doctor", TERM="dumb").out
