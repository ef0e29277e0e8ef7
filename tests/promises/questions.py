"""Questions to a server, for every method that reads: plain requests, and what comes back of them as bytes.

Each example of a property test asks a few of them; which ones is drawn. Names that they ask for are those that
`small_worlds` writes: open ones, hidden ones, near ones, and some that are never there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
from google.protobuf.message import Message

from groundwire.v1 import (
    admin_pb2,
    evidence_pb2,
    filter_pb2,
    glossary_pb2,
    graph_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
    stream_pb2,
    tools_pb2,
    value_pb2,
)
from tests.promises.answers import refusal
from tests.rpc.house import House, snippets
from tests.support.canonical import canonical, canonical_message

__all__ = ["BEGIN", "QUESTIONS", "Question", "answer", "verdicts"]

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""When the first step of a world is taken; each further one an hour later."""

_PIECES = ("batch", "outcomes")
_PAGES = 8  # a list of a small world that needs more has lost its way

QUERIES = (
    "alpha",
    "alpha beta gamma alpha",
    "売上 人口",
    "revenue of Acme 2024",
    "东京 rivers",
    "kanarienvogel",
    "zzz",
)
ASKED = (
    "What was the revenue of Acme in 2024?",
    "Why did revenue of Acme rise in 2023?",
    "アクメの2024年度の売上高は？",
    "What is the SECRETMETRIC of HIDDENCO in 2024?",
    "How much rev had Twin in 2024?",
    "Who is alpha?",
    "What was the profit of Acme?",
    "hello",
)
DOCUMENTS = ("v/a.md", "v/b.md", "v/c.md", "v/d.txt", "h/x.md", "v/aa.md", "h.csv", "v.csv", "never.md")
NODES = ("entity:ACME", "Acme", "Twin", "HIDDENCO", "entity:HIDDENC", "A", "entity:B", "entity:C")
METRICS = ("revenue", "rev", "revenu", "SECRETMETRIC", "secretmetri", "PROFIT")
ENTITIES = ("Acme", "Twin", "HIDDENCO", "hiddenc", "GLOBEX")
LIBRARIES = ("default", "side", "never")


@dataclass(frozen=True)
class Question:
    """A request to a method of a service, both by their names in the house.

    Attributes:
        leap: it counts on the moments at which a world came to be; of no use where these are drawn.
    """

    service: str
    method: str
    request: Message
    leap: bool = False

    def __repr__(self) -> str:
        return f"{self.method}({str(self.request).strip()})"


def answer(here: House, question: Question) -> tuple[bytes, list[Any]]:
    """Canonical bytes of what a question gives, counts of the stages or the refusal; and its frames, if it has any.

    A list is read page by page, to its end; of a stream also what its cursors lead to.
    """
    method = getattr(getattr(here, question.service), question.method)
    try:
        given = method(question.request)
        if isinstance(given, Message):
            return b"".join(_pages(method, question.request, given)), []
        frames = list(given)
    except grpc.RpcError as error:
        return refusal(error), []
    if not frames or "header" not in frames[0].DESCRIPTOR.fields_by_name:
        return b"".join(map(canonical_message, frames)), []  # a stream of something stored, no answer to a question
    return _told(frames) + b"".join(_cursors(method, question.request, frames)), frames


def _told(frames: Sequence[Any]) -> bytes:
    counts = [
        (each.stage, each.library_id, each.items_in, each.items_out)
        for frame in frames
        if frame.WhichOneof("frame") == "summary"
        for each in frame.summary.timings
    ]
    return canonical(frames) + repr(counts).encode()


def _cursors(method: Any, request: Any, frames: Sequence[Any]) -> Iterator[bytes]:
    """A stream that breaks behind its first cursor, put together, and what its summary leads to; how long cursors are.

    Where batches are cut is a matter of time: what is told does not depend on it.
    """
    cut = next((place for place, frame in enumerate(frames) if frame.WhichOneof("frame") in _PIECES), None)
    behind = b"" if cut is None else getattr(frames[cut], frames[cut].WhichOneof("frame")).after.token
    for token, before in ((behind, frames[: (cut or 0) + 1]), (frames[-1].summary.next.token, ())):
        if not token:
            continue
        following = type(request)()
        following.CopyFrom(request)
        following.options.resume.token = token
        yield len(token).to_bytes(4, "big")
        try:
            rest = list(method(following))
        except grpc.RpcError as error:
            yield refusal(error)
            continue
        yield from (canonical_message(piece) for frame in (*before, *rest) for piece in _pieces(frame))
        last = type(rest[-1].summary)()
        last.CopyFrom(rest[-1].summary)
        last.ClearField("returned")
        yield canonical_message(rest[0].header) + canonical_message(last)


