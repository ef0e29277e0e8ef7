"""Requests of the reading methods, built from what a caller says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from groundwire._model.answer import AnswerWriter
from groundwire._model.figure import DerivedFigure, MetricFact
from groundwire._model.glossary import Term, TermRef
from groundwire._model.library import Library
from groundwire._model.lineage import Lineage
from groundwire._model.metric import Calculation, MetricProduct, MetricQuery, VersionPolicy
from groundwire._model.named import NamedEnum
from groundwire._model.options import (
    CallOptions,
    EmptyFilterPolicy,
    ExplainLevel,
    RetrievalMode,
    RetrievalTuning,
    StrictnessPolicy,
)
from groundwire._model.relation import Direction, GraphEdge, GraphPath
from groundwire._model.route import Route, Turn
from groundwire._model.snippet import Snippet, TextPassage
from groundwire._model.stream import DegradationKind
from groundwire._wire.filter import encode_filter
from groundwire._wire.mirror import fill
from groundwire._wire.value import fill_timestamp
from groundwire.v1 import admin_pb2, graph_pb2, metric_pb2, narrative_pb2, router_pb2, stream_pb2, tools_pb2

__all__ = [
    "ask_request",
    "fill_options",
    "glossary_request",
    "metric_request",
    "neighborhood_request",
    "retrieve_request",
    "route_request",
    "save_library_request",
    "verify_request",
]


def _number(enum: type[NamedEnum], given: NamedEnum | str) -> Any:
    return enum.read(given).value


def fill_options(options: CallOptions, into: stream_pb2.CallOptions) -> None:
    """Write the options of a call; `timeout` is no field. Raises TypeError for an option that there is not."""
    unknown = options.keys() - CallOptions.__annotations__.keys()
    if unknown:
        valid = ", ".join(sorted(CallOptions.__annotations__))
        raise TypeError(f"unknown option {', '.join(sorted(unknown))}; valid: {valid}")
    libraries = options.get("libraries", ())
    if isinstance(libraries, str):
        raise TypeError(f"libraries is a list of ids: [{libraries!r}]")
    into.library_ids.extend(libraries)
    into.request_id = options.get("request_id", "")
    into.token_budget = options.get("token_budget", 0)
    into.language = options.get("language", "")
    if "on_empty" in options:
        into.on_empty = _number(EmptyFilterPolicy, options["on_empty"])
    if "explain" in options:
        into.explain = _number(ExplainLevel, options["explain"])
    if "strictness" in options:
        into.strictness = _number(StrictnessPolicy, options["strictness"])
    into.forbid.extend(_number(DegradationKind, kind) for kind in options.get("forbid", ()))
    if "filter" in options:
        into.filter.CopyFrom(encode_filter(options["filter"]))
    if "hint" in options:
        into.hint.CopyFrom(encode_filter(options["hint"]))
    if "known_at" in options:
        fill_timestamp(options["known_at"], into.known_at)
    if "valid_at" in options:
        fill_timestamp(options["valid_at"], into.valid_at)
    if "resume" in options:
        into.resume.token = options["resume"]
    if "soft_budget" in options:
        into.soft_budget.FromTimedelta(options["soft_budget"])
    if "reference_date" in options:
        into.reference_date = options["reference_date"].isoformat()


def retrieve_request(
    query: str, top_k: int, mode: RetrievalMode | str, tuning: RetrievalTuning | None, options: CallOptions
) -> narrative_pb2.NarrativeRetrieveRequest:
    """The request of NarrativeRetrieve."""
    request = narrative_pb2.NarrativeRetrieveRequest(query=query, top_k=top_k, mode=_number(RetrievalMode, mode))
    fill_options(options, request.options)
    if tuning is not None:
        fill(request.tuning, tuning)
    return request


def metric_request(
    queries: MetricQuery | Iterable[MetricQuery],
    product: MetricProduct | None,
    calculations: Iterable[Calculation],
    versions: VersionPolicy | str,
    options: CallOptions,
) -> metric_pb2.QueryMetricRequest:
    """The request of QueryMetric."""
    request = metric_pb2.QueryMetricRequest(versions=_number(VersionPolicy, versions))
    fill_options(options, request.options)
    for query in (queries,) if isinstance(queries, MetricQuery) else queries:
        fill(request.queries.add(), query)
    if product is not None:
        request.product.SetInParent()
        fill(request.product, product)
    for calculation in calculations:
        fill(request.calculations.add(), calculation)
    return request


def route_request(question: str, history: Sequence[Turn], options: CallOptions) -> router_pb2.RouteRequest:
    """The request of Route."""
    request = router_pb2.RouteRequest(question=question)
    fill_options(options, request.options)
    for turn in history:
        fill(request.history.add(), turn)
    return request


def ask_request(
    question: str,
    route: Route | str,
    top_k: int,
    history: Sequence[Turn],
    mode: RetrievalMode | str,
    tuning: RetrievalTuning | None,
    writer: AnswerWriter | str,
    options: CallOptions,
) -> router_pb2.AskRequest:
    """The request of Ask."""
    request = router_pb2.AskRequest(
        question=question,
        force_route=_number(Route, route),
        top_k=top_k,
        mode=_number(RetrievalMode, mode),
        writer=_number(AnswerWriter, writer),
    )
    fill_options(options, request.options)
    for turn in history:
        fill(request.history.add(), turn)
    if tuning is not None:
        fill(request.tuning, tuning)
    return request


def neighborhood_request(
    nodes: Sequence[str],
    relations: Sequence[str],
    direction: Direction | str,
    max_hops: int,
    valid_in: str,
    include_unverified: bool,
    options: CallOptions,
) -> graph_pb2.GraphTraceRequest:
    """The request of GraphTrace for what is around nodes."""
    request = graph_pb2.GraphTraceRequest(valid_in=valid_in, include_unverified=include_unverified)
    fill_options(options, request.options)
    request.neighborhood.CopyFrom(
        graph_pb2.Neighborhood(
            node_ids=nodes, relations=relations, direction=_number(Direction, direction), max_hops=max_hops
        )
    )
    request.neighborhood.SetInParent()
    return request


def verify_request(cited: Snippet | Lineage, quote: str) -> tools_pb2.VerifyCitationRequest:
    """The request of VerifyCitation: a snippet as it was given out, or a lineage with what it is said to hold.

    Raises TypeError for a snippet that is no citation in itself: a derived figure (its operands are), a summary.
    """
    request = tools_pb2.VerifyCitationRequest()
    lineage = cited.lineage if isinstance(cited, Snippet) else cited
    fill(request.lineage, lineage)
    if isinstance(cited, Snippet) and not quote:
        match cited.payload:
            case TextPassage(text=text):
                request.quote = text
            case MetricFact() as fact:
                fill(request.fact, fact)
            case GraphEdge() as edge:
                fill(request.edge, edge)
            case GraphPath() as path:
                fill(request.path, path)
            case DerivedFigure():
                raise TypeError("a derived figure is verified by its operands: verify the snippets that it names")
            case payload:
                raise TypeError(f"a {type(payload).__name__} is context, not a citation")
    elif quote:
        request.quote = quote
    return request


def glossary_request(
    library: str, put: Iterable[Term], remove: Iterable[TermRef], replace_all: bool, validate_only: bool
) -> admin_pb2.UpdateGlossaryRequest:
    """The request of UpdateGlossary."""
    request = admin_pb2.UpdateGlossaryRequest(library_id=library, replace_all=replace_all, validate_only=validate_only)
    for term in put:
        fill(request.put.add(), term)
    for reference in remove:
        fill(request.remove.add(), reference)
    return request


def save_library_request(library: Library, validate_only: bool) -> admin_pb2.SaveLibraryRequest:
    """The request of SaveLibrary."""
    request = admin_pb2.SaveLibraryRequest(validate_only=validate_only)
    fill(request.library, library)
    return request
