"""SIGKILL while old revisions are erased: the job goes on, and leaves nothing of them and all of the others."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from groundwire import CitationVerdict, Client, DocumentUpload, GroundwireError, JobState, Snippet
from tests.durability.points import POINTS, Point
from tests.durability.reading import wait_embedded
from tests.durability.selection import some_now
from tests.durability.server import ServerProcess

pytestmark = pytest.mark.timeout(400)  # three servers start here, and each slowly where others work

NAMES = ("a.md", "b.md", "日本.md")
ROUNDS = 3


def fill(folder: Path) -> tuple[list[Snippet], list[Snippet]]:
    """Several revisions of some documents. Gives what was cited of the first ones, and what is cited of the last."""
    with ServerProcess(folder) as server:
        address = server.address()
        assert address is not None, server.log()
        with Client(address) as client:
            first: list[Snippet] = []
            for number in range(1, ROUNDS + 1):
                texts = [DocumentUpload(name, f"walrus {name} erased{number}".encode()) for name in NAMES[:-1]]
                kept = DocumentUpload(NAMES[-1], "walrus 海象".encode())
                with client.ingest_documents([*texts, kept]) as events:
                    assert events.collect().summary.failed == 0
                first = first or found(client)
            assert wait_embedded(client, server.wait_dead)
            last = found(client)
        server.stop()
    return [each for each in first if each not in last], last


def found(client: Client) -> list[Snippet]:
    return list(client.retrieve("walrus", mode="lexical", top_k=50).collect().snippets)


@pytest.mark.parametrize("point", some_now([point for point in POINTS if point.scene == "purge"], 1, "purge"))
def test_killed_while_old_revisions_are_erased(point: Point, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first, last = fill(folder)
    with ServerProcess(folder, point=point.name) as victim:
        address = victim.address()
        assert address is not None, victim.log()
        with Client(address) as client, suppress(GroundwireError):  # where it died before it could say so
            assert client.purge_revisions("default").revisions == (ROUNDS - 1) * 2
        assert victim.wait_killed() == point.name
    with ServerProcess(folder) as server:
        address = server.address()
        assert address is not None, server.log()
        with Client(address) as client:
            (job,) = [each for each in client.list_jobs() if each.kind.name == "PURGE"]
            with client.watch_job(job.job_id) as states:
                assert [*states][-1].state is JobState.SUCCEEDED
            assert found(client) == last
            assert {client.verify(snippet).verdict for snippet in first} == {CitationVerdict.NOT_FOUND}
            assert {client.verify(snippet).verdict for snippet in last} == {CitationVerdict.EXACT}
            assert [len([*client.list_revisions(name)]) for name in NAMES] == [1, 1, 1]
            assert wait_embedded(client, server.wait_dead)
        server.stop()
        assert server.faults() == []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        held = path.read_bytes()
        assert not any(f"erased{number}".encode() in held for number in range(1, ROUNDS)), path
