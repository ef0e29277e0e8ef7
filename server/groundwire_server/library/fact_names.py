"""What the codes under which figures were stored mean today.

A figure is stored under the code that the glossary of that day made of its name, and under the name itself where none
knew it. A term that comes later takes such names in: what is stored stays as it is, it is only read anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from groundwire_server.evidence import Dimension
from groundwire_server.glossary import Glossary, NameIndex, Resolved, resolve_name
from groundwire_server.store import FactRecord, StoreReader

__all__ = ["FactCodes", "FactNames"]


@dataclass(frozen=True, slots=True)
class FactNames:
    """Codes by one glossary.

    meaning: by axis ("metric", "entity", "channel"), the term of each stored code that is none and now has one.
    members: the same of members of further axes.
    """

    meaning: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    members: Mapping[Dimension, Dimension] = field(default_factory=dict)
    _stored: dict[str, dict[str, tuple[str, ...]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for axis, codes in self.meaning.items():
            stored = self._stored.setdefault(axis, {})
            for raw in sorted(codes):
                stored[codes[raw]] = (*stored.get(codes[raw], (codes[raw],)), raw)

    def __bool__(self) -> bool:
        """Whether anything is called otherwise than it was stored."""
        return bool(self.members) or any(self.meaning.values())

    def code(self, axis: str, stored: str) -> str:
        """What a stored code is called today."""
        return self.meaning.get(axis, {}).get(stored, stored)

    def stored(self, axis: str, code: str | None) -> tuple[str | None, ...]:
        """The codes under which the figures of a code may be stored, itself first; (None,) for None."""
        if code is None:
            return (None,)
        today = self.code(axis, code)
        return self._stored.get(axis, {}).get(today, (today,))

    def stored_keys(self, record: FactRecord) -> Iterator[FactRecord]:
        """A record under every key under which its figure may be stored, the one of today first."""
        today = replace(
            record,
            metric=self.code("metric", record.metric),
            entity=self.code("entity", record.entity),
            channel=self.code("channel", record.channel),
            dimensions=self.dimensions(record.dimensions),
        )
        axes = [self.stored(axis, getattr(today, axis)) for axis in ("metric", "entity", "channel")]
        members = [
            (each, *sorted((raw for raw, code in self.members.items() if code == each), key=lambda raw: raw.member))
            for each in today.dimensions
        ]
        keys: Iterator[tuple[Any, ...]] = product(*axes, *members)
        for metric, entity, channel, *dimensions in keys:
            yield replace(today, metric=metric, entity=entity, channel=channel, dimensions=tuple(dimensions))

    def dimensions(self, stored: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        """Members as they are called today."""
        return tuple(self.members.get(each, each) for each in stored) if self.members else stored


class FactCodes:
    """The codes of every figure that a library has ever stored, and what they mean. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_row = self._last_of_members = 0
        self._codes: dict[str, set[str]] = {}
        self._members: set[Dimension] = set()
        self._read_by: Glossary | None = None
        self._names = FactNames()

    def names(self, glossary: Glossary, reader: StoreReader) -> FactNames:
        """What the codes mean by a glossary; only codes and glossaries that are new here are looked at."""
        with self._lock:
            codes, members = self._follow(glossary, reader)
            same = self._read_by is glossary
            if same and not (members or any(codes.values())):
                return self._names
            before = self._names if same else FactNames()
            found = _meanings(glossary, codes if same else self._codes)
            self._names = FactNames(
                {axis: {**before.meaning.get(axis, {}), **more} for axis, more in found.items()},
                {**before.members, **_members(glossary, members if same else self._members)},
            )
            self._read_by = glossary
            return self._names

    def _follow(self, glossary: Glossary, reader: StoreReader) -> tuple[dict[str, set[str]], set[Dimension]]:
        """Take in what was stored since; members only where the glossary has some."""
        self._last_row, stored = reader.stored_codes(self._last_row)
        codes = {axis: set(found) - self._codes.get(axis, set()) for axis, found in stored.items()}
        for axis, new in codes.items():
            self._codes.setdefault(axis, set()).update(new)
        members: set[Dimension] = set()
        if glossary.dimensions:
            self._last_of_members, listed = reader.stored_members(self._last_of_members)
            members = set(listed) - self._members
            self._members |= members
        return codes, members


def _meanings(glossary: Glossary, codes: Mapping[str, Iterable[str]]) -> dict[str, dict[str, str]]:
    names = {"metric": glossary.metric_names, "entity": glossary.entity_names, "channel": glossary.channel_names}
    read = {axis: {code: _read(names[axis], code) for code in listed} for axis, listed in codes.items()}
    return {axis: {code: term for code, term in found.items() if term != code} for axis, found in read.items()}


def _members(glossary: Glossary, members: Iterable[Dimension]) -> dict[Dimension, Dimension]:
    known = [each for each in members if each.name in glossary.member_names]
    read = {each: Dimension(each.name, _read(glossary.member_names[each.name], each.member)) for each in known}
    return {stored: today for stored, today in read.items() if stored != today}


def _read(index: NameIndex, stored: str) -> str:
    """As a row that came in today would be read: nothing that means several things is taken for one of them."""
    resolution = resolve_name(stored, (index,), drop_note=False, suggest=False)
    return resolution.code if isinstance(resolution, Resolved) else stored
