"""Callers of different clearance who search at the same moment share the work, and nothing else."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from groundwire_server.dense import row_scan
from groundwire_server.engine import Engine
from groundwire_server.engine.info import LibraryInfo
from groundwire_server.evidence import (
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    DegradationKind,
    Filter,
    Label,
    Operator,
    Predicate,
    Principal,
    Snippets,
)
from groundwire_server.ingest import DocumentHead, IngestOpening
from groundwire_server.narrative import RetrievalMode, RetrieveRequest
from groundwire_server.settings import load_settings
from tests.support.eventually import eventually

WORDS = ("fox", "heron", "狐", "鷺", "湖", "river", "冬", "snow")
EXACT = frozenset({DegradationKind.VECTOR_PARTIAL})


@dataclass(frozen=True)
class Caller:
    """One of those who ask."""

    principal: Principal
    query: str
    tree: Filter | None

    def ask(self, here: Engine, cancel: CancelToken | None = None) -> list[tuple[str, object, object]]:
        call = Call(self.principal, CallOptions(filter=self.tree, forbid=EXACT), cancel=cancel or CancelToken())
        request = RetrieveRequest(self.query, mode=RetrievalMode.VECTOR, top_k=20)
        frames = [frame for frame in here.retrieve(request, call) if isinstance(frame, Snippets)]
        return [(each.snippet_id, each.payload, each.scores) for frame in frames for each in frame.snippets]


def _callers() -> list[Caller]:
    some = Predicate("doc_id", Operator.IN, tuple(f"{number:03}" for number in range(0, 240, 2)))
    return [
        Caller(Principal(f"caller {number}", clearance), f"{WORDS[number % 8]} {WORDS[(number + 3) % 8]}", tree)
        for number, (clearance, tree) in enumerate(
            (clearance, tree)
            for clearance in (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)
            for tree in (None, some)
            for _ in range(4)
        )
    ]


def test_callers_at_once_get_what_each_gets_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_scan, "PART_ROWS", 16)
    options = {"data": tmp_path, "embedding.backend": "deterministic", "embedding.workers": 1}
    here = Engine(load_settings(options, environ={}))
    writer = Principal("writer", Label.CONFIDENTIAL)
    try:
        here.wait_for_embedder(60)
        with here.open_documents("default", IngestOpening("00000000-0000-4000-8000-000000000001"), writer) as stream:
            list(stream.opening())
            for number in range(240):
                text = " ".join(WORDS[(number * step) % 8] for step in (1, 3, 5)) + f" {number % 9}"
                label = (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)[number % 3]
                stream.feed(number + 1, DocumentHead(f"{number:03}", label=label), text.encode(), True)
            stream.finish(240)
        here.wake_embedding("default")

        def whole() -> bool:
            (library,) = here.list_libraries(writer, after="", limit=9).libraries
            return isinstance(library, LibraryInfo) and library.embedding_coverage == 1.0

        assert eventually(whole)
        callers = _callers()
        alone = [caller.ask(here) for caller in callers]
        assert all(len(found) == 20 for found in alone)
        start = threading.Barrier(len(callers) + 1)

        def ask(caller: Caller) -> list[tuple[str, object, object]]:
            start.wait(60)
            return caller.ask(here)

        def give_up() -> None:
            token = CancelToken()
            token.cancel()
            start.wait(60)
            with pytest.raises(CallCancelled):
                callers[0].ask(here, token)

        with ThreadPoolExecutor(len(callers) + 1) as pool:
            leaving = pool.submit(give_up)
            assert list(pool.map(ask, callers)) == alone
            leaving.result(60)
    finally:
        here.close()
