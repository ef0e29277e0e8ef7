"""Jobs over the wire: read, watched, listed, cancelled; reindexing and deletion, which begin them."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, ingest_pb2, narrative_pb2
from groundwire_server.dense import HashEmbedder
from groundwire_server.evidence import Label
from groundwire_server.jobs import Job, JobKind, JobState
from tests.rpc.house import HIDDEN_TEXT, House, furnish, house, snippets
from tests.rpc.serving import failure_of
from tests.support.eventually import eventually

Watch = admin_pb2.WatchJobRequest
Reindex = admin_pb2.StartReindexRequest
Delete = admin_pb2.DeleteLibraryRequest
SUCCEEDED, FAILED, CANCELLED = (
    admin_pb2.JOB_STATE_SUCCEEDED,
    admin_pb2.JOB_STATE_FAILED,
    admin_pb2.JOB_STATE_CANCELLED,
)
LEXICAL, VECTORS = admin_pb2.INDEX_PART_LEXICAL, admin_pb2.INDEX_PART_VECTORS


class Gate:
    """Holds every embedder of the process until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        embed = HashEmbedder.embed_passage

        def slowly(embedder: HashEmbedder, text: str) -> Any:
            assert self.open.wait(30)
            return embed(embedder, text)

        monkeypatch.setattr(HashEmbedder, "embed_passage", slowly)


@contextmanager
def embedding_house(data: Path, **settings: object) -> Iterator[House]:
    with house(data, embedding__backend="deterministic", **settings) as here:
        here.server.engine.wait_for_embedder()
        yield here


def get(here: House, job_id: str) -> admin_pb2.Job:
    return here.admin.GetJob(admin_pb2.GetJobRequest(job_id=job_id)).job


def listed(here: House, **fields: Any) -> list[admin_pb2.Job]:
    return list(here.admin.ListJobs(admin_pb2.ListJobsRequest(**fields)).jobs)


def ended(here: House, job: admin_pb2.Job) -> admin_pb2.Job:
    assert eventually(lambda: get(here, job.job_id).state >= SUCCEEDED)
    return get(here, job.job_id)


def reindex(here: House, *parts: Any, **fields: Any) -> admin_pb2.Job:
    return here.admin.StartReindex(Reindex(library_id="default", parts=parts, **fields)).job


def deletion(here: House, library: str = "default") -> admin_pb2.DeleteLibraryResponse:
    return here.admin.DeleteLibrary(Delete(library_id=library, validate_only=True))


def summary_of(frames: list[Any]) -> ingest_pb2.IngestSummary:
    return frames[-1].summary


def test_the_job_of_an_ingest_can_be_read_watched_and_listed(tmp_path: Path) -> None:
    with embedding_house(tmp_path / "data") as here:
        job_id = summary_of(here.store({"a.txt": "one fox"})).embedding_job_id
        watched = [each.job for each in here.admin.WatchJob(Watch(job_id=job_id))]
        assert {each.job_id for each in watched} == {job_id}
        last = watched[-1]
        assert (last.kind, last.library_id, last.state) == (admin_pb2.JOB_KIND_EMBED, "default", SUCCEEDED)
        assert (last.progress.stage, last.progress.done, last.progress.total) == ("embed", 1, 1)
        assert last.progress.unit == "chunks"
        assert last.create_time.ToDatetime() < last.update_time.ToDatetime() == last.end_time.ToDatetime()
        assert get(here, job_id) == last
        assert listed(here) == [last]
        again = summary_of(here.store({"a.txt": "one fox"}))
        assert (again.unchanged, again.embedding_job_id) == (1, "")
        assert eventually(lambda: not any(here.server.leftovers.values()))


