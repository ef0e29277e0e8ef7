"""Streams over several libraries go on over those that they began with, whatever comes and goes beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, ingest_pb2, narrative_pb2, stream_pb2
from tests.rpc.house import House, furnish, house, snippets
from tests.rpc.resuming import ask, cuts, expected, refusal_of, requests, rest, resumed
from tests.rpc.test_pages import pages, plain

DAY = stream_pb2.CallOptions(reference_date="2025-06-30")
QUERY = narrative_pb2.NarrativeRetrieveRequest(options=DAY, query="report about rivers", top_k=30)


def make(here: House, library_id: str, description: str = "") -> None:
    library = admin_pb2.Library(library_id=library_id, description=description)
    here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))


@pytest.fixture
def two(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as here:
        furnish(here)
        make(here, "side", "reports of rivers")
        here.store({f"s/{number}.txt": f"A report about rivers {number}" for number in range(30)}, library="side")
        yield here


def every_cut(here: House) -> list[tuple[Any, list[Any], Any]]:
    given = [QUERY, *requests().values()]
    found = []
    for request in given:
        whole = list(ask(here, request))
        found += [(request, whole, cut) for cut in cuts(whole)]
    return found


def test_libraries_that_come_do_not_matter(two: House) -> None:
    places = every_cut(two)
    make(two, "another", "report about rivers")
    two.store({"n.txt": "report about rivers"}, library="another")
    two.store({"s/0.txt": "Nothing."}, library="side")
    two.store({"hidden.txt": "report about rivers"}, library="side", label=ingest_pb2.LABEL_CONFIDENTIAL)
    for request, whole, cut in places:
        assert rest(list(ask(two, resumed(request, cut.token)))) == expected(whole, cut.counts)


def test_a_library_that_goes_ends_what_was_read_of_it_and_of_others(two: House) -> None:
    places = every_cut(two)
    asked = admin_pb2.DeleteLibraryRequest(library_id="side", validate_only=True)
    confirmation = two.admin.DeleteLibrary(asked).confirmation
    two.admin.DeleteLibrary(admin_pb2.DeleteLibraryRequest(library_id="side", confirmation=confirmation))
    for request, _, cut in places:
        assert refusal_of(two, resumed(request, cut.token)) == (grpc.StatusCode.ABORTED, "RESUME_SNAPSHOT_GONE")


def test_pages_of_several_libraries_are_the_long_answer(two: House) -> None:
    longer = narrative_pb2.NarrativeRetrieveRequest(options=DAY, query=QUERY.query, top_k=200)
    shorter = narrative_pb2.NarrativeRetrieveRequest(options=DAY, query=QUERY.query, top_k=7)
    whole = plain(snippets(ask(two, longer)))
    found: list[bytes] = []
    for number, frames in enumerate(pages(two, shorter)):
        found += plain(snippets(frames))
        two.store({f"late/{number}.txt": "report about rivers"}, library=("side", "default")[number % 2])
    assert found == whole


def test_a_library_that_did_not_answer_has_no_part_in_the_rest(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        furnish(here)
        make(here, "side")
    store = tmp_path / "data" / "libraries" / "side" / "store.sqlite"
    sound = store.read_bytes()
    for each in store.parent.glob("store.sqlite*"):
        each.write_bytes(b"damaged" * 1000)
    with house(tmp_path / "data") as here:
        whole = list(ask(here, QUERY))
        (first, *_) = list(cuts(whole))
        assert "side" in [each.library_id for each in whole[-1].summary.degradations]
        again = list(ask(here, resumed(QUERY, first.token)))
        assert rest(again) == expected(whole, first.counts)
    for each in store.parent.glob("store.sqlite*"):
        each.unlink()
    store.write_bytes(sound)
    with house(tmp_path / "data") as here:
        again = list(ask(here, resumed(QUERY, first.token)))
        assert [one.snippet_id for one in snippets(again)] == [one.snippet_id for one in snippets(whole)][20:]
        assert "side" in [each.library_id for each in again[-1].summary.degradations]