def _pieces(frame: Any) -> list[Any]:
    match frame.WhichOneof("frame"):
        case "batch":
            return list(frame.batch.snippets)
        case "outcomes":
            return [*frame.outcomes.outcomes, *frame.outcomes.calculations]
        case _:
            return []


def _pages(method: Any, request: Any, page: Any) -> Iterator[bytes]:
    yield canonical_message(page)
    for _ in range(_PAGES):
        if not getattr(page, "next_page_token", ""):
            return
        following = type(request)()
        following.CopyFrom(request)
        following.page_token = page.next_page_token
        page = method(following)
        yield canonical_message(page)


def verdicts(frames: Sequence[Any], most: int) -> Iterator[Question]:
    """The first few citations among the frames, to be verified."""
    for snippet in snippets(frames)[:most]:
        request = tools_pb2.VerifyCitationRequest(lineage=snippet.lineage)
        if snippet.HasField("text"):
            request.quote = snippet.text.text
        elif snippet.HasField("fact"):
            request.fact.CopyFrom(snippet.fact)
        elif snippet.HasField("edge"):
            request.edge.CopyFrom(snippet.edge)
        yield Question("tools", "VerifyCitation", request)


def _on_a_day(**given: Any) -> stream_pb2.CallOptions:
    return stream_pb2.CallOptions(reference_date="2025-01-01", **given)


def _test(field: str, **test: Any) -> filter_pb2.Filter:
    return filter_pb2.Filter(predicate=filter_pb2.Predicate(field=field, **test))


def _options() -> Iterator[tuple[stream_pb2.CallOptions, bool]]:
    """Options of a call, and whether they count on moments."""
    one, text = value_pb2.Value(int_value=1), value_pb2.Value(string_value="h/x.md")
    either = filter_pb2.FilterList(filters=[_test("n", lte=one), _test("word", eq=value_pb2.Value(string_value="b"))])
    for given in (
        {},
        {"explain": stream_pb2.EXPLAIN_LEVEL_PLAN},
        {"explain": stream_pb2.EXPLAIN_LEVEL_TRACE},
        {"filter": _test("n", gt=one)},
        {"filter": _test("n", eq=text)},
        {"filter": _test("n", present=False)},
        {"filter": _test("hidden_attr", present=True)},
        {"filter": _test("doc_id", eq=text)},
        {"filter": filter_pb2.Filter(any_of=either)},
        {"filter": filter_pb2.Filter(negate=_test("doc_id", gte=text))},
        {"hint": _test("doc_id", eq=text)},
        {"hint": _test("n", present=True), "filter": _test("title", present=True)},
        {"hint": _test("doc_id", eq=text), "on_empty": stream_pb2.EMPTY_FILTER_POLICY_NEVER_WIDEN},
        {"hint": _test("doc_id", eq=text), "strictness": stream_pb2.STRICTNESS_POLICY_FAIL_ON_DEGRADED},
        {"library_ids": ["default"]},
        {"library_ids": ["side"]},
        {"library_ids": ["never", "default"]},
        {"token_budget": 12},
        {"language": "ja"},
    ):
        yield _on_a_day(**given), False
    for hours in (0, 1, 2, 3, 5, 7):
        for name in ("known_at", "valid_at"):
            options = _on_a_day()
            getattr(options, name).FromDatetime(BEGIN + timedelta(hours=hours))
            yield options, name == "known_at"
    moment = value_pb2.Value()
    moment.time_value.FromDatetime(BEGIN + timedelta(hours=2))
    yield _on_a_day(filter=_test("ingested_at", gt=moment)), True
    valid = value_pb2.Value()
    valid.time_value.FromDatetime(datetime(2025, 1, 1, tzinfo=UTC))
    yield _on_a_day(filter=_test("valid_as_of", lte=valid)), False


