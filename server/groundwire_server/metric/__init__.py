"""The structured channel: exact figures or a typed refusal."""

from groundwire_server.metric.exit import fact_snippet_id
from groundwire_server.metric.figures import FACT_ATTRIBUTES
from groundwire_server.metric.query import MAX_METRIC_QUERIES, query_metric
from groundwire_server.metric.request import (
    CALCULABLE,
    Calculation,
    MetricProduct,
    MetricRequest,
    VersionPolicy,
    expand_queries,
)
from groundwire_server.metric.vocabulary import Vocabulary, vocabulary_of

__all__ = [
    "CALCULABLE",
    "FACT_ATTRIBUTES",
    "MAX_METRIC_QUERIES",
    "Calculation",
    "MetricProduct",
    "MetricRequest",
    "VersionPolicy",
    "Vocabulary",
    "expand_queries",
    "fact_snippet_id",
    "query_metric",
    "vocabulary_of",
]
