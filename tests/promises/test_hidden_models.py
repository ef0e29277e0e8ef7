"""Promise 3 and the model of the vectors: what only others may read does not tell that another model was here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundwire_server.dense import HashEmbedder
from groundwire_server.engine import Engine
from groundwire_server.engine.info import LibraryInfo
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Call, Header, Label, Principal, Snippets, Summary
from groundwire_server.ingest import DocumentHead, IngestOpening
from groundwire_server.jobs import JobState
from groundwire_server.narrative import RetrievalMode, RetrieveRequest
from groundwire_server.settings import load_settings
from tests.support.eventually import eventually

LOW, HIGH = Principal("low", Label.INTERNAL), Principal("high", Label.CONFIDENTIAL)


@contextmanager
def _serving(data: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """With an embedder of some version."""
    embedder = HashEmbedder()
    embedder.version = version * 64
    monkeypatch.setattr("groundwire_server.engine.embedding.make_embedder", lambda *_, **__: embedder)
    options = {"data": data, "embedding.backend": "deterministic", "embedding.workers": 1, "secret": "s" * 32}
    here = Engine(load_settings(options, environ={}))
    try:
        here.wait_for_embedder(60)
        yield here
    finally:
        here.close()


def _store(here: Engine, number: int, label: Label, **texts: str) -> None:
    opening = IngestOpening(f"00000000-0000-4000-8000-{number:012}")
    with here.open_documents("default", opening, HIGH) as stream:
        list(stream.opening())
        for seq, (doc_id, text) in enumerate(texts.items(), 1):
            stream.feed(seq, DocumentHead(doc_id, label=label), text.encode(), True)
        stream.finish(len(texts))
    here.wake_embedding("default")


def _embedded(here: Engine, principal: Principal) -> bool:
    (library,) = here.list_libraries(principal, after="", limit=9).libraries
    jobs, _ = here.jobs.page(principal, library_id="default", state=None, after=None, limit=99)
    done = all(job.state not in (JobState.QUEUED, JobState.RUNNING) for job in jobs)
    return done and isinstance(library, LibraryInfo) and library.embedding_coverage == 1.0


def _all_that_is_told(here: Engine, principal: Principal) -> list[object]:
    """What a caller reads of the library, times aside."""
    told: list[object] = []
    for mode in (RetrievalMode.AUTO, RetrievalMode.HYBRID, RetrievalMode.VECTOR):
        for frame in here.retrieve(RetrieveRequest("狐 fox", mode=mode), Call(principal)):
            if isinstance(frame, Header):
                told.append(frame.plan)
            elif isinstance(frame, Snippets):
                told += [(each.snippet_id, each.payload, each.scores) for each in frame.snippets]
            elif isinstance(frame, Summary):
                told += [frame.degradations, frame.end_reason]
    (library,) = here.list_libraries(principal, after="", limit=9).libraries
    assert isinstance(library, LibraryInfo)
    told += [library.embedding_coverage, library.embedder, library.chunks]
    jobs, _ = here.jobs.page(principal, library_id="default", state=None, after=None, limit=99)
    told += [(job.kind, job.state, job.error) for job in jobs]
    return told


def test_hidden_vectors_of_another_model_do_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for hidden in (False, True):
        data = tmp_path / str(hidden)
        with _serving(data, "a", monkeypatch) as here:
            _store(here, 1, Label.CONFIDENTIAL, **({"secret": "a fox of gold"} if hidden else {}))
            assert not hidden or eventually(lambda: _embedded(here, HIGH))
        with _serving(data, "b", monkeypatch) as here:
            _store(here, 2, Label.INTERNAL, den="the fox sleeps", 狐="狐は赤い")
            assert eventually(lambda: _embedded(here, LOW))
            told.append(_all_that_is_told(here, LOW))
            if hidden:
                *_, summary = here.retrieve(RetrieveRequest("fox"), Call(HIGH))
                assert isinstance(summary, Summary)
                (off,) = summary.degradations
                assert off.cause is not None
                assert off.cause.reason is ErrorReason.INDEX_MISMATCH
        with _serving(data, "b", monkeypatch) as here:  # and after a restart
            told.append(_all_that_is_told(here, LOW)[:-2])
    assert told[0] == told[2]
    assert told[1] == told[3]