def _passages() -> Iterator[Question]:
    def retrieve(query: str, leap: bool = False, **more: Any) -> Question:
        request = narrative_pb2.NarrativeRetrieveRequest(query=query, **{"options": _on_a_day(), **more})
        return Question("narrative", "NarrativeRetrieve", request, leap)

    for query in QUERIES:
        for mode in range(5):
            yield retrieve(query, mode=mode, top_k=50)
        yield retrieve(query, top_k=1)
    for options, leap in _options():
        for mode in (0, 3, 4):
            yield retrieve("alpha beta", leap, options=options, mode=mode, top_k=3)
    for given in ({"fusion": "rrf"}, {"fusion": "linear"}, {"glossary_variants": True}, {"glossary_variants": False}):
        yield retrieve("売上高 Acme", tuning=narrative_pb2.RetrievalTuning(**given), top_k=5)
    yield retrieve("alpha", tuning=narrative_pb2.RetrievalTuning(library_router="keyword"))
    stages: tuple[dict[str, Any], ...] = ({"filter_extractor": "glossary"}, {"corrective": True}, {"preset": "quality"})
    for given in stages:
        for query in (*QUERIES, "alpha of Acme and HIDDENCO in 2024", "Why hidden kanarienvogel zzz?"):
            yield retrieve(query, mode=4, tuning=narrative_pb2.RetrievalTuning(**given), top_k=5)
    for options, leap in _options():
        yield retrieve("alpha of Acme", leap, options=options, tuning=narrative_pb2.RetrievalTuning(preset="quality"))
    for query in QUERIES:
        for mode in (3, 4):
            yield retrieve(query, mode=mode, top_k=8, tuning=narrative_pb2.RetrievalTuning(graph=True))
    for options, leap in _options():
        yield retrieve("alpha Acme", leap, options=options, mode=4, tuning=narrative_pb2.RetrievalTuning(graph=True))


def _figures() -> Iterator[Question]:
    def query(leap: bool = False, **more: Any) -> Question:
        request = metric_pb2.QueryMetricRequest(**{"options": _on_a_day(), **more})
        return Question("metric", "QueryMetric", request, leap)

    def wanted(metric: str, entity: str, period: str, channel: str = "", *axes: str) -> metric_pb2.MetricQuery:
        members = [value_pb2.Dimension(name="part", member=axis) for axis in axes]
        return metric_pb2.MetricQuery(metric=metric, entity=entity, period=period, channel=channel, dimensions=members)

    plain = [
        wanted("REVENUE", entity, period) for entity in ("ACME", "GLOBEX") for period in ("2024", "2023", "FY2024")
    ]
    for policy in range(4):
        yield query(queries=plain, versions=policy)
    for options, leap in _options():
        yield query(leap, queries=plain[:3], options=options)
    for metric in METRICS:
        for entity in ENTITIES:
            yield query(queries=[wanted(metric, entity, "2024"), wanted(metric, entity, "2024", "HiddenChannel")])
    for channel in ("Online", "HiddenChannel", "hiddenchanne"):
        yield query(queries=[wanted("REVENUE", "ACME", "2024", channel)])
    for member in ("North", "HiddenPart", "hiddenpar"):
        yield query(queries=[wanted("REVENUE", "ACME", "2024", "", member)])
    for period in ("Q3", "1999", "2024年度"):
        yield query(queries=[wanted("REVENUE", "ACME", period)])
    product = metric_pb2.MetricProduct(metrics=["REVENUE", "PROFIT"], entities=["ACME", "GLOBEX"], periods=["2024"])
    yield query(product=product)
    for operation in (1, 2, 3, 4):
        counted = metric_pb2.Calculation(operation=operation, first=0, second=1)
        yield query(queries=plain[:2], calculations=[counted])
    for more in (
        {},
        {"metric": "REVENUE"},
        {"metric": "REVENUE", "entity": "ACME"},
        {"entity": "HIDDENCO"},
        {"with_unlisted": True},
    ):
        for size in (0, 1, 3):
            described = metric_pb2.DescribeMetricsRequest(page_size=size, **more)
            yield Question("metric", "DescribeMetrics", described)


