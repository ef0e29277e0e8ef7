"""Clients whose server stops and comes again while they read and write, over several libraries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from groundwire import (
    Client,
    DocumentUpload,
    ErrorReason,
    GroundwireError,
    IngestAck,
    MetricOutcomes,
    Reconnecting,
    SnippetBatch,
    StreamHeader,
)
from groundwire.v1 import admin_pb2
from tests.client.both import KINDS
from tests.rpc.house import House, furnish, house
from tests.rpc.on_the_way import CALLS, begin, plain, short_pauses, told
from tests.support.fault_proxy import Inside, Line, Way, fault_proxy

LIBRARIES = ["default", "side", "third"]


@pytest.fixture(scope="module", autouse=True)
def _short_pauses() -> Iterator[None]:
    with short_pauses():
        yield


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with three libraries that tell of the same."""
    with house(tmp_path / "data") as here:
        furnish(here)
        for name in LIBRARIES[1:]:
            library = admin_pb2.Library(library_id=name, description="reports of rivers")
            here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))
            texts = {f"{name}/{n}.txt": f"A report about rivers {n}; a fox sleeps in {name}." for n in range(15)}
            here.store(texts, library=name)
    return tmp_path / "data"


def write_more(here: House) -> None:
    here.store({"late.txt": "A report about rivers", "many/001.txt": "Nothing."})
    here.store({"late.txt": "A fox and a report about rivers", "side/1.txt": "Nothing."}, library="side")
    here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="new")))


def until_a_cursor(stream: Iterator[Any]) -> list[Any]:
    """What comes up to the first frame that can be gone on behind."""
    frames = [next(stream)]
    while not isinstance(frames[-1], SnippetBatch | MetricOutcomes):
        frames.append(next(stream))
    return frames


def test_answers_go_on_in_the_server_that_comes_after(data: Path, kind: str) -> None:
    with ExitStack() as stack:
        whole, begun = {}, {}
        with house(data) as here:
            with Client(here.server.address) as direct:
                for name in CALLS:
                    stream = begin(direct, name, libraries=LIBRARIES)
                    whole[name] = (told(stream), plain(stream.collect()))
            for name in CALLS:
                line = Line(down=Way(Inside("DATA", 6, 12), "hold"))
                proxy = stack.enter_context(fault_proxy(here.server.address, [line]))
                client = stack.enter_context(KINDS[kind](proxy.address))
                stream = begin(client, name, libraries=LIBRARIES)
                begun[name] = (proxy, stream, until_a_cursor(stream))
            write_more(here)
        with house(data) as here:
            write_more(here)
            for name, (proxy, stream, frames) in begun.items():
                proxy.target = here.server.address
                proxy.reset()
                frames += stream
                assert told(frames) == whole[name][0], name
                assert plain(stream.collect()) == whole[name][1], name
            broken = [any(isinstance(each, Reconnecting) for each in frames) for _, _, frames in begun.values()]
            assert sum(broken) > len(broken) / 2  # the others had all before


def test_an_answer_of_which_only_the_header_had_come_is_that_of_now(data: Path, kind: str) -> None:
    """It has no cursor yet; the header comes once more where it is another one."""
    with ExitStack() as stack:
        with house(data) as here:
            line = Line(down=Way(Inside("DATA", 2, 12), "hold"))
            proxy = stack.enter_context(fault_proxy(here.server.address, [line]))
            client = stack.enter_context(KINDS[kind](proxy.address))
            stream = begin(client, "retrieve", libraries=LIBRARIES)
            assert isinstance(next(stream), StreamHeader)
            write_more(here)
        with house(data) as here, Client(here.server.address) as direct:
            proxy.target = here.server.address
            proxy.reset()
            again, *frames = stream
            assert isinstance(again, Reconnecting)
            assert told(frames) == told(begin(direct, "retrieve", libraries=LIBRARIES))
            assert [type(each) for each in frames].count(StreamHeader) == 1
            assert plain(stream.collect()) == plain(begin(direct, "retrieve", libraries=LIBRARIES).collect())


def test_a_library_that_was_deleted_meanwhile_is_told(data: Path, kind: str) -> None:
    with house(data) as here:
        line = Line(down=Way(Inside("DATA", 4, 12), "hold"))
        with fault_proxy(here.server.address, [line]) as proxy, KINDS[kind](proxy.address) as client:
            stream = begin(client, "retrieve", libraries=LIBRARIES)
            until_a_cursor(stream)
            with Client(here.server.address) as direct:
                direct.delete_library(
                    "side", confirmation=direct.delete_library("side", validate_only=True).confirmation
                )
            proxy.reset()
            with pytest.raises(GroundwireError) as caught:
                list(stream)
            assert caught.value.reason is ErrorReason.RESUME_SNAPSHOT_GONE


def test_a_server_that_is_away_for_a_while(data: Path, kind: str) -> None:
    with ExitStack() as stack:
        with house(data) as here:
            with Client(here.server.address) as direct:
                whole = told(begin(direct, "ask in parts"))
            line = Line(down=Way(Inside("DATA", 6, 12), "hold"))
            proxy = stack.enter_context(fault_proxy(here.server.address, [line]))
            client = stack.enter_context(KINDS[kind](proxy.address))
            stream = begin(client, "ask in parts")
            frames = until_a_cursor(stream)
        proxy.refuse()
        proxy.reset()
        while sum(isinstance(each, Reconnecting) for each in frames) < 4:
            frames.append(next(stream))
        with house(data) as here:
            proxy.target = here.server.address
            proxy.admit()
            frames += stream
            assert told(frames) == whole


def test_an_ingest_goes_on_in_the_server_that_comes_after(data: Path, kind: str) -> None:
    uploads = [DocumentUpload(f"w/{n}.md", f"{n} wombat ".encode() * 4_000) for n in range(40)]
    events: list[Any] = []
    with ExitStack() as stack:
        with house(data) as here:
            line = Line(up=Way(500_000, "hold"))
            proxy = stack.enter_context(fault_proxy(here.server.address, [line]))
            client = stack.enter_context(KINDS[kind](proxy.address))
            stream = client.ingest_documents(uploads)
            while not events or not isinstance(events[-1], IngestAck):
                events.append(next(stream))
        proxy.refuse()
        proxy.reset()
        with house(data) as here:
            proxy.target = here.server.address
            proxy.admit()
            events += stream
            report = stream.collect()
            assert (report.summary.stored, report.summary.unchanged, report.summary.failed) == (40, 0, 0)
            assert len(report.outcomes) == len({each.doc_id for each in report.outcomes}) == 40
            assert any(isinstance(each, Reconnecting) for each in events)
            with Client(here.server.address) as direct:
                revisions = [each.revision for each in direct.list_documents(prefix="w/")]
            assert revisions == [1] * 40
