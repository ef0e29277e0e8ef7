"""Over the wire, while vectors are made: how far it is, how fast, what a query says, and what is never made twice."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from groundwire import Client, Degradation, DocumentUpload, JobState, Progress
from groundwire_server.dense import HashEmbedder
from groundwire_server.ingest import embedding
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings
from tests.support.eventually import eventually

BATCH = 2
QUERY = "apples"


class Valve:
    """Lets as many texts through the embedder as it is told, and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        self._free = threading.Semaphore(0)
        embed = HashEmbedder.embed_passage

        def one_by_one(embedder: HashEmbedder, text: str) -> Any:
            if text != QUERY:  # this embedder takes queries for passages
                assert self._free.acquire(timeout=60)
                self.texts.append(text)
            return embed(embedder, text)

        monkeypatch.setattr(HashEmbedder, "embed_passage", one_by_one)
        monkeypatch.setattr(embedding, "_LEAST_BATCH", BATCH)
        monkeypatch.setattr(embedding, "_MOST_BATCH", BATCH)

    def let_through(self, count: int) -> None:
        self._free.release(count)


def partial(client: Client) -> list[Degradation]:
    summary = client.retrieve(QUERY, mode="HYBRID").collect().summary
    assert summary is not None
    return [each for each in summary.degradations if each.kind.name == "VECTOR_PARTIAL"]


def test_a_query_meanwhile_says_how_much_is_covered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    valve = Valve(monkeypatch)
    settings = {
        "data": tmp_path / "data",
        "server.port": 0,
        "log.level": "error",
        "embedding.backend": "deterministic",
    }
    with running_server(load_settings(settings, environ={})) as address, Client(address) as client:
        assert eventually(lambda: bool(client.server_info().components))
        texts = [f"apples number {number}" for number in range(8)]
        uploads = [DocumentUpload(f"{place}.txt", text.encode()) for place, text in enumerate(texts)]
        report = client.ingest_documents(uploads).collect()
        job_id = report.summary.embedding_job_id
        assert job_id
        lexical = client.retrieve(QUERY, mode="LEXICAL", top_k=20).collect()
        assert len(lexical.snippets) == 8  # at once, without a single vector
        valve.let_through(2 * BATCH)

        def covered() -> float:
            return client.list_libraries()[0].embedding_coverage or 0.0

        def how_far() -> Progress:
            return client.get_job(job_id).progress or Progress("")

        # How many are in a batch depends on how many were there when it began, how many get through does not.
        assert eventually(lambda: covered() > 0 and len(valve.texts) == 2 * BATCH, seconds=60)
        (said,) = partial(client)
        assert isinstance(said.detail, float)
        assert 0 < said.detail < 1
        assert eventually(lambda: how_far().units_per_second is not None, seconds=60)
        assert (how_far().total, how_far().remaining is not None) == (8, True)
        assert 0 < how_far().done < 8
        valve.let_through(100)
        with client.watch_job(job_id) as states:
            seen = list(states)
        assert seen[-1].state is JobState.SUCCEEDED
        assert seen[-1].progress is not None
        assert (seen[-1].progress.done, seen[-1].progress.total, seen[-1].progress.unit) == (8, 8, "chunks")
        assert partial(client) == []
        # The same text under another name has its vector already.
        again = client.ingest_documents([DocumentUpload("copy.txt", texts[0].encode())]).collect()
        assert again.summary.stored == 1
        assert eventually(lambda: covered() == 1.0, seconds=60)
        assert sorted(valve.texts) == sorted(set(valve.texts))
