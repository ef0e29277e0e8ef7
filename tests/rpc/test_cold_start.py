"""How a server comes up: what it loads before it answers, and what it says while the embedder is on its way."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, narrative_pb2, narrative_pb2_grpc, stream_pb2
from groundwire_server.dense import HashEmbedder
from tests.rpc.house import House, furnish, house
from tests.rpc.serving import failure_of
from tests.support.eventually import eventually
from tests.support.real_model import real_model

# Slow to import, or of use to others alone: a server that searches by words answers without them.
NOT_FOR_WORDS = {
    "dotenv",
    "fastembed",
    "groundwire._exports",
    "groundwire_server.citation",
    "groundwire_server.graph",
    "groundwire_server.metric",
    "groundwire_server.rpc.credentials",
    "groundwire_server.router",
    "groundwire_server.security.callers",
    "grpc_reflection.v1alpha",
    "huggingface_hub",
    "onnx",
    "onnxruntime",
    "opentelemetry",
    "prometheus_client",
    "pydantic_settings",
    "requests",
    "sentencepiece",
    "tokenizers",
}
NOT_FOR_VECTORS = NOT_FOR_WORDS - {"onnxruntime", "tokenizers"}
_IMPORTED = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", re.MULTILINE)


def loaded_until_answered(data: Path, *arguments: str, vectors: bool = False) -> set[str]:
    """Modules that `groundwire serve` has loaded when it has answered a question and stopped."""
    command = [sys.executable, "-X", "importtime", "-m", "groundwire_server.cli", "serve", "--port", "0"]
    command += ["--data", str(data), "--log-level", "error", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDWIRE_")}
    lines: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=data
    ) as process:
        try:
            assert process.stdout is not None
            reader = threading.Thread(target=lambda: lines.extend(process.stderr or ()))
            reader.start()
            address = process.stdout.readline().partition(" on ")[2].partition(",")[0]
            with grpc.insecure_channel(address) as channel:
                stub = narrative_pb2_grpc.NarrativeServiceStub(channel)
                request = narrative_pb2.NarrativeRetrieveRequest(query="fox")
                assert list(stub.NarrativeRetrieve(request))[-1].summary.returned
                if vectors:
                    assert eventually(lambda: not offs(stub), seconds=60)
            process.terminate()
            assert process.wait(30) == 0
            reader.join()
        finally:
            process.kill()
    return set(_IMPORTED.findall("".join(lines)))


def offs(stub: Any) -> list[tuple[int, str]]:
    """Kinds and components of what made the answer of a question without a mode less than it could be."""
    summary = list(stub.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="fox")))[-1].summary
    return [(each.kind, each.component) for each in summary.degradations]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = Path(tmp_path_factory.mktemp("cold")) / "data"
    with house(data) as here:
        here.store({"fox.md": "A fox sleeps in a den."})
    return data


def test_words_are_answered_without_what_only_vectors_need(stored: Path) -> None:
    loaded = loaded_until_answered(stored, "--lexical")
    assert {"numpy", "groundwire_server.narrative"} <= loaded
    assert sorted(NOT_FOR_WORDS & loaded) == []


@pytest.mark.model
def test_vectors_are_answered_without_what_only_fetching_models_needs(stored: Path) -> None:
    loaded = loaded_until_answered(stored, "--models", str(real_model().folder.parent), vectors=True)
    assert {"onnxruntime", "tokenizers"} <= loaded
    assert sorted(NOT_FOR_VECTORS & loaded) == []


def test_what_the_server_says_while_the_embedder_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(*_args: object, **_kwargs: object) -> HashEmbedder:
        assert go_on.wait(10)
        return HashEmbedder()

    monkeypatch.setattr("groundwire_server.engine.embedding.make_embedder", slow)
    with house(tmp_path / "data", embedding__backend="deterministic") as here:
        furnish(here)
        assert offs(here.narrative) == [(stream_pb2.DEGRADATION_KIND_VECTOR_OFF, "embedder:loading")]
        assert embedder(here) == (False, "The embedder is loading.", "")
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert (library.embedding_coverage, library.index.embedder) == (0.0, "auto")
        hybrid = narrative_pb2.NarrativeRetrieveRequest(query="fox", mode=narrative_pb2.RETRIEVAL_MODE_HYBRID)
        failure = failure_of(lambda: here.narrative.NarrativeRetrieve(hybrid))
        assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_EMBEDDER")
        lexical = narrative_pb2.NarrativeRetrieveRequest(query="fox", mode=narrative_pb2.RETRIEVAL_MODE_LEXICAL)
        assert not list(here.narrative.NarrativeRetrieve(lexical))[-1].summary.degradations
        go_on.set()
        assert eventually(lambda: not offs(here.narrative))
        assert embedder(here) == (True, "", HashEmbedder().version)
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert (library.embedding_coverage, library.index.embedder.partition("@")[2]) == (1.0, HashEmbedder().version)


def embedder(here: House) -> tuple[bool, str, str]:
    info = here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
    (found,) = [each for each in info.components if each.kind == "embedder"]
    return found.active, found.inactive_reason, found.version
