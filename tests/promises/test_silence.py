"""Nothing happens in silence: what is asked for is done or refused by name, and every fallback can be forbidden."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, glossary_pb2, metric_pb2, router_pb2
from tests.rpc.house import House, furnish, house, term
from tests.rpc.serving import Failure, failure_of
from tests.support.eventually import eventually

Save = admin_pb2.SaveLibraryRequest
Update = admin_pb2.UpdateGlossaryRequest
ENTITY, METRIC = glossary_pb2.TERM_KIND_ENTITY, glossary_pb2.TERM_KIND_METRIC


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(Path(tmp_path_factory.mktemp("silence")) / "data") as running:
        furnish(running)
        yield running
        assert eventually(lambda: not any(running.server.leftovers.values()))
        assert not [line for line in running.log() if line["event"] == "fault"]


def at_once(count: int, call: Callable[[int], Any]) -> list[str]:
    """What became of calls in threads of their own: "OK" or the reason."""
    found: list[str] = []

    def run(number: int) -> None:
        try:
            call(number)
            found.append("OK")
        except grpc.RpcError as error:
            found.append(Failure.of(error).reason)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return sorted(found)


# ---- settings of a library -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("library", "violation"),
    [
        ({"embedding_coverage": 0.5}, ("library.embedding_coverage", "CONTRADICTION")),
        ({"index": {"embedder": "onnx@0123"}}, ("library.index.embedder", "UNKNOWN_NAME")),
        ({"index": {"chunk_chars": 0}}, ("library.index.chunk_chars", "VALUE_OUT_OF_RANGE")),
        ({"settings": [{"name": "b", "value": "2"}]}, ("library.settings[0].value", "VALUE_OUT_OF_RANGE")),
        ({"settings": [{"name": "vector_depth", "value": "1_0"}]}, ("library.settings[0].value", "VALUE_MALFORMED")),
        (
            {"settings": [{"name": "glossary_variants", "value": "on"}]},
            ("library.settings[0].value", "VALUE_MALFORMED"),
        ),
        (
            {"settings": [{"name": "k1", "value": "9", "origin": "default"}]},
            ("library.settings[0].origin", "CONTRADICTION"),
        ),
        (
            {"tuning": {"fusion": "rrf"}, "settings": [{"name": "fusion", "value": "linear"}]},
            ("library.settings[0].value", "CONTRADICTION"),
        ),
        ({"tuning": {"library_router": "keyword"}}, ("library.tuning.library_router", "CONTRADICTION")),
        ({"tuning": {"reranker": "ce2"}}, ("library.tuning.reranker", "UNKNOWN_NAME")),
        ({"tuning": {"rerank_depth": 20}}, ("library.tuning.rerank_depth", "CONTRADICTION")),
        ({"fault": {"message": "x"}}, ("library.fault", "CONTRADICTION")),
        ({"attributes": [{"name": "year"}]}, ("library.attributes[0].value_type", "VALUE_REQUIRED")),
        ({"attributes": [{"name": "Year", "value_type": 2}]}, ("library.attributes[0]", "VALUE_MALFORMED")),
        ({"attributes": [{"name": "year", "value_type": 8}]}, ("library.attributes[0]", "CONTRADICTION")),
        ({"attributes": [{"name": "title", "value_type": 2}]}, ("library.attributes[0]", "CONTRADICTION")),
        ({"attributes": [{"name": "year", "value_type": 99}]}, ("library.attributes[0].value_type", "UNKNOWN_NAME")),
        ({"attributes": [{"name": "year", "value_type": 2}] * 2}, ("library.attributes[1].name", "CONTRADICTION")),
        (
            {"settings": [{"name": "b", "value": "1", "origin": "file"}]},
            ("library.settings[0].origin", "CONTRADICTION"),
        ),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused_where_it_stands(
    here: House, library: dict[str, Any], violation: tuple[str, str]
) -> None:
    request = Save(library=admin_pb2.Library(library_id="quiet", **library))
    failure = failure_of(lambda: here.admin.SaveLibrary(request))
    assert [each[:2] for each in failure.violations] == [violation]


@pytest.mark.parametrize(
    ("library", "operation"),
    [
        ({"tuning": {"reranker": "maxsim", "rerank_depth": 20}}, "tuning.reranker"),
        ({"tuning": {"postprocessors": ["none", "mmr"]}}, "tuning.postprocessors"),
        ({"tuning": {"tree": True}}, "tuning.tree"),
    ],
)
def test_a_setting_that_is_not_built_is_refused_by_name(here: House, library: dict[str, Any], operation: str) -> None:
    request = Save(library=admin_pb2.Library(library_id="quiet", **library))
    failure = failure_of(lambda: here.admin.SaveLibrary(request))
    assert (failure.reason, failure.metadata["operation"]) == ("NOT_IMPLEMENTED", operation)


def test_a_library_can_be_saved_as_it_is_shown(tmp_path: Path) -> None:
    with house(tmp_path / "data", embedding__backend="deterministic") as own:
        own.admin.SaveLibrary(Save(library={"library_id": "kept", "description": "as it is"}))
        own.store({"a.txt": "A text."}, library="kept")
        shown = next(iter(own.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries))
        assert "@" in shown.index.embedder
        for output_only in ("snapshot_id", "documents", "active_chunks", "facts", "embedding_coverage"):
            shown.ClearField(output_only)  # type: ignore[arg-type]
        assert own.admin.SaveLibrary(Save(library=shown)).library.index == shown.index


def test_a_rehearsal_says_what_the_change_would_say(here: House) -> None:
    report = {"library_id": "twofold", "settings": [{"name": "ambiguous", "value": "report"}]}
    here.admin.SaveLibrary(Save(library=report))
    here.admin.UpdateGlossary(Update(library_id="twofold", put=[term(METRIC, "A", "same"), term(METRIC, "B", "same")]))
    for rehearsal in (True, False):
        request = Save(library={"library_id": "twofold"}, validate_only=rehearsal)
        assert failure_of(lambda: here.admin.SaveLibrary(request)).reason == "GLOSSARY_CONFLICT"  # noqa: B023


# ---- questions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["hello", "population of Japan", "What does the fox do?"])
@pytest.mark.parametrize("field", ["filter", "hint"])
def test_a_filter_that_tests_nothing_is_refused_whatever_is_asked(here: House, question: str, field: str) -> None:
    options: dict[str, Any] = {field: {"predicate": {"field": "nothing", "present": True}}}
    want = [(f"options.{field}.predicate.field", "FILTER_UNKNOWN_FIELD")]
    route = router_pb2.RouteRequest(question=question, options=options)
    assert [each[:2] for each in failure_of(lambda: here.router.Route(route)).violations] == want
    asked = router_pb2.AskRequest(question=question, options=options)
    assert [each[:2] for each in failure_of(lambda: here.router.Ask(asked)).violations] == want


@pytest.mark.parametrize("question", ["What does the fox do?", "What was the population of Japan in 2020 and why?"])
@pytest.mark.parametrize("given", [{"forbid": ["DEGRADATION_KIND_VECTOR_OFF"]}, {"strictness": 2}])
def test_a_forbidden_fallback_ends_the_call_before_its_first_frame(
    here: House, question: str, given: dict[str, Any]
) -> None:
    # One library is named: with those that other tests have made beside it, choosing among them may fall back first.
    stream = here.router.Ask(router_pb2.AskRequest(question=question, options={**given, "library_ids": ["default"]}))
    with pytest.raises(grpc.RpcError) as refused:
        next(stream)
    failure = Failure.of(refused.value)
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DEGRADATION_FORBIDDEN")
    assert failure.metadata["kind"] == "VECTOR_OFF"


# ---- several who change one thing ----------------------------------------------------------------------------------


def test_no_change_of_a_glossary_is_lost_to_another_one(here: House) -> None:
    here.admin.SaveLibrary(Save(library={"library_id": "busy"}))

    def put(number: int) -> None:
        for place in range(10):
            here.admin.UpdateGlossary(Update(library_id="busy", put=[term(ENTITY, f"E{number}_{place}")]))

    assert at_once(4, put) == ["OK"] * 4
    request = metric_pb2.DescribeMetricsRequest(library_ids=["busy"], page_size=1000)
    assert len(here.metric.DescribeMetrics(request).terms) == 40


def test_only_one_changes_the_state_that_several_have_read(here: House) -> None:
    here.admin.SaveLibrary(Save(library={"library_id": "raced"}))

    def seen() -> str:
        libraries = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        return next(each.snapshot_id for each in libraries if each.library_id == "raced")

    state = seen()
    put = at_once(
        5,
        lambda n: here.admin.UpdateGlossary(
            Update(library_id="raced", put=[term(ENTITY, f"E{n}")], if_snapshot_id=state)
        ),
    )
    assert put == ["CONFLICTING_CHANGE"] * 4 + ["OK"]
    state = seen()
    saved = at_once(
        5,
        lambda n: here.admin.SaveLibrary(
            Save(library={"library_id": "raced", "description": f"d{n}"}, if_snapshot_id=state)
        ),
    )
    assert saved == ["CONFLICTING_CHANGE"] * 4 + ["OK"]
