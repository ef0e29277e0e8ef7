"""The extractor that asks a model, from end to end: a server, a model behind HTTP, and every byte that leaves."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, errors_pb2, evidence_pb2, graph_pb2, ingest_pb2, tools_pb2
from tests.llm.model_server import Act, ModelServer, model_server
from tests.rpc.house import House, glossary, house, snippets
from tests.rpc.serving import failure_of
from tests.rpc.test_extractors import ended, saving, settle
from tests.support.eventually import eventually

TEXTS = {"a.md": "Acme supplies Japan with bread.", "b.md": "日本はAcmeの顧客である。", "c.md": "Nothing."}
CANARIES = {
    "confidential.md": "The kanarienvogel belongs to Acme and to Japan.",
    "restricted.md": "The 金丝雀 belongs to Acme and to Japan.",
}
LABELS = {"confidential.md": ingest_pb2.LABEL_CONFIDENTIAL, "restricted.md": ingest_pb2.LABEL_RESTRICTED}


def shown(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The passages of a request."""
    return json.loads(body["messages"][1]["content"].split("\n", 1)[1])  # type: ignore[no-any-return]


def finds(body: dict[str, Any]) -> Act:
    """A model that takes Acme and Japan for supplier and customer wherever both stand."""
    found = []
    for each in shown(body):
        for other in ("Japan", "日本", "Asia"):
            if "Acme" in each["text"] and other in each["text"]:
                quote = each["text"].rstrip(".。")
                said = {"subject": "Acme", "relation": "supplies", "object": other, "quote": quote}
                found.append({"passage": each["passage"], **said})
    return Act(json.dumps({"relations": found}, ensure_ascii=False))


@contextmanager
def serving(folder: Path, model: ModelServer, **more: Any) -> Iterator[House]:
    settings = {
        "llm__provider": "openai",
        "llm__base_url": f"{model.url}/v1",
        "llm__model": "small",
        "llm__retries": 0,
        "access__local_clearance": "confidential",
        **more,
    }
    with house(folder / "data", **settings) as here:
        if not here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries:
            here.admin.SaveLibrary(saving(""))
            here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=glossary()))
        yield here


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(script=finds) as running:
        yield running


def edges(here: House, *, unverified: bool = True) -> dict[tuple[str, str, str], evidence_pb2.Snippet]:
    around = graph_pb2.Neighborhood(node_ids=["entity:ACME"])
    request = graph_pb2.GraphTraceRequest(neighborhood=around, include_unverified=unverified)
    found = snippets(here.graph.GraphTrace(request))
    return {(each.edge.source.node_id, each.edge.relation, each.edge.target.node_id): each for each in found}


SUPPLIES = ("entity:ACME", "supplies", "entity:JPN")


def test_relations_come_unverified_each_with_its_place(tmp_path: Path, model: ModelServer) -> None:
    with serving(tmp_path, model) as here:
        here.admin.SaveLibrary(saving("llm"))
        here.store(TEXTS)
        wait_until_asked(here, model, TEXTS["c.md"])
        (found,) = edges(here).values()
        assert edges(here).keys() == {SUPPLIES}
        assert (found.trust, found.edge.extractor) == (evidence_pb2.TRUST_MODEL_DERIVED_UNVERIFIED, "llm")
        places = [found.lineage.source_locator, *(one.source_locator for one in found.lineage.members)]
        assert places == ["a.md#line=1,span=0-30", "b.md#line=1,span=0-13"]
        assert edges(here, unverified=False) == {}
        verdict = here.tools.VerifyCitation(tools_pb2.VerifyCitationRequest(lineage=found.lineage, edge=found.edge))
        assert verdict.verdict == tools_pb2.CITATION_VERDICT_EXACT
        asked = len(model.bodies)
        here.store({"a.md": TEXTS["a.md"], "c.md": "Acme left Asia."})  # one unchanged, one changed
        wait_until_asked(here, model, "Acme left Asia.")
        assert [each["text"] for body in model.bodies[asked:] for each in shown(body)] == ["Acme left Asia."]
        here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="a.md"))
        assert edges(here)[SUPPLIES].lineage.source_locator == "b.md#line=1,span=0-13"


