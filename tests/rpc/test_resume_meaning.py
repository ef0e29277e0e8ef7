"""Streams that were searched by meaning go on where the same rows have a vector; others do not ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, narrative_pb2, stream_pb2
from tests.rpc.house import TEXTS, House, house, snippets
from tests.rpc.resuming import ask, cuts, expected, refusal_of, rest, resumed
from tests.rpc.test_embedding_meanwhile import Valve
from tests.rpc.test_pages import pages, plain
from tests.support.eventually import eventually

GONE = (grpc.StatusCode.ABORTED, "RESUME_SNAPSHOT_GONE")
DAY = stream_pb2.CallOptions(reference_date="2025-06-30")
LEXICAL, HYBRID, VECTOR = (
    narrative_pb2.RETRIEVAL_MODE_LEXICAL,
    narrative_pb2.RETRIEVAL_MODE_HYBRID,
    narrative_pb2.RETRIEVAL_MODE_VECTOR,
)


def retrieval(mode: Any, top_k: int = 50, query: str = "report about rivers") -> narrative_pb2.NarrativeRetrieveRequest:
    return narrative_pb2.NarrativeRetrieveRequest(options=DAY, query=query, top_k=top_k, mode=mode)


def covered(here: House) -> bool:
    (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    return library.embedding_coverage == 1.0


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("embedded") / "data", embedding__backend="deterministic") as here:
        here.store(TEXTS)
        assert eventually(lambda: covered(here), seconds=60)
        yield here


@pytest.mark.parametrize("mode", [LEXICAL, HYBRID, VECTOR])
@pytest.mark.parametrize(("top_k", "query"), [(1, "日本の人口"), (7, "report about rivers"), (20, "北京 首都")])
def test_pages_are_the_long_answer(embedded: House, mode: Any, top_k: int, query: str) -> None:
    whole = plain(snippets(ask(embedded, retrieval(mode, 200, query))))
    told = list(pages(embedded, retrieval(mode, top_k, query)))
    assert [one for frames in told for one in plain(snippets(frames))] == whole


@pytest.mark.parametrize("mode", [HYBRID, VECTOR])
def test_what_is_written_and_embedded_later_does_not_matter(tmp_path: Path, mode: Any) -> None:
    with house(tmp_path / "data", embedding__backend="deterministic") as here:
        here.store(TEXTS)
        assert eventually(lambda: covered(here), seconds=60)
        request = retrieval(mode)
        whole = list(ask(here, request))
        places = list(cuts(whole))
        here.store({f"new/{number}.txt": f"report about rivers, number {number}" for number in range(20)})
        assert eventually(lambda: covered(here), seconds=60)
        for cut in places:
            assert rest(list(ask(here, resumed(request, cut.token)))) == expected(whole, cut.counts)
    with house(tmp_path / "data", embedding__backend="deterministic") as here:
        assert eventually(lambda: covered(here), seconds=60)
        for cut in places:
            assert rest(list(ask(here, resumed(request, cut.token)))) == expected(whole, cut.counts)


def test_vectors_that_come_in_between_end_what_was_searched_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words do not ask for vectors: their streams go on, under the id that they began with."""
    valve = Valve(monkeypatch)
    with house(tmp_path / "data", embedding__backend="deterministic") as here:
        here.store({f"{number}.txt": f"apples number {number}" for number in range(8)})
        by_words, by_meaning = retrieval(LEXICAL, 8, "apples"), retrieval(HYBRID, 8, "apples")
        whole = list(ask(here, by_words))
        (cut,) = cuts(whole)
        other = [each for each in ask(here, by_meaning) if each.WhichOneof("frame") == "batch"]
        valve.let_through(100)
        assert eventually(lambda: covered(here), seconds=60)
        again = list(ask(here, resumed(by_words, cut.token)))
        assert rest(again) == expected(whole, cut.counts)
        assert again[0].header.snapshots == whole[0].header.snapshots
        assert next(ask(here, by_words)).header.snapshots != whole[0].header.snapshots
        assert refusal_of(here, resumed(by_meaning, other[0].batch.after.token)) == GONE