def _relations() -> Iterator[Question]:
    def trace(leap: bool = False, **more: Any) -> Question:
        request = graph_pb2.GraphTraceRequest(**{"options": _on_a_day(), **more})
        return Question("graph", "GraphTrace", request, leap)

    for node in NODES:
        yield trace(neighborhood=graph_pb2.Neighborhood(node_ids=[node], max_hops=3))
        yield trace(closure=graph_pb2.Closure(node_ids=[node], relations=["parent_of"]))
    for relation in ("parent_of", "hidden_rel", "hidden_re"):
        yield trace(neighborhood=graph_pb2.Neighborhood(node_ids=["entity:ACME"], relations=[relation]))
        yield trace(closure=graph_pb2.Closure(node_ids=["ACME", "A"], relations=[relation], direction=2))
    around = graph_pb2.Neighborhood(node_ids=["entity:ACME"], max_hops=4)
    for options, leap in _options():
        yield trace(leap, neighborhood=around, options=options)
    for nodes, edges in ((1, 100), (2, 100), (100, 1), (100, 2)):
        yield trace(neighborhood=around, budget=graph_pb2.TraceBudget(max_nodes=nodes, max_edges=edges))
    for goal in ("B", "C", "HIDDENCO", "GLOBEX", "hiddenc"):
        for choice in range(4):
            yield trace(paths=graph_pb2.Paths(from_id="ACME", to_id=goal, choice=choice, max_hops=4, max_paths=5))
    steps = ["parent_of", "hidden_rel"]
    yield trace(paths=graph_pb2.Paths(from_id="A", to_id="C", pattern=steps))
    yield trace(paths=graph_pb2.Paths(from_id="A", to_id="C", direction=1), budget=graph_pb2.TraceBudget(max_edges=2))
    yield trace(common_ancestors=graph_pb2.CommonAncestors(node_ids=["B", "C"], relation="parent_of"))
    yield trace(common_ancestors=graph_pb2.CommonAncestors(node_ids=["HIDDENCO", "C"]))
    yield from _figures_of_a_graph(trace)
    yield trace(communities=graph_pb2.Communities(node_ids=["ACME"]))
    yield trace(communities=graph_pb2.Communities())
    yield trace(communities=graph_pb2.Communities(max_communities=1), budget=graph_pb2.TraceBudget(max_edges=2))


def _figures_of_a_graph(trace: Callable[..., Question]) -> Iterator[Question]:
    for metric in ("REVENUE", "MARGIN", "SECRETMETRIC"):
        wanted = metric_pb2.MetricQuery(metric=metric, entity="ACME", period="2024")
        for relation in ("parent_of", "hidden_rel", "owned_by"):
            yield trace(rollup=graph_pb2.Rollup(query=wanted, relation=relation))
        yield trace(rollup=graph_pb2.Rollup(query=wanted, relation="parent_of", max_depth=1, max_operands=2))
        yield trace(compare=graph_pb2.Compare(metric=metric, period="2024", entities=["ACME", "GLOBEX", "HIDDENCO"]))
        yield trace(derivation=graph_pb2.Derivation(query=wanted))


def _questions() -> Iterator[Question]:
    for question in ASKED:
        yield Question("router", "Route", router_pb2.RouteRequest(question=question, options=_on_a_day()))
        for mode in (0, 4):
            asked = router_pb2.AskRequest(question=question, options=_on_a_day(), mode=mode)
            yield Question("router", "Ask", asked)
        for route in (1, 2, 3):
            asked = router_pb2.AskRequest(question=question, options=_on_a_day(), force_route=route)
            yield Question("router", "Ask", asked)
    for options, leap in _options():
        yield Question("router", "Ask", router_pb2.AskRequest(question=ASKED[1], options=options), leap)
    for one, two in zip(ASKED, (*ASKED[1:], ASKED[0]), strict=True):  # cut into both, and as many branches
        cut = narrative_pb2.RetrievalTuning(decomposition="rules")
        asked = router_pb2.AskRequest(question=f"{one} {two}", options=_on_a_day(), tuning=cut)
        yield Question("router", "Ask", asked)


def _citations() -> Iterator[Question]:
    """Places of every document, open, hidden and never there: its first letter, its first chunk."""
    for library_id in ("default", "side"):
        for doc_id in DOCUMENTS:
            for revision in (1, 2, 3):
                whole = evidence_pb2.Lineage(library_id=library_id, doc_id=doc_id, revision=revision)
                letter, chunk = evidence_pb2.Lineage(), evidence_pb2.Lineage(chunk_id=f"{doc_id}@{revision}#c0")
                letter.span.end = 1
                for place, quote in ((letter, "#"), (chunk, "alpha"), (chunk, "kanarienvogel")):
                    place.MergeFrom(whole)
                    request = tools_pb2.VerifyCitationRequest(lineage=place, quote=quote)
                    yield Question("tools", "VerifyCitation", request)


