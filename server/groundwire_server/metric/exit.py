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

__all__ = ["fact_lineage", "fact_snippet", "fact_snippet_id", "statement_id"]


def fact_snippet_id(figure: Figure) -> str:
    """Id of the snippet of one filed value: the same over restarts, another for each version and for each library."""
    record = figure.record
    filed = record.filed_at.isoformat() if record.filed_at is not None else ""
    return statement_id(
        figure.library_id,
        figure.fact.fact_id,
        (record.value, record.unit, filed, record.source_doc, record.locator),
        figure.repeat,
    )


def statement_id(library_id: str, fact_id: str, parts: tuple[str, ...], repeat: int) -> str:
    """The id by what is stated: value, unit, filing, document and place.

    Args:
        repeat: how many versions before it state the same.
    """
    stated = "\n".join((*parts, str(repeat)) if repeat else parts)
    return make_snippet_id("fact", library_id, fact_id, text_sha256(stated))


def fact_snippet(figure: Figure, glossary: Glossary, language: str, *, conflicting: bool) -> Snippet:
    """The snippet of a figure."""
    record = figure.record
    return Snippet(
        snippet_id=fact_snippet_id(figure),
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
