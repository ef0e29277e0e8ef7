"""Whether a figure is the one that its citation says (semantics 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from groundwire_server.citation.request import NOT_FOUND, CitationCheck, CitationVerdict
from groundwire_server.evidence import FactVersion, Lineage, MetricFact, MetricKey, Principal, ReviewStatus
from groundwire_server.store import StoredFact, StoreReader

if TYPE_CHECKING:
    from groundwire_server.library import FactNames

__all__ = ["verify_figure"]


def verify_figure(
    lineage: Lineage, claim: MetricFact, reader: StoreReader, names: FactNames, principal: Principal
) -> CitationCheck:
    """EXACT when a query gives it now, SUPERSEDED when its source has given another since or was withdrawn.

    A version is known by when it was filed, where that was said, else by a number that it has had: an older filing that
    comes in late moves the numbers up.

    Args:
        names: what the codes of the claim mean, which may have been given out before the glossary had a term for them.
    """
    claim = replace(claim, key=_as_named(claim.key, names))
    living = _shown(reader.fact(principal.clearance, claim.fact_id), principal)
    gone = _shown(reader.retired_facts(principal.clearance, claim.fact_id), principal)
    if living and _is_claimed(living[-1], _numbers(living, len(living) - 1), claim, lineage):
        return CitationCheck(CitationVerdict.EXACT)
    older = any(_is_claimed(fact, _numbers(living, at), claim, lineage) for at, fact in enumerate(living[:-1]))
    if not older and not any(_is_claimed(fact, None, claim, lineage) for fact in gone):
        return NOT_FOUND
    if not living:
        return CitationCheck(CitationVerdict.SUPERSEDED)
    latest = living[-1]
    record, count = latest.record, len(living)
    now = Lineage(
        library_id=lineage.library_id,
        doc_id=record.source_doc,
        source_locator=record.locator,
        valid_as_of=record.valid_as_of,
        ingested_at=latest.recorded_at,
        attributes=tuple(sorted(record.attributes, key=lambda attribute: attribute.name)),
    )
    version = FactVersion(count, count, record.filed_at, record.author, record.reason)
    return CitationCheck(CitationVerdict.SUPERSEDED, now, version)


def _as_named(key: MetricKey, names: FactNames) -> MetricKey:
    return replace(
        key,
        metric=names.code("metric", key.metric),
        entity=names.code("entity", key.entity),
        channel=names.code("channel", key.channel),
    )


def _shown(facts: Sequence[StoredFact], principal: Principal) -> list[StoredFact]:
    return [
        fact
        for fact in facts
        if fact.record.review_status is not ReviewStatus.PENDING and principal.may_read(fact.record.label)
    ]


def _numbers(living: Sequence[StoredFact], at: int) -> range:
    """The numbers that a version has had, from the day it came in until now."""
    known = sum(before.recorded_at <= living[at].recorded_at for before in living[:at])
    return range(known + 1, at + 2)


def _is_claimed(fact: StoredFact, numbers: range | None, claim: MetricFact, lineage: Lineage) -> bool:
    """Whether a filed value is the claimed one, from the cited place. `numbers` None: it has none any more."""
    record, version = fact.record, claim.version
    if (record.value, record.unit) != (claim.value, claim.unit):
        return False
    stated = (record.metric, record.entity, record.period, record.channel)
    claimed = (claim.key.metric, claim.key.entity, claim.key.period, claim.key.channel)
    if any(given and given != held for given, held in zip(claimed, stated, strict=True)):
        return False
    if (lineage.doc_id and lineage.doc_id != record.source_doc) or (
        lineage.source_locator and lineage.source_locator != record.locator
    ):
        return False
    if version is None or numbers is None:
        return True
    if version.filed_at is not None:
        return version.filed_at == record.filed_at
    return version.version in numbers
