"""A changed cut over the wire: the job, what is answered meanwhile and after it, citations that were given before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, evidence_pb2, ingest_pb2, narrative_pb2, tools_pb2
from groundwire_server.evidence import Label
from groundwire_server.jobs import JobControl
from groundwire_server.library import Recut
from tests.rpc.house import House, house, snippets
from tests.support.eventually import eventually

SUCCEEDED, CANCELLED, RUNNING = (
    admin_pb2.JOB_STATE_SUCCEEDED,
    admin_pb2.JOB_STATE_CANCELLED,
    admin_pb2.JOB_STATE_RUNNING,
)
TEXTS = {
    f"{number:03}.md": f"# Report {number}\n\nBread costs {number}.\n\nRivers have bridges.\n" for number in range(150)
}
SMALL = {"chunk_chars": 24, "overlap_chars": 0}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        yield running


class Gate:
    """Holds every work of the process when it reports, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, passes: int) -> None:
        self.open, self.held = threading.Event(), threading.Event()
        report, left = JobControl.report, [passes]

        def slowly(control: JobControl, *args: Any, **options: Any) -> None:
            report(control, *args, **options)
            left[0] -= 1
            if left[0] < 0:
                self.held.set()
                while not self.open.is_set():
                    control.wait(0.005)

        monkeypatch.setattr(JobControl, "report", slowly)


def save(here: House, *, validate_only: bool = False, **index: Any) -> admin_pb2.SaveLibraryResponse:
    library = admin_pb2.Library(library_id="default", index=index)
    return here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library, validate_only=validate_only))


