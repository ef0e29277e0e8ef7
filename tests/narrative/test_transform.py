"""A retrieval with a query transform: what runs, what is said, what leaves, and what is found by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import Cause, DeadlineExceeded, ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import (
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    Degradation,
    DegradationKind,
    Label,
    QueryVariant,
    Scores,
    Snippet,
    TextPassage,
    slice_text,
)
from groundwire_server.glossary import EntityTerm, Glossary, Synonym
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.llm import ChatRequest, ModelFailed, ScriptedProvider, load_prompt
from groundwire_server.narrative import (
    RetrievalMode,
    RetrievalParts,
    RetrievalTuning,
    RetrieveRequest,
    Walked,
    WalkStart,
)
from groundwire_server.query import TRANSFORMS
from groundwire_server.security import SecurityGate, local_principal
from tests.narrative.retrieved import Retrieved, docs, planned_call, retrieved
from tests.support.libraries import START, Doc, make_library

DOCS = [
    Doc("en/stores.md", "Revenue rose because new stores opened. It was a good year."),
    Doc("en/snow.md", "Heavy snow closed the roads in January."),
    Doc("en/costs.md", "Wages and energy made everything dearer."),
    Doc("ja/tenpo.md", "売上高は新しい店舗の開店で増えた。"),
    Doc("zh/mendian.md", "营业收入因新店开业而增长。"),
    Doc("en/vault.md", "Kanarienvogel: the takeover of Rival Industries is planned.", label=Label.RESTRICTED),
    Doc("en/board.md", "Kanarienvogel: heavy snow of the board.", label=Label.CONFIDENTIAL),
]
EMBEDDER = HashEmbedder()
QUESTION = "Why did turnover suffer last winter?"
REPLIES = {
    "hyde": "Heavy snow closed the roads. Fewer people came to the stores in January.",
    "rag_fusion": "1. snow and closed roads in January\n2. wages and energy\n3. stores opened",
    "step_back": "How does snow close roads?",
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("plain"), DOCS).snapshot()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("embedded"), DOCS, embedder=EMBEDDER).snapshot()


def scripted(name: str) -> ScriptedProvider:
    return ScriptedProvider([REPLIES[name]])


def run(
    snapshots: Snapshot | Sequence[Snapshot],
    transform: str,
    parts: RetrievalParts,
    call: Call | None = None,
    query: str = QUESTION,
    **request: Any,
) -> Retrieved:
    tuning = RetrievalTuning(query_transform=transform, **request.pop("tuning", {}))
    wanted = RetrieveRequest(query, tuning=tuning, **request)
    return retrieved(wanted, call or planned_call(), snapshots, parts)


GOLDEN = {
    "hyde": [QueryVariant(REPLIES["hyde"], "hyde")],
    "rag_fusion": [
        QueryVariant("snow and closed roads in January", "rag_fusion"),
        QueryVariant("wages and energy", "rag_fusion"),
        QueryVariant("stores opened", "rag_fusion"),
    ],
    "step_back": [QueryVariant("How does snow close roads?", "step_back")],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_plan_prompt_variants_and_degradations(plain: Snapshot, name: str) -> None:
    model = scripted(name)
    header, found, summary = run(plain, name, RetrievalParts(model=model))
    count = len(GOLDEN[name])
    assert [(step.stage, step.backend, step.detail, step.library_id) for step in header.plan] == [
        ("restrict", "columns", "readable", "default"),
        ("transform", name, f"scripted:script,{name}/1,texts={count}", ""),
        ("lexical", "bm25", "", "default"),
        ("fuse", "rrf", "k=60,w=1", "default"),
        ("merge", "rrf", f"k=60,w=1,lists={count + 1}", "default"),
        ("exit", "snippets", "rows_once", ""),
    ]
    assert [each.stage for each in summary.timings] == [step.stage for step in header.plan]
    assert summary.variants == (QueryVariant(QUESTION, "caller"), *GOLDEN[name])
    assert [(each.kind, each.component) for each in summary.degradations] == [(DegradationKind.VECTOR_OFF, "embedder")]
    (used,) = summary.model_usage
    assert (used.model, used.calls, used.output_tokens) == ("scripted:script", 1, len(REPLIES[name].split()))
    (asked,) = model.asked
    assert asked == ChatRequest(
        load_prompt(name, "en").fill(question=json.dumps(QUESTION)), f"{name}/1", max_tokens=1024
    )
    assert "en/snow.md" in docs(found)
    assert "en/snow.md" not in docs(run(plain, "none", RetrievalParts(model=model))[1])
    assert len(model.asked) == 1


@pytest.mark.parametrize("mode", RetrievalMode)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_text_is_searched_by_the_legs_of_the_question(embedded: Snapshot, name: str, mode: RetrievalMode) -> None:
    """Scores are reciprocal ranks over the lists that each text finds by itself; the legs' own are the question's."""
    parts = RetrievalParts(embedder=_Embedder())
    header, found, _ = run(embedded, name, replace(parts, model=scripted(name)), mode=mode, top_k=50)
    sums: dict[str, float] = {}
    lists: list[dict[str, Scores]] = []
    for text, passage in [(QUESTION, False), *((each.text, name == "hyde") for each in GOLDEN[name])]:
        alone = replace(parts, embedder=_Embedder(passage))
        lists.append(scores(run(embedded, "none", alone, query=text, mode=mode, top_k=50)[1]))
        for rank, doc_id in enumerate(lists[-1], start=1):
            sums[doc_id] = sums.get(doc_id, 0.0) + 1 / (60 + rank)
    merged = scores(found)
    assert {doc_id: each.fused for doc_id, each in merged.items()} == sums
    assert [each.fused for each in merged.values()] == sorted(sums.values(), reverse=True)
    for doc_id in merged.keys() & lists[0].keys():
        assert replace(merged[doc_id], fused=0.0) == replace(lists[0][doc_id], fused=0.0)
    assert ("dense" in {step.stage for step in header.plan}) == (mode is not RetrievalMode.LEXICAL)


def scores(found: list[Snippet]) -> dict[str, Scores]:
    return {one.lineage.doc_id: one.scores for one in found if one.scores is not None}


class _Embedder(HashEmbedder):
    """Tells queries from passages, or takes both for passages."""

    def __init__(self, passages: bool = False) -> None:
        super().__init__()
        self._passages = passages

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed_passage(text if self._passages else f"query {text}")


def test_relations_are_followed_from_what_all_texts_found(plain: Snapshot) -> None:
    """A walk that gives every document of its seeds the same share leaves their order."""

    class Recorder:
        name = detail = "recorder"

        def walk(self, start: WalkStart) -> Walked:
            begun.append(start)
            columns = start.snapshot.columns
            return Walked({int(columns.revision_of[row]): 0.01 for row in start.seeds}, lambda place: None, 0, 0)

    begun: list[WalkStart] = []
    merged = run(plain, "rag_fusion", RetrievalParts(model=scripted("rag_fusion")))[1]
    parts = RetrievalParts(model=scripted("rag_fusion"), graph=Recorder())
    header, found, _ = run(plain, "rag_fusion", parts, tuning={"graph": True})
    assert [step.stage for step in header.plan][-3:] == ["merge", "graph", "exit"]
    (start,) = begun
    assert start.question == QUESTION
    assert len(start.seeds) == len(merged) > 1
    assert docs(found) == docs(merged)


def test_how_much_is_asked_for_changes_no_order(embedded: Snapshot) -> None:
    found = [
        docs(run(embedded, "hyde", RetrievalParts(embedder=EMBEDDER, model=scripted("hyde")), top_k=top_k)[1])
        for top_k in (5, 3, 1)
    ]
    assert found[1:] == [found[0][:3], found[0][:1]]


def _outside(_: ChatRequest) -> str:
    return "Rival Industries and the snow\nthe snow of R\u200bｉval  Industries"


FAILURES: list[tuple[str, Callable[[ChatRequest], Any] | None, ErrorReason, str]] = [
    ("no_model", None, ErrorReason.NO_MODEL, "The server has no language model."),
    ("failed", lambda _: ModelFailed("host: 503"), ErrorReason.MODEL_FAILED, "host: 503"),
    ("empty", lambda _: " ", ErrorReason.MODEL_FAILED, "The model wrote nothing of use."),
    ("outside", _outside, ErrorReason.MODEL_FAILED, "All that the model wrote names something outside."),
    ("broken", lambda _: ValueError("secret"), ErrorReason.MODEL_FAILED, "The query transform failed."),
]


@pytest.mark.parametrize("failure", FAILURES, ids=[each[0] for each in FAILURES])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_failure_is_said_and_the_question_is_searched(
    plain: Snapshot, name: str, failure: tuple[str, Callable[[ChatRequest], Any] | None, ErrorReason, str]
) -> None:
    case, script, reason, message = failure
    gate = SecurityGate(["Rival Industries"])
    parts = RetrievalParts(model=None if script is None else ScriptedProvider(script), gate=gate)
    query = "snow in January"
    header, found, summary = run(plain, name, parts, query=query)
    lost = Degradation(DegradationKind.TRANSFORM_SKIPPED, f"query_transform:{name}", "", Cause(reason, message))
    assert summary.degradations[-1] == lost
    assert summary.variants == (QueryVariant(query, "caller"),)
    assert [each.calls for each in summary.model_usage] == ([] if case in ("no_model", "broken") else [1])
    bare = run(plain, "none", parts, query=query)
    assert found == bare[1]
    assert [step for step in header.plan if step.stage != "transform"] == list(bare[0].plan)
    forbids = Call(local_principal(), CallOptions(forbid=frozenset({DegradationKind.TRANSFORM_SKIPPED})))
    with pytest.raises(FailedPrecondition) as raised:
        run(plain, name, parts, forbids, query=query)
    assert raised.value.reason is ErrorReason.DEGRADATION_FORBIDDEN


def test_a_vector_that_cannot_be_made_skips_the_transform(embedded: Snapshot) -> None:
    class Picky(HashEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            return EMBEDDER.embed_query(text)

        def embed_passage(self, text: str) -> NDArray[np.float32]:
            raise RuntimeError("no")

    _, found, summary = run(embedded, "hyde", RetrievalParts(embedder=Picky(), model=scripted("hyde")))
    (lost,) = summary.degradations
    assert (lost.kind, lost.component) == (DegradationKind.TRANSFORM_SKIPPED, "query_transform:hyde")
    assert found == run(embedded, "none", RetrievalParts(embedder=EMBEDDER))[1]


def test_one_that_names_something_outside_is_left_out_and_the_plan_says_so(plain: Snapshot) -> None:
    model = ScriptedProvider(["snow\nsnow at Rival Industries\nroads"])
    parts = RetrievalParts(model=model, gate=SecurityGate(["Rival Industries"]))
    header, _, summary = run(plain, "rag_fusion", parts)
    assert [each.text for each in summary.variants] == [QUESTION, "snow", "roads"]
    (step,) = [step for step in header.plan if step.stage == "transform"]
    assert step.detail == "scripted:script,rag_fusion/1,texts=2,outside=1"


def test_a_question_about_something_outside_reaches_no_model(plain: Snapshot) -> None:
    model = scripted("hyde")
    parts = RetrievalParts(model=model, gate=SecurityGate(["Rival Industries"]))
    assert run(plain, "hyde", parts, query="How is Rival Industries?")[2].refusal is not None
    assert model.asked == []


def test_a_longer_name_of_the_glossary_is_not_the_outside_one_in_it(tmp_path: Path) -> None:
    known = EntityTerm("SKY", "天空航空公司", synonyms=(Synonym("天空航空公司", "zh"),))
    snapshot = make_library(tmp_path, DOCS, glossary=Glossary([known])).snapshot()
    parts = RetrievalParts(
        model=ScriptedProvider(["天空航空公司的收入\n天空航空的收入"]), gate=SecurityGate(["天空航空"])
    )
    variants = run(snapshot, "rag_fusion", parts, query="天空航空公司怎么样？", tuning={"glossary_variants": False})[2]
    assert [each.text for each in variants.variants[1:]] == ["天空航空公司的收入"]


@pytest.mark.parametrize("clearance", [Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_question_alone_leaves(plain: Snapshot, name: str, clearance: Label) -> None:
    """No passage, title or id of a library, hidden or not, is in a prompt, and hidden rows change none of its bytes."""
    model = scripted(name)
    call = Call(local_principal(clearance), CallOptions(), now=lambda: START)
    _, found, _ = run(plain, name, RetrievalParts(model=model), call)
    sent = "".join(message.text for message in model.asked[0].messages)
    assert sent == "".join(message.text for message in load_prompt(name, "en").fill(question=json.dumps(QUESTION)))
    assert not any(doc.text in sent or doc.doc_id in sent for doc in DOCS)
    assert "en/vault.md" not in docs(found)
    assert ("en/board.md" in docs(found)) == (clearance is Label.CONFIDENTIAL)


def test_a_passage_that_was_made_up_is_no_snippet_and_marks_nothing(plain: Snapshot) -> None:
    _, found, _ = run(plain, "hyde", RetrievalParts(model=scripted("hyde")), query="January?")
    (snow,) = [one.payload for one in found if one.lineage.doc_id == "en/snow.md"]
    assert isinstance(snow, TextPassage)
    assert [slice_text(snow.text, span) for span in snow.highlights] == ["January"]
    texts = {doc.text for doc in DOCS}
    assert all(isinstance(one.payload, TextPassage) and one.payload.text in texts for one in found)


def test_a_library_has_its_own_and_a_call_has_the_last_word(tmp_path: Path) -> None:
    wishes = {"a": "hyde", "b": "none", "c": "step_back", "d": "hyde"}
    snapshots = [
        make_library(tmp_path, DOCS[:3], library_id=name, config=LibraryConfig(query_transform=wish)).snapshot()
        for name, wish in wishes.items()
    ]
    model = ScriptedProvider(lambda asked: REPLIES[asked.purpose.partition("/")[0]])
    header, _, _ = run(snapshots, "", RetrievalParts(model=model))
    assert [step.backend for step in header.plan if step.stage == "transform"] == ["hyde", "step_back"]
    assert [step.library_id for step in header.plan if step.stage == "merge"] == ["a", "c", "d"]
    assert [asked.purpose for asked in model.asked] == ["hyde/1", "step_back/1"]
    header, _, _ = run(snapshots, "rag_fusion", RetrievalParts(model=model))
    assert [step.library_id for step in header.plan if step.stage == "merge"] == ["a", "b", "c", "d"]
    lost = [each for each in run(snapshots, "", RetrievalParts())[2].degradations if each.cause is not None]
    assert [(each.component, each.library_id) for each in lost if each.kind is DegradationKind.TRANSFORM_SKIPPED] == [
        ("query_transform:hyde", "a"),
        ("query_transform:hyde", "d"),
        ("query_transform:step_back", "c"),
    ]


def test_the_end_of_a_call_ends_the_model(plain: Snapshot) -> None:
    token = CancelToken()

    def cancelled(_: ChatRequest) -> str:
        token.cancel()
        return REPLIES["hyde"]

    call = Call(local_principal(), CallOptions(), token)
    with pytest.raises(CallCancelled):
        run(plain, "hyde", RetrievalParts(model=ScriptedProvider(cancelled)), call)
    ticks = iter(range(1000))
    late = Call(local_principal(), CallOptions(), CancelToken(2, clock=lambda: next(ticks)))
    with pytest.raises(DeadlineExceeded):
        run(plain, "hyde", RetrievalParts(model=scripted("hyde")), late)


def test_a_name_that_no_transform_has_is_refused_with_those_that_are(plain: Snapshot) -> None:
    with pytest.raises(InvalidRequest, match="'magic' is none of none, hyde, rag_fusion, step_back"):
        run(plain, "magic", RetrievalParts())


def test_the_same_reply_gives_the_same_stream(embedded: Snapshot) -> None:
    def once(name: str) -> tuple[Any, ...]:
        header, found, summary = run(embedded, name, RetrievalParts(embedder=EMBEDDER, model=scripted(name)))
        return header, found, replace(summary, timings=tuple(replace(t, elapsed=timedelta()) for t in summary.timings))

    for name in TRANSFORMS:
        assert once(name) == once(name)