def wait_until_asked(here: House, model: ModelServer, text: str) -> None:
    """Until the model was shown a passage, and all work is done. Who stores something does not wait for it."""
    assert eventually(lambda: any(each["text"] == text for body in list(model.bodies) for each in shown(body)))
    settle(here)


def test_no_byte_of_what_is_hidden_leaves(tmp_path: Path, model: ModelServer) -> None:
    with serving(tmp_path, model, llm__api_key_env="") as here:
        here.admin.SaveLibrary(saving("co_occurrence"))
        here.store(TEXTS)
        for doc_id, text in CANARIES.items():
            here.store({doc_id: text}, label=LABELS[doc_id])
        ended(here, here.admin.SaveLibrary(saving("llm")).job)
        for doc_id, text in CANARIES.items():  # and by the way that new documents take
            here.store({doc_id: f"{text} Again."}, label=LABELS[doc_id])
        again = here.admin.StartReindex(
            admin_pb2.StartReindexRequest(library_id="default", parts=[admin_pb2.INDEX_PART_GRAPH])
        ).job
        assert ended(here, again).state == admin_pb2.JOB_STATE_SUCCEEDED
        sent = model.text_sent()
        assert len(model.bodies) >= len(TEXTS)
        for canary in ("kanarienvogel", "金丝雀", "confidential.md", "restricted.md"):
            assert canary not in sent
            assert json.dumps(canary)[1:-1] not in sent
        assert {each["text"] for body in model.bodies for each in shown(body)} == set(TEXTS.values())


def test_what_may_be_shown_is_a_setting(tmp_path: Path, model: ModelServer) -> None:
    with serving(tmp_path, model, llm__clearance="public") as here:
        here.store({"open.md": "Acme supplies Japan."}, label=ingest_pb2.LABEL_PUBLIC)
        here.store(TEXTS)
        job = ended(here, here.admin.SaveLibrary(saving("llm")).job)
        assert job.state == admin_pb2.JOB_STATE_SUCCEEDED
        assert [each["text"] for body in model.bodies for each in shown(body)] == ["Acme supplies Japan."]


def test_outside_names_are_no_ends(tmp_path: Path, model: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "groundwire_server")
    with serving(tmp_path, model, gate__outside_names=["Japan"], llm__prompt_price="2") as here:
        here.store({**TEXTS, "d.md": "Acme supplies Asia."})
        ended(here, here.admin.SaveLibrary(saving("llm")).job)
        assert edges(here).keys() == {("entity:ACME", "supplies", "entity:ASIA")}
    assert "relations of the model that were not taken: 2 an outside name" in caplog.text
    assert "the model answered 4 times and failed 0 times, 0 tries were repeated; 44 tokens of prompts" in caplog.text
    assert "cost 0.000088" in caplog.text
    assert "supplies" not in caplog.text


def test_a_model_that_fails_fails_the_job_and_what_is_found_stays(tmp_path: Path) -> None:
    with model_server(script=lambda body: _fails_on(body, "日本は")) as model, serving(tmp_path, model) as here:
        here.store(TEXTS)
        job = ended(here, here.admin.SaveLibrary(saving("llm")).job)
        assert job.state == admin_pb2.JOB_STATE_FAILED
        assert job.error.reason == errors_pb2.ERROR_REASON_MODEL_FAILED
        assert "SECRET" not in str(job)
        assert edges(here).keys() == {SUPPLIES}
        model.script = finds
        ended(here, here.admin.SaveLibrary(saving("llm")).job)
        assert len(edges(here)[SUPPLIES].lineage.members) == 1


def _fails_on(body: dict[str, Any], word: str) -> Act:
    return Act(status=500) if any(word in each["text"] for each in shown(body)) else finds(body)


