"""The places of a text as plain values and as bytes: for a reader in a process of its own, and for the store."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from groundwire_server.evidence import Span
from groundwire_server.readers.places import Axis, HeadingMap, PlaceMap

__all__ = ["pack_places", "places_from_values", "places_to_values", "unpack_places"]

_FORM = 1


def pack_places(body: Span, places: PlaceMap) -> bytes:
    """The stretch that is content, and where its spans lie, as bytes.

    >>> body, places = unpack_places(pack_places(Span(0, 9), PlaceMap((Axis("page", (0, 4)),))))
    >>> body, places.locate(Span(5, 6))
    (Span(start=0, end=9), (('page', '2'),))
    """
    values = [_FORM, body.start, body.end, places_to_values(places)]
    return zlib.compress(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode())


def unpack_places(packed: bytes) -> tuple[Span, PlaceMap]:
    """The inverse of `pack_places`. Raises ValueError when it was packed in another form."""
    form, start, end, values = json.loads(zlib.decompress(packed))
    if form != _FORM:
        raise ValueError(f"places of form {form}")
    return Span(start, end), places_from_values(values)


def places_to_values(places: PlaceMap) -> list[Any]:
    """Places as lists of texts and numbers; offsets as steps from one to the next."""
    headings = places.headings
    return [
        [[axis.key, axis.nested, _steps(axis.starts), list(axis.names)] for axis in places.axes],
        [_steps(headings.starts), list(headings.headings), list(headings.titles)],
    ]


def places_from_values(values: list[Any]) -> PlaceMap:
    """The inverse of `places_to_values`."""
    axes, (starts, headings, titles) = values
    return PlaceMap(
        tuple(Axis(key, _offsets(steps), names, nested) for key, nested, steps, names in axes),
        HeadingMap(_offsets(starts), headings, titles),
    )


def _steps(starts: Sequence[int]) -> list[int]:
    return [*starts[:1], *(later - earlier for earlier, later in pairwise(starts))]


def _offsets(steps: Iterable[int]) -> array[int]:
    return array("Q", accumulate(steps))
