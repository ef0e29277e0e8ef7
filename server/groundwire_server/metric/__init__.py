"""The structured channel: exact figures or a typed refusal."""

from groundwire_server.metric.across import conflicts_of_parts, mark_conflicts
from groundwire_server.metric.answers import MAX_FIGURES, Answered, Answers, asking_of, library_view, unrecognized
from groundwire_server.metric.column import FigureColumn, figures_of_many
from groundwire_server.metric.derivation import CameToBe, agree, derive_figure
from groundwire_server.metric.exit import fact_snippet_id
from groundwire_server.metric.figures import FACT_ATTRIBUTES
from groundwire_server.metric.fiscal import is_outdated
from groundwire_server.metric.listing import FactWish, ListedFact, list_facts
from groundwire_server.metric.lookup import LibraryView, Missing
from groundwire_server.metric.query import MAX_METRIC_QUERIES, query_metric
from groundwire_server.metric.reading import Key, Unread, read_query
from groundwire_server.metric.request import (
    CALCULABLE,
    Calculation,
    MetricProduct,
    MetricRequest,
    VersionPolicy,
    expand_queries,
)
from groundwire_server.metric.rollup import Below, RolledUp, add_up, is_additive
from groundwire_server.metric.texts import not_found_text
from groundwire_server.metric.units import unit_key
from groundwire_server.metric.vocabulary import Vocabulary, vocabulary_of

__all__ = [
    "CALCULABLE",
    "FACT_ATTRIBUTES",
    "MAX_FIGURES",
    "MAX_METRIC_QUERIES",
    "Answered",
    "Answers",
    "Below",
    "Calculation",
    "CameToBe",
    "FactWish",
    "FigureColumn",
    "Key",
    "LibraryView",
    "ListedFact",
    "MetricProduct",
    "MetricRequest",
    "Missing",
    "RolledUp",
    "Unread",
    "VersionPolicy",
    "Vocabulary",
    "add_up",
    "agree",
    "asking_of",
    "conflicts_of_parts",
    "derive_figure",
    "expand_queries",
    "fact_snippet_id",
    "figures_of_many",
    "is_additive",
    "is_outdated",
    "library_view",
    "list_facts",
    "mark_conflicts",
    "not_found_text",
    "query_metric",
    "read_query",
    "unit_key",
    "unrecognized",
    "vocabulary_of",
]