def _documents() -> Iterator[Question]:
    def admin(method: str, request: Message) -> Question:
        return Question("admin", method, request)

    for library_id in LIBRARIES:
        for prefix in ("", "v/", "h/", "h/x.md"):
            for size in (0, 1, 2):
                wanted = {"library_id": library_id, "doc_id_prefix": prefix, "page_size": size}
                for withdrawn in (False, True):
                    listed = admin_pb2.ListDocumentsRequest(include_withdrawn=withdrawn, **wanted)
                    yield admin("ListDocuments", listed)
        for doc_id in DOCUMENTS:
            of = {"library_id": library_id, "doc_id": doc_id}
            for revision in (0, 1, 2):
                read = admin_pb2.GetDocumentRequest(revision=revision, include_text=True, include_chunks=True, **of)
                yield admin("GetDocument", read)
            for size in (0, 1):
                yield admin("ListRevisions", admin_pb2.ListRevisionsRequest(page_size=size, **of))
            yield admin("DiffRevisions", admin_pb2.DiffRevisionsRequest(**of))
            yield admin("DiffRevisions", admin_pb2.DiffRevisionsRequest(old_revision=1, new_revision=2, **of))


def _records() -> Iterator[Question]:
    facts = (
        {},
        {"metric": "REVENUE"},
        {"metric": "rev"},
        {"metric": "SECRETMETRIC"},
        {"entity": "Acme"},
        {"entity": "HIDDENCO"},
        {"source_doc": "v.csv"},
        {"source_doc": "h.csv"},
        {"review_status": evidence_pb2.REVIEW_STATUS_PENDING},
        {"include_versions": True},
    )
    relations = ({}, {"relation": "parent_of"}, {"relation": "hidden_rel"}, {"source_doc": "v.jsonl"})
    for library_id in LIBRARIES:
        for size in (0, 1, 2):
            page = {"library_id": library_id, "page_size": size}
            for given in facts:
                yield Question("admin", "ListFacts", admin_pb2.ListFactsRequest(**page, **given))
            for some in (*relations, {"source_doc": "h.jsonl"}):
                yield Question("admin", "ListRelations", admin_pb2.ListRelationsRequest(**page, **some))


def _house() -> Iterator[Question]:
    for size in (0, 1):
        yield Question("admin", "ListLibraries", admin_pb2.ListLibrariesRequest(page_size=size))
    yield Question("admin", "GetServerInfo", admin_pb2.GetServerInfoRequest())
    for form in range(4):
        for language in ("", "ja"):
            request = tools_pb2.ListToolsRequest(form=form, language=language)
            yield Question("tools", "ListTools", request)
    yield Question("tools", "ListTools", tools_pb2.ListToolsRequest(library_ids=["side"], form=1))
    for library_id in ("default", "side"):
        checked = admin_pb2.UpdateGlossaryRequest(library_id=library_id, validate_only=True)
        yield Question("admin", "UpdateGlossary", checked)
        index = admin_pb2.IndexSettings(chunker="whole")
        library = admin_pb2.Library(library_id=library_id, index=index)
        saved = admin_pb2.SaveLibraryRequest(library=library, validate_only=True)
        yield Question("admin", "SaveLibrary", saved)
        yield Question("admin", "ListTreeNodes", admin_pb2.ListTreeNodesRequest(library_id=library_id))
        rebuilt = admin_pb2.StartReindexRequest(library_id=library_id, validate_only=True)
        yield Question("admin", "StartReindex", rebuilt)
        gone = admin_pb2.DeleteLibraryRequest(library_id=library_id, validate_only=True)
        yield Question("admin", "DeleteLibrary", gone)
        purged = admin_pb2.PurgeRevisionsRequest(library_id=library_id, validate_only=True)
        yield Question("admin", "PurgeRevisions", purged)
        yield Question("admin", "ListJobs", admin_pb2.ListJobsRequest(library_id=library_id))
    yield Question("admin", "ListJobs", admin_pb2.ListJobsRequest(page_size=1))
    yield Question("admin", "GetJob", admin_pb2.GetJobRequest(job_id="never"))
    yield Question("admin", "WatchJob", admin_pb2.WatchJobRequest(job_id="never"))
    for kind in (glossary_pb2.TERM_KIND_METRIC, glossary_pb2.TERM_KIND_CHANNEL):
        yield Question("metric", "DescribeMetrics", metric_pb2.DescribeMetricsRequest(kinds=[kind], page_size=2))


@functools.cache
def _by_method() -> dict[str, tuple[Question, ...]]:
    found: dict[str, list[Question]] = {}
    for part in (_passages, _figures, _relations, _questions, _citations, _documents, _records, _house):
        for question in part():
            found.setdefault(question.method, []).append(question)
    return {method: tuple(questions) for method, questions in sorted(found.items())}


QUESTIONS = _by_method()
"""All questions, by the method that they ask."""
