"""Words about figures that were stored before the glossary had terms for their names."""

from __future__ import annotations

from collections.abc import Iterator

from groundwire_server.evidence import Label
from groundwire_server.library import FactNames
from groundwire_server.store import FactRecord, StoreReader

__all__ = ["under_stored_names"]


def under_stored_names(
    record: FactRecord, names: FactNames, stored: StoreReader, clearance: Label
) -> Iterator[FactRecord]:
    """A correction or withdrawal, under the codes under which its figure is stored; all other records as they are.

    A figure that is there under several codes is withdrawn under each of them, and corrected under that of its term,
    else under the first. One that is not there stays under the codes of the glossary.

    Args:
        stored: the store, by the codes that stand in it.
        clearance: what it is not to see is not there.
    """
    if not (names and (record.withdraw or record.author)):
        yield record
        return
    there = [each for each in names.stored_keys(record) if _is_there(each, stored, clearance)]
    yield from there[: None if record.withdraw else 1] or [record]


def _is_there(record: FactRecord, stored: StoreReader, clearance: Label) -> bool:
    days = (record.period_first, record.period_last)
    found = stored.facts(clearance, metric=record.metric, entity=record.entity, channel=record.channel, days=days)
    source = record.source or record.source_doc
    return any(
        fact.record.dimensions == record.dimensions
        and fact.record.unit.casefold() == record.unit.casefold()
        and source in (fact.record.source, fact.record.source_doc)
        for fact in found
    )
