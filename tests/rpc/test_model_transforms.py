"""Query transforms with a model behind HTTP, from end to end: what is found, what leaves, what is said on failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, errors_pb2, narrative_pb2, router_pb2, stream_pb2
from groundwire_server.query import TRANSFORMS
from tests.llm.model_server import Act, ModelServer, model_server
from tests.rpc.house import HIDDEN_TEXT, TEXTS, House, furnish, house, snippets
from tests.rpc.serving import failure_of
from tests.rpc.test_model_answers import serving
from tests.support.eventually import eventually

QUESTION = "Which beast rests underground?"
SKIPPED = stream_pb2.DEGRADATION_KIND_TRANSFORM_SKIPPED
HINT = "- A fox sleeps in a den."
BAD: dict[str, Act] = {
    "busy": Act("", status=429, headers={"retry-after": "600"}),
    "broken": Act(raw=b'{"choices": [{"message": {"content": "A fox'),
    "gone": Act(close=True),
    "empty": Act(" \n"),
    "outside": Act("- The foxes of ＲＩＶＡＬ Co\n- R\u200bｉval co."),
}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server(Act(HINT)) as running:
        yield running


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[House]:
    with serving(tmp_path_factory.mktemp("transforms"), model, gate__outside_names=["Rival Co"]) as running:
        yield running
        assert eventually(lambda: not any(running.server.leftovers.values()))


@pytest.fixture
def says(model: ModelServer) -> Iterator[Callable[[Act], None]]:
    """Sets what the model says in one test."""
    yield lambda act: setattr(model, "script", [act])
    model.script = [Act(HINT)]


def retrieve(here: House, transform: str, query: str = QUESTION, **options: Any) -> list[Any]:
    request = narrative_pb2.NarrativeRetrieveRequest(
        query=query,
        tuning=narrative_pb2.RetrievalTuning(query_transform=transform),
        options=stream_pb2.CallOptions(explain=stream_pb2.EXPLAIN_LEVEL_PLAN, **options),
    )
    return list(here.narrative.NarrativeRetrieve(request))


def docs(frames: list[Any]) -> list[str]:
    return [each.lineage.doc_id for each in snippets(frames)]


def skips(frames: list[Any]) -> list[tuple[str, str]]:
    return [
        (each.component, errors_pb2.ErrorReason.Name(each.cause.reason))
        for each in frames[-1].summary.degradations
        if each.kind == SKIPPED
    ]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_what_the_model_writes_is_searched_and_nothing_but_the_question_leaves(
    here: House, model: ModelServer, transform: str
) -> None:
    assert docs(retrieve(here, "none")) == []
    before = len(model.bodies)
    frames = retrieve(here, transform)
    assert docs(frames)[0] == "notes/fox.md"
    plan = {step.stage: step for step in frames[0].header.plan}
    assert (plan["transform"].backend, plan["transform"].detail) == (
        transform,
        f"openai:small,{transform}/1,texts=1",
    )
    assert plan["merge"].detail == "k=60,w=1,lists=2"
    told = [(each.text, each.made_by) for each in frames[-1].summary.explanation.variants]
    assert told[0] == (QUESTION, "caller")
    assert told[-1][1] == transform
    assert skips(frames) == []
    assert len(model.bodies) == before + 1
    sent = model.text_sent()
    assert "kanarienvogel" not in sent
    assert HIDDEN_TEXT not in sent
    assert not any(text in sent or doc_id in sent for doc_id, text in TEXTS.items())


@pytest.mark.parametrize("fault", BAD)
def test_a_model_that_fails_is_said_and_the_question_is_searched(
    here: House, says: Callable[[Act], None], fault: str
) -> None:
    says(BAD[fault])
    query = "quick fox"
    bare = retrieve(here, "none", query)
    for transform in TRANSFORMS:
        frames = retrieve(here, transform, query)
        assert skips(frames) == [(f"query_transform:{transform}", "ERROR_REASON_MODEL_FAILED")]
        assert docs(frames) == docs(bare)
    failure = failure_of(lambda: retrieve(here, "hyde", query, forbid=[SKIPPED]))
    assert (failure.reason, failure.metadata["kind"]) == ("DEGRADATION_FORBIDDEN", "TRANSFORM_SKIPPED")
    assert "content" not in str(failure)


def test_the_passages_of_an_answer_are_found_by_it_and_a_library_can_ask_for_it(here: House) -> None:
    def asked() -> list[Any]:
        return list(
            here.router.Ask(router_pb2.AskRequest(question=QUESTION, writer=router_pb2.ANSWER_WRITER_EXTRACTIVE))
        )

    def saving(**said: Any) -> admin_pb2.SaveLibraryRequest:
        return admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="default", **said))

    shown = here.admin.SaveLibrary(saving(tuning={"query_transform": "hyde"}))
    assert shown.library.tuning.query_transform == "hyde"
    frames = asked()
    (call,) = [frame.sub_call for frame in frames if frame.WhichOneof("frame") == "sub_call"]
    assert [step.backend for step in call.plan if step.stage == "transform"] == ["hyde"]
    assert "notes/fox.md" in docs(frames)
    assert docs(retrieve(here, "none")) == []  # a call has the last word
    named = admin_pb2.Setting(name="query_transform", value="step_back")
    shown = here.admin.SaveLibrary(saving(settings=[named]))
    assert shown.library.tuning.query_transform == "step_back"
    here.admin.SaveLibrary(saving())
    assert "transform" not in [step.stage for step in retrieve(here, "")[0].header.plan]


def test_what_there_is_is_listed(here: House) -> None:
    info = here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
    listed = [each for each in info.components if each.kind == "query_transform"]
    assert [(each.name, each.active) for each in listed] == [(name, True) for name in TRANSFORMS]
    assert "tuning.query_transform" in info.capabilities
    failure = failure_of(lambda: retrieve(here, "magic"))
    assert failure.violations[0][:2] == ("tuning.query_transform", "UNKNOWN_NAME")


def test_without_a_model_the_question_is_searched(tmp_path_factory: pytest.TempPathFactory) -> None:
    with house(tmp_path_factory.mktemp("bare") / "data") as bare:
        furnish(bare)
        for transform in TRANSFORMS:
            frames = retrieve(bare, transform, "quick fox")
            assert skips(frames) == [(f"query_transform:{transform}", "ERROR_REASON_NO_MODEL")]
            assert docs(frames)[0] == "notes/fox.md"
        info = bare.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())
        listed = [each for each in info.components if each.kind == "query_transform"]
        assert [(each.active, each.inactive_reason) for each in listed] == [
            (False, "The server has no language model.")
        ] * 3
        assert "tuning.query_transform" not in info.capabilities


def test_the_setting_of_the_server_is_that_of_new_libraries(tmp_path_factory: pytest.TempPathFactory) -> None:
    with house(tmp_path_factory.mktemp("new") / "data", retrieval__query_transform="rag_fusion") as new:
        new.store({"a.txt": "A fox."})
        (shown,) = new.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert shown.tuning.query_transform == "rag_fusion"
        assert skips(retrieve(new, "")) == [("query_transform:rag_fusion", "ERROR_REASON_NO_MODEL")]
