"""Relations found in texts, over the wire: set, found, walked, cited, changed, and hidden where the text is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, evidence_pb2, graph_pb2, ingest_pb2, tools_pb2
from tests.rpc.house import House, glossary, house, snippets
from tests.rpc.serving import failure_of
from tests.support.canonical import canonical

TEXTS = {
    "a.md": "Acme opened a plant in Japan.\n\nIt is the largest in Asia.",
    "b.md": "日本にあるAcmeの工場。",
    "c.md": "Nothing here has a name.",
}
HIDDEN = {"secret.md": "Acme leaves Asia."}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        running.admin.SaveLibrary(saving(""))
        running.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=glossary()))
        yield running


def saving(extractor: str, **more: Any) -> admin_pb2.SaveLibraryRequest:
    index = admin_pb2.IndexSettings(relation_extractor=extractor)
    settings = [admin_pb2.Setting(name="relations_from", value="none")]
    return admin_pb2.SaveLibraryRequest(
        library=admin_pb2.Library(library_id="default", index=index, settings=settings), **more
    )


def ended(here: House, job: admin_pb2.Job) -> admin_pb2.Job:
    return [each.job for each in here.admin.WatchJob(admin_pb2.WatchJobRequest(job_id=job.job_id))][-1]


def settle(here: House) -> None:
    """Until no job is open."""
    for job in here.admin.ListJobs(admin_pb2.ListJobsRequest()).jobs:
        ended(here, job)


def around(here: House, node: str = "entity:ACME") -> list[evidence_pb2.Snippet]:
    request = graph_pb2.GraphTraceRequest(neighborhood=graph_pb2.Neighborhood(node_ids=[node]))
    return snippets(here.graph.GraphTrace(request))


def around_all() -> graph_pb2.GraphTraceRequest:
    return graph_pb2.GraphTraceRequest(communities=graph_pb2.Communities())


def edges(here: House) -> set[tuple[str, str, str, tuple[str, ...]]]:
    """(start, relation, end, where it stands) of what touches Acme."""
    return {
        (
            each.edge.source.node_id,
            each.edge.relation,
            each.edge.target.node_id,
            tuple(one.source_locator for one in (each.lineage, *each.lineage.members)),
        )
        for each in around(here)
    }


def test_a_setting_of_a_library_and_what_it_finds(here: House) -> None:
    saved = here.admin.SaveLibrary(saving("co_occurrence"))
    assert saved.library.index.relation_extractor == "co_occurrence"
    here.store(TEXTS)
    assert edges(here) == {
        ("entity:ACME", "co_occurs_with", "entity:JPN", ("a.md#line=1-3,span=0-28", "b.md#line=1,span=0-9")),
        ("entity:ACME", "co_occurs_with", "entity:ASIA", ("a.md#line=1-3,span=0-56",)),
        ("document:a.md", "mentions", "entity:ACME", ("a.md#line=1-3,span=0-4",)),
        ("document:b.md", "mentions", "entity:ACME", ("b.md#line=1,span=5-9",)),
    }
    for each in around(here):
        assert (each.trust, each.edge.extractor) == (evidence_pb2.TRUST_CITABLE, "co_occurrence")
        verdict = here.tools.VerifyCitation(tools_pb2.VerifyCitationRequest(lineage=each.lineage, edge=each.edge))
        assert verdict.verdict == tools_pb2.CITATION_VERDICT_EXACT


def test_documents_that_are_there_are_worked_on_by_a_job(here: House) -> None:
    here.store(TEXTS)
    here.store(HIDDEN, label=ingest_pb2.LABEL_CONFIDENTIAL)
    planned = here.admin.SaveLibrary(saving("co_occurrence", validate_only=True)).job
    assert (planned.job_id, planned.progress.done, planned.progress.total) == ("", 0, 3)
    job = ended(here, here.admin.SaveLibrary(saving("co_occurrence")).job)
    assert (job.state, list(job.parts)) == (admin_pb2.JOB_STATE_SUCCEEDED, [admin_pb2.INDEX_PART_GRAPH])
    assert (job.progress.stage, job.progress.done, job.progress.total) == ("relate", 3, 3)
    found = edges(here)
    assert len(found) == 4
    again = here.admin.StartReindex(
        admin_pb2.StartReindexRequest(library_id="default", parts=[admin_pb2.INDEX_PART_GRAPH])
    ).job
    assert ended(here, again).state == admin_pb2.JOB_STATE_SUCCEEDED
    assert edges(here) == found
    assert not here.admin.SaveLibrary(saving("co_occurrence")).HasField("job")


def test_what_came_into_an_empty_library_goes_with_its_extractor(here: House) -> None:
    here.admin.SaveLibrary(saving("co_occurrence"))
    here.store(TEXTS)
    found = edges(here)
    assert found
    assert not here.admin.SaveLibrary(saving("co_occurrence")).HasField("job")
    ended(here, here.admin.SaveLibrary(saving("none")).job)
    assert not snippets(here.graph.GraphTrace(around_all()))
    ended(here, here.admin.SaveLibrary(saving("co_occurrence")).job)
    assert edges(here) == found


def test_names_of_a_glossary_that_comes_back_are_found_again(here: House) -> None:
    here.admin.SaveLibrary(saving("co_occurrence"))
    here.store({"old.md": "Nothing here."})
    here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="old.md"))
    names = glossary()
    fewer = [each for each in names if each.code != "JPN"]
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=fewer, replace_all=True))
    here.store(TEXTS)
    assert {each[2] for each in edges(here) if each[0] == "entity:ACME"} == {"entity:ASIA"}
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=names, replace_all=True))
    settle(here)
    assert {each[2] for each in edges(here) if each[0] == "entity:ACME"} == {"entity:ASIA", "entity:JPN"}


def test_a_changed_document_or_glossary_changes_what_it_must(here: House) -> None:
    here.admin.SaveLibrary(saving("co_occurrence"))
    here.store(TEXTS)
    (old,) = (each for each in around(here) if each.edge.target.node_id == "entity:ASIA")
    here.store({"a.md": "Acme."})
    assert {edge[2] for edge in edges(here) if edge[0] == "entity:ACME"} == {"entity:JPN"}
    verdict = here.tools.VerifyCitation(tools_pb2.VerifyCitationRequest(lineage=old.lineage, edge=old.edge))
    assert verdict.verdict == tools_pb2.CITATION_VERDICT_SUPERSEDED
    here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="b.md"))
    assert {edge[0] for edge in edges(here)} == {"document:a.md"}
    named = [term for term in glossary() if term.code != "ACME"]
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=named, replace_all=True))
    settle(here)
    assert failure_of(lambda: around(here)).reason == "INVALID_REQUEST"  # there is no such node any more


def test_what_is_hidden_gives_nothing(here: House) -> None:
    here.admin.SaveLibrary(saving("co_occurrence"))
    here.store(TEXTS)
    settle(here)
    before, jobs = edges(here), list(here.admin.ListJobs(admin_pb2.ListJobsRequest()).jobs)
    shown = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest())
    here.store(HIDDEN, label=ingest_pb2.LABEL_CONFIDENTIAL)
    here.store(HIDDEN, label=ingest_pb2.LABEL_RESTRICTED)
    settle(here)
    assert edges(here) == before
    assert list(here.admin.ListJobs(admin_pb2.ListJobsRequest()).jobs) == jobs
    assert here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()) == shown


def test_none_is_the_graph_of_what_was_given_byte_for_byte(here: House, tmp_path: Path) -> None:
    """With an extractor that was set and taken back, and in a library that never had one."""

    def streams(house_: House) -> list[bytes]:
        found = []
        for node in ("entity:ASIA", "entity:JPN"):
            request = graph_pb2.GraphTraceRequest(neighborhood=graph_pb2.Neighborhood(node_ids=[node]))
            frames = list(house_.graph.GraphTrace(request))
            for frame in frames:
                frame.header.ClearField("snapshots") if frame.HasField("header") else None
            found.append(canonical(frames))
        return found

    relation = ingest_pb2.RelationRecord(
        subject="ASIA", relation="parent_of", object="JPN", source_doc="regions.jsonl", locator="line=1"
    )
    here.store(TEXTS)
    here.store_facts(ingest_pb2.FactRecords(relations=[relation]))
    plain = streams(here)
    ended(here, here.admin.SaveLibrary(saving("co_occurrence")).job)
    assert streams(here) != plain
    ended(here, here.admin.SaveLibrary(saving("none")).job)
    assert streams(here) == plain


def test_names_that_are_not_there_are_refused(here: House) -> None:
    ((field, reason, said),) = failure_of(lambda: here.admin.SaveLibrary(saving("magic"))).violations
    assert (field, reason) == ("library.index.relation_extractor", "UNKNOWN_NAME")
    assert said.startswith("'magic' is none of co_occurrence")