def test_nothing_to_embed_names_no_job(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        assert summary_of(here.store({"a.txt": "fox"})).embedding_job_id == ""
        assert listed(here) == []


def test_a_watch_is_told_at_once_then_at_most_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with embedding_house(tmp_path / "data") as here:
        job_id = summary_of(here.store({"a.txt": "fox"})).embedding_job_id
        began = time.monotonic()  # before the server can have begun
        watch = here.admin.WatchJob(Watch(job_id=job_id))
        assert next(watch).job.state in (admin_pb2.JOB_STATE_QUEUED, admin_pb2.JOB_STATE_RUNNING)
        for number in range(20):
            here.store({f"{number}.txt": f"fox {number}"})
        gate.open.set()
        told = [each.job for each in watch]
        assert told[-1].state == SUCCEEDED
        assert len(told) <= time.monotonic() - began


def test_many_watches_hold_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with embedding_house(tmp_path / "data", server__threads=2) as here:
        job_id = summary_of(here.store({"a.txt": "fox"})).embedding_job_id
        watches = [here.admin.WatchJob(Watch(job_id=job_id)) for _ in range(40)]
        for watch in watches:
            next(watch)
        lexical = narrative_pb2.NarrativeRetrieveRequest(query="fox", mode=narrative_pb2.RETRIEVAL_MODE_LEXICAL)
        found = here.narrative.NarrativeRetrieve(lexical, timeout=5)
        assert len(snippets(list(found))) == 1
        for watch in watches[5:]:
            watch.cancel()
        gate.open.set()
        for watch in watches[:5]:
            assert list(watch)[-1].job.state == SUCCEEDED
        assert eventually(lambda: not any(here.server.leftovers.values()))


def test_a_watch_of_an_ended_job_is_one_message(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
        job = ended(here, reindex(here, LEXICAL))
        assert [each.job for each in here.admin.WatchJob(Watch(job_id=job.job_id))] == [job]


def test_a_watch_ends_with_a_status_when_the_server_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with embedding_house(tmp_path / "data", server__drain_seconds=5) as here:
        job_id = summary_of(here.store({"a.txt": "fox"})).embedding_job_id
        watch = here.admin.WatchJob(Watch(job_id=job_id))
        next(watch)
        failed: list[Any] = []
        reading = threading.Thread(target=lambda: failed.append(failure_of(lambda: watch)))
        reading.start()
        threading.Timer(0.2, gate.open.set).start()
        stopping = time.monotonic()
    reading.join()
    assert (failed[0].code, failed[0].reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING")
    assert time.monotonic() - stopping < 5


@pytest.mark.parametrize("method", ["GetJob", "WatchJob", "CancelJob"])
@pytest.mark.parametrize("job_id", ["j-0000000000000000", "embed-default", "x" * 5000])
def test_an_unknown_job(furnished: House, method: str, job_id: str) -> None:
    request = getattr(admin_pb2, f"{method}Request")
    failure = failure_of(lambda: getattr(furnished.admin, method)(request(job_id=job_id)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_JOB")
    assert failure.metadata["job_id"] == job_id[:80]
    blank = failure_of(lambda: getattr(furnished.admin, method)(request(job_id=" ")))
    assert blank.violations == [("job_id", "VALUE_REQUIRED", "must not be blank")]


def test_embedding_is_cancelled_and_woken_by_the_next_ingest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with embedding_house(tmp_path / "data") as here:
        job_id = summary_of(here.store({"a.txt": "fox"})).embedding_job_id
        cancelled = here.admin.CancelJob(admin_pb2.CancelJobRequest(job_id=job_id)).job
        assert cancelled.state == CANCELLED
        assert here.admin.CancelJob(admin_pb2.CancelJobRequest(job_id=job_id)).job == cancelled
        gate.open.set()
        other = summary_of(here.store({"b.txt": "dog"})).embedding_job_id
        assert other not in ("", job_id)
        assert [each.job for each in here.admin.WatchJob(Watch(job_id=other))][-1].state == SUCCEEDED
        assert get(here, job_id) == cancelled
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert library.embedding_coverage == 1.0


def test_lists_are_paged_newest_first(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
        here.store({"a.txt": "fox"}, library="default")
        made = [ended(here, reindex(here, LEXICAL)) for _ in range(5)]
        seen: list[str] = []
        token = ""
        while True:
            request = admin_pb2.ListJobsRequest(page_size=2, page_token=token, library_id="default", state=SUCCEEDED)
            page = here.admin.ListJobs(request)
            seen += [each.job_id for each in page.jobs]
            token = page.next_page_token
            if not token:
                break
        assert seen == [each.job_id for each in made[::-1]]
        assert listed(here, state=FAILED) == []
        first = here.admin.ListJobs(admin_pb2.ListJobsRequest(page_size=2)).next_page_token
        other = failure_of(
            lambda: here.admin.ListJobs(admin_pb2.ListJobsRequest(page_token=first, library_id="default"))
        )
        assert [(each[0], each[1]) for each in other.violations] == [("page_token", "CONTRADICTION")]
        unknown = failure_of(lambda: listed(here, library_id="nowhere"))
        assert (unknown.code, unknown.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_LIBRARY")
        wrong = failure_of(lambda: here.admin.ListJobs(admin_pb2.ListJobsRequest(state=99, page_size=-1)))  # type: ignore[arg-type]
        assert [(each[0], each[1]) for each in wrong.violations] == [
            ("page_size", "VALUE_OUT_OF_RANGE"),
            ("state", "UNKNOWN_NAME"),
        ]


# ---- reindexing


def test_an_index_is_built_anew_and_answers_as_before(tmp_path: Path) -> None:
    request = narrative_pb2.NarrativeRetrieveRequest(query="fox rivers 人口", top_k=20)
    with embedding_house(tmp_path / "data") as here:
        furnish(here)
        assert eventually(lambda: all(job.state == SUCCEEDED for job in listed(here)))
        before = snippets(here.narrative.NarrativeRetrieve(request))
        for parts in ([], [VECTORS, LEXICAL, LEXICAL], [LEXICAL], [VECTORS]):
            job = ended(here, reindex(here, *parts))
            assert (job.kind, job.state) == (admin_pb2.JOB_KIND_REINDEX, SUCCEEDED)
            assert list(job.parts) == (sorted(set(parts)) or [LEXICAL, VECTORS])
            (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
            assert (job.progress.done, job.progress.total) == (library.active_chunks, library.active_chunks)
            assert snippets(here.narrative.NarrativeRetrieve(request)) == before


def test_damage_on_the_disk_is_mended(tmp_path: Path) -> None:
    with embedding_house(tmp_path / "data") as here:
        here.store({"a.txt": "fox", "b.txt": "dog"})
        lexical = tmp_path / "data/libraries/default/index/lexical"
        assert eventually(lambda: (lexical / "manifest.json").exists())  # it is written behind the answer
        for segment in list(lexical.glob("segment-*")):
            segment.unlink(missing_ok=True)
        assert ended(here, reindex(here)).state == SUCCEEDED
        assert list(lexical.glob("segment-*"))
        assert not (tmp_path / "data/libraries/default/index/lexical.new").exists()


def test_vectors_of_another_model_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def coverage(here: House) -> float:
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        return library.embedding_coverage if library.HasField("embedding_coverage") else -1.0

    with embedding_house(tmp_path / "data") as here:
        here.store({"a.txt": "fox", "b.txt": "dog"})
        assert eventually(lambda: coverage(here) == 1.0)
    with monkeypatch.context() as patched:
        patched.setattr(HashEmbedder, "__init__", _other_version(HashEmbedder.__init__))
        for start in ("first", "second"):
            with embedding_house(tmp_path / "data") as here:
                assert coverage(here) == (-1.0 if start == "first" else 1.0)
                if start == "first":
                    assert ended(here, reindex(here)).state == SUCCEEDED
                assert coverage(here) == 1.0


def _other_version(init: Any) -> Any:
    def made(self: Any, *args: Any, **more: Any) -> None:
        init(self, *args, **more)
        self.version = "0" * 64

    return made


def test_a_repeat_of_a_request_gives_the_same_job(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
        request_id = str(uuid.uuid4())
        first = reindex(here, LEXICAL, request_id=request_id)
        ended(here, first)
        again = reindex(here, LEXICAL, request_id=request_id.upper())
        assert (again.job_id, again.state) == (first.job_id, SUCCEEDED)
        assert reindex(here, LEXICAL, request_id=str(uuid.uuid4())).job_id != first.job_id
        assert reindex(here, LEXICAL).job_id != first.job_id
        other = failure_of(lambda: reindex(here, request_id=request_id))
        assert other.violations == [("request_id", "CONTRADICTION", "was used for another request")]
        malformed = failure_of(lambda: reindex(here, request_id="seven"))
        assert [each[:2] for each in malformed.violations] == [("request_id", "VALUE_MALFORMED")]
    with house(tmp_path / "data") as here:
        assert reindex(here, LEXICAL, request_id=request_id).job_id == first.job_id


def test_a_rehearsal_tells_what_would_be_done_and_begins_nothing(furnished: House) -> None:
    before = listed(furnished)
    job = reindex(furnished, validate_only=True)
    assert (job.job_id, job.kind, job.state) == ("", admin_pb2.JOB_KIND_REINDEX, admin_pb2.JOB_STATE_QUEUED)
    assert list(job.parts) == [LEXICAL]
    (library,) = furnished.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    assert (job.progress.stage, job.progress.done, job.progress.total) == ("lexical", 0, library.active_chunks)
    assert listed(furnished) == before


def test_what_cannot_be_built_is_refused_by_name(furnished: House) -> None:
    none = failure_of(lambda: reindex(furnished, VECTORS))
    assert (none.code, none.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_EMBEDDER")
    tree = failure_of(lambda: reindex(furnished, LEXICAL, admin_pb2.INDEX_PART_TREE))
    assert (tree.reason, tree.metadata["operation"]) == ("NOT_IMPLEMENTED", "index.tree")
    wrong = failure_of(lambda: reindex(furnished, 0, 99))
    assert [each[:2] for each in wrong.violations] == [("parts[0]", "VALUE_REQUIRED"), ("parts[1]", "UNKNOWN_NAME")]
    blank = failure_of(lambda: furnished.admin.StartReindex(Reindex()))
    assert blank.violations == [("library_id", "VALUE_REQUIRED", "must not be blank")]
    unknown = failure_of(lambda: furnished.admin.StartReindex(Reindex(library_id="nowhere")))
    assert (unknown.code, unknown.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_LIBRARY")


# ---- deletion


def test_a_library_is_deleted_after_a_confirmation(tmp_path: Path) -> None:
    folder = tmp_path / "data/libraries"
    with embedding_house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
        asked = deletion(here)
        assert (asked.library.library_id, asked.library.documents, asked.HasField("job")) == ("default", 1, False)
        assert deletion(here).confirmation == asked.confirmation
        done = here.admin.DeleteLibrary(Delete(library_id="default", confirmation=asked.confirmation))
        assert (done.library.documents, done.confirmation) == (1, "")
        assert not here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        gone = failure_of(lambda: here.admin.DeleteLibrary(Delete(library_id="default", confirmation="x")))
        assert (gone.code, gone.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_LIBRARY")
        job = ended(here, done.job)
        assert (job.kind, job.library_id, job.state) == (admin_pb2.JOB_KIND_DELETE_LIBRARY, "default", SUCCEEDED)
        assert list(folder.iterdir()) == []
        assert job in listed(here, library_id="default")
        here.store({"b.txt": "dog"})
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert (library.library_id, library.documents) == ("default", 1)


def test_a_confirmation_is_needed_and_is_of_one_state(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
        missing = failure_of(lambda: here.admin.DeleteLibrary(Delete(library_id="default")))
        assert [each[:2] for each in missing.violations] == [("confirmation", "VALUE_REQUIRED")]
        token = deletion(here).confirmation
        here.store({"secret.txt": HIDDEN_TEXT}, label=ingest_pb2.LABEL_CONFIDENTIAL)
        here.store({"never.txt": HIDDEN_TEXT}, label=ingest_pb2.LABEL_RESTRICTED)
        assert deletion(here).confirmation == token
        here.store({"b.txt": "dog"})
        for given in (token, "x", "é" * 64):
            for rehearsal in (False, True):
                request = Delete(library_id="default", confirmation=given, validate_only=rehearsal)
                failure = failure_of(lambda: here.admin.DeleteLibrary(request))  # noqa: B023
                assert (failure.code, failure.reason) == (grpc.StatusCode.ABORTED, "CONFLICTING_CHANGE")
                assert failure.metadata["library_id"] == "default"
        token = deletion(here).confirmation
        job = here.admin.DeleteLibrary(Delete(library_id="default", confirmation=token)).job
        ended(here, job)
        here.store({"a.txt": "fox", "b.txt": "dog"})
        assert deletion(here).confirmation != token


def test_a_damaged_library_can_be_deleted(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
    (tmp_path / "data/libraries/default/store.sqlite").write_bytes(b"no database" * 1000)
    with house(tmp_path / "data") as here:
        token = deletion(here).confirmation
        done = here.admin.DeleteLibrary(Delete(library_id="default", confirmation=token))
        assert done.library.fault.reason != 0
        assert ended(here, done.job).state == SUCCEEDED
        assert not here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries


def test_the_embedding_of_a_library_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with embedding_house(tmp_path / "data") as here:
        embed = summary_of(here.store({"a.txt": "fox"})).embedding_job_id
        token = deletion(here).confirmation
        threading.Timer(0.2, gate.open.set).start()
        job = here.admin.DeleteLibrary(Delete(library_id="default", confirmation=token)).job
        assert get(here, embed).state == CANCELLED
        assert here.admin.CancelJob(admin_pb2.CancelJobRequest(job_id=job.job_id)).job.state != CANCELLED
        assert ended(here, job).state == SUCCEEDED


def test_what_was_ordered_for_a_library_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with embedding_house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
        rebuild, waiting = reindex(here, VECTORS), reindex(here, LEXICAL)
        token = deletion(here).confirmation
        threading.Timer(0.2, gate.open.set).start()
        job = here.admin.DeleteLibrary(Delete(library_id="default", confirmation=token)).job
        assert get(here, waiting.job_id).state == CANCELLED
        assert get(here, rebuild.job_id).state in (CANCELLED, SUCCEEDED)
        assert ended(here, job).state == SUCCEEDED
        assert {each.state for each in listed(here)} <= {CANCELLED, SUCCEEDED}


def test_a_half_deleted_library_is_freed_after_a_restart(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
    libraries = tmp_path / "data/libraries"
    (libraries / "default").rename(libraries / ".removed-default.0123abcd")
    with house(tmp_path / "data") as here:
        assert eventually(lambda: list(libraries.iterdir()) == [])
        (job,) = listed(here)
        assert (job.kind, job.library_id) == (admin_pb2.JOB_KIND_DELETE_LIBRARY, "default")
        assert ended(here, job).state == SUCCEEDED


# ---- what a caller may not read


def test_hidden_documents_make_no_job_and_no_difference(tmp_path: Path) -> None:
    def seen(here: House) -> list[tuple[Any, ...]]:
        assert eventually(lambda: all(job.state >= SUCCEEDED for job in listed(here)))
        return [
            (job.kind, job.state, job.progress.done, job.progress.total, list(job.parts), job.library_id)
            for job in listed(here)
        ]

    told = []
    for hidden in (False, True):
        with embedding_house(tmp_path / str(hidden)) as here:
            frames = []
            if hidden:
                secret = {f"s{number}.txt": f"{HIDDEN_TEXT} {number}" for number in range(30)}
                frames.append(here.store(secret, label=ingest_pb2.LABEL_CONFIDENTIAL))
                assert summary_of(frames[-1]).embedding_job_id == ""
                assert listed(here) == []
            here.store({"a.txt": "fox"})
            seen(here)
            ended(here, reindex(here))
            told.append(seen(here))
    assert told[0] == told[1]
    assert [each[2:4] for each in told[0]] == [(1, 1), (1, 1)]


# ---- restarts


def test_a_job_goes_on_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    with embedding_house(tmp_path / "data") as here:
        job_id = summary_of(here.store({"a.txt": "fox"})).embedding_job_id
        assert eventually(lambda: get(here, job_id).state == admin_pb2.JOB_STATE_RUNNING)
        threading.Timer(0.3, gate.open.set).start()
        before = get(here, job_id)
    gate.open.set()
    with embedding_house(tmp_path / "data") as here:
        assert get(here, job_id).create_time == before.create_time
        assert eventually(lambda: get(here, job_id).state == SUCCEEDED)


def test_what_waits_for_an_embedder_in_vain_fails(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
        board = here.server.engine.jobs._board
        board.add(
            lambda moment: [
                Job("j-left", JobKind.EMBED, "default", Label.INTERNAL, JobState.RUNNING, moment, moment),
            ]
        )
    with house(tmp_path / "data") as here:
        assert eventually(lambda: get(here, "j-left").state == FAILED)
        assert get(here, "j-left").error.reason == 7


def test_what_waits_for_a_library_that_cannot_be_opened_fails(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.txt": "fox"})
        here.server.engine.jobs._board.add(
            lambda moment: [
                Job("j-left", JobKind.EMBED, "default", Label.INTERNAL, JobState.RUNNING, moment, moment),
            ]
        )
    (tmp_path / "data/libraries/default/store.sqlite").write_bytes(b"no database" * 1000)
    with embedding_house(tmp_path / "data") as here:
        assert eventually(lambda: get(here, "j-left").state == FAILED)
        assert get(here, "j-left").error.reason == 15


def test_a_library_goes_while_others_are_opened_and_refreshed(tmp_path: Path) -> None:
    with embedding_house(tmp_path / "data") as here:
        failed: list[Exception] = []

        def make(name: str) -> None:
            try:
                for _ in range(6):
                    library = admin_pb2.Library(library_id=name)
                    here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library), timeout=20)
                    here.store({"a.txt": "fox"}, library=name)
                    token = deletion(here, name).confirmation
                    here.admin.DeleteLibrary(Delete(library_id=name, confirmation=token), timeout=20)
            except grpc.RpcError as error:
                failed.append(error)

        threads = [threading.Thread(target=make, args=(name,)) for name in ("a", "b", "c")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert (failed, [thread.is_alive() for thread in threads]) == ([], [False] * 3)
        assert eventually(lambda: list((tmp_path / "data/libraries").iterdir()) == [])
        assert eventually(lambda: all(job.state in (SUCCEEDED, CANCELLED) for job in listed(here, page_size=1000)))
