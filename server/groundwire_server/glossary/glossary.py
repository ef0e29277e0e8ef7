"""A library's glossary: immutable terms, and what names mean (semantics 10, formats.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeVar

from groundwire_server.errors import ErrorReason, GlossaryConflict
from groundwire_server.glossary.check import check_terms
from groundwire_server.glossary.index import NameIndex, Resolution, Unknown, resolve_name
from groundwire_server.glossary.jsonl_form import read_jsonl
from groundwire_server.glossary.mentions import TermFinder, TermMention
from groundwire_server.glossary.names import name_key
from groundwire_server.glossary.periods import FiscalCalendar
from groundwire_server.glossary.place import Place
from groundwire_server.glossary.relation_names import RelationNames, relation_names_of
from groundwire_server.glossary.terms import (
    ChannelTerm,
    EntityTerm,
    MemberTerm,
    MetricTerm,
    RelationTerm,
    Synonym,
    Term,
    TermKind,
    kind_of,
    names_of,
)
from groundwire_server.glossary.toml_form import read_toml, write_toml
from groundwire_server.glossary.yaml_form import read_yaml

__all__ = ["TOTAL", "Ambiguity", "Conflict", "Glossary"]

TOTAL = "TOTAL"
"""Code of the channel that is the whole; always known."""

Ambiguity = Literal["refuse", "report"]
_LANGUAGES = {"": 0, "en": 1, "zh": 2, "ja": 3}
_LISTED_CONFLICTS = 10
_T = TypeVar("_T", MetricTerm, EntityTerm, ChannelTerm, RelationTerm)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A name that several terms of one kind share. places: where each stands, with its code."""

    kind: TermKind
    dimension: str
    synonym: str
    codes: tuple[str, ...]
    places: tuple[str, ...]


class Glossary:
    """Terms and their names. Immutable; equal terms in any order make equal glossaries with one content hash.

    Args:
        terms: in any order.
        ambiguous: "refuse" a name that two terms of a kind share, or "report" it: then it resolves to `Ambiguous`.
        places: where each term was read, for messages; in the order of `terms`.

    Raises:
        InvalidRequest: a term is malformed; every fault at once.
        GlossaryConflict: a name is shared and `ambiguous` is "refuse".
    """

    def __init__(
        self,
        terms: Iterable[Term] = (),
        *,
        ambiguous: Ambiguity = "refuse",
        places: Iterable[Place | str] | None = None,
    ) -> None:
        given = list(terms)
        if places is None:
            places = (f"term {place}" for place in range(1, len(given) + 1))
        listed = [place if isinstance(place, Place) else Place(place) for place in places]
        check_terms(given, listed)
        self.ambiguous: Ambiguity = ambiguous
        self.terms: tuple[Term, ...] = tuple(sorted(map(_in_order, given), key=_order))
        self.metrics = _by_code(self.terms, MetricTerm)
        self.entities = _by_code(self.terms, EntityTerm)
        self.channels = _by_code(self.terms, ChannelTerm)
        self.relations = _by_code(self.terms, RelationTerm)
        members: dict[str, dict[str, MemberTerm]] = {}
        for term in self.terms:
            if isinstance(term, MemberTerm):
                members.setdefault(term.dimension, {})[term.code] = term
        self.dimensions: Mapping[str, Mapping[str, MemberTerm]] = MappingProxyType(members)
        self.metric_names = _index(self.metrics.values(), variants=True)
        self.entity_names = _index(self.entities.values(), variants=False)
        whole = () if TOTAL in self.channels else (ChannelTerm(TOTAL),)
        self.channel_names = _index((*self.channels.values(), *whole), variants=True)
        self.relation_index = _index(self.relations.values(), variants=False)
        self.relation_names: RelationNames = relation_names_of(self.relations.values())
        self.member_names = {name: _index(axis.values(), variants=True) for name, axis in members.items()}
        by_term = {_place_key(term): place for term, place in zip(given, listed, strict=True)}
        self.term_places: tuple[Place, ...] = tuple(by_term[_place_key(term)] for term in self.terms)
        self.places: tuple[str, ...] = tuple(map(str, self.term_places))  # in the order of terms
        told = {key: str(place) for key, place in by_term.items()} | {_place_key(term): "built in" for term in whole}
        self.conflicts = _conflicts((*self.terms, *whole), told)
        if self.conflicts and ambiguous == "refuse":
            raise _refusal(self.conflicts)

    @classmethod
    def from_toml(cls, text: str, *, ambiguous: Ambiguity = "refuse") -> Glossary:
        """Read the TOML form of formats.md. Raises InvalidRequest and GlossaryConflict as the constructor does."""
        terms, places = read_toml(text)
        return cls(terms, ambiguous=ambiguous, places=places)

    @classmethod
    def from_yaml(cls, text: str, *, ambiguous: Ambiguity = "refuse") -> Glossary:
        """Read the YAML form: the keys and lists of the TOML form. Raises as `from_toml` does."""
        terms, places = read_yaml(text)
        return cls(terms, ambiguous=ambiguous, places=places)

    @classmethod
    def from_jsonl(cls, lines: Iterable[str], *, ambiguous: Ambiguity = "refuse") -> Glossary:
        """Read one JSON object a line: kind, canonical, label, aliases by language, and the fields of the TOML form."""
        terms, places = read_jsonl(lines)
        return cls(terms, ambiguous=ambiguous, places=places)

    def to_toml(self) -> str:
        """The TOML form; reading it gives an equal glossary."""
        return write_toml(self.terms)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the terms, in hex: equal for equal terms in any order."""
        return hashlib.sha256(self.to_toml().encode("utf-8", "surrogatepass")).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Glossary) and (self.terms, self.ambiguous) == (other.terms, other.ambiguous)

    def __hash__(self) -> int:
        return hash((self.terms, self.ambiguous))

    def __len__(self) -> int:
        return len(self.terms)

    def resolve_metric(self, raw: str) -> Resolution:
        """What a name of a metric means."""
        return resolve_name(raw, (self.metric_names,))

    def resolve_entity(self, raw: str) -> Resolution:
        """What a name, code or identifier of an entity means."""
        return resolve_name(raw, (self.entity_names,))

    def resolve_channel(self, raw: str) -> Resolution:
        """What a name of a channel means; nothing said is `TOTAL`."""
        return resolve_name(raw.strip() or TOTAL, (self.channel_names,))

    def resolve_member(self, dimension: str, raw: str) -> Resolution:
        """What a name means on a further axis."""
        index = self.member_names.get(dimension)
        return resolve_name(raw, (index,)) if index is not None else Unknown()

    def fiscal_calendar(self, entity: str) -> FiscalCalendar:
        """Fiscal year of an entity: its own, else its parent's, else from January on."""
        start = next((term.fiscal_year_start for term in self._line(entity) if term.fiscal_year_start), "")
        named_by = next((term.fiscal_year_named_by for term in self._line(entity) if term.fiscal_year_named_by), "")
        match named_by:
            case "start" | "end":
                return FiscalCalendar(start or "01-01", named_by)
            case _:
                return FiscalCalendar(start or "01-01")

    def knows_fiscal_year(self, entity: str) -> bool:
        """Whether the entity, or one above it, says when its fiscal year begins."""
        return any(term.fiscal_year_start for term in self._line(entity))

    def _line(self, entity: str) -> Iterator[EntityTerm]:
        """The entity and those above it; nobody is above himself."""
        term = self.entities.get(entity)
        while term is not None:
            yield term
            term = self.entities.get(term.parent_code)

    def find_terms(self, text: str) -> list[TermMention]:
        """Every term that a text names, in order, the longest name winning where two overlap (semantics 11)."""
        return self._finder.find(text)

    @cached_property
    def _finder(self) -> TermFinder:
        return TermFinder(self.terms)


