"""The filter that a glossary reads out of a question: the entities that it names, and their periods (semantics 3).

An attribute whose values are names of the glossary's entities as a rule, or that is named `entity`, says which of them
a document is about, and a document about another one is left out. A period narrows that further, and only where
something is left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache

from groundwire_server.evidence import AllOf, AnyOf, Family, Filter, Operator, Period, Predicate, Value
from groundwire_server.glossary import (
    Glossary,
    PeriodError,
    Resolved,
    TermKind,
    find_period_mentions,
    names_of,
    parse_period,
)
from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.filters.extractor import Attributes, Extracted, FilterSource, ValuesOf
from groundwire_server.text import FUNCTION_WORDS

__all__ = ["GlossaryExtractor"]

_MOST_ENTITIES = 32
_NAMES = 1 / 2  # share of an attribute's values that must be names of entities for it to say what a document is about
_CARRIED = 1 / 2  # share of the documents that must have it: an attribute that most lack says nothing about the others
_ENTITY_NAMES = frozenset({"entity", "entities"})
_PERIOD_NAMES = frozenset({"period", "year", "fiscal_year"})
_YEARS = range(1800, 2100)


class GlossaryExtractor:
    """Deterministic; it asks no model."""

    name = "glossary"
    asks_model = False

    def extract(
        self, source: FilterSource, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Extracted:
        """See `FilterExtractor.extract`."""
        stop()
        codes = _entities(source)
        by_entity = _any_of(
            [
                Predicate(name, Operator.IN, values)
                for name, held in _about(source.attributes)
                if (values := _named(name, held, codes, source.glossary, passes))
            ]
            if codes
            else []
        )
        if by_entity is None:
            return Extracted(detail="entities=0")
        told = f"entities={len(codes)}"
        by_period = _any_of(_of_periods(source, codes))
        if by_period is not None and source.keeps(both := AllOf((by_entity, by_period))):
            return Extracted(both, f"{told},period")
        return Extracted(by_entity, told)


def _entities(source: FilterSource) -> list[str]:
    """Codes of the entities that the question names, in its order; all that an ambiguous name may mean."""
    named = [
        ref.code
        for mention in source.glossary.find_terms(source.query.text)
        if not (mention.text.isascii() and mention.text.islower() and mention.text in FUNCTION_WORDS)
        for ref in mention.terms
        if ref.kind == TermKind.ENTITY.value
    ]
    return list(dict.fromkeys(named))[:_MOST_ENTITIES]


def _about(attributes: Attributes) -> list[tuple[str, ValuesOf]]:
    """Attributes of texts that enough documents have."""
    return [
        (name, held)
        for name, held in sorted(attributes.items())
        if held.family in (Family.TEXT, Family.TEXTS) and held.values and held.share >= _CARRIED
    ]


def _texts(held: ValuesOf) -> list[str]:
    """The distinct texts in an attribute, sorted."""
    texts: set[str] = set()
    for value in held.values:
        texts.update((value,) if isinstance(value, str) else value if isinstance(value, tuple) else ())
    return sorted(texts)


def _named(
    name: str, held: ValuesOf, codes: Sequence[str], glossary: Glossary, passes: Callable[[str], bool]
) -> tuple[Value, ...]:
    """The values that name one of some entities; of one that no document is about, its names.

    Nothing where the values are not names of entities as a rule, and the attribute is not named for that.
    """
    meant = {text: _code(glossary, text) for text in _texts(held)}
    if name not in _ENTITY_NAMES and sum(code is not None for code in meant.values()) < _NAMES * len(meant):
        return ()
    wanted = set(codes)
    found = {text for text, code in meant.items() if code in wanted}
    for code in wanted - {meant[text] for text in found}:
        found.update(names_of(glossary.entities[code]))
    return tuple(sorted(filter(passes, found)))


def _code(glossary: Glossary, text: str) -> str | None:
    found = glossary.resolve_entity(text)
    return found.code if isinstance(found, Resolved) else None


def _of_periods(source: FilterSource, codes: Sequence[str]) -> list[Filter]:
    """For each attribute of periods, that it has one of those that the question names."""
    calendar = source.glossary.fiscal_calendar(codes[0]) if len(codes) == 1 else None
    start, named_by = ("01-01", "") if calendar is None else (calendar.start, calendar.named_by)
    mentions = find_period_mentions(
        source.query.text,
        reference=source.reference,
        fiscal_year_start=start,
        fiscal_year_named_by=named_by,  # type: ignore[arg-type]
        language=source.query.language,
    )
    wanted = [each.period for each in mentions if each.period is not None]
    found: list[Filter] = []
    for name, held in sorted(source.attributes.items()) if wanted else ():
        if held.share < _CARRIED or not (held.family is Family.PERIOD or name in _PERIOD_NAMES):
            continue
        values = [value for value in held.values if _covers(_period(value, start, source.reference), wanted)]
        if values:
            found.append(Predicate(name, Operator.IN, tuple(values)))
    return found


@lru_cache(maxsize=4096, typed=True)  # 2023 and 2023.0 are equal, and only one of them names a year
def _period(value: Value, start: str, reference: date) -> Period | None:
    if isinstance(value, Period):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value in _YEARS:
        value = str(value)
    if not isinstance(value, str):
        return None
    try:
        return parse_period(value, reference=reference, fiscal_year_start=start)
    except PeriodError:
        return None


def _covers(held: Period | None, wanted: Sequence[Period]) -> bool:
    """Whether a document's period holds one of those that are asked for, or is the year that is named like it."""
    if held is None:
        return False
    return any(
        (held.first <= each.first and each.last <= held.last) or _year(held) == _year(each) != "" for each in wanted
    )


def _year(period: Period) -> str:
    """The name of a whole year, fiscal or not; empty for another period."""
    name = period.canonical.removeprefix("FY")
    return name if len(name) == 4 and name.isdigit() else ""


def _any_of(filters: Sequence[Filter]) -> Filter | None:
    if not filters:
        return None
    return filters[0] if len(filters) == 1 else AnyOf(tuple(filters))
