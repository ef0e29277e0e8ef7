"""GetServerInfo lists exactly what works: every method is called and every feature used, and the two are compared."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from groundwire.v1 import (
    admin_pb2,
    glossary_pb2,
    graph_pb2,
    ingest_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
)
from groundwire_server.rpc.capabilities import BUILT, NEEDS_EMBEDDER, NEEDS_MODEL, NOT_BUILT, is_built
from groundwire_server.rpc.methods import contract_methods
from tests.rpc.house import House, fact, finish, start
from tests.rpc.serving import Failure


def outcome(call: Callable[[], Any]) -> Failure | None:
    """What went wrong, or None."""
    try:
        answer = call()
        if hasattr(answer, "__next__"):
            list(answer)
    except grpc.RpcError as error:
        return Failure.of(error)
    return None


def info(here: House) -> admin_pb2.GetServerInfoResponse:
    return here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())


@pytest.mark.parametrize("name", sorted(contract_methods()))
def test_a_method_works_exactly_when_it_is_listed(furnished: House, name: str) -> None:
    method: MethodDescriptor = contract_methods()[name]
    request: Any = GetMessageClass(method.input_type)()
    kinds = {
        (False, False): furnished.channel.unary_unary,
        (False, True): furnished.channel.unary_stream,
        (True, False): furnished.channel.stream_unary,
        (True, True): furnished.channel.stream_stream,
    }
    make: Any = kinds[method.client_streaming, method.server_streaming]
    call = make(f"/{name}")
    data = request.SerializeToString()
    failure = outcome(lambda: call(iter([data]) if method.client_streaming else data))
    refused = failure is not None and failure.code is grpc.StatusCode.UNIMPLEMENTED
    assert refused is (name not in info(furnished).methods)
    if failure is not None and refused:
        assert failure.reason == "NOT_IMPLEMENTED"
        assert failure.metadata["operation"] == name.partition("/")[2]


def test_what_is_listed_is_sorted_and_in_the_contract(furnished: House) -> None:
    told = info(furnished)
    assert list(told.methods) == sorted(told.methods)
    assert set(told.methods) <= set(contract_methods())
    assert list(told.capabilities) == sorted(BUILT)
    assert [(each.kind, each.name) for each in told.components] == sorted(
        (each.kind, each.name) for each in told.components
    )


def test_no_feature_is_undecided() -> None:
    tables = [BUILT, NEEDS_EMBEDDER, NEEDS_MODEL, NOT_BUILT]
    assert sum(map(len, tables)) == len(frozenset().union(*tables))
    with pytest.raises(KeyError):
        is_built("teleport")


# ---- one use of every feature --------------------------------------------------------------------------------------

ONE_FILTER = {"predicate": {"field": "doc_id", "present": True}}


def retrieve(**fields: Any) -> Callable[[House], Any]:
    request = narrative_pb2.NarrativeRetrieveRequest(**{"query": "fox", **fields})
    return lambda here: here.narrative.NarrativeRetrieve(request)


def ask(**fields: Any) -> Callable[[House], Any]:
    request = router_pb2.AskRequest(**{"question": "What does the fox do?", **fields})
    return lambda here: here.router.Ask(request)


def trace(operation: str, **fields: Any) -> Callable[[House], Any]:
    request = graph_pb2.GraphTraceRequest()
    target = getattr(request, operation)
    target.SetInParent()
    target.MergeFrom(type(target)(**fields))
    return lambda here: here.graph.GraphTrace(request)


def save(**library: Any) -> Callable[[House], Any]:
    made = admin_pb2.Library(library_id="default", **library)
    request = admin_pb2.SaveLibraryRequest(library=made, validate_only=True)
    return lambda here: here.admin.SaveLibrary(request)


def ingest_fact(**fields: Any) -> Callable[[House], Any]:
    part = ingest_pb2.FactPart(seq=1)
    part.records.facts.append(fact("population", "Japan", "2020", "1", **fields))
    kind = ingest_pb2.IngestFactsRequest
    frames = [start(kind, validate_only=True), kind(part=part), finish(kind, 1)]
    return lambda here: here.ingest.IngestFacts(iter(frames))


def ingest_relation(**fields: Any) -> Callable[[House], Any]:
    part = ingest_pb2.FactPart(seq=1)
    given = {"subject": "JPN", "relation": "part_of", "object": "ASIA", "source_doc": "r.csv", "locator": "row=1"}
    part.records.relations.add(**given, **fields)
    kind = ingest_pb2.IngestFactsRequest
    frames = [start(kind, validate_only=True), kind(part=part), finish(kind, 1)]
    return lambda here: here.ingest.IngestFacts(iter(frames))


def resume_ingest(here: House) -> Any:
    kind, ingest_id = ingest_pb2.IngestDocumentsRequest, str(uuid.uuid4())
    for _ in range(2):
        frames = list(here.ingest.IngestDocuments(iter([start(kind, ingest_id=ingest_id), finish(kind, 0)])))
    return iter(frames)


def resume_retrieval(here: House) -> Any:
    request = narrative_pb2.NarrativeRetrieveRequest(query="fox")
    _, batch, _ = here.narrative.NarrativeRetrieve(request)
    request.options.resume.CopyFrom(batch.batch.after)
    return here.narrative.NarrativeRetrieve(request)


def relation_term(here: House) -> Any:
    term = glossary_pb2.Term(kind=glossary_pb2.TERM_KIND_RELATION, code="owned_by")
    term.relation.inverse_of = "parent_of"
    return here.admin.UpdateGlossary(
        admin_pb2.UpdateGlossaryRequest(library_id="default", put=[term], validate_only=True)
    )


NODE = "entity:JPN"
USES: dict[str, Callable[[House], Any]] = {
    "answer.extractive": ask(writer=router_pb2.ANSWER_WRITER_EXTRACTIVE),
    "answer.none": ask(writer=router_pb2.ANSWER_WRITER_NONE),
    "explain.plan": retrieve(options={"explain": "EXPLAIN_LEVEL_PLAN"}),
    "explain.trace": retrieve(options={"explain": "EXPLAIN_LEVEL_TRACE"}),
    "filter": retrieve(options={"filter": ONE_FILTER}),
    "forbid": retrieve(options={"forbid": ["DEGRADATION_KIND_TREE_ABSENT"]}),
    "glossary.relations": relation_term,
    "graph.closure": trace("closure", node_ids=[NODE], relations=["parent_of"]),
    "graph.common_ancestors": trace("common_ancestors", node_ids=[NODE, "entity:ASIA"]),
    "graph.communities": trace("communities"),
    "graph.compare": trace("compare", metric="population", period="2020", entities=["JPN", "ACME"]),
    "graph.derivation": trace("derivation", query={"metric": "population", "entity": "JPN", "period": "2020"}),
    "graph.neighborhood": trace("neighborhood", node_ids=[NODE]),
    "graph.paths": trace("paths", from_id=NODE, to_id="entity:ASIA"),
    "graph.rollup": trace("rollup", query={"metric": "population", "entity": "ASIA", "period": "2020"}),
    "hint": retrieve(options={"hint": ONE_FILTER}),
    "index.contextual_header": save(index={"contextual_header": True}),
    "index.relation_extractor": save(index={"relation_extractor": "co_occurrence"}),
    "index.representations": save(index={"representations": ["sparse"]}),
    "index.tree": save(index={"tree_builder": "binary"}),
    "ingest.resume": resume_ingest,
    "ingest.withdraw_records": ingest_relation(withdraw=True),
    "known_at": retrieve(options={"known_at": {"seconds": 1}}),
    "library.attributes": save(attributes=[{"name": "year", "value_type": admin_pb2.ATTRIBUTE_TYPE_INTEGER}]),
    "library.reindex": save(index={"chunker": "whole"}),
    "library.tuning": save(tuning={"glossary_variants": True}),
    "metric.calculations": lambda here: here.metric.QueryMetric(
        metric_pb2.QueryMetricRequest(
            queries=[{"metric": "population", "entity": "Japan", "period": year} for year in ("2020", "2021")],
            calculations=[{"operation": 4, "first": 0, "second": 1}],
        )
    ),
    "metric.versions": lambda here: here.metric.QueryMetric(
        metric_pb2.QueryMetricRequest(
            queries=[{"metric": "population", "entity": "Japan", "period": "2020"}],
            versions=metric_pb2.VERSION_POLICY_ALL,
        )
    ),
    "route.soft_budget": lambda here: here.router.Route(
        router_pb2.RouteRequest(question="Where?", options={"soft_budget": {"seconds": 1}})
    ),
    "resume": resume_retrieval,
    "retrieval.lexical": retrieve(mode=narrative_pb2.RETRIEVAL_MODE_LEXICAL),
    "soft_budget": retrieve(options={"soft_budget": {"seconds": 1}}),
    "token_budget": retrieve(options={"token_budget": 5}),
    "tuning.adaptive": ask(tuning={"adaptive": True}),
    "tuning.corrective": retrieve(tuning={"corrective": True}),
    "tuning.decomposition": ask(tuning={"decomposition": "llm"}),
    "tuning.filter_extractor": retrieve(tuning={"filter_extractor": "glossary"}),
    "tuning.graph": retrieve(tuning={"graph": True}),
    "tuning.postprocessors": retrieve(tuning={"postprocessors": ["none", "mmr"]}),
    "tuning.preset": retrieve(tuning={"preset": "quality"}),
    "tuning.reranker": retrieve(tuning={"reranker": "maxsim", "rerank_depth": 5}),
    "tuning.tree": retrieve(tuning={"tree": True}),
    "valid_at": retrieve(options={"valid_at": {"seconds": 1}}),
}


def test_every_feature_has_a_use() -> None:
    assert set(USES) == BUILT | NOT_BUILT


@pytest.mark.parametrize("feature", sorted(USES))
def test_a_feature_works_exactly_when_it_is_listed(furnished: House, feature: str) -> None:
    failure = outcome(lambda: USES[feature](furnished))
    if feature in info(furnished).capabilities:
        assert failure is None
    else:
        assert failure is not None
        assert (failure.code, failure.reason) == (grpc.StatusCode.UNIMPLEMENTED, "NOT_IMPLEMENTED")
        assert failure.metadata["operation"] == feature
