"""Every name that a caller may ask by: those of the glossary, and the codes of stored figures that no term has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from groundwire_server.evidence import Label, Principal
from groundwire_server.glossary import (
    TOTAL,
    ChannelTerm,
    EntityTerm,
    Glossary,
    MetricTerm,
    NameIndex,
    Resolution,
    Resolved,
    Term,
    TermFinder,
    TermMention,
    resolve_name,
)
from groundwire_server.store import StoreReader

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Vocabulary", "vocabulary_of"]


class Vocabulary:
    """Names of one library at one state, as one clearance sees it. A hidden figure's code is no name.

    Args:
        glossary: its terms come first: a name that it knows means its term.
        reader: the store at that state.
        clearance: bounds the figures whose codes count.
    """

    def __init__(self, glossary: Glossary, reader: StoreReader, clearance: Label) -> None:
        self.glossary = glossary
        self._reader = reader
        self._clearance = clearance

    def resolve_metric(self, raw: str) -> Resolution:
        """What a name of a metric means."""
        return self._resolve(raw, self.glossary.metric_names, lambda: self._metric_codes)

    def resolve_entity(self, raw: str) -> Resolution:
        """What a name, code or identifier of an entity means."""
        return self._resolve(raw, self.glossary.entity_names, lambda: self._entity_codes)

    def resolve_channel(self, raw: str) -> Resolution:
        """What a name of a channel means; nothing said is TOTAL."""
        return self._resolve(raw.strip() or TOTAL, self.glossary.channel_names, lambda: self._channel_codes)

    def resolve_member(self, axis: str, raw: str) -> Resolution:
        """What a name means on a further axis."""
        known = self.glossary.member_names.get(axis)
        stored = self._member_codes.get(axis)
        return resolve_name(raw, [index for index in (known, stored) if index is not None])

    def find_terms(self, text: str) -> list[TermMention]:
        """Every metric, entity, channel and member that a text names, the longest name winning where two overlap."""
        return self._finder.find(text)

    def _resolve(self, raw: str, names: NameIndex, codes: Callable[[], NameIndex]) -> Resolution:
        """By the glossary; the store is asked for its codes only where that does not know the very name."""
        known = names.exact(raw.strip())
        return Resolved(known[0]) if len(known) == 1 else resolve_name(raw, (names, codes()))

    @cached_property
    def _metric_codes(self) -> NameIndex:
        return self._codes("metric", self.glossary.metric_names, variants=True)

    @cached_property
    def _entity_codes(self) -> NameIndex:
        return self._codes("entity", self.glossary.entity_names, variants=False)

    @cached_property
    def _channel_codes(self) -> NameIndex:
        return self._codes("channel", self.glossary.channel_names, variants=True)

    @cached_property
    def _member_codes(self) -> dict[str, NameIndex]:
        members: dict[str, list[str]] = {}
        for each in self._reader.fact_members(self._clearance):
            if each.member not in self.glossary.dimensions.get(each.name, {}):
                members.setdefault(each.name, []).append(each.member)
        return {axis: NameIndex(((code, code) for code in codes), variants=True) for axis, codes in members.items()}

    def _codes(self, axis: str, known: NameIndex, *, variants: bool) -> NameIndex:
        codes = [code for code in self._reader.fact_codes(self._clearance, axis) if code not in known.codes]
        return NameIndex(((code, code) for code in codes), variants=variants)

    @cached_property
    def _finder(self) -> TermFinder:
        unlisted: list[Term] = [MetricTerm(code, label=code) for code in sorted(self._metric_codes.codes)]
        unlisted += [EntityTerm(code, label=code) for code in sorted(self._entity_codes.codes)]
        unlisted += [ChannelTerm(code, label=code) for code in sorted(self._channel_codes.codes)]
        return TermFinder((*self.glossary.terms, *unlisted))


_KEPT: WeakKeyDictionary[Snapshot, dict[Label, Vocabulary]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def vocabulary_of(snapshot: Snapshot, principal: Principal) -> Vocabulary:
    """The vocabulary of a library's state for a caller; made once for each clearance, and gone with the state."""
    clearance = min(principal.clearance, Label.CONFIDENTIAL)
    with _LOCK:
        kept = _KEPT.setdefault(snapshot, {})
        if clearance not in kept:
            kept[clearance] = Vocabulary(snapshot.glossary, snapshot.reader, clearance)
        return kept[clearance]
