"""What networks do to connections over which documents and figures are put in: each is stored, and once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from groundwire import (
    Client,
    DocumentOutcome,
    DocumentUpload,
    ErrorReason,
    FactRecord,
    GroundwireError,
    Reconnecting,
)
from tests.rpc.house import House, house
from tests.rpc.on_the_way import (
    ORDINARY,
    THOROUGH,
    behind,
    breaks_of_ingests,
    in_time,
    nothing_left,
    read,
    short_pauses,
)
from tests.support.eventually import eventually
from tests.support.fault_proxy import Inside, Line, Way

LARGE = ("売上高 rose in 大阪, and costs fell. " * 9_000).encode()  # some 400 KB: two parts


@pytest.fixture(scope="module", autouse=True)
def _short_pauses() -> Iterator[None]:
    with short_pauses():
        yield


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("stored") / "data", server__keepalive_seconds=1) as served:
        yield served
        assert nothing_left(served)


def uploads(prefix: str) -> list[DocumentUpload]:
    """Some in one part, one in two, one that is refused, and one again with other content."""
    small = [DocumentUpload(f"{prefix}/{place}.md", f"{prefix} {place} wombat".encode() * 20) for place in range(12)]
    return [
        *small[:6],
        DocumentUpload(f"{prefix}/large.md", LARGE),
        DocumentUpload(f"{prefix}/empty.md", b""),
        *small[6:],
        DocumentUpload(f"{prefix}/0.md", b"at last"),
    ]


_NUMBER = itertools.count(1)


def assert_stored_once(stored: House, kind: str, lines: list[Line]) -> None:
    """What was told to be stored is; in the end all of it is, once; an ingest that failed is taken up by its id."""
    prefix = f"{kind}{next(_NUMBER)}"
    told_of: dict[tuple[str, int], int] = {}
    with behind(stored, kind, *lines) as (_, client):
        stream = client.ingest_documents(uploads(prefix))
        events, error = in_time(lambda: read(stream))
        outcomes = [event for event in events if isinstance(event, DocumentOutcome)]
        told_of = {(each.doc_id, each.seq): each.revision for each in outcomes if each.error is None}
        assert len(told_of) == sum(each.error is None for each in outcomes)  # none is told twice
        ingest_id = stream.ingest_id
        if error is None:
            report = stream.collect()
            assert len(report.outcomes) == len(uploads(prefix))
            assert (report.summary.stored, report.summary.unchanged, report.summary.failed) == (14, 0, 1)
    with Client(stored.server.address) as direct:
        there = {each.doc_id: each for each in direct.list_documents(prefix=f"{prefix}/")}
        for (doc_id, _), revision in told_of.items():
            assert there[doc_id].revision >= revision >= 1
        if error is not None:
            assert error.status in ("UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED"), error
            again = taken_up(direct, prefix, ingest_id)
            assert again.summary.failed == 1
            there = {each.doc_id: each for each in direct.list_documents(prefix=f"{prefix}/")}
        names = {each.doc_id for each in uploads(prefix)} - {f"{prefix}/empty.md"}
        assert {doc_id: each.revision for doc_id, each in there.items()} == {
            doc_id: 2 if doc_id == f"{prefix}/0.md" else 1 for doc_id in names
        }
        assert there[f"{prefix}/large.md"].content_bytes == len(LARGE)


def taken_up(client: Client, prefix: str, ingest_id: str) -> Any:
    """The same ingest by another client, once the server has let go of it."""
    reports: list[Any] = []

    def is_through() -> bool:
        try:
            reports.append(client.ingest_documents(uploads(prefix), ingest_id=ingest_id).collect())
        except GroundwireError as error:
            if error.reason is not ErrorReason.INGEST_ID_IN_USE:
                raise
            return False
        return True

    assert eventually(is_through, 30)
    return reports[0]


@settings(ORDINARY, max_examples=15)
@given(lines=breaks_of_ingests(4))
def test_documents_are_stored_once(stored: House, kind: str, lines: Any) -> None:
    assert_stored_once(stored, kind, lines)


@pytest.mark.slow
@settings(THOROUGH, max_examples=150)
@given(lines=breaks_of_ingests(7))
def test_documents_are_stored_once_many_more(stored: House, kind: str, lines: Any) -> None:
    assert_stored_once(stored, kind, lines)


@settings(ORDINARY, max_examples=5)
@given(lines=breaks_of_ingests(3))
def test_figures_are_stored_once(stored: House, kind: str, lines: Any) -> None:
    entity = f"{kind}{next(_NUMBER)}"
    records = [
        FactRecord("REVENUE", entity, f"FY{1900 + place}", str(place), "a.md", f"line={place}" + "x" * 300)
        for place in range(100)
    ]
    with behind(stored, kind, Line(up=Way(None)), *lines) as (proxy, client):
        stream = client.ingest_facts(records)
        next(stream)  # it is accepted
        proxy.reset()
        _, error = in_time(lambda: read(stream))
        if error is None:
            report = stream.collect()
            assert (report.summary.stored, report.summary.failed, report.rejected) == (100, 0, ())
    with Client(stored.server.address) as direct:
        listed = [each.fact.period for each in direct.list_facts(entity=entity, include_versions=True)]
        assert len(listed) == len(set(listed))
        assert error is not None or len(listed) == 100


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("way", ["up", "down"])
def test_an_ingest_over_a_half_open_connection_goes_on(stored: House, kind: str, way: str) -> None:
    """The server holds the ingest until it has found out by itself."""
    lost = Way(40_000, "vanish") if way == "up" else Way(Inside("DATA", 4, 3), "vanish")
    line = Line(up=lost) if way == "up" else Line(down=lost)
    prefix = f"half{next(_NUMBER)}"
    with behind(stored, kind, line) as (proxy, client):
        stream = client.ingest_documents(uploads(prefix))
        events, error = in_time(lambda: read(stream))
        assert error is None
        assert stream.collect().summary.stored == 14
        assert any(isinstance(event, Reconnecting) for event in events)
        assert proxy.befallen == 1
