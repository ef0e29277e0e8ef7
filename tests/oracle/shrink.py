"""The smallest world that still shows a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from tests.oracle.world import Call, Row, Term, World

__all__ = ["shrink", "source_of"]

_PLAIN_ROW = Row(metric="", entity="", period="")
_PLAIN_TERM = Term(kind="", code="")
_PLAIN_CALL = Call(libraries=())


def shrink(world: World, differs: Callable[[World], bool], *, most: int = 400) -> World:
    """Leave out whatever can be left out while `differs` holds; at most so many trials."""
    trials = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(world):
            trials += 1
            if trials > most:
                return world
            if differs(candidate):
                world, smaller = candidate, True
                break
    return world


def _smaller(world: World) -> Iterator[World]:
    """Worlds with one thing less, large things first."""
    for calls in _fewer(world.calls, least=1):
        yield replace(world, calls=calls)
    for batches in _fewer(world.batches):
        if not any(isinstance(call.known_at, int) for call in world.calls):
            yield replace(world, batches=batches)
    for place, batch in enumerate(world.batches):
        for rows in _fewer(batch.rows, least=1):
            yield replace(world, batches=_with(world.batches, place, replace(batch, rows=rows)))
    for place, call in enumerate(world.calls):
        for made in _smaller_call(call):
            yield replace(world, calls=_with(world.calls, place, made))
    for place, library in enumerate(world.libraries):
        for terms in _fewer(library.terms):
            yield replace(world, libraries=_with(world.libraries, place, replace(library, terms=terms)))
        for number, term in enumerate(library.terms):
            for plainer in _plainer(term, _PLAIN_TERM, ("kind", "code", "axis")):
                terms = _with(library.terms, number, plainer)
                yield replace(world, libraries=_with(world.libraries, place, replace(library, terms=terms)))
    for place, batch in enumerate(world.batches):
        for number, row in enumerate(batch.rows):
            for plainer in _plainer(row, _PLAIN_ROW, ("metric", "entity", "period", "value", "source", "withdraw")):
                rows = _with(batch.rows, number, plainer)
                yield replace(world, batches=_with(world.batches, place, replace(batch, rows=rows)))


def _smaller_call(call: Call) -> Iterator[Call]:
    if call.product is not None:
        listed = replace(call, queries=tuple(call.asked()), product=None)
        yield listed
    if not call.calculations and call.product is None:
        for queries in _fewer(call.queries, least=1):
            yield replace(call, queries=queries)
    for calculations in _fewer(call.calculations):
        yield replace(call, calculations=calculations)
    for libraries in _fewer(call.libraries, least=1):
        yield replace(call, libraries=libraries)
    for place, query in enumerate(call.queries):
        if query.dims:
            yield replace(call, queries=_with(call.queries, place, replace(query, dims=query.dims[1:])))
        if query.channel:
            yield replace(call, queries=_with(call.queries, place, replace(query, channel="")))
    yield from _plainer(call, _PLAIN_CALL, ("libraries", "queries", "product", "calculations"))


def _fewer(items: tuple[Any, ...], least: int = 0) -> Iterator[tuple[Any, ...]]:
    """The same without a half of it, a quarter, and so on down to single ones."""
    size = len(items) // 2 if len(items) > 1 else len(items)
    while size:
        for start in range(0, len(items), size):
            kept = items[:start] + items[start + size :]
            if least <= len(kept) < len(items):
                yield kept
        size = size // 2


def _plainer(item: Any, plain: Any, needed: tuple[str, ...]) -> Iterator[Any]:
    for field in fields(item):
        default = getattr(plain, field.name)
        if field.name not in needed and getattr(item, field.name) != default:
            yield replace(item, **{field.name: default})


def _with(items: tuple[Any, ...], place: int, item: Any) -> tuple[Any, ...]:
    return (*items[:place], item, *items[place + 1 :])


def source_of(item: Any) -> str:
    """A world, or a part of one, as Python that makes it, without what is left at its default."""
    if isinstance(item, tuple):
        inner = ", ".join(source_of(each) for each in item)
        return f"({inner},)" if len(item) == 1 else f"({inner})"
    if type(item).__module__ == World.__module__:
        plain = {field.name: field.default for field in fields(item)}
        said = [
            f"{field.name}={source_of(getattr(item, field.name))}"
            for field in fields(item)
            if getattr(item, field.name) != plain[field.name]
        ]
        return f"{type(item).__name__}({', '.join(said)})"
    return repr(item).replace("datetime.datetime", "datetime").replace("datetime.timezone.utc", "UTC")
