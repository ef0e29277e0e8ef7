"""Names of one kind, and what a raw name resolves to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundwire_server.glossary.names import inverted_keys, name_key, variant_keys, without_note

__all__ = ["Ambiguous", "NameIndex", "Resolution", "Resolved", "Unknown", "resolve_name"]

MAX_SUGGESTIONS = 5
_NEAR = 0.3


@dataclass(frozen=True, slots=True)
class Resolved:
    """The name means this code."""

    code: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The name means nothing here. `suggestions`: known names, nearest first, at most five, never applied."""

    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The name means each of these codes, sorted; none is picked."""

    candidates: tuple[str, ...]


Resolution = Resolved | Unknown | Ambiguous


class NameIndex:
    """Immutable names of one kind: each key leads to every code that has a name with it.

    Args:
        entries: (code, name) pairs; a code is a name only where it is listed as one.
        variants: whether plural and word-order variants count. Not for entities, whose names have neither: of these
            only the inverted form counts ("Korea, Republic of").
    """

    def __init__(self, entries: Iterable[tuple[str, str]], *, variants: bool) -> None:
        self._entries = tuple(dict.fromkeys(entries))
        self._keys = variant_keys if variants else inverted_keys
        self.codes = frozenset(code for code, _ in self._entries)
        self._exact: dict[str, tuple[str, ...]] = {}
        self._variant: dict[str, tuple[str, ...]] = {}
        for code, name in self._entries:
            _add(self._exact, name_key(name), code)
            for key in self._keys(name):
                _add(self._variant, key, code)

    def exact(self, raw: str) -> tuple[str, ...]:
        """The code that is written like this; else the codes with this name, spacing and punctuation aside; sorted."""
        return (raw,) if raw in self.codes else self._exact.get(name_key(raw), ())

    def variant(self, raw: str) -> tuple[str, ...]:
        """Codes with a plural or word-order variant of this name; sorted."""
        found: set[str] = set()
        for key in self._keys(raw):
            found.update(self._variant.get(key, ()))
        return tuple(sorted(found))

    def nearest(self, raw: str) -> list[tuple[float, str, str]]:
        """(likeness, name, code) of the names that share character pairs with this one, nearest first, one a code.

        Likeness is Dice's over the pairs of characters of the keys, borders counted; below 0.3 nothing is near.
        """
        pairs = _pairs(name_key(raw))
        found = [(*self._postings[pair], count) for pair, count in pairs.items() if pair in self._postings]
        if not found:
            return []
        places = np.concatenate([places for places, *_ in found])
        common = np.concatenate([np.minimum(have, count) for _, have, count in found])
        shared = np.bincount(places, weights=common, minlength=len(self._entries))
        likenesses = 2 * shared / (pairs.total() + self._sizes)
        near = np.flatnonzero(likenesses >= _NEAR)
        best: dict[str, tuple[float, str, str]] = {}
        for place, likeness in zip(near.tolist(), likenesses[near].tolist(), strict=True):
            code, name = self._entries[place]
            if code not in best or (-likeness, name) < (-best[code][0], best[code][1]):
                best[code] = (likeness, name, code)
        return sorted(best.values(), key=lambda found: (-found[0], found[1], found[2]))

    def spelling(self, code: str, name: str) -> str:
        """A name that leads back to the code: the name itself, or the code where others share the name."""
        return name if self.exact(name) == (code,) else code

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array([_pairs(name_key(name)).total() for _, name in self._entries], np.int64)

    @cached_property
    def _postings(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """By pair of characters: which entries have it, and how often."""
        places: dict[str, list[int]] = {}
        counts: dict[str, list[int]] = {}
        for place, (_, name) in enumerate(self._entries):
            for pair, count in _pairs(name_key(name)).items():
                places.setdefault(pair, []).append(place)
                counts.setdefault(pair, []).append(count)
        return {pair: (np.array(places[pair], np.int64), np.array(counts[pair], np.int64)) for pair in places}


def _add(index: dict[str, tuple[str, ...]], key: str, code: str) -> None:
    index[key] = tuple(sorted({*index.get(key, ()), code}))


def _pairs(key: str) -> Counter[str]:
    bordered = f"\x02{key}\x03"
    return Counter(bordered[place : place + 2] for place in range(len(bordered) - 1))


def resolve_name(raw: str, indexes: Sequence[NameIndex], *, drop_note: bool = True, suggest: bool = True) -> Resolution:
    """What a name means, by the first of these that says anything: the name itself (a code as it is written before
    all); a plural or word-order variant; then both again without a bracketed note at the end. Within each step the
    first index wins.

    Nothing fuzzy is applied. A step that leads to several codes is `Ambiguous`. `suggest`: whether an `Unknown` names
    what is near, which takes longer than all the rest.
    """
    name = raw.strip()
    if not name:
        return Unknown()
    shorter = without_note(name) if drop_note else name
    for attempt in dict.fromkeys((name, shorter)):
        for lookup in (NameIndex.exact, NameIndex.variant):
            for index in indexes:
                codes = lookup(index, attempt)
                if codes:
                    return Resolved(codes[0]) if len(codes) == 1 else Ambiguous(codes)
    return Unknown(_suggest(raw, indexes) if suggest else ())


def _suggest(raw: str, indexes: Sequence[NameIndex]) -> tuple[str, ...]:
    near = [
        (-likeness, index.spelling(code, name), code)
        for index in indexes
        for likeness, name, code in index.nearest(raw)
    ]
    by_code: dict[str, str] = {}
    for _, name, code in sorted(near):
        by_code.setdefault(code, name)
    return tuple(by_code.values())[:MAX_SUGGESTIONS]