def test_a_passage_that_the_model_cannot_answer_is_told_and_tried_by_the_next_build(tmp_path: Path) -> None:
    with model_server(script=lambda body: _rambles_on(body, "日本は")) as model, serving(tmp_path, model) as here:
        here.store(TEXTS)
        job = ended(here, here.admin.SaveLibrary(saving("llm")).job)
        assert (job.state, job.progress.done, job.progress.total) == (admin_pb2.JOB_STATE_FAILED, 2, 3)
        assert "Some passages could not be read by the model" in job.error.message
        assert not here.admin.SaveLibrary(saving("llm")).HasField("job")
        model.script = finds
        again = here.admin.StartReindex(
            admin_pb2.StartReindexRequest(library_id="default", parts=[admin_pb2.INDEX_PART_GRAPH])
        ).job
        assert ended(here, again).state == admin_pb2.JOB_STATE_SUCCEEDED
        assert len(edges(here)[SUPPLIES].lineage.members) == 1


def _rambles_on(body: dict[str, Any], word: str) -> Act:
    return Act("I would rather not.") if any(word in each["text"] for each in shown(body)) else finds(body)


def test_without_a_model_it_is_refused(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        for validate_only in (True, False):
            failure = failure_of(lambda only=validate_only: here.admin.SaveLibrary(saving("llm", validate_only=only)))
            assert (failure.code.name, failure.reason) == ("FAILED_PRECONDITION", "NO_MODEL")


def test_a_library_whose_model_is_gone_goes_on_without(tmp_path: Path, model: ModelServer) -> None:
    with serving(tmp_path, model) as here:
        here.store(TEXTS)
        ended(here, here.admin.SaveLibrary(saving("llm")).job)
        before = {key: each.SerializeToString() for key, each in edges(here).items()}
    with house(tmp_path / "data", access__local_clearance="confidential") as here:
        assert {key: each.SerializeToString() for key, each in edges(here).items()} == before
        here.store({"e.md": "Acme supplies Japan again."})
        start = admin_pb2.StartReindexRequest(library_id="default", parts=[admin_pb2.INDEX_PART_GRAPH])
        assert failure_of(lambda: here.admin.StartReindex(start)).reason == "NO_MODEL"
    with serving(tmp_path, model) as here:
        wait_until_asked(here, model, "Acme supplies Japan again.")
        assert [each["text"] for each in shown(model.bodies[-1])] == ["Acme supplies Japan again."]


def _finds_partners(body: dict[str, Any]) -> Act:
    found = []
    for each in shown(body):
        words = each["text"].rstrip(".").split(" joins ")
        if len(words) == 2:
            said = {"subject": words[0], "relation": "joins", "object": words[1], "quote": each["text"].rstrip(".")}
            found.append({"passage": each["passage"], **said})
    return Act(json.dumps({"relations": found}))


def test_a_purge_takes_what_was_found_in_what_is_gone(tmp_path: Path) -> None:
    with model_server(script=_finds_partners) as model, serving(tmp_path, model) as here:
        here.admin.SaveLibrary(saving("llm"))
        here.store({"a.md": "Acme joins Kanarienvogel GmbH.", "b.md": "Acme joins Nachtigall AG."})
        wait_until_asked(here, model, "Acme joins Nachtigall AG.")
        assert {end for *_, end in edges(here)} == {"entity:Kanarienvogel GmbH", "entity:Nachtigall AG"}
        here.store({"a.md": "Acme joins nobody"})
        wait_until_asked(here, model, "Acme joins nobody")
        job = here.admin.PurgeRevisions(admin_pb2.PurgeRevisionsRequest(library_id="default")).job
        assert ended(here, job).state == admin_pb2.JOB_STATE_SUCCEEDED
        assert {end for *_, end in edges(here)} == {"entity:nobody", "entity:Nachtigall AG"}
        on_disk = {path: path.read_bytes() for path in sorted((tmp_path / "data").rglob("*")) if path.is_file()}
        assert [path for path, content in on_disk.items() if b"Kanarienvogel" in content] == []
        assert [path for path, content in on_disk.items() if b"Nachtigall" in content]
    with house(tmp_path / "data", access__local_clearance="confidential") as here:
        assert {end for *_, end in edges(here)} == {"entity:nobody", "entity:Nachtigall AG"}
