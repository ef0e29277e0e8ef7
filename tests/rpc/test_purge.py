"""Old revisions purged over the wire: what goes, for whom, and what stays as it was."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.v1 import admin_pb2, evidence_pb2, ingest_pb2, narrative_pb2, stream_pb2, tools_pb2
from groundwire_server.errors import Aborted, ErrorReason
from groundwire_server.evidence import Label
from tests.rpc.house import House, house, snippets
from tests.rpc.serving import failure_of
from tests.support.eventually import eventually

Purge = admin_pb2.PurgeRevisionsRequest
SUCCEEDED = admin_pb2.JOB_STATE_SUCCEEDED
CONFIDENTIAL = ingest_pb2.LABEL_CONFIDENTIAL


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    """Four revisions of one document, two of another that is withdrawn, one that is hidden with two of its own."""
    with house(tmp_path / "data") as made:
        fill(made)
        yield made


def fill(made: House) -> None:
    for number in range(1, 5):
        made.store({"a.md": f"walrus number{number} sleeps"})
    made.store({"b.md": "walrus bread"})
    made.store({"b.md": "walrus butter"})
    made.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="b.md"))
    for number in (1, 2):
        made.store({"h.md": f"walrus vault{number}"}, label=CONFIDENTIAL)


def purge(here: House, **fields: Any) -> admin_pb2.PurgeRevisionsResponse:
    return here.admin.PurgeRevisions(Purge(library_id="default", **fields))


def ended(here: House, job: admin_pb2.Job) -> admin_pb2.Job:
    def now() -> admin_pb2.Job:
        return here.admin.GetJob(admin_pb2.GetJobRequest(job_id=job.job_id)).job

    assert eventually(lambda: now().state >= SUCCEEDED)
    return now()


def revisions(here: House, doc_id: str) -> list[int]:
    request = admin_pb2.ListRevisionsRequest(library_id="default", doc_id=doc_id)
    return [each.revision for each in here.admin.ListRevisions(request).revisions]


def retrieve(here: House, query: str = "walrus", **options: Any) -> list[evidence_pb2.Snippet]:
    request = narrative_pb2.NarrativeRetrieveRequest(query=query, top_k=50, options=stream_pb2.CallOptions(**options))
    return snippets(here.narrative.NarrativeRetrieve(request))


def verify(here: House, lineage: evidence_pb2.Lineage) -> tools_pb2.VerifyCitationResponse:
    return here.tools.VerifyCitation(tools_pb2.VerifyCitationRequest(lineage=lineage))


def test_revisions_are_counted_then_erased_and_what_answers_stays(here: House) -> None:
    before = retrieve(here)
    planned = purge(here, keep_last=1, validate_only=True)
    assert (planned.revisions, planned.HasField("job")) == (3, False)
    assert revisions(here, "a.md") == [4, 3, 2, 1]
    done = purge(here, keep_last=1)
    assert done.revisions == 3
    job = ended(here, done.job)
    assert (job.kind, job.state, list(job.parts)) == (admin_pb2.JOB_KIND_PURGE, SUCCEEDED, [])
    assert (job.progress.done, job.progress.total, job.progress.unit) == (3, 3, "revisions")
    assert (revisions(here, "a.md"), revisions(here, "b.md")) == ([4, 3], [2])
    assert retrieve(here) == before
    assert purge(here, keep_last=1, validate_only=True).revisions == 0


def test_a_citation_of_what_is_gone_looks_like_one_of_what_is_hidden(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.md": "walrus one"})
        (cited,) = retrieve(here)
        here.store({"a.md": "walrus two"})
        assert verify(here, cited.lineage).verdict == tools_pb2.CITATION_VERDICT_SUPERSEDED
        here.store({"h.md": "walrus one"}, label=CONFIDENTIAL)
        ended(here, purge(here).job)
        hidden = evidence_pb2.Lineage()
        hidden.CopyFrom(cited.lineage)
        hidden.doc_id, hidden.chunk_id, hidden.source_locator = "h.md", "", "h.md"
        gone = verify(here, cited.lineage)
        assert gone.verdict == tools_pb2.CITATION_VERDICT_NOT_FOUND
        assert gone.SerializeToString() == verify(here, hidden).SerializeToString()
        a: dict[str, Any] = {"library_id": "default", "doc_id": "a.md"}
        for call in (
            lambda: list(here.admin.GetDocument(admin_pb2.GetDocumentRequest(**a, revision=1, include_text=True))),
            lambda: list(here.admin.DiffRevisions(admin_pb2.DiffRevisionsRequest(**a, old_revision=1))),
            lambda: list(here.admin.DiffRevisions(admin_pb2.DiffRevisionsRequest(**a))),
        ):
            failure = failure_of(call)
            assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_DOCUMENT")
        here.store({"a.md": "walrus three"})
        assert revisions(here, "a.md") == [3, 2]


def test_the_past_reads_as_if_it_had_never_been_there(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.md": "walrus one"})
        then = here.admin.GetDocument(admin_pb2.GetDocumentRequest(library_id="default", doc_id="a.md"))
        known_at = next(iter(then)).revision.ingested_at
        here.store({"a.md": "walrus two"})
        assert [each.text.text for each in retrieve(here, known_at=known_at)] == ["walrus one"]
        ended(here, purge(here).job)
        assert retrieve(here, known_at=known_at) == []
        assert [each.text.text for each in retrieve(here)] == ["walrus two"]
    with house(tmp_path / "data") as here:
        assert retrieve(here, known_at=known_at) == []
        assert [each.text.text for each in retrieve(here)] == ["walrus two"]


def test_a_caller_purges_and_counts_what_it_may_read(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        fill(here)
        assert purge(here, validate_only=True).revisions == 5
        failure = failure_of(lambda: purge(here, doc_id="h.md", validate_only=True))
        unknown = failure_of(lambda: purge(here, doc_id="n.md", validate_only=True))
        assert failure.reason == unknown.reason == "UNKNOWN_DOCUMENT"
        ended(here, purge(here).job)
    with house(tmp_path / "data", access__local_clearance="confidential") as here:
        assert revisions(here, "h.md") == [2, 1]
        snapshot = [each.snapshot_id for each in libraries(here)]
        assert purge(here, validate_only=True).revisions == 1
        ended(here, purge(here).job)
        assert [each.snapshot_id for each in libraries(here)] != snapshot
    with house(tmp_path / "data") as here:
        (library,) = libraries(here)
        assert (library.documents, library.active_chunks) == (1, 1)


def libraries(here: House) -> list[admin_pb2.Library]:
    return list(here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries)


def test_a_purge_of_what_is_hidden_leaves_the_snapshot_of_others(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        fill(here)
        before = libraries(here)
    with house(tmp_path / "data", access__local_clearance="confidential") as here:
        ended(here, purge(here, doc_id="h.md").job)
    with house(tmp_path / "data") as here:
        assert libraries(here) == before


def test_a_repeat_of_a_request_gives_the_same_job(here: House) -> None:
    request_id = str(uuid.uuid4())
    first = purge(here, keep_last=2, request_id=request_id)
    ended(here, first.job)
    again = purge(here, keep_last=2, request_id=request_id.upper())
    assert (again.job.job_id, again.revisions) == (first.job.job_id, 0)
    other = failure_of(lambda: purge(here, keep_last=1, request_id=request_id))
    assert other.violations == [("request_id", "CONTRADICTION", "was used for another request")]
    assert purge(here, keep_last=1).job.job_id != first.job.job_id


def test_a_day_bounds_what_goes(here: House) -> None:
    long_ago, ahead = Timestamp(), Timestamp()
    long_ago.FromDatetime(datetime(2000, 1, 1, tzinfo=UTC))
    ahead.FromDatetime(datetime(2200, 1, 1, tzinfo=UTC))
    assert purge(here, retired_before=long_ago, validate_only=True).revisions == 0
    assert purge(here, retired_before=ahead, validate_only=True).revisions == 5
    assert purge(here, retired_before=ahead, keep_last=2, doc_id="a.md", validate_only=True).revisions == 1


def test_what_is_asked_wrongly_is_refused_at_once(here: House) -> None:
    beyond = Timestamp(seconds=2**60)
    wrong = failure_of(
        lambda: here.admin.PurgeRevisions(Purge(keep_last=-1, retired_before=beyond, request_id="seven"))
    )
    assert [each[:2] for each in wrong.violations] == [
        ("library_id", "VALUE_REQUIRED"),
        ("request_id", "VALUE_MALFORMED"),
        ("keep_last", "VALUE_OUT_OF_RANGE"),
        ("retired_before", "VALUE_MALFORMED"),
    ]
    unknown = failure_of(lambda: here.admin.PurgeRevisions(Purge(library_id="nowhere")))
    assert (unknown.code, unknown.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_LIBRARY")


def test_a_stream_that_holds_what_is_purged_ends_and_says_so(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a.md": "walrus one"})
        documents, principal = here.server.engine.documents, here.server.engine.local_principal
        held = documents.read("default", "a.md", 1, principal)
        here.store({"a.md": "walrus two"})
        assert held.text() == "walrus one"
        ended(here, purge(here).job)
        for read in (held.text, lambda: list(held.chunks())):
            with pytest.raises(Aborted, match="purged") as ending:
                read()
            assert ending.value.reason is ErrorReason.RESUME_SNAPSHOT_GONE


def test_with_vectors_all_answers_stay(tmp_path: Path) -> None:
    with house(tmp_path / "data", embedding__backend="deterministic") as here:
        here.server.engine.wait_for_embedder()
        fill(here)
        assert eventually(lambda: all(each.embedding_coverage == 1.0 for each in libraries(here)))

        def answers() -> list[evidence_pb2.Snippet]:
            mode = narrative_pb2.RETRIEVAL_MODE_HYBRID
            request = narrative_pb2.NarrativeRetrieveRequest(query="walrus sleeps", mode=mode)
            return snippets(here.narrative.NarrativeRetrieve(request))

        before = answers()
        ended(here, purge(here).job)
        assert answers() == before
        assert [each.embedding_coverage for each in libraries(here)] == [1.0]
    vectors = (tmp_path / "data/libraries/default/index/vectors").iterdir()
    assert any(path.stat().st_size for path in vectors)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from((Label.INTERNAL, Label.CONFIDENTIAL))),
        st.tuples(st.just("purge"), st.integers(0, 2), st.sampled_from(("", "a", "b"))),
    ),
    min_size=2,
    max_size=10,
)


@settings(max_examples=15)
@given(steps=STEPS)
def test_every_read_of_today_is_the_same_with_purges_and_without(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Any, ...]]
) -> None:
    """Two houses live through the same; in one old revisions are purged on the way."""
    seen = []
    for purges in (True, False):
        with house(tmp_path_factory.mktemp("purge") / "data") as here:
            for kind, number, how in (("c", 0, Label.INTERNAL), *steps):
                if kind != "purge":
                    here.store({kind: f"walrus {kind} number{number}"}, label=int(how))
                elif purges and (how == "" or revisions_of(here, how)):
                    ended(here, purge(here, doc_id=how, keep_last=number).job)
            listed = here.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default"))
            for document in listed.documents:
                document.ClearField("ingested_at")
            found = retrieve(here)
            for snippet in found:
                snippet.lineage.ClearField("ingested_at")
            seen.append((found, list(listed.documents)))
    assert seen[0] == seen[1]


def revisions_of(here: House, doc_id: str) -> bool:
    request = admin_pb2.ListDocumentsRequest(library_id="default", include_withdrawn=True)
    return doc_id in [each.doc_id for each in here.admin.ListDocuments(request).documents]
