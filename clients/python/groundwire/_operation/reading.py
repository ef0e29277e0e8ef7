"""Asking: passages, figures, routes, answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from groundwire._model.answer import AnswerWriter
from groundwire._model.glossary import TermDescription, TermKind
from groundwire._model.metric import Calculation, MetricProduct, MetricQuery, VersionPolicy
from groundwire._model.options import CallOptions, RetrievalMode, RetrievalTuning
from groundwire._model.result import Answer, Figures, Retrieval
from groundwire._model.route import Route, RouteDecision, Turn
from groundwire._operation.fold import Fold, answer_fold, figures_fold, retrieval_fold
from groundwire._operation.kinds import Paged, Streamed, Unary, method
from groundwire._operation.options import fill_options, number, numbers, texts
from groundwire._wire.mirror import fill, rows_of, value_of
from groundwire.v1 import metric_pb2, narrative_pb2, router_pb2

__all__ = ["ask", "describe_metrics", "query_metric", "retrieve", "route"]


def retrieve(
    query: str, top_k: int, mode: RetrievalMode | str, tuning: RetrievalTuning | None, options: CallOptions
) -> Streamed[Fold[Retrieval]]:
    """NarrativeService.NarrativeRetrieve."""
    request = narrative_pb2.NarrativeRetrieveRequest(query=query, top_k=top_k, mode=number(RetrievalMode, mode))
    fill_options(options, request.options)
    if tuning is not None:
        fill(request.tuning, tuning)
    return Streamed(method("NarrativeService/NarrativeRetrieve"), request, retrieval_fold())


def query_metric(
    queries: MetricQuery | Iterable[MetricQuery],
    product: MetricProduct | None,
    calculations: Iterable[Calculation],
    versions: VersionPolicy | str,
    options: CallOptions,
) -> Streamed[Fold[Figures]]:
    """MetricService.QueryMetric."""
    request = metric_pb2.QueryMetricRequest(versions=number(VersionPolicy, versions))
    fill_options(options, request.options)
    for query in (queries,) if isinstance(queries, MetricQuery) else queries:
        fill(request.queries.add(), query)
    if product is not None:
        request.product.SetInParent()
        fill(request.product, product)
    for calculation in calculations:
        fill(request.calculations.add(), calculation)
    return Streamed(method("MetricService/QueryMetric"), request, figures_fold())


def describe_metrics(
    libraries: Sequence[str], kinds: Iterable[TermKind | str], metric: str, entity: str, unlisted: bool
) -> Paged[TermDescription]:
    """MetricService.DescribeMetrics."""
    request = metric_pb2.DescribeMetricsRequest(
        library_ids=texts("libraries", libraries),
        kinds=numbers(TermKind, kinds),
        metric=metric,
        entity=entity,
        with_unlisted=unlisted,
    )
    return Paged(method("MetricService/DescribeMetrics"), request, rows_of("terms", TermDescription))


def route(question: str, history: Sequence[Turn], options: CallOptions) -> Unary[RouteDecision]:
    """RouterService.Route."""
    request = router_pb2.RouteRequest(question=question)
    fill_options(options, request.options)
    _fill_history(history, request)
    return Unary(method("RouterService/Route"), request, value_of(RouteDecision))


def ask(
    question: str,
    route: Route | str,
    top_k: int,
    history: Sequence[Turn],
    mode: RetrievalMode | str,
    tuning: RetrievalTuning | None,
    writer: AnswerWriter | str,
    options: CallOptions,
) -> Streamed[Fold[Answer]]:
    """RouterService.Ask."""
    request = router_pb2.AskRequest(
        question=question,
        force_route=number(Route, route),
        top_k=top_k,
        mode=number(RetrievalMode, mode),
        writer=number(AnswerWriter, writer),
    )
    fill_options(options, request.options)
    _fill_history(history, request)
    if tuning is not None:
        fill(request.tuning, tuning)
    return Streamed(method("RouterService/Ask"), request, answer_fold())


def _fill_history(history: Sequence[Turn], request: Any) -> None:
    for turn in history:
        fill(request.history.add(), turn)