def shown(here: House) -> admin_pb2.Library:
    (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    return library


def ended(here: House, job: admin_pb2.Job) -> admin_pb2.Job:
    """The job at its end, as it is watched."""
    return [each.job for each in here.admin.WatchJob(admin_pb2.WatchJobRequest(job_id=job.job_id))][-1]


def found(here: House, query: str, **fields: Any) -> list[evidence_pb2.Snippet]:
    request = narrative_pb2.NarrativeRetrieveRequest(query=query, **fields)
    return snippets(here.narrative.NarrativeRetrieve(request))


def verified(here: House, given: evidence_pb2.Snippet, quote: str) -> tools_pb2.VerifyCitationResponse:
    return here.tools.VerifyCitation(tools_pb2.VerifyCitationRequest(lineage=given.lineage, quote=quote))


def test_a_changed_cut_is_a_job_and_citations_given_before_hold(here: House) -> None:
    here.store(TEXTS)
    (given,) = found(here, "costs 7", top_k=1)
    before = shown(here)
    planned = save(here, validate_only=True, **SMALL).job
    assert (planned.job_id, planned.kind, planned.state) == ("", admin_pb2.JOB_KIND_REINDEX, admin_pb2.JOB_STATE_QUEUED)
    assert (planned.progress.total, planned.progress.unit) == (len(TEXTS), "documents")
    assert shown(here) == before
    job = save(here, **SMALL).job
    done = ended(here, job)
    assert (done.state, done.kind, list(done.parts)) == (
        SUCCEEDED,
        admin_pb2.JOB_KIND_REINDEX,
        [admin_pb2.INDEX_PART_LEXICAL],
    )
    assert (done.progress.done, done.progress.total) == (len(TEXTS), len(TEXTS))
    after = shown(here)
    assert (before.active_chunks, after.active_chunks, after.documents) == (150, 450, 150)
    assert after.snapshot_id != before.snapshot_id
    (now,) = found(here, "costs 7", top_k=1)
    assert (now.lineage.doc_id, now.lineage.revision, now.text.text) == ("007.md", 2, "Bread costs 7.")
    said = verified(here, given, "Bread costs 7.")
    assert said.verdict == tools_pb2.CITATION_VERDICT_SUPERSEDED
    assert (said.active.revision, said.active.chunk_id) == (2, now.lineage.chunk_id)
    assert verified(here, given, "Bread costs 8.").verdict == tools_pb2.CITATION_VERDICT_NOT_FOUND
    assert verified(here, now, "Bread costs 7.").verdict == tools_pb2.CITATION_VERDICT_EXACT
    assert not save(here, **SMALL).HasField("job")


def test_what_was_known_before_is_answered_as_it_was(here: House) -> None:
    here.store(TEXTS)
    given = found(here, "costs 7", top_k=1)
    library = here.server.engine._libraries.for_reading("default")
    moment = library.store.generations()[-1].committed_at
    ended(here, save(here, **SMALL).job)
    known_at = {"seconds": int(moment.timestamp()), "nanos": moment.microsecond * 1000}
    again = found(here, "costs 7", top_k=1, options={"known_at": known_at})
    assert [each.lineage.chunk_id for each in again] == [each.lineage.chunk_id for each in given]


def test_questions_are_answered_and_documents_come_in_meanwhile(here: House, monkeypatch: pytest.MonkeyPatch) -> None:
    here.store(TEXTS)
    gate = Gate(monkeypatch, passes=1)
    job = save(here, **SMALL).job
    assert gate.held.wait(30)
    assert len(found(here, "bread", top_k=200)) == len(TEXTS)
    here.store({"new.md": "# New\n\nBread is new.\n\nRivers are old.\n", "003.md": TEXTS["003.md"]})
    assert {each.lineage.revision for each in found(here, "new", top_k=1)} == {1}
    assert [each.text.text for each in found(here, "new", top_k=1)] == ["# New\n\nBread is new."]
    state = here.admin.GetJob(admin_pb2.GetJobRequest(job_id=job.job_id)).job
    assert (state.state, state.progress.done, state.progress.total) == (RUNNING, 64, len(TEXTS))
    gate.open.set()
    assert ended(here, job).state == SUCCEEDED
    assert shown(here).active_chunks == 452
    assert {each.lineage.revision for each in found(here, "bread", top_k=200)} == {1, 2}


def test_a_cancelled_job_leaves_what_it_did_and_the_next_goes_on(here: House, monkeypatch: pytest.MonkeyPatch) -> None:
    here.store(TEXTS)
    gate = Gate(monkeypatch, passes=1)
    job = save(here, **SMALL).job
    assert gate.held.wait(30)
    here.admin.CancelJob(admin_pb2.CancelJobRequest(job_id=job.job_id))
    assert ended(here, job).state == CANCELLED
    gate.open.set()
    assert shown(here).active_chunks == 64 * 3 + 86
    assert len(found(here, "bread", top_k=200)) == len(TEXTS)
    next_one = here.admin.StartReindex(admin_pb2.StartReindexRequest(library_id="default")).job
    assert ended(here, next_one).state == SUCCEEDED
    assert shown(here).active_chunks == 450
    assert {each.lineage.revision for each in found(here, "bread", top_k=200)} == {2}


def test_a_server_that_stops_goes_on_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with house(tmp_path / "data") as here:
        here.store(TEXTS)
        with monkeypatch.context() as patch:
            gate = Gate(patch, passes=1)
            job = save(here, **SMALL).job
            assert gate.held.wait(30)
            here.server.engine.close()
    with house(tmp_path / "data") as here:
        assert ended(here, job).state == SUCCEEDED
        assert shown(here).active_chunks == 450


def test_a_change_whose_job_was_never_ordered_is_ordered_at_the_next_start(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store(TEXTS)
        library = here.server.engine._libraries.for_reading("default")
        config = library.config
    path = tmp_path / "data/libraries/default/library.toml"
    path.write_text(
        path.read_text().replace("chunk_chars = 480", "chunk_chars = 24").replace("_chars = 80", "_chars = 0")
    )
    with house(tmp_path / "data") as here:
        assert eventually(lambda: shown(here).active_chunks == 450)
        library = here.server.engine._libraries.for_reading("default")
        assert eventually(lambda: Recut.read(library.store.reader()) == Recut())
        assert library.config.cut != config.cut


def test_documents_that_the_caller_may_not_read_make_no_difference(tmp_path: Path) -> None:
    seen = []
    for name in ("bare", "full"):
        with house(tmp_path / name) as here:
            here.store({"a.md": TEXTS["001.md"]})
            if name == "full":
                here.store({"b.md": TEXTS["002.md"]}, label=ingest_pb2.LABEL_CONFIDENTIAL)
            planned = save(here, validate_only=True, **SMALL).job
            job = ended(here, save(here, **SMALL).job)
            seen.append(
                (
                    (planned.progress.done, planned.progress.total, list(planned.parts)),
                    (job.state, job.progress.done, job.progress.total, list(job.parts)),
                    shown(here).active_chunks,
                    len(here.admin.ListJobs(admin_pb2.ListJobsRequest()).jobs),
                )
            )
            library = here.server.engine._libraries.for_reading("default")
            cuts = {each.chunker for each in library.store.reader().documents(clearance=Label.CONFIDENTIAL)}
            assert eventually(lambda cuts=cuts, library=library: cuts and Recut.read(library.store.reader()) == Recut())
    assert seen[0] == seen[1]


def test_vectors_follow_also_of_what_a_cancelled_job_has_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with house(tmp_path / "data", embedding__backend="deterministic") as here:
        here.server.engine.wait_for_embedder()
        here.store(TEXTS)
        assert eventually(lambda: shown(here).embedding_coverage == 1)
        with monkeypatch.context() as patch:
            gate = Gate(patch, passes=1)
            job = save(here, **SMALL).job
            assert gate.held.wait(30)
            here.admin.CancelJob(admin_pb2.CancelJobRequest(job_id=job.job_id))
            assert ended(here, job).state == CANCELLED
            gate.open.set()
        assert shown(here).active_chunks == 64 * 3 + 86
        assert eventually(lambda: shown(here).embedding_coverage == 1)
        again = here.admin.StartReindex(admin_pb2.StartReindexRequest(library_id="default")).job
        assert ended(here, again).state == SUCCEEDED
        assert shown(here).active_chunks == 450
        assert eventually(lambda: shown(here).embedding_coverage == 1)
        assert found(here, "Bread costs 7.", mode="RETRIEVAL_MODE_VECTOR")[0].text.text == "Bread costs 7."
