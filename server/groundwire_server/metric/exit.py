"""From figures to snippets that carry their citation. What the caller may not read leaves here once more."""

from __future__ import annotations

from groundwire_server.evidence import (
    Lineage,
    MetricFact,
    MetricKey,
    Snippet,
    Trust,
    make_snippet_id,
    text_sha256,
)
from groundwire_server.glossary import Glossary
from groundwire_server.metric.figures import Figure
from groundwire_server.metric.statement import fact_statement
from groundwire_server.store import StoredFact

__all__ = ["fact_lineage", "fact_snippet", "fact_snippet_id"]


def fact_snippet_id(library_id: str, fact: StoredFact) -> str:
    """Id of the snippet of one filed value: the same over restarts, another for each version and for each library."""
    record = fact.record
    filed = record.filed_at.isoformat() if record.filed_at is not None else ""
    stated = "\n".join((record.value, record.unit, filed, record.source_doc, record.locator))
    return make_snippet_id("fact", library_id, fact.fact_id, text_sha256(stated))


def fact_snippet(figure: Figure, glossary: Glossary, language: str, *, conflicting: bool) -> Snippet:
    """The snippet of a figure."""
    record = figure.record
    return Snippet(
        snippet_id=fact_snippet_id(figure.library_id, figure.fact),
        lineage=fact_lineage(figure),
        trust=Trust.CITABLE,
        payload=MetricFact(
            key=MetricKey(record.metric, record.entity, record.period, record.channel, record.dimensions),
            value=record.value,
            unit=record.unit,
            statement=fact_statement(figure, glossary, language),
            fact_id=figure.fact.fact_id,
            review_status=record.review_status,
            conflicting=conflicting,
            decimals=record.decimals,
            as_written=record.as_written,
            version=figure.version,
        ),
        label=record.label,
    )


def fact_lineage(figure: Figure) -> Lineage:
    """The way back to where the figure stands."""
    record = figure.record
    return Lineage(
        library_id=figure.library_id,
        doc_id=record.source_doc,
        source_locator=record.locator,
        valid_as_of=record.valid_as_of,
        ingested_at=figure.fact.recorded_at,
        attributes=tuple(sorted(record.attributes, key=lambda attribute: attribute.name)),
    )