def _order(term: Term) -> tuple[str, str, str]:
    return (kind_of(term).value, _axis(term), term.code)


def _place_key(term: Term) -> tuple[TermKind, str, str]:
    return (kind_of(term), _axis(term), term.code)


def _axis(term: Term) -> str:
    return term.dimension if isinstance(term, MemberTerm) else ""


def _in_order(term: Term) -> Term:
    """The same term with its synonyms by language, without repeats; within a language as given."""
    kept = sorted(dict.fromkeys(term.synonyms), key=_language_order)
    return term if tuple(kept) == term.synonyms else replace(term, synonyms=tuple(kept))


def _language_order(synonym: Synonym) -> tuple[int, str]:
    return (_LANGUAGES.get(synonym.language, len(_LANGUAGES)), synonym.language)


def _by_code(terms: Iterable[Term], kind: type[_T]) -> Mapping[str, _T]:
    return MappingProxyType({term.code: term for term in terms if isinstance(term, kind)})


def _index(terms: Iterable[Term], *, variants: bool) -> NameIndex:
    return NameIndex(((term.code, name) for term in terms for name in names_of(term)), variants=variants)


def _conflicts(terms: Iterable[Term], places: Mapping[tuple[TermKind, str, str], str]) -> tuple[Conflict, ...]:
    holders: dict[tuple[TermKind, str, str], dict[str, str]] = {}
    for term in terms:
        for name in names_of(term):
            holders.setdefault((kind_of(term), _axis(term), name_key(name)), {}).setdefault(term.code, name)
    return tuple(
        Conflict(
            kind,
            axis,
            min(codes.values()),
            tuple(codes),
            tuple(f"{code} ({places[kind, axis, code]})" for code in codes),
        )
        for (kind, axis, _), codes in holders.items()
        if len(codes) > 1
    )


def _refusal(conflicts: tuple[Conflict, ...]) -> GlossaryConflict:
    first = conflicts[0]
    told = [f"{c.kind.value} {c.synonym!r} is a name of {' and of '.join(c.places)}" for c in conflicts]
    more = len(told) - _LISTED_CONFLICTS
    return GlossaryConflict(
        ErrorReason.GLOSSARY_CONFLICT,
        "; ".join(told[:_LISTED_CONFLICTS]) + (f"; and {more} more" if more > 0 else "") + ".",
        hint='Take the name from one of them, or set ambiguous = "report" for the library.',
        details={"synonym": first.synonym, "first": first.places[0], "second": first.places[1]},
    )
