"""Filters and verdicts of a model behind HTTP, from end to end: what is found or refused, what leaves, what is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, glossary_pb2, ingest_pb2, narrative_pb2, router_pb2, stream_pb2, value_pb2
from tests.llm.model_server import Act, ModelServer, model_server
from tests.rpc.house import HIDDEN_TEXT, Documents, House, document_part, finish, glossary, snippets, start, term
from tests.rpc.serving import failure_of
from tests.rpc.test_model_answers import serving
from tests.support.eventually import eventually

QUESTION = "Why did Acme close the mill?"
MILLS = {
    "mills/acme.md": ("ACME", "The mill was closed after a fire."),
    "mills/globex.md": ("Globex", "A mill of ours."),
}
HIDDEN_NAME = "Kanarienvogel Holding"
SAYS = {
    "filters/1": {"filters": [{"attribute": "company", "any_of": ["ACME"]}]},
    "grade/1": {"useful": [0]},
}


def asks_for(body: dict[str, Any]) -> str:
    """Which prompt a request was made of."""
    system = body["messages"][0]["content"]
    return "filters/1" if "which documents" in system else "grade/1" if "passages answer" in system else "corrective/1"


def helpful(body: dict[str, Any]) -> Act:
    purpose = asks_for(body)
    return Act(json.dumps(SAYS[purpose]) if purpose in SAYS else "the fire at the mill")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server(script=helpful) as running:
        yield running


@pytest.fixture(autouse=True)
def sober(model: ModelServer) -> Iterator[None]:
    yield
    model.script = helpful


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[House]:
    with serving(tmp_path_factory.mktemp("stages"), model) as running:
        running.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="mills")))
        hidden = {"mills/vault.md": (HIDDEN_NAME, HIDDEN_TEXT)}
        for label, documents in ((0, MILLS), (ingest_pb2.LABEL_CONFIDENTIAL, hidden)):
            parts = [
                Documents(part=document_part(seq, doc_id, text.encode(), label=label, attributes=about(company)))
                for seq, (doc_id, (company, text)) in enumerate(documents.items(), 1)
            ]
            opened = start(Documents, "mills")
            list(running.ingest.IngestDocuments(iter([opened, *parts, finish(Documents, len(parts))])))
        yield running
        assert eventually(lambda: not any(running.server.leftovers.values()))


def about(company: str) -> list[value_pb2.Attribute]:
    return [value_pb2.Attribute(name="company", value=value_pb2.Value(string_value=company))]


def retrieve(here: House, query: str = QUESTION, forbid: Any = (), **tuning: Any) -> list[Any]:
    request = narrative_pb2.NarrativeRetrieveRequest(
        query=query,
        tuning=narrative_pb2.RetrievalTuning(**tuning),
        options=stream_pb2.CallOptions(library_ids=["mills"], forbid=forbid),
    )
    return list(here.narrative.NarrativeRetrieve(request))


def docs(frames: list[Any]) -> list[str]:
    return [each.lineage.doc_id for each in snippets(frames)]


def lost(frames: list[Any]) -> list[str]:
    return [each.component for each in frames[-1].summary.degradations if not each.component.startswith("embedder")]


def test_a_model_reads_a_filter_out_of_the_question(here: House, model: ModelServer) -> None:
    frames = retrieve(here, filter_extractor="llm")
    assert docs(frames) == ["mills/acme.md"]
    header = frames[0].header
    assert (header.plan[0].stage, header.plan[0].detail) == ("extract", "openai:small,filters/1,attributes=1")
    assert header.hint_applied.predicate.field == "company"
    (used,) = frames[-1].summary.model_usage
    assert (used.model, used.calls) == ("openai:small", 1)
    assert set(docs(retrieve(here))) > {"mills/acme.md"}


def test_a_model_judges_what_was_found(here: House, model: ModelServer) -> None:
    frames = retrieve(here, corrective=True, corrective_judge="llm")
    assert "mills/acme.md" in docs(frames)
    model.script = lambda body: Act('{"useful": []}' if asks_for(body) == "grade/1" else "fire at a mill")
    frames = retrieve(here, corrective=True, corrective_judge="llm")
    summary = frames[-1].summary
    assert (docs(frames), summary.end_reason) == ([], stream_pb2.END_REASON_REFUSED)
    assert summary.refusal.reason == stream_pb2.REFUSAL_REASON_WEAK_CONTEXT
    assert [step.backend for step in frames[0].header.plan if step.backend in ("llm", "corrective")] == [
        "llm",
        "corrective",
        "llm",
    ]


def test_ask_refuses_where_its_passages_are_weak(here: House) -> None:
    request = router_pb2.AskRequest(
        question="Why did the lighthouse of Alexandria fall?",
        writer=router_pb2.ANSWER_WRITER_EXTRACTIVE,
        tuning=narrative_pb2.RetrievalTuning(corrective=True, filter_extractor="glossary"),
        options=stream_pb2.CallOptions(library_ids=["mills"]),
    )
    frames = list(here.router.Ask(request))
    (answer,) = [frame.answer for frame in frames if frame.HasField("answer")]
    assert answer.origin == router_pb2.ANSWER_ORIGIN_FIXED
    assert not snippets(frames)
    assert frames[-1].summary.end_reason == stream_pb2.END_REASON_REFUSED


def test_nothing_above_the_models_clearance_leaves(here: House, model: ModelServer) -> None:
    """The caller reads confidential documents; the model may be shown internal ones."""
    model.received.clear()
    frames = retrieve(
        here, "secret kanarienvogel mill", filter_extractor="llm", corrective=True, corrective_judge="llm"
    )
    assert frames
    assert model.received
    sent = b"".join(model.received)
    assert HIDDEN_NAME.encode() not in sent
    assert HIDDEN_TEXT.encode() not in sent
    assert b"vault" not in sent


BAD: dict[str, Act] = {
    "busy": Act("", status=429, headers={"retry-after": "600"}),
    "broken": Act(raw=b'{"choices": [{"message": {"content": "A fox'),
    "gone": Act(close=True),
    "talk": Act("Certainly! All of them are."),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_model_that_fails_is_said_and_neither_narrows_nor_judges(here: House, model: ModelServer, fault: str) -> None:
    model.script = [BAD[fault]]
    frames = retrieve(here, filter_extractor="llm", corrective=True, corrective_judge="llm")
    assert lost(frames) == ["filter_extractor:llm", "grade:llm"]
    assert docs(frames) == docs(retrieve(here))
    for kind, name in (
        (stream_pb2.DEGRADATION_KIND_FILTER_EXTRACTION_SKIPPED, "FILTER_EXTRACTION_SKIPPED"),
        (stream_pb2.DEGRADATION_KIND_TRANSFORM_SKIPPED, "TRANSFORM_SKIPPED"),
    ):
        failure = failure_of(
            lambda kind=kind: retrieve(
                here, forbid=[kind], filter_extractor="llm", corrective=True, corrective_judge="llm"
            )
        )
        assert (failure.reason, failure.metadata["kind"]) == ("DEGRADATION_FORBIDDEN", name)


def test_a_library_keeps_its_stages_and_the_server_lists_them(here: House) -> None:
    tuning = narrative_pb2.RetrievalTuning(preset="quality", corrective_judge="llm")
    library = admin_pb2.Library(library_id="kept", tuning=tuning)
    saved = here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library)).library.tuning
    assert (saved.filter_extractor, saved.corrective, saved.corrective_judge) == ("glossary", True, "llm")
    assert (saved.preset, saved.graph) == ("", True)
    info = here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
    listed = {(each.kind, each.name) for each in info.components if each.active}
    assert {(kind, "llm") for kind in ("filter_extractor", "corrective_judge")} <= listed
    assert {("filter_extractor", "glossary"), ("corrective_judge", "words")} <= listed
    assert {"tuning.corrective", "tuning.filter_extractor", "tuning.preset"} <= set(info.capabilities)


def test_route_suggests_what_the_glossary_reads(here: House) -> None:
    options = stream_pb2.CallOptions(library_ids=["mills"])
    named = here.router.Route(router_pb2.RouteRequest(question=QUESTION, options=options))
    assert not named.HasField("filter_suggested")  # the library has no glossary
    globex = term(glossary_pb2.TERM_KIND_ENTITY, "GLOBEX", "Globex")
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="mills", put=[*glossary(), globex]))
    named = here.router.Route(router_pb2.RouteRequest(question=QUESTION, options=options))
    test = named.filter_suggested.predicate
    assert (test.field, [each.string_value for each in test.one_of.values]) == ("company", ["ACME"])
    options.hint.CopyFrom(named.filter_suggested)
    narrowed = narrative_pb2.NarrativeRetrieveRequest(query=QUESTION, options=options)
    assert docs(list(here.narrative.NarrativeRetrieve(narrowed))) == ["mills/acme.md"]


def test_economy_searches_by_words_where_the_call_names_no_mode(here: House) -> None:
    def degraded(frames: list[Any]) -> list[int]:
        return [each.kind for each in frames[-1].summary.degradations]

    assert degraded(retrieve(here, preset="balanced")) == [stream_pb2.DEGRADATION_KIND_VECTOR_OFF]
    assert degraded(retrieve(here, preset="economy")) == []
    failure = failure_of(lambda: retrieve(here, preset="lavish"))
    assert failure.violations[0][:2] == ("tuning.preset", "UNKNOWN_NAME")
