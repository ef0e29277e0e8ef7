"""Every question that a caller can put to a server, and the canonical bytes of what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from groundwire.v1 import (
    admin_pb2,
    evidence_pb2,
    filter_pb2,
    graph_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
    stream_pb2,
    tools_pb2,
    value_pb2,
)
from tests.rpc.house import House
from tests.support.canonical import canonical, canonical_message

__all__ = ["QUERIES", "QUESTIONS", "answers", "calls", "refusal", "retrieval", "streams"]

QUERIES = ("alpha", "alpha beta gamma alpha", "売上 人口", "revenue of Acme 2024", "東京の人口", "kanarienvogel", "zzz")
QUESTIONS = (
    "What was the revenue of Acme in 2024?",
    "Why did revenue of Acme rise in 2023?",
    "アクメの2024年度の売上高は？",
    "What is the SECRETMETRIC of HIDDENCO in 2024?",
    "How much rev had Twin in 2024?",
    "Who is alpha?",
    "What was the profit of Acme?",
    "hello",
)
_METRICS = ("revenue", "rev", "revenu", "SECRETMETRIC", "secretmetri")
_ENTITIES = ("Acme", "Twin", "HIDDENCO", "hiddenc")
_PERIODS = ("2024", "FY2024", "Q3", "1999")
_NODES = ("entity:ACME", "Acme", "Twin", "HIDDENCO", "entity:HIDDENC", "A", "entity:B")
_DOCUMENTS = ("v/a.md", "v/b.md", "h/x.md", "v/aa.md", "h.csv", "never.md")

Calls = dict[str, Callable[[], Any]]


def answers(here: House, moments: Sequence[datetime] = (), modes: Sequence[int] = (0,)) -> dict[str, bytes]:
    """What each call gives: canonical bytes, counts of the stages beside them, or the refusal."""
    return {name: _answer(call) for name, call in calls(here, moments, modes).items()}


def calls(here: House, moments: Sequence[datetime], modes: Sequence[int]) -> Calls:
    """All calls by name."""
    found: Calls = {}
    for name, call in (
        *_passages(here, moments, modes),
        *_figures(here, moments),
        *_relations(here, moments),
        *_questions(here, moments),
        *_citations(here),
        *_lists(here),
    ):
        found[name] = call
    return found


def streams(here: House) -> Iterator[Any]:
    """Frames of everything that a reader can find."""
    for query in QUERIES:
        yield from retrieval(here, query, top_k=200)()
    yield from _metric(here, versions=metric_pb2.VERSION_POLICY_ALL)()
    for node in _NODES:
        try:
            yield from _walk(here, node, max_hops=4)()
        except grpc.RpcError:
            continue


def retrieval(here: House, query: str, options: stream_pb2.CallOptions | None = None, **more: Any) -> Callable[[], Any]:
    """One call for passages."""
    request = narrative_pb2.NarrativeRetrieveRequest(query=query, options=options or _on_a_day(), **more)
    return lambda: here.narrative.NarrativeRetrieve(request)


def refusal(error: grpc.RpcError) -> bytes:
    """All that a client sees of a failed call, but for the id of the call."""
    call: Any = error
    raw = dict(call.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    seen = [call.code().name, call.details()]
    for detail in status_pb2.Status.FromString(raw).details:
        info, faults = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        if detail.Unpack(info):
            info.metadata.pop("request_id", None)
            seen.append(str(info))
        elif detail.Unpack(faults):
            seen.append(str(faults))
        else:
            seen.append(detail.type_url)
    return repr(seen).encode()


def _answer(call: Callable[[], Any]) -> bytes:
    try:
        given = call()
        if isinstance(given, Message):
            return canonical_message(given)
        frames = list(given)
    except grpc.RpcError as error:
        return refusal(error)
    summaries = [frame.summary for frame in frames if frame.WhichOneof("frame") == "summary"]
    counts = [(each.stage, each.items_in, each.items_out) for summary in summaries for each in summary.timings]
    return canonical(frames) + repr(counts).encode()


def _on_a_day(**given: Any) -> stream_pb2.CallOptions:
    """Options of a call that counts from one day, so that a midnight between two calls changes nothing."""
    return stream_pb2.CallOptions(reference_date="2025-01-01", **given)


def _test(field: str, **test: Any) -> filter_pb2.Filter:
    return filter_pb2.Filter(predicate=filter_pb2.Predicate(field=field, **test))


def _options(moments: Sequence[datetime]) -> dict[str, stream_pb2.CallOptions]:
    number, text = value_pb2.Value(int_value=1), value_pb2.Value(string_value="h/x.md")
    made = {
        "plan": _on_a_day(explain=stream_pb2.EXPLAIN_LEVEL_PLAN),
        "n > 1": _on_a_day(filter=_test("n", gt=number)),
        "n is text": _on_a_day(filter=_test("n", eq=text)),
        "no n": _on_a_day(filter=_test("n", present=False)),
        "hidden attribute": _on_a_day(filter=_test("hidden_attr", present=True)),
        "hidden document": _on_a_day(filter=_test("doc_id", eq=text)),
        "hint": _on_a_day(hint=_test("doc_id", eq=text)),
        "hint alone": _on_a_day(hint=_test("doc_id", eq=text), on_empty=stream_pb2.EMPTY_FILTER_POLICY_NEVER_WIDEN),
        "strict": _on_a_day(hint=_test("doc_id", eq=text), strictness=stream_pb2.STRICTNESS_POLICY_FAIL_ON_DEGRADED),
    }
    for place, moment in enumerate(moments):
        for name in ("known_at", "valid_at"):
            options = _on_a_day()
            getattr(options, name).FromDatetime(moment)
            made[f"{name} {place}"] = options
    return made


def _passages(
    here: House, moments: Sequence[datetime], modes: Sequence[int]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    for mode in modes:
        for query in QUERIES:
            yield f"passages {mode} {query}", retrieval(here, query, mode=mode, top_k=50)
        for name, options in _options(moments).items():
            yield f"passages {mode} {name}", retrieval(here, "alpha beta", options, mode=mode, top_k=3)


def _metric(here: House, **more: Any) -> Callable[[], Any]:
    queries = [
        metric_pb2.MetricQuery(metric=metric, entity=entity, period=period, channel=channel)
        for metric in _METRICS
        for entity in _ENTITIES
        for period in _PERIODS
        for channel in ("", "HiddenChannel")
    ]
    for part in ("North", "HiddenPart", "hiddenpar"):
        axis = value_pb2.Dimension(name="part", member=part)
        queries.append(metric_pb2.MetricQuery(metric="REVENUE", entity="ACME", period="2024", dimensions=[axis]))
    request = metric_pb2.QueryMetricRequest(queries=queries, **{"options": _on_a_day(), **more})
    return lambda: here.metric.QueryMetric(request)


def _figures(here: House, moments: Sequence[datetime]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for policy in (1, 2, 3):
        yield f"figures {policy}", _metric(here, versions=policy)
    for name, options in _options(moments).items():
        yield f"figures {name}", _metric(here, options=options)


def _walk(here: House, node: str, options: stream_pb2.CallOptions | None = None, **more: Any) -> Callable[[], Any]:
    around = graph_pb2.Neighborhood(node_ids=[node], **more)
    request = graph_pb2.GraphTraceRequest(neighborhood=around, options=options or _on_a_day())
    return lambda: here.graph.GraphTrace(request)


def _relations(here: House, moments: Sequence[datetime]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for node in _NODES:
        yield f"relations {node}", _walk(here, node, max_hops=3)
    for relation in ("parent_of", "hidden_rel", "hidden_re"):
        yield f"relations {relation}", _walk(here, "entity:ACME", relations=[relation])
    for name, options in _options(moments).items():
        yield f"relations {name}", _walk(here, "entity:ACME", options, max_hops=4)


def _questions(here: House, moments: Sequence[datetime]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for question in QUESTIONS:
        asked = router_pb2.AskRequest(question=question, options=_on_a_day())
        routed = router_pb2.RouteRequest(question=question, options=_on_a_day())
        yield f"ask {question}", lambda asked=asked: here.router.Ask(asked)  # type: ignore[misc]
        yield f"route {question}", lambda routed=routed: here.router.Route(routed)  # type: ignore[misc]
    for name, options in _options(moments).items():
        asked = router_pb2.AskRequest(question=QUESTIONS[1], options=options)
        yield f"ask {name}", lambda asked=asked: here.router.Ask(asked)  # type: ignore[misc]


def _citations(here: House) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Places of every document, open, hidden and never there: its first letter, its first chunk."""
    for doc_id in _DOCUMENTS:
        for revision in (1, 2, 3):
            whole = evidence_pb2.Lineage(library_id="default", doc_id=doc_id, revision=revision)
            letter, chunk = evidence_pb2.Lineage(), evidence_pb2.Lineage(chunk_id=f"{doc_id}@{revision}#c0")
            letter.span.end = 1
            for place, quote in ((letter, "#"), (chunk, "alpha"), (chunk, "kanarienvogel")):
                place.MergeFrom(whole)
                request = tools_pb2.VerifyCitationRequest(lineage=place, quote=quote)
                yield (
                    f"verify {doc_id}@{revision} {quote}",
                    lambda request=request: here.tools.VerifyCitation(request),  # type: ignore[misc]
                )


def _lists(here: House) -> Iterator[tuple[str, Callable[[], Any]]]:
    update = admin_pb2.UpdateGlossaryRequest(library_id="default", validate_only=True)
    index = admin_pb2.IndexSettings(chunker="whole")
    library = admin_pb2.SaveLibraryRequest(
        library=admin_pb2.Library(library_id="default", index=index), validate_only=True
    )
    describe = metric_pb2.DescribeMetricsRequest
    yield "libraries", lambda: here.admin.ListLibraries(admin_pb2.ListLibrariesRequest())
    yield "findings", lambda: here.admin.UpdateGlossary(update)
    yield "another chunker", lambda: here.admin.SaveLibrary(library)
    yield "describe", lambda: here.metric.DescribeMetrics(describe())
    yield "describe ACME", lambda: here.metric.DescribeMetrics(describe(metric="REVENUE", entity="ACME"))
    yield "describe HIDDENCO", lambda: here.metric.DescribeMetrics(describe(metric="REVENUE", entity="HIDDENCO"))
